package console

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/cloud/proxy"
)

// The paths of the authorization server (RFC 8414).
const (
	oauthMetadataPath = "/.well-known/oauth-authorization-server"
	authorizePath     = "/oauth/authorize"
	tokenPath         = "/oauth/token"
	revokePath        = "/oauth/revoke"
	registerPath      = "/oauth/register"
)

// The codes of errors of RFC 6749, 7591 and 8707.
const (
	invalidRequest  = "invalid_request"
	invalidClient   = "invalid_client"
	invalidGrant    = "invalid_grant"
	invalidScope    = "invalid_scope"
	invalidTarget   = "invalid_target"
	invalidRedirect = "invalid_redirect_uri"
	invalidMetadata = "invalid_client_metadata"
)

const (
	// mostRedirects bounds the addresses of a program, and longestRedirect the characters of one.
	mostRedirects, longestRedirect = 5, 512
	// longestProgram bounds the name of a program, in characters.
	longestProgram = 64
	// longestToken bounds a code, a token and a state.
	longestToken = 512
)

// refusal is an answer of the authorization server to a program. Its description is a sentence without its period.
type refusal struct {
	status            int
	code, description string
}

func (e *refusal) Error() string { return e.code + ": " + e.description }

func bad(code, description string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: code, description: description}
}

// addOAuth adds the authorization server of programs of others (OAuth 2.1): programs without a secret, which prove
// themselves by PKCE.
func (s *site) addOAuth(routes *http.ServeMux) {
	routes.HandleFunc("GET "+oauthMetadataPath, s.oauthMetadata)
	routes.HandleFunc("GET "+authorizePath, s.authorize)
	for path, handle := range map[string]func(*http.Request) (int, any, error){registerPath: s.register,
		tokenPath: s.token, revokePath: s.revoke} {
		routes.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.serveProgram(w, r, handle) })
	}
}

// serveProgram answers a program in JSON.
func (s *site) serveProgram(w http.ResponseWriter, r *http.Request,
	handle func(*http.Request) (int, any, error)) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"error": invalidRequest,
			"error_description": "Send a POST request"})
		return
	}
	status, body, err := handle(r)
	var e *refusal
	switch {
	case errors.As(err, &e):
		if e.status == http.StatusTooManyRequests {
			now := s.Now().UTC()
			left := now.Truncate(time.Hour).Add(time.Hour).Sub(now)
			w.Header().Set("Retry-After", strconv.Itoa(int((left+time.Second-1)/time.Second)))
		}
		writeJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description + ".",
			"request_id": w.Header().Get("X-Request-Id")})
	case err != nil:
		slog.Error("a program was not answered", "path", r.URL.Path, "error", err)
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": "temporarily_unavailable",
			"error_description": messageUnavailable})
	case body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, body)
	}
}

// oauthMetadata describes the server (RFC 8414).
func (s *site) oauthMetadata(w http.ResponseWriter, _ *http.Request) {
	var scopes []string
	for _, scope := range auth.AllScopes() {
		scopes = append(scopes, string(scope))
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + authorizePath, "token_endpoint": s.URL + tokenPath,
		"revocation_endpoint": s.URL + revokePath, "registration_endpoint": s.URL + registerPath,
		"scopes_supported": scopes, "response_types_supported": []string{"code"},
		"response_modes_supported": []string{"query"}, "grant_types_supported": []string{"authorization_code",
			"refresh_token"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"authorization_response_iss_parameter_supported": true,
		"service_documentation":                          s.URL + "/api-docs/guides/agents",
	})
}

// parameters reads the form of a request. A parameter that is sent twice, one that is too long, and a credential in a
// header are refused.
func parameters(r *http.Request, needed ...string) (url.Values, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, bad(invalidRequest, "Send the parameters as application/x-www-form-urlencoded")
	}
	if r.Header.Get("Authorization") != "" {
		return nil, &refusal{status: http.StatusUnauthorized, code: invalidClient, description: "Programs have no " +
			"secret: send client_id as a parameter, without the header Authorization"}
	}
	if len(r.URL.RawQuery) > 0 {
		return nil, bad(invalidRequest, "Send the parameters in the body, not in the address")
	}
	if err := r.ParseForm(); err != nil {
		return nil, bad(invalidRequest, "The form cannot be read")
	}
	if message := misshapen(r.PostForm); message != "" {
		return nil, bad(invalidRequest, message)
	}
	for _, name := range needed {
		if r.PostForm.Get(name) == "" {
			return nil, bad(invalidRequest, "The parameter "+name+" is missing")
		}
	}
	if r.PostForm.Has("client_secret") {
		return nil, &refusal{status: http.StatusUnauthorized, code: invalidClient, description: "Programs have no " +
			"secret: leave out client_secret"}
	}
	return r.PostForm, nil
}

