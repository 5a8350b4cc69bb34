// Package signin verifies the tokens of people who sign in to the account area by OpenID Connect, and decides who of
// them is a person of an account. Start with Verifier, which checks a token, and Client, which calls the issuer.
package signin

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/cloud/needs"
)

// Settings describe the issuer. See needs.SignIn for their environment variables.
type Settings = needs.SignIn

// New makes a verifier of the issuer's tokens. It fetches no key before the first token.
func New(s Settings, now func() time.Time) *Verifier {
	return NewWith(s, &http.Client{Timeout: attemptTimeout}, now)
}

// stay follows no redirect: the issuer is at the configured addresses only.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// NewWith is New with the transport and time-out of a client that fetches the keys.
func NewWith(s Settings, client *http.Client, now func() time.Time) *Verifier {
	fixed := *client
	fixed.CheckRedirect = stay
	return &Verifier{s, &keys{url: s.KeysURL, client: &fixed, now: now}, now}
}
