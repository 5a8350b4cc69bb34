// Package identity is an OpenID Connect provider for the service on one machine: the code flow with PKCE, a form with
// ready users, refresh tokens, their revocation, sign-out, and the federation of customers' providers. It plays the
// user pool: its tokens have the claims of Amazon Cognito's. It is for development and tests.
package identity

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The lifetimes of what the provider issues.
const (
	codeLifetime    = time.Minute
	accessLifetime  = time.Hour
	refreshLifetime = 30 * 24 * time.Hour
	sessionLifetime = time.Hour
)

// User is someone who can sign in.
type User struct {
	Subject, Email, Name string
	// Connection is the name of the provider that the user is federated from. It is empty for a user of the pool.
	Connection string
	Groups     []string
	// Unverified reports that nobody has verified the e-mail address.
	Unverified bool
}

// Options are the options of New.
type Options struct {
	// Issuer is the address of the provider, without a slash at its end.
	Issuer   string
	ClientID string
	// Redirects are the addresses that a sign-in may return to, and Logouts those of a sign-out.
	Redirects, Logouts []string
	Users              []User
	// Password returns the password of all users.
	Password func() string
	// Key returns the key that signs tokens. It is called at the first use, because making one takes a while.
	Key func() (*rsa.PrivateKey, error)
	Now func() time.Time
	// Outside calls the providers of customers, whose addresses are untrusted.
	Outside http.RoundTripper
	// Load returns what Save has kept: the providers of customers and their people. Without them, both are forgotten.
	Load func() string
	Save func(string)
}

// Provider is a running provider.
type Provider struct {
	o      Options
	key    func() (*rsa.PrivateKey, error)
	routes *http.ServeMux

	mu       sync.Mutex
	codes    map[string]grant
	sessions map[string]session
	revoked  map[string]bool // by the id of a refresh token
	away     map[string]away // by the state
	kept     kept
}

// grant is a sign-in whose code was not redeemed yet, or the origin of a refresh token.
type grant struct {
	user                       User
	redirect, challenge, nonce string
	authTime, until            time.Time
}

// session is a browser that has signed in at the provider.
type session struct {
	user  User
	at    time.Time
	until time.Time
}

// New returns a provider.
func New(o Options) *Provider {
	p := &Provider{o: o, key: sync.OnceValues(o.Key), routes: http.NewServeMux(), codes: map[string]grant{},
		sessions: map[string]session{}, revoked: map[string]bool{}, away: map[string]away{}}
	p.load()
	base, _ := url.Parse(o.Issuer)
	for pattern, handle := range map[string]http.HandlerFunc{
		"GET /.well-known/openid-configuration": p.discover, "GET /jwks.json": p.keys,
		"GET /oauth2/authorize": p.authorize, "POST /login": p.login, "POST /token": p.token, "POST /revoke": p.revoke,
		"GET /logout": p.logout, "GET /oauth2/idpresponse": p.oidcResponse, "POST /saml2/idpresponse": p.samlResponse,
	} {
		method, path, _ := strings.Cut(pattern, " ")
		p.routes.HandleFunc(method+" "+strings.TrimSuffix(base.Path, "/")+path, handle)
	}
	return p
}

// ServeHTTP implements http.Handler.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	p.routes.ServeHTTP(w, r)
}

// Reset forgets the sign-ins of all browsers, as if each had signed out here.
func (p *Provider) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.sessions)
}

func (p *Provider) discover(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, map[string]any{
		"issuer": p.o.Issuer, "authorization_endpoint": p.o.Issuer + "/oauth2/authorize",
		"token_endpoint": p.o.Issuer + "/token", "revocation_endpoint": p.o.Issuer + "/revoke",
		"end_session_endpoint": p.o.Issuer + "/logout", "jwks_uri": p.o.Issuer + "/jwks.json",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"}, "code_challenge_methods_supported": []string{"S256"},
	})
}

func (p *Provider) keys(w http.ResponseWriter, _ *http.Request) {
	key, err := p.key()
	if err != nil {
		write(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
		return
	}
	public := jose.JSONWebKey{Key: key.Public(), KeyID: keyID(key), Algorithm: string(jose.RS256), Use: "sig"}
	write(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{public}})
}

// keyID names a key by its modulus, so that a new key has a new name.
func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(key.N.Bytes())
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}