// misshapen says which parameter is sent twice or is too long, or returns an empty text.
func misshapen(q url.Values) string {
	for name, values := range q {
		if len(values) > 1 {
			return "The parameter " + clipped(name) + " is sent twice"
		}
		if len(values[0]) > longestToken {
			return "The parameter " + clipped(name) + " is too long"
		}
	}
	return ""
}

// clipped returns the beginning of a name that a program has sent, without characters that could mislead.
func clipped(name string) string {
	if !isToken(name, 1, 32) {
		return "with that name"
	}
	return name
}

// program returns the program of a request.
func (s *site) program(ctx context.Context, id string) (session.Program, error) {
	if !isToken(strings.TrimPrefix(id, "prg_"), 1, 64) {
		return session.Program{}, session.ErrProgram
	}
	return s.Sessions.Program(ctx, id)
}

// registered returns the program that calls. One that is not registered is refused.
func (s *site) registered(ctx context.Context, id string) (session.Program, error) {
	p, err := s.program(ctx, id)
	if errors.Is(err, session.ErrProgram) {
		err = &refusal{status: http.StatusUnauthorized, code: invalidClient,
			description: "The program is not registered. Register it again"}
	}
	return p, err
}

// targets reports whether a resource (RFC 8707) is one of this service. Without one it is.
func (s *site) targets(resource string) bool {
	resource = strings.TrimSuffix(resource, "/")
	return resource == "" || resource == s.URL || resource == s.URL+"/mcp"
}

// register registers a program (RFC 7591). Anybody may, within bounds: a program can do nothing before a person has
// connected it, on a page that shows its address.
func (s *site) register(r *http.Request) (int, any, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 0, nil, bad(invalidMetadata, "Send the program as JSON")
	}
	var in struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 16<<10))
	if err != nil || json.Unmarshal(raw, &in) != nil {
		return 0, nil, bad(invalidMetadata, "The body is not a program in JSON of up to 16 KiB")
	}
	if in.Name = strings.TrimSpace(in.Name); in.Name == "" {
		in.Name = "Program"
	}
	switch {
	case utf8.RuneCountInString(in.Name) > longestProgram || !printable(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name has up to 64 printable characters")
	case !oneScript(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name mixes letters of scripts that look alike, such as Latin and "+
			"Cyrillic: write it in one")
	case !ownsName(in.Name, in.Redirects):
		return 0, nil, bad(invalidMetadata, "client_name is that of a known program, and redirect_uris has addresses "+
			"of others: choose another name")
	case in.Method != "" && in.Method != "none":
		return 0, nil, bad(invalidMetadata, "token_endpoint_auth_method is none: programs have no secret, and use PKCE")
	case !within(in.Grants, "authorization_code", "refresh_token"), !within(in.Responses, "code"):
		return 0, nil, bad(invalidMetadata, "grant_types are authorization_code and refresh_token, response_types code")
	case len(in.Redirects) == 0 || len(in.Redirects) > mostRedirects:
		return 0, nil, bad(invalidRedirect, "redirect_uris has one to five addresses")
	}
	for _, address := range in.Redirects {
		if !redirectable(address) {
			return 0, nil, bad(invalidRedirect, "An address of redirect_uris is https, http on 127.0.0.1, [::1] or "+
				"localhost, or has a scheme of a program of the computer such as com.example.app, and no fragment. It is "+
				"ASCII: a host with other letters is written as xn--…")
		}
	}
	gateway, _ := proxy.Gateway(r.Context())
	p, err := s.Sessions.Register(r.Context(), session.Program{Name: in.Name, Redirects: in.Redirects},
		gateway.Identity.SourceIP)
	if errors.Is(err, session.ErrRegistrations) {
		return 0, nil, &refusal{status: http.StatusTooManyRequests, code: invalidRequest, description: "Too many " +
			"programs were registered from this network. Repeat the request in the next hour, after the seconds in " +
			"Retry-After"}
	}
	return http.StatusCreated, map[string]any{"client_id": p.ID, "client_id_issued_at": p.MadeAt.Unix(),
		"client_name": p.Name, "redirect_uris": p.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}}, err
}

// within reports whether a list has known values alone.
func within(list []string, known ...string) bool {
	return !slices.ContainsFunc(list, func(v string) bool { return !slices.Contains(known, v) })
}

// schemes are those of programs of the computer that have no dot, as RFC 8252 wants.
var schemes = []string{"cursor", "vscode", "vscode-insiders"}

// redirectable reports whether an address may get codes: https, the loopback addresses, and schemes of programs of the
// computer. Scripts, files and data never are.
func redirectable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || len(address) > longestRedirect || u.Fragment != "" || strings.Contains(address, "#") ||
		u.User != nil || u.Opaque != "" || !ascii(address) || strings.ContainsAny(address, " \\*<>\"'") {
		return false
	}
	switch u.Scheme {
	case "https":
		return hostNamed(u.Hostname())
	case "http":
		return loopback(u)
	}
	return slices.Contains(schemes, u.Scheme) || strings.Contains(u.Scheme, ".") && isToken(
		strings.ReplaceAll(u.Scheme, ".", ""), 3, 64)
}

