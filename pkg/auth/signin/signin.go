// Package signin verifies the tokens of people who sign in to the account area by OpenID Connect, and decides who of
// them is a person of an account. Start with Verifier, which checks a token, and Client, which calls the issuer.
package signin

import (
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
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

// ErrGrant is returned for a code or a refresh token that the issuer no longer accepts. The person has to sign in
// again.
var ErrGrant = errors.New("signin: the issuer refuses the grant")

// maxTokens bounds an answer of the token endpoint.
const maxTokens = 64 << 10

// tokenTimeout bounds a call of the token endpoint.
const tokenTimeout = 5 * time.Second

// Tokens are an answer of the token endpoint. An answer to a refresh has no refresh token if the earlier one stays
// valid.
type Tokens struct {
	Access    string `json:"access_token"`
	ID        string `json:"id_token"`
	Refresh   string `json:"refresh_token"`
	ExpiresIn int    `json:"expires_in"` // seconds
}

// Client sends people to the issuer and redeems what they return with. It is safe for concurrent use.
type Client struct {
	settings Settings
	http     *http.Client
}

// NewClient returns a client of the issuer.
func NewClient(s Settings) *Client {
	return &Client{s, &http.Client{Timeout: tokenTimeout, CheckRedirect: stay}}
}

// Request describes a sign-in. State, Nonce and Verifier are random and used once.
type Request struct {
	State, Nonce, Verifier, Redirect string
	// Again makes the issuer ask for the credentials even if the browser has signed in there.
	Again bool
	// Connection is the name of the provider to sign in with. If it is empty, the issuer lets the person choose.
	Connection string
	// Language is the preferred language of the issuer's pages.
	Language string
}

// AuthorizeURL returns the address at the issuer where the sign-in begins.
func (c *Client) AuthorizeURL(r Request) string {
	challenge := sha256.Sum256([]byte(r.Verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {c.settings.ClientID}, "redirect_uri": {r.Redirect},
		"scope": {"openid email profile"}, "state": {r.State}, "nonce": {r.Nonce},
		"code_challenge":        {base64.RawURLEncoding.EncodeToString(challenge[:])},
		"code_challenge_method": {"S256"},
	}
	if r.Again {
		q.Set("prompt", "login")
		q.Set("max_age", "0")
	}
	if r.Connection != "" {
		q.Set("identity_provider", r.Connection)
	}
	if r.Language != "" {
		q.Set("lang", r.Language)
	}
	return c.settings.AuthorizeURL + "?" + q.Encode()
}

// LogoutURL returns the address at the issuer that ends the sign-in there and returns to an address.
func (c *Client) LogoutURL(to string) string {
	return c.settings.LogoutURL + "?" + url.Values{"client_id": {c.settings.ClientID}, "logout_uri": {to}}.Encode()
}

// Redeem exchanges the code of a sign-in for tokens. A code works once, so a call whose answer is lost is not repeated:
// the person signs in again.
func (c *Client) Redeem(ctx context.Context, code, verifier, redirect string) (Tokens, error) {
	return c.tokens(ctx, 1, url.Values{"grant_type": {"authorization_code"}, "code": {code},
		"code_verifier": {verifier}, "redirect_uri": {redirect}})
}

// Refresh exchanges a refresh token for new tokens. It repeats a call that got no answer, because a refresh token works
// until it is revoked.
func (c *Client) Refresh(ctx context.Context, refresh string) (Tokens, error) {
	return c.tokens(ctx, maxAttempts, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}})
}

// Revoke ends a refresh token and the access tokens that were made with it.
func (c *Client) Revoke(ctx context.Context, refresh string) error {
	// The endpoint is beside that of the tokens at Amazon Cognito.
	to := strings.TrimSuffix(c.settings.TokenURL, "/token") + "/revoke"
	_, err := c.post(ctx, maxAttempts, to, url.Values{"token": {refresh}})
	return err
}

func (c *Client) tokens(ctx context.Context, attempts int, form url.Values) (t Tokens, err error) {
	body, err := c.post(ctx, attempts, c.settings.TokenURL, form)
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(body, &t); err != nil || t.Access == "" || t.ID == "" || t.ExpiresIn <= 0 {
		return Tokens{}, fmt.Errorf("signin: the answer of the token endpoint is incomplete (%v)", err != nil)
	}
	return t, nil
}

// post sends a form. It repeats the call after failures of the network and of the issuer.
func (c *Client) post(ctx context.Context, attempts int, to string, form url.Values) (body []byte, err error) {
	form.Set("client_id", c.settings.ClientID)
	for try := range attempts {
		if werr := backoff.Wait(ctx, try, 100*time.Millisecond, 500*time.Millisecond); werr != nil {
			return nil, werr
		}
		var again bool
		if body, again, err = c.once(ctx, to, form); err == nil || !again {
			return body, err
		}
	}
	return nil, err
}

