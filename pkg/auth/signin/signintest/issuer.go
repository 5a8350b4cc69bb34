// Package signintest is an OpenID Connect issuer for tests: it serves its keys and signs any claims.
package signintest

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/content-automation/api/pkg/auth/signin"
)

// Client is the id of the client that the issuer knows.
const Client = "console-client"

// Issuer signs tokens.
type Issuer struct {
	t   testing.TB
	now func() time.Time
	// Key signs the tokens.
	Key *rsa.PrivateKey
	// KeyID is the id of the key in the tokens and in the key set.
	KeyID string
	// Fetches is the number of fetches of the key set.
	Fetches atomic.Int32
	// Down makes the key set unavailable.
	Down atomic.Bool
	url  string
}

// signing is made once, because it takes a noticeable time.
var signing = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

// New starts an issuer.
func New(t testing.TB, now func() time.Time) *Issuer {
	t.Helper()
	key, err := signing()
	if err != nil {
		t.Fatal(err)
	}
	i := &Issuer{t: t, now: now, Key: key, KeyID: "key-1"}
	server := httptest.NewServer(i)
	t.Cleanup(server.Close)
	i.url = server.URL
	return i
}

// ServeHTTP serves the key set.
func (i *Issuer) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	i.Fetches.Add(1)
	if i.Down.Load() {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: i.Key.Public(), KeyID: i.KeyID, Algorithm: "RS256", Use: "sig"},
	}})
}

// Settings returns the settings of a verifier for this issuer.
func (i *Issuer) Settings() signin.Settings {
	return signin.Settings{Issuer: i.url, ClientID: Client, KeysURL: i.url + "/.well-known/jwks.json"}
}

// Verifier returns a verifier for this issuer.
func (i *Issuer) Verifier() *signin.Verifier { return signin.New(i.Settings(), i.now) }

// AccessClaims returns the claims of a person's access token.
func (i *Issuer) AccessClaims(subject string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": i.url, "client_id": Client, "token_use": "access", "sub": subject, "scope": "openid email profile",
		"iat": now.Unix(), "auth_time": now.Unix(), "exp": now.Add(15 * time.Minute).Unix(),
	}
}

// IdentityClaims returns the claims of a person's ID token.
func (i *Issuer) IdentityClaims(subject, email, nonce string) map[string]any {
	now := i.now()
	return map[string]any{
		"iss": i.url, "aud": Client, "token_use": "id", "sub": subject, "nonce": nonce, "email": email,
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
	i.t.Helper()
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	body, err := json.Marshal(claims)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(body)
	if err != nil {
		i.t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return token
}
