package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func start(t *testing.T) (*signintest.Issuer, *signin.Verifier, *clock) {
	t.Helper()
	c := &clock{time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)}
	issuer := signintest.New(c.now)
	return issuer, issuer.Verifier(), c
}

func with(claims map[string]any, name string, value any) map[string]any {
	claims = maps.Clone(claims)
	if claims[name] = value; value == nil {
		delete(claims, name)
	}
	return claims
}

func TestAnAccessToken(t *testing.T) {
	issuer, v, c := start(t)
	for range 3 {
		got, err := v.Access(t.Context(), issuer.Access("sub-1"))
		if err != nil || got.Subject != "sub-1" || !got.ExpiresAt.Equal(c.at.Add(15*time.Minute)) ||
			got.Scope != "openid email profile" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if n := issuer.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
}

// The pool of another region has another issuer. Whoever has the same name there is the same person.
func TestAPersonOfAPoolThatHasMoved(t *testing.T) {
	issuer, v, c := start(t)
	moved := issuer.Settings()
	moved.Issuer = "https://issuer.example/moved"
	there := signin.NewWith(moved, &http.Client{Transport: issuer}, c.now)
	if auth.Subject(there.Pool(), "sub-1") != auth.Subject(v.Pool(), "sub-1") || there.Pool() == "" {
		t.Errorf("the pools are %q and %q", v.Pool(), there.Pool())
	}
	// Its tokens are of the new issuer only.
	if _, err := there.Access(t.Context(), issuer.Access("sub-1")); !errors.Is(err, signin.ErrInvalid) {
		t.Errorf("a token of the old issuer: %v", err)
	}
	nameless := issuer.Settings()
	nameless.Pool = ""
	if signin.New(nameless, c.now).Enabled() {
		t.Error("people of a pool without a name may sign in")
	}
}

func TestRefusedAccessTokens(t *testing.T) {
	issuer, v, c := start(t)
	good := issuer.AccessClaims("sub-1")
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signed := func(key *rsa.PrivateKey, header jose.HeaderKey, value any) string {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key,
			KeyID: issuer.KeyID}}, (&jose.SignerOptions{}).WithHeader(header, value))
		if err != nil {
			t.Fatal(err)
		}
		made, err := jwt.Signed(signer).Claims(good).Serialize()
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der(t, &issuer.Key.PublicKey)})
	tokens := map[string]string{
		"another issuer":              issuer.Sign(with(good, "iss", "https://issuer.example")),
		"a longer issuer":             issuer.Sign(with(good, "iss", fmt.Sprint(good["iss"], "/"))),
		"no issuer":                   issuer.Sign(with(good, "iss", nil)),
		"another client":              issuer.Sign(with(good, "client_id", "other-client")),
		"no client":                   issuer.Sign(with(good, "client_id", nil)),
		"a client as audience only":   issuer.Sign(with(with(good, "client_id", nil), "aud", signintest.Client)),
		"an ID token":                 issuer.Sign(issuer.IdentityClaims("sub-1", "ada@example.com", "")),
		"a password without the page": issuer.Sign(with(good, "scope", "aws.cognito.signin.user.admin")),
		"no use":                      issuer.Sign(with(good, "token_use", nil)),
		"expired":                     issuer.Sign(with(good, "exp", c.at.Add(-31*time.Second).Unix())),
		"no expiry":                   issuer.Sign(with(good, "exp", nil)),
		"from the future":             issuer.Sign(with(good, "iat", c.at.Add(31*time.Second).Unix())),
		"no time":                     issuer.Sign(with(good, "iat", nil)),
		"not yet valid":               issuer.Sign(with(good, "nbf", c.at.Add(31*time.Second).Unix())),
		"no subject":                  issuer.Sign(with(good, "sub", nil)),
		"another key": issuer.SignWith(jose.SigningKey{Algorithm: jose.RS256,
			Key: jose.JSONWebKey{Key: other, KeyID: issuer.KeyID}}, good),
		"no key id": issuer.SignWith(jose.SigningKey{Algorithm: jose.RS256, Key: issuer.Key}, good),
		"RS512": issuer.SignWith(jose.SigningKey{Algorithm: jose.RS512,
			Key: jose.JSONWebKey{Key: issuer.Key, KeyID: issuer.KeyID}}, good),
		"HS256 with the public key": issuer.SignWith(jose.SigningKey{Algorithm: jose.HS256,
			Key: jose.JSONWebKey{Key: public, KeyID: issuer.KeyID}}, good),
		"alg none":                  unsigned(t, `{"alg":"none","kid":"key-1"}`, good),
		"alg None":                  unsigned(t, `{"alg":"None","kid":"key-1"}`, good),
		"RS256 without a signature": unsigned(t, `{"alg":"RS256","kid":"key-1"}`, good),
		"a critical extension":      unsigned(t, `{"alg":"RS256","kid":"key-1","crit":["x"]}`, good),
		"a key in the header":       signed(other, "jwk", jose.JSONWebKey{Key: other.Public(), KeyID: issuer.KeyID}),
		"an address of keys":        signed(other, "jku", "https://evil.example/keys"),
		"a path as key id": issuer.SignWith(jose.SigningKey{Algorithm: jose.RS256,
			Key: jose.JSONWebKey{Key: issuer.Key, KeyID: "../" + issuer.KeyID}}, good),
		"nonsense": "eyJ.eyJ.x", "empty": "",
	}
	for name, token := range tokens {
		if got, err := v.Access(t.Context(), token); !errors.Is(err, signin.ErrInvalid) || got.Subject != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, token := range map[string]string{
		"expired a moment ago": issuer.Sign(with(good, "exp", c.at.Add(-29*time.Second).Unix())),
		"from a fast clock":    issuer.Sign(with(good, "iat", c.at.Add(29*time.Second).Unix())),
	} {
		if _, err := v.Access(t.Context(), token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = signin.New(signin.Settings{}, c.now).Access(t.Context(), issuer.Sign(with(good, "iss", "")))
	if !errors.Is(err, signin.ErrInvalid) {
		t.Errorf("without an issuer: %v", err)
	}
}

func der(t *testing.T, key *rsa.PublicKey) []byte {
	t.Helper()
	b, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unsigned(t *testing.T, header string, claims map[string]any) string {
	t.Helper()
	body, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(header)) + "." + encode(body) + "."
}

func TestAFloodOfUnknownKeysFetchesOnceAMinute(t *testing.T) {
	issuer, v, c := start(t)
	if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
		t.Fatal(err)
	}
	unknown := func(n int) string {
		return issuer.SignWith(jose.SigningKey{Algorithm: jose.RS256,
			Key: jose.JSONWebKey{Key: issuer.Key, KeyID: fmt.Sprint("unknown-", n)}}, issuer.AccessClaims("sub-1"))
	}
	var all sync.WaitGroup
	for n := range 20 {
		token := unknown(n)
		all.Go(func() {
			if _, err := v.Access(t.Context(), token); !errors.Is(err, signin.ErrInvalid) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := issuer.Fetches.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times in the first minute", n)
	}
	c.at = c.at.Add(time.Minute)
	for n := range 20 {
		_, _ = v.Access(t.Context(), unknown(n))
	}
	if n := issuer.Fetches.Load(); n != 2 {
		t.Errorf("the keys were fetched %d times in two minutes", n)
	}
	// Tokens of another issuer or client fetch nothing.
	c.at = c.at.Add(time.Minute)
	_, _ = v.Access(t.Context(), issuer.Sign(with(issuer.AccessClaims("sub-1"), "iss", "https://issuer.example")))
	if n := issuer.Fetches.Load(); n != 2 {
		t.Errorf("a token of another issuer has fetched the keys")
	}
}

func TestANewKeyOfTheIssuer(t *testing.T) {
	issuer, v, c := start(t)
	old := issuer.Access("sub-1")
	if _, err := v.Access(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	c.at = c.at.Add(time.Minute)
	issuer.KeyID = "key-2"
	if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
		t.Errorf("a token of the new key: %v", err)
	}
	if _, err := v.Access(t.Context(), old); !errors.Is(err, signin.ErrInvalid) {
		t.Errorf("a token of the withdrawn key: %v", err)
	}
}

func TestTheIssuerIsDown(t *testing.T) {
	issuer, v, c := start(t)
	issuer.Down.Store(true)
	for range 3 {
		if _, err := v.Access(t.Context(), issuer.Access("sub-1")); errs.CodeOf(err) != errs.ProviderUnavailable {
			t.Errorf("without any key: %v", err)
		}
	}
	if n := issuer.Fetches.Load(); n != 2 {
		t.Errorf("it was asked %d times in a second, want one try and its repeat", n)
	}
	issuer.Down.Store(false)
	c.at = c.at.Add(time.Second)
	if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
		t.Errorf("up again: %v", err)
	}
	// Known keys outlive the issuer.
	issuer.Down.Store(true)
	c.at = c.at.Add(3 * time.Hour)
	for range 3 {
		if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
			t.Errorf("with earlier keys: %v", err)
		}
	}
	if n := issuer.Fetches.Load(); n != 5 {
		t.Errorf("it was asked %d times in all, want 5", n)
	}
}

// Keys of other kinds do not count, and an answer without keys takes none away.
func TestAnswersOfTheAddressOfTheKeys(t *testing.T) {
	issuer, _, c := start(t)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	key := func(key *rsa.PrivateKey) string {
		b, err := jose.JSONWebKey{Key: key.Public(), KeyID: issuer.KeyID, Use: "sig"}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for body, works := range map[string]bool{
		`{"keys":[` + key(other) + `,` + key(issuer.Key) + `]}`:                                         true,
		`{"keys":[{"kty":"AKP","kid":"key-2","alg":"ML-DSA-44","pub":"AA"},7,` + key(issuer.Key) + `]}`: true,
		`{"keys":[]}`: false, `{"message":"Forbidden"}`: false, "null": false, "[]": false, "<html>": false,
		strings.Repeat(" ", 256<<10) + `{"keys":[` + key(issuer.Key) + `]}`: false,
	} {
		said := body
		answer := transport(func(r *http.Request) (*http.Response, error) {
			if said == "" {
				return issuer.RoundTrip(r)
			}
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(said))}, nil
		})
		v := signin.NewWith(issuer.Settings(), &http.Client{Transport: answer}, c.now)
		if _, err := v.Access(t.Context(), issuer.Access("sub-1")); (err == nil) != works ||
			!works && errs.CodeOf(err) != errs.ProviderUnavailable {
			t.Errorf("%.80s: %v", body, err)
		}
		said, c.at = "", c.at.Add(time.Minute)
		if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
			t.Errorf("the right keys after %.80s: %v", body, err)
		}
		said, c.at = body, c.at.Add(2*time.Hour)
		if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
			t.Errorf("%.80s after the right keys: %v", body, err)
		}
	}
}

