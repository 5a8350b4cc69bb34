// Package signintest is an OpenID Connect issuer for tests: it serves its keys and signs any claims.
package signintest

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/content-automation/api/pkg/auth/signin"
)

// Client is the id of the client that the issuer knows.
const Client = "console-client"

// Pool is the name that stored identities have instead of the issuer's.
const Pool = "acme-prod"

// Issuer signs tokens.
type Issuer struct {
	now func() time.Time
	// Key signs the tokens.
	Key *rsa.PrivateKey
	// KeyID is the id of the key in the tokens and in the key set.
	KeyID string
	// Fetches is the number of fetches of the key set.
	Fetches atomic.Int32
	// Down makes the key set unavailable.
	Down atomic.Bool
}

// URL is the name of the issuer. Nothing serves it: see Verifier.
const URL = "https://issuer.example/pool"

// signing is made once, because it takes a noticeable time.
var signing = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// New makes an issuer.
func New(now func() time.Time) *Issuer {
	return &Issuer{now: now, Key: must(signing()), KeyID: "key-1"}
}

// must panics if there is an error: nothing in a test can continue then.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// RoundTrip answers with the key set, without a network.
func (i *Issuer) RoundTrip(*http.Request) (*http.Response, error) {
	i.Fetches.Add(1)
	if i.Down.Load() {
		return nil, errors.New("the issuer is down")
	}
	set := must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.Key.Public(), KeyID: i.KeyID, Algorithm: "RS256", Use: "sig"},
	}}))
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(bytes.NewReader(set))}, nil
}

// Settings returns the settings of a verifier for this issuer.
func (i *Issuer) Settings() signin.Settings {
	return signin.Settings{Issuer: URL, Pool: Pool, ClientID: Client, KeysURL: URL + "/.well-known/jwks.json"}
}

// Verifier returns a verifier for this issuer.
func (i *Issuer) Verifier() *signin.Verifier {
	return signin.NewWith(i.Settings(), &http.Client{Transport: i}, i.now)
}

// AccessClaims returns the claims of a person's access token.
func (i *Issuer) AccessClaims(subject string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": URL, "client_id": Client, "token_use": "access", "sub": subject, "scope": "openid email profile",
		"iat": now.Unix(), "auth_time": now.Unix(), "exp": now.Add(15 * time.Minute).Unix(),
	}
}

// IdentityClaims returns the claims of a person's ID token.
func (i *Issuer) IdentityClaims(subject, email, nonce string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": URL, "aud": Client, "token_use": "id", "sub": subject, "nonce": nonce, "email": email,
		"email_verified": true, "name": "Ada", "iat": now.Unix(), "auth_time": now.Unix(),
		"exp": now.Add(15 * time.Minute).Unix(),
	}
}

// Access returns an access token of a person.
func (i *Issuer) Access(subject string) string { return i.Sign(i.AccessClaims(subject)) }

// Sign returns a token with any claims.
func (i *Issuer) Sign(claims map[string]any) string {
	return i.SignWith(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: i.Key, KeyID: i.KeyID}}, claims)
}

// SignWith returns a token with any claims, signed by any key.
func (i *Issuer) SignWith(key jose.SigningKey, claims map[string]any) string {
	signed := must(must(jose.NewSigner(key, nil)).Sign(must(json.Marshal(claims))))
	return must(signed.CompactSerialize())
}