func (c *Client) once(ctx context.Context, to string, form url.Values) (body []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, false, fmt.Errorf("signin: token endpoint: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, true, fmt.Errorf("signin: token endpoint: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, err = io.ReadAll(io.LimitReader(resp.Body, maxTokens)); err != nil {
		return nil, true, fmt.Errorf("signin: token endpoint: %w", err)
	}
	var failed struct {
		Error string `json:"error"`
	}
	switch {
	case resp.StatusCode == http.StatusOK:
		return body, false, nil
	case resp.StatusCode == http.StatusBadRequest && json.Unmarshal(body, &failed) == nil &&
		failed.Error == "invalid_grant":
		return nil, false, ErrGrant
	default:
		// The body may repeat a token, so only the status is kept.
		again = resp.StatusCode >= http.StatusInternalServerError
		return nil, again, errors.New("signin: the token endpoint answers with status " + strconv.Itoa(resp.StatusCode))
	}
}

// ErrInvalid is wrapped by the error of every token that is refused.
var ErrInvalid = errors.New("signin: invalid token")

// ownAttributes is the scope of the tokens that Cognito gives to a password without its sign-in page. They change
// attributes of their person at Cognito. No one has signed in here by them.
const ownAttributes = "aws.cognito.signin.user.admin"

// leeway is the difference that is tolerated between the issuer's clock and this one.
const leeway = 30 * time.Second

// Verifier verifies tokens of one issuer and one client. It is safe for concurrent use.
type Verifier struct {
	settings Settings
	keys     *keys
	now      func() time.Time
}

// Enabled reports whether there is an issuer, and a name for its people.
func (v *Verifier) Enabled() bool { return v.settings.Issuer != "" && v.settings.Pool != "" }

// Pool returns the name that stored identities have instead of the issuer's.
func (v *Verifier) Pool() string { return v.settings.Pool }

// Access has the claims of a person's access token.
type Access struct {
	Subject   string
	Scope     string
	IssuedAt  time.Time
	ExpiresAt time.Time
}

// Identity has the claims of a person's ID token.
type Identity struct {
	Pool          string
	Subject       string
	Email         string
	EmailVerified bool
	Name          string
	// Connection is the name of the customer's provider that a federated person signed in with. It is empty for a
	// person of the pool itself.
	Connection string
	// Groups are the person's groups at the customer's provider. A person of the pool itself has none.
	Groups []string
	// AuthTime is the time at which the person gave the credentials.
	AuthTime  time.Time
	ExpiresAt time.Time
}

// claims are the claims of both kinds of tokens.
type claims struct {
	jwt.Claims
	Use        string           `json:"token_use"`
	ClientID   string           `json:"client_id"`
	Scope      string           `json:"scope"`
	Nonce      string           `json:"nonce"`
	AuthTime   *jwt.NumericDate `json:"auth_time"`
	Email      string           `json:"email"`
	Verified   flag             `json:"email_verified"`
	Name       string           `json:"name"`
	Groups     list             `json:"custom:groups"`
	Identities []struct {
		Provider string `json:"providerName"`
	} `json:"identities"`
}

// flag is a boolean. Attributes that Cognito maps from a provider arrive as the text "true".
type flag bool

func (f *flag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "true" || string(b) == `"true"`
	return nil
}

// list is a list of texts. Cognito writes an attribute with several values as one text, "[a, b]".
type list []string

func (l *list) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, (*[]string)(l)) == nil {
		return nil
	}
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	*l = nil
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			*l = append(*l, part)
		}
	}
	return nil
}

// LooksLikeToken reports whether a bearer token has the form of a signed JSON Web Token. It does not verify anything.
func LooksLikeToken(token string) bool {
	return strings.HasPrefix(token, "eyJ") && strings.Count(token, ".") == 2
}

// Access verifies an access token. An error that does not wrap ErrInvalid means that it could not be verified.
func (v *Verifier) Access(ctx context.Context, token string) (Access, error) {
	c, err := v.verify(ctx, token)
	if err != nil {
		return Access{}, err
	}
	if c.Use != "access" || c.ClientID != v.settings.ClientID {
		return Access{}, fmt.Errorf("%w: use %q", ErrInvalid, c.Use)
	}
	if slices.Contains(strings.Fields(c.Scope), ownAttributes) {
		return Access{}, fmt.Errorf("%w: it does not come from the sign-in page", ErrInvalid)
	}
	return Access{c.Subject, c.Scope, c.IssuedAt.Time(), c.Expiry.Time()}, nil
}

// Identity verifies an ID token that answers the authorization request with the nonce. An ID token of a refresh has no
// nonce: its nonce is empty.
func (v *Verifier) Identity(ctx context.Context, token, nonce string) (Identity, error) {
	c, err := v.verify(ctx, token)
	if err != nil {
		return Identity{}, err
	}
	// An access token has a client_id but no audience. Not all issuers write token_use into ID tokens.
	if (c.Use != "id" && c.Use != "") || len(c.Audience) != 1 || c.Audience[0] != v.settings.ClientID ||
		c.Nonce != nonce {
		return Identity{}, fmt.Errorf("%w: use, audience or nonce", ErrInvalid)
	}
	id := Identity{
		Pool: v.settings.Pool, Subject: c.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Name: c.Name,
		ExpiresAt: c.Expiry.Time(),
	}
	if c.AuthTime != nil {
		id.AuthTime = c.AuthTime.Time()
	}
	// The pool alone writes identities. A person of the pool may write the attribute of the groups, but no provider
	// vouches for them.
	if len(c.Identities) > 0 {
		id.Connection, id.Groups = c.Identities[len(c.Identities)-1].Provider, c.Groups
	}
	return id, nil
}