// A caller who goes away does not delay the keys for others.
func TestACallerGoesAwayWhileTheKeysAreFetched(t *testing.T) {
	issuer, v, _ := start(t)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	_, _ = v.Access(ctx, issuer.Access("sub-1"))
	if _, err := v.Access(t.Context(), issuer.Access("sub-1")); err != nil {
		t.Error(err)
	}
}

// A redirect of the address of the keys leads nowhere: its keys would not be the issuer's.
func TestTheKeysAreFetchedWhereTheIssuerIs(t *testing.T) {
	issuer, _, c := start(t)
	var asked []string
	v := signin.NewWith(issuer.Settings(), &http.Client{Transport: transport(func(r *http.Request) (*http.Response,
		error) {
		if asked = append(asked, r.URL.Host); r.URL.Host == "issuer.example" {
			return &http.Response{StatusCode: http.StatusFound, Body: http.NoBody,
				Header: http.Header{"Location": {"https://evil.example/keys"}}}, nil
		}
		return issuer.RoundTrip(r)
	})}, c.now)
	if _, err := v.Access(t.Context(), issuer.Access("sub-1")); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("a token of keys elsewhere: %v", err)
	}
	if slices.Contains(asked, "evil.example") {
		t.Errorf("the keys were fetched from %v", asked)
	}
}

