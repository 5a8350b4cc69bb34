// Package pending has the part of a stored document that waits for consent. It is apart from package area/consent,
// because workers read such documents and serve no HTTP.
package pending

import "time"

// Consent is an access that its owner may still grant.
type Consent struct {
	// Nonce is the hash of the nonce in the state.
	Nonce []byte `json:"nonce"`
	// Until is when the link ends.
	Until time.Time `json:"until"`
	// Sealed is the data of the callback, encrypted.
	Sealed []byte `json:"sealed"`
}