// loopback reports whether an address is on the computer of the browser.
func loopback(u *url.URL) bool {
	return slices.Contains([]string{"127.0.0.1", "::1", "localhost"}, u.Hostname())
}

// redirects reports whether a program has registered an address. The port of a loopback address does not count, because
// the computer gives it (RFC 8252).
func redirects(p session.Program, address string) bool {
	given, err := url.Parse(address)
	if err != nil || !redirectable(address) {
		return false
	}
	return slices.ContainsFunc(p.Redirects, func(known string) bool {
		of, err := url.Parse(known)
		if err != nil || known == address || !loopback(of) || of.Scheme != "http" {
			return err == nil && known == address
		}
		return given.Scheme == "http" && given.Hostname() == of.Hostname() && given.EscapedPath() == of.EscapedPath() &&
			given.RawQuery == of.RawQuery
	})
}

// token issues tokens for a code or a refresh token.
func (s *site) token(r *http.Request) (int, any, error) {
	q, err := parameters(r, "grant_type", "client_id")
	if err != nil {
		return 0, nil, err
	}
	p, err := s.registered(r.Context(), q.Get("client_id"))
	switch {
	case err != nil:
		return 0, nil, err
	case !s.targets(q.Get("resource")):
		return 0, nil, bad(invalidTarget, "resource is not one of this service")
	}
	var out session.Issued
	switch q.Get("grant_type") {
	case "authorization_code":
		if q, err = parameters(r, "code", "redirect_uri", "code_verifier"); err != nil {
			return 0, nil, err
		}
		if v := q.Get("code_verifier"); len(v) < 43 || len(v) > 128 || !isToken(strings.NewReplacer(".", "", "~", "").
			Replace(v), 1, 128) {
			return 0, nil, bad(invalidRequest, "code_verifier has 43 to 128 letters, digits, -, ., _ or ~")
		}
		out, err = s.Sessions.Tokens(r.Context(), p.ID, q.Get("code"), q.Get("redirect_uri"), q.Get("code_verifier"))
	case "refresh_token":
		if q, err = parameters(r, "refresh_token"); err != nil {
			return 0, nil, err
		}
		out, err = s.Sessions.Renew(r.Context(), p.ID, q.Get("refresh_token"), s.mayStill)
	default:
		return 0, nil, bad("unsupported_grant_type", "grant_type is authorization_code or refresh_token")
	}
	if errors.Is(err, session.ErrReused) {
		slog.Warn("a code or a token of a program was used twice", "key_id", out.KeyID)
		if err := s.endGrant(r.Context(), out.Grant); err != nil {
			return 0, nil, err
		}
		return 0, nil, bad(invalidGrant, "The code or the token was used before. The person connects the program again")
	}
	if errors.Is(err, session.ErrGrant) {
		return 0, nil, bad(invalidGrant, "The code or the token is wrong, used or expired, or belongs to another "+
			"program")
	}
	var names []string
	for _, scope := range out.Scopes {
		names = append(names, string(scope))
	}
	return http.StatusOK, map[string]any{"access_token": out.Access, "token_type": "Bearer",
		"expires_in": int(session.AccessLifetime.Seconds()), "refresh_token": out.Refresh,
		"scope": strings.Join(names, " ")}, err
}

// mayStill reports whether the person who has connected a program still has the rights that they have granted.
func (s *site) mayStill(ctx context.Context, g session.Grant) (bool, error) {
	role, err := s.RoleOf(ctx, g.Account, g.By)
	if err != nil || role == "" {
		return false, err
	}
	return !slices.ContainsFunc(g.Scopes, func(scope auth.Scope) bool {
		return !slices.Contains(role.Scopes(), scope)
	}), nil
}

// endGrant revokes the key of a grant, so that its tokens end at once, and forgets the grant.
func (s *site) endGrant(ctx context.Context, g session.Grant) error {
	if err := s.EndKey(ctx, g.Account, g.KeyID); err != nil {
		return err
	}
	return s.Sessions.Forget(ctx, g.KeyID)
}

// revoke ends a token (RFC 7009): that of a refresh token ends the connection.
func (s *site) revoke(r *http.Request) (int, any, error) {
	q, err := parameters(r, "token", "client_id")
	if err != nil {
		return 0, nil, err
	}
	p, err := s.registered(r.Context(), q.Get("client_id"))
	if err != nil {
		return 0, nil, err
	}
	g, err := s.Sessions.Withdraw(r.Context(), p.ID, q.Get("token"))
	if errors.Is(err, session.ErrGrant) {
		return 0, nil, bad(invalidGrant, "The token belongs to another program")
	}
	if err == nil && g != nil {
		err = s.endGrant(r.Context(), *g)
	}
	return http.StatusOK, map[string]any{}, err
}