// token redeems a code or a refresh token.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if r.PostFormValue("client_id") != p.o.ClientID {
		write(w, http.StatusBadRequest, map[string]string{"error": "invalid_client"})
		return
	}
	var g grant
	var ok bool
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		g, ok = p.redeem(r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		ok = ok && g.redirect == r.PostFormValue("redirect_uri") &&
			g.challenge == base64.RawURLEncoding.EncodeToString(sum[:])
	case "refresh_token":
		g, _, ok = p.refreshed(r.PostFormValue("refresh_token"))
	default:
		write(w, http.StatusBadRequest, map[string]string{"error": "unsupported_grant_type"})
		return
	}
	if !ok {
		write(w, http.StatusBadRequest, map[string]string{"error": "invalid_grant"})
		return
	}
	answer, err := p.issue(g, r.PostFormValue("grant_type") == "authorization_code")
	if err != nil {
		write(w, http.StatusInternalServerError, map[string]string{"error": "server_error"})
		return
	}
	write(w, http.StatusOK, answer)
}

// redeem returns the grant of a code, once.
func (p *Provider) redeem(code string) (grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.codes[code]
	delete(p.codes, code)
	return g, ok && p.o.Now().Before(g.until)
}

// claims are those of all tokens. Refresh tokens are tokens too, so that they outlive a restart.
type claims struct {
	jwt.Claims
	Use        string           `json:"token_use"`
	ClientID   string           `json:"client_id,omitempty"`
	Scope      string           `json:"scope,omitempty"`
	Nonce      string           `json:"nonce,omitempty"`
	AuthTime   *jwt.NumericDate `json:"auth_time,omitempty"`
	Email      string           `json:"email,omitempty"`
	Verified   bool             `json:"email_verified,omitempty"`
	Name       string           `json:"name,omitempty"`
	Groups     []string         `json:"custom:groups,omitempty"`
	Identities []map[string]any `json:"identities,omitempty"`
}

// issue makes the answer of the token endpoint.
func (p *Provider) issue(g grant, first bool) (map[string]any, error) {
	now := p.o.Now()
	base := func(use string, lifetime time.Duration) claims {
		return claims{Use: use, AuthTime: jwt.NewNumericDate(g.authTime), Claims: jwt.Claims{
			Issuer: p.o.Issuer, Subject: g.user.Subject, ID: rand.Text(), IssuedAt: jwt.NewNumericDate(now),
			Expiry: jwt.NewNumericDate(now.Add(lifetime)),
		}}
	}
	access := base("access", accessLifetime)
	access.ClientID, access.Scope = p.o.ClientID, "openid email profile"
	id := base("id", accessLifetime)
	id.Audience = jwt.Audience{p.o.ClientID}
	id.Email, id.Verified, id.Name, id.Groups = g.user.Email, !g.user.Unverified, g.user.Name, g.user.Groups
	if g.user.Connection != "" {
		id.Identities = []map[string]any{{"providerName": g.user.Connection, "userId": g.user.Subject, "primary": "true"}}
	}
	all := map[string]claims{"access_token": access, "id_token": id}
	if first {
		id.Nonce = g.nonce
		all["id_token"], all["refresh_token"] = id, base("refresh", refreshLifetime)
	}
	answer := map[string]any{"token_type": "Bearer", "expires_in": int(accessLifetime.Seconds())}
	for name, c := range all {
		token, err := p.sign(c)
		if err != nil {
			return nil, err
		}
		answer[name] = token
	}
	return answer, nil
}

func (p *Provider) sign(c claims) (string, error) {
	key, err := p.key()
	if err != nil {
		return "", err
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: key},
		(&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", keyID(key)))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(c).Serialize()
}

// refreshed returns the grant and the id of a refresh token.
func (p *Provider) refreshed(token string) (g grant, id string, ok bool) {
	key, err := p.key()
	if err != nil {
		return g, "", false
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return g, "", false
	}
	var c claims
	if err := parsed.Claims(key.Public(), &c); err != nil || c.Use != "refresh" ||
		c.ValidateWithLeeway(jwt.Expected{Issuer: p.o.Issuer, Time: p.o.Now()}, 0) != nil {
		return g, "", false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u, known := p.kept.Users[c.Subject]
	if i := slices.IndexFunc(p.o.Users, func(u User) bool { return u.Subject == c.Subject }); i >= 0 {
		u, known = p.o.Users[i], true
	}
	if !known || p.revoked[c.ID] {
		return g, "", false
	}
	return grant{user: u, authTime: c.AuthTime.Time()}, c.ID, true
}

// revoke ends a refresh token (RFC 7009).
func (p *Provider) revoke(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if _, id, ok := p.refreshed(r.PostFormValue("token")); ok {
		p.mu.Lock()
		p.revoked[id] = true
		p.mu.Unlock()
	}
	w.WriteHeader(http.StatusOK)
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// recent reports whether a sign-in is recent enough for the max_age of a request.
func recent(at, now time.Time, maxAge string) bool {
	seconds, err := strconv.Atoi(maxAge)
	return maxAge == "" || err == nil && now.Sub(at) <= time.Duration(seconds)*time.Second
}