// transport answers requests by a function.
type transport func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnIDToken(t *testing.T) {
	issuer, v, c := start(t)
	claims := issuer.IdentityClaims("sub-1", "ada@example.com", "n-1")
	got, err := v.Identity(t.Context(), issuer.Sign(claims), "n-1")
	if err != nil || got.Subject != "sub-1" || got.Email != "ada@example.com" || !got.EmailVerified ||
		got.Name != "Ada" || got.Connection != "" || !got.AuthTime.Equal(c.at) {
		t.Errorf("%+v, %v", got, err)
	}
	// As Cognito writes tokens of people of a customer's provider.
	claims["email_verified"] = "true"
	claims["identities"] = []map[string]any{{"userId": "u", "providerName": "acme-okta", "providerType": "SAML"}}
	claims["custom:groups"] = "[Engineering, Content Admins]"
	got, err = v.Identity(t.Context(), issuer.Sign(claims), "n-1")
	if err != nil || got.Connection != "acme-okta" || !got.EmailVerified ||
		!slices.Equal(got.Groups, []string{"Engineering", "Content Admins"}) {
		t.Errorf("%+v, %v", got, err)
	}
	claims["email_verified"] = "false"
	claims["custom:groups"] = []string{"a,b"}
	if got, err = v.Identity(t.Context(), issuer.Sign(claims), "n-1"); err != nil || got.EmailVerified ||
		!slices.Equal(got.Groups, []string{"a,b"}) {
		t.Errorf("%+v, %v", got, err)
	}
	for name, bad := range map[string]map[string]any{
		"another nonce":   with(claims, "nonce", "n-2"),
		"no nonce":        with(claims, "nonce", nil),
		"another client":  with(claims, "aud", "other"),
		"two clients":     with(claims, "aud", []string{signintest.Client, "other"}),
		"no client":       with(claims, "aud", nil),
		"another issuer":  with(claims, "iss", "https://issuer.example"),
		"expired":         with(claims, "exp", c.at.Add(-time.Minute).Unix()),
		"an access token": with(with(issuer.AccessClaims("sub-1"), "aud", signintest.Client), "nonce", "n-1"),
	} {
		if got, err := v.Identity(t.Context(), issuer.Sign(bad), "n-1"); !errors.Is(err, signin.ErrInvalid) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A person of the pool may write the attribute of the groups by a token of the own password. Only groups of a provider
// count, which the pool names in identities.
func TestAPersonOfThePoolHasNoGroups(t *testing.T) {
	issuer, v, _ := start(t)
	own := with(issuer.IdentityClaims("sub-1", "ada@example.com", ""), "custom:groups", "[Admins]")
	own["custom:connection"] = "con_okta"
	got, err := v.Identity(t.Context(), issuer.Sign(own), "")
	if err != nil || got.Groups != nil || got.Connection != "" {
		t.Errorf("%+v, %v", got, err)
	}
	federated := with(own, "identities", []map[string]string{{"providerName": "con_okta"}})
	got, err = v.Identity(t.Context(), issuer.Sign(federated), "")
	if err != nil || !slices.Equal(got.Groups, []string{"Admins"}) || got.Connection != "con_okta" {
		t.Errorf("%+v, %v", got, err)
	}
}
