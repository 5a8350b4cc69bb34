package signin

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

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
