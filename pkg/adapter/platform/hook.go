package platform

import (
	"context"
	"crypto/hmac"
	"errors"
	"net/http"
	"net/url"
)

// Hook is a request to the address for the webhooks of a platform.
type Hook struct {
	Method string
	Query  url.Values
	Header http.Header
	Body   []byte
}

// Announced is a post whose comments have changed, as a webhook says.
type Announced struct {
	Account, Post string // ids at the platform
}

// ErrForged means that a webhook does not come from the platform.
var ErrForged = errors.New("platform: the webhook is not the platform's")

// Announcer is a platform that announces changes of comments by webhooks.
type Announcer interface {
	// Announced verifies a webhook. It returns the posts that the webhook names, and the text that the platform wants
	// as the answer. It returns ErrForged for a webhook that does not come from the platform, and an error of any kind
	// if the application cannot be read. It makes no calls.
	Announced(ctx context.Context, h Hook) (posts []Announced, answer string, err error)
}

// SameSecret reports whether a text that somebody has sent is a secret, in constant time. It never is if the secret is
// empty.
func SameSecret(given string, s Secret) bool { return s != "" && hmac.Equal([]byte(given), []byte(s)) }
