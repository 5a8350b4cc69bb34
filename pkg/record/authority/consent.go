package authority

import "time"

// Consent is the part of a stored document that waits for consent: access that its owner may still grant. Package
// area/consent makes it. It is kept here because workers read such documents, and serve no HTTP.
type Consent struct {
	// Nonce is the hash of the nonce in the state.
	Nonce []byte `json:"nonce"`
	// Until is when the link ends.
	Until time.Time `json:"until"`
	// Sealed is the data of the callback, encrypted, with the Authority that asked for the access.
	Sealed []byte `json:"sealed"`
}
