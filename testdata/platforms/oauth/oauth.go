// Package oauth is the part of the platforms' fakes in which an account's owner allows a
// connection: the page of the authorization endpoint, and the exchange of its code. It checks
// the requirements of RFC 6749 and RFC 7636.
package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// The application that the fakes know.
const (
	ClientID     = "app-0001"
	ClientSecret = "app-secret-0001"
	// HookToken is the operator's secret for webhooks.
	HookToken = "hook-token-0001"
)

// The application of a customer that the fakes know, too.
const (
	OwnClientID     = "app-0002"
	OwnClientSecret = "app-secret-0002"
)

// Server is the authorization server of one platform.
type Server struct {
	ClientID, ClientSecret string
	// ClientParam is the parameter with the client's id, or empty for client_id.
	ClientParam string
	// Scopes must be requested exactly, with Divider between them.
	Scopes  []string
	Divider string
	// Hex says that the challenge is encoded in hexadecimal instead of base64url.
	Hex bool
	// Extra is added to the address of the callback.
	Extra url.Values

	mu    sync.Mutex
	codes map[string]request
	// tokens has the client of each token, and calls the kinds of grant of the token endpoint with their clients.
	tokens map[string]string
	calls  []string
}

// request is the request for which a code was issued.
type request struct{ redirect, challenge, client string }

// Authorize serves the page: GET shows it, POST allows the connection.
func (s *Server) Authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if err := s.check(q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Allow the connection</title><h1>Allow the connection?</h1><p>It asks for: %s</p>`+
			`<form method="post"><button>Allow</button></form>`, html.EscapeString(q.Get("scope")))
		return
	}
	callback, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := callback.Query()
	for name, values := range s.Extra {
		answer[name] = values
	}
	answer.Set("code", s.code(request{q.Get("redirect_uri"), q.Get("code_challenge"), q.Get(s.param())}))
	answer.Set("state", q.Get("state"))
	callback.RawQuery = answer.Encode()
	http.Redirect(w, r, callback.String(), http.StatusFound)
}

func (s *Server) check(q url.Values) error {
	scopes := strings.Split(q.Get("scope"), s.Divider)
	slices.Sort(scopes)
	wanted := slices.Sorted(slices.Values(s.Scopes))
	switch {
	case q.Get(s.param()) != s.ClientID && q.Get(s.param()) != OwnClientID:
		return errors.New("the client is not known")
	case q.Get("response_type") != "code":
		return errors.New("the response type is not code")
	case q.Get("state") == "":
		return errors.New("there is no state")
	case !strings.HasPrefix(q.Get("redirect_uri"), "http"):
		return errors.New("the redirect URI is none")
	case len(q.Get("code_challenge")) != len(s.challenge("")) ||
		!strings.EqualFold(q.Get("code_challenge_method"), "S256"):
		return errors.New("there is no S256 challenge")
	case !slices.Equal(scopes, wanted):
		return fmt.Errorf("the scopes are %v, want %v", scopes, wanted)
	}
	return nil
}

// Code issues a code for the operator's application.
func (s *Server) Code(redirect, challenge string) string {
	return s.code(request{redirect, challenge, s.ClientID})
}

func (s *Server) code(of request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.codes == nil {
		s.codes = map[string]request{}
	}
	code := "code-" + rand.Text()
	s.codes[code] = of
	return code
}

// Exchange accepts a code, which is valid once. secret says that the client must
// authenticate.
func (s *Server) Exchange(form url.Values, secret bool) error {
	if err := s.Client(form, secret); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	issued, ok := s.codes[form.Get("code")]
	delete(s.codes, form.Get("code"))
	switch {
	case !ok:
		return errors.New("the code is not known")
	case issued.client != form.Get(s.param()):
		return errors.New("the code is another client's")
	case issued.redirect != form.Get("redirect_uri"):
		return errors.New("the redirect URI differs")
	case issued.challenge != s.challenge(form.Get("code_verifier")):
		return errors.New("the code verifier does not fit")
	}
	return nil
}

// Client checks the client of a call to the token endpoint.
func (s *Server) Client(form url.Values, secret bool) error {
	id := form.Get(s.param())
	if !s.Known(id, form.Get("client_secret"), secret) {
		return errors.New("the client is not known")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, strings.TrimSpace(form.Get("grant_type")+" "+id))
	if of, ok := s.tokens[form.Get("refresh_token")]; ok && of != id {
		return errors.New("the refresh token is another client's")
	}
	return nil
}

// Known reports whether a client is known, and has sent its secret if it must.
func (s *Server) Known(id, secret string, must bool) bool {
	switch id {
	case s.ClientID:
		return !must || secret == s.ClientSecret
	case OwnClientID:
		return !must || secret == OwnClientSecret
	}
	return false
}

// Issued notes the client of an answer of the token endpoint, and the tokens in it.
func (s *Server) Issued(form url.Values, tokens ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens == nil {
		s.tokens = map[string]string{}
	}
	for _, token := range tokens {
		s.tokens[token] = form.Get(s.param())
	}
}

// ClientOf returns the client of the token of a call.
func (s *Server) ClientOf(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
}

// Calls returns the kinds of grant of the calls of the token endpoint, with their clients.
func (s *Server) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *Server) challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	if s.Hex {
		return hex.EncodeToString(sum[:])
	}
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (s *Server) param() string {
	if s.ClientParam == "" {
		return "client_id"
	}
	return s.ClientParam
}

// Doer sends a request. It follows no redirect.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Allow acts as an owner in a browser. It opens the address of an authorization, allows the
// connection, and returns the parameters of the callback. The client must not follow
// redirects.
func Allow(client Doer, address string) (url.Values, error) {
	page, err := do(client, http.MethodGet, address)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(page.Body)
	page.Body.Close()
	if err != nil || page.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the page has the status %d: %s, %w", page.StatusCode, body, err)
	}
	answer, err := do(client, http.MethodPost, address)
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	callback, err := url.Parse(answer.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	return callback.Query(), nil
}

func do(client Doer, method, address string) (*http.Response, error) {
	r, err := http.NewRequest(method, address, nil)
	if err != nil {
		return nil, err
	}
	return client.Do(r)
}