func (v *Verifier) verify(ctx context.Context, token string) (c claims, err error) {
	if !v.Enabled() {
		return c, fmt.Errorf("%w: no issuer", ErrInvalid)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || len(parsed.Headers) != 1 || parsed.Headers[0].KeyID == "" {
		return c, fmt.Errorf("%w: form or algorithm", ErrInvalid)
	}
	// Unverified claims save a fetch of keys for tokens of other issuers.
	if err := parsed.UnsafeClaimsWithoutVerification(&c); err != nil || v.check(&c) != nil {
		return claims{}, fmt.Errorf("%w: claims", ErrInvalid)
	}
	found, err := v.keys.find(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return claims{}, err
	}
	for _, key := range found {
		public, ok := key.Key.(*rsa.PublicKey)
		if !ok || (key.Use != "" && key.Use != "sig") {
			continue
		}
		var verified claims
		if parsed.Claims(public, &verified) == nil {
			return verified, nil
		}
	}
	return claims{}, fmt.Errorf("%w: signature", ErrInvalid)
}

func (v *Verifier) check(c *claims) error {
	if c.Subject == "" || c.Expiry == nil || c.IssuedAt == nil {
		return ErrInvalid
	}
	return c.ValidateWithLeeway(jwt.Expected{Issuer: v.settings.Issuer, Time: v.now()}, leeway)
}

const (
	attemptTimeout = 2 * time.Second
	maxAttempts    = 2
	maxKeySet      = 256 << 10
	// lifetime is the age from which the keys are fetched again. Keys that cannot be fetched stay in use.
	lifetime = time.Hour
	// shortest is the least time between two fetches. It bounds the fetches that tokens with unknown keys cause.
	shortest = time.Minute
	// retryAfter is the least time between two fetches as long as no keys were ever fetched.
	retryAfter = time.Second
)

// keys caches the key set of an issuer. It is safe for concurrent use.
type keys struct {
	url    string
	client *http.Client
	now    func() time.Time

	mu        sync.Mutex
	set       *jose.JSONWebKeySet
	fetchedAt time.Time
	triedAt   time.Time
}

// find returns the RSA keys with the id. It returns ErrInvalid if there are none, and provider_unavailable if the keys
// were never fetched and cannot be fetched now.
func (k *keys) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var found []jose.JSONWebKey
	if k.set != nil {
		found = k.set.Key(id)
	}
	now := k.now()
	wait := shortest
	if k.set == nil {
		wait = retryAfter
	}
	if stale := now.Sub(k.fetchedAt) >= lifetime; (len(found) == 0 || stale) && now.Sub(k.triedAt) >= wait {
		k.triedAt = now
		// A caller who goes away must not take the keys from the next ones.
		set, err := k.fetch(context.WithoutCancel(ctx))
		switch {
		case err == nil:
			k.set, k.fetchedAt = set, now
			found = set.Key(id)
		case k.set == nil:
			return nil, unavailable(err)
		default:
			slog.Warn("the keys of the issuer could not be fetched; the earlier ones stay in use", "error", err)
		}
	}
	switch {
	case k.set == nil:
		return nil, unavailable(nil)
	case len(found) == 0:
		return nil, fmt.Errorf("%w: unknown key", ErrInvalid)
	}
	return found, nil
}

func unavailable(cause error) error {
	return errs.Wrap(cause, errs.ProviderUnavailable, "Your sign-in cannot be checked at the moment. Repeat the "+
		"request in a few seconds.")
}

func (k *keys) fetch(ctx context.Context) (set *jose.JSONWebKeySet, err error) {
	for try := range maxAttempts {
		if werr := backoff.Wait(ctx, try, 50*time.Millisecond, 200*time.Millisecond); werr != nil {
			return nil, werr
		}
		if set, err = k.get(ctx); err == nil {
			return set, nil
		}
	}
	return nil, err
}

func (k *keys) get(ctx context.Context) (*jose.JSONWebKeySet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.url, nil)
	if err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	resp, err := k.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // was read
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("signin: keys: status %d", resp.StatusCode)
	}
	var answer struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxKeySet)).Decode(&answer); err != nil {
		return nil, fmt.Errorf("signin: keys: %w", err)
	}
	set := &jose.JSONWebKeySet{}
	for _, raw := range answer.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil { // keys of kinds that are not known are ignored (RFC 7517, 5)
			set.Keys = append(set.Keys, key)
		}
	}
	if len(set.Keys) == 0 { // such as the error of a proxy
		return nil, errors.New("signin: keys: the answer has none")
	}
	return set, nil
}
