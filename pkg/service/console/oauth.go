package console

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
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
	temporarily     = "temporarily_unavailable"
)

const (
	// mostRedirects bounds the addresses of a program, and longestRedirect the characters of one.
	mostRedirects, longestRedirect = 5, 512
	// longestProgram bounds the name of a program, in characters.
	longestProgram = 64
	// longestToken bounds a code, a token and an address, and longestState what a program gets back as it is.
	longestToken, longestState = 512, 2048
	// mostResources bounds the services that a program asks for at once.
	mostResources = 10
)

// The grants and the kinds of answers that programs may use, whatever else they register.
var grants, responses = []string{"authorization_code", "refresh_token"}, []string{"code"}

// lengths are the parameters that are read, with their longest values. All others are ignored (RFC 6749, 3.1).
var lengths = map[string]int{
	"client_id": longestToken, "redirect_uri": longestToken, "response_type": longestToken, "scope": longestState,
	"state": longestState, "code_challenge": longestToken, "code_challenge_method": longestToken,
	"resource": longestToken, "grant_type": longestToken, "code": longestToken, "code_verifier": longestToken,
	"refresh_token": longestToken, "token": longestToken, "client_secret": longestToken, "wish": 4 * longestState,
}

// refusal is an answer of the authorization server to a program. Its description is a sentence without its period.
type refusal struct {
	status            int
	code, description string
	// after is the time after which the program may try again, or zero.
	after time.Duration
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
	// They take no cookie, so that programs in the pages of others may call them as well.
	for path, handle := range map[string]func(*http.Request) (int, any, error){registerPath: s.register,
		tokenPath: s.token, revokePath: s.revoke} {
		routes.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.serveProgram(w, r, handle) })
	}
	routes.HandleFunc("/oauth/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"error": invalidRequest,
			"error_description": "There is no such path. The metadata are at " + oauthMetadataPath + ".",
			"request_id":        w.Header().Get("X-Request-Id")})
	})
}

// serveProgram answers a program in JSON.
func (s *site) serveProgram(w http.ResponseWriter, r *http.Request,
	handle func(*http.Request) (int, any, error)) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type, MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		w.Header().Set("Allow", http.MethodPost)
		writeJSON(w, http.StatusMethodNotAllowed, map[string]string{"error": invalidRequest,
			"error_description": "Send a POST request", "request_id": w.Header().Get("X-Request-Id")})
		return
	}
	status, body, err := handle(r)
	var e *refusal
	switch {
	case errors.As(err, &e):
		if e.after > 0 {
			w.Header().Set("Retry-After", inSeconds(e.after))
		}
		writeJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description + ".",
			"request_id": w.Header().Get("X-Request-Id")})
	case err != nil:
		slog.Error("a program was not answered", "path", r.URL.Path, "error", err)
		writeJSON(w, http.StatusServiceUnavailable, map[string]string{"error": temporarily,
			"error_description": messageUnavailable, "request_id": w.Header().Get("X-Request-Id")})
	case body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, body)
	}
}

// inSeconds returns a time as Retry-After has it.
func inSeconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// addressOf returns the address that a request comes from.
func addressOf(r *http.Request) string {
	gateway, _ := core.GetAPIGatewayContextFromContext(r.Context())
	return gateway.Identity.SourceIP
}

// messageGuesses is the public message of a network that has sent too many wrong codes or links.
const messageGuesses = "Too many wrong codes or links came from this network. Try again in five minutes."

// oauthMetadata describes the server (RFC 8414).
func (s *site) oauthMetadata(w http.ResponseWriter, _ *http.Request) {
	var scopes []string
	for _, scope := range auth.AllScopes() {
		scopes = append(scopes, string(scope))
	}
	w.Header().Set("Access-Control-Allow-Origin", "*")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + authorizePath, "token_endpoint": s.URL + tokenPath,
		"revocation_endpoint": s.URL + revokePath, "registration_endpoint": s.URL + registerPath,
		"scopes_supported": scopes, "response_types_supported": []string{"code"},
		"response_modes_supported": []string{"query"}, "grant_types_supported": grants,
		"code_challenge_methods_supported":               []string{"S256"},
		"client_id_metadata_document_supported":          true,
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"authorization_response_iss_parameter_supported": true,
		"service_documentation":                          s.URL + "/api-docs/guides/agents",
	})
}

// parameters reads the form of a request. A parameter of ours that is sent twice, one that is too long, and a
// credential in a header are refused.
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
	if r.PostForm.Get("client_secret") != "" {
		return nil, &refusal{status: http.StatusUnauthorized, code: invalidClient, description: "Programs have no " +
			"secret: leave out client_secret"}
	}
	return r.PostForm, nil
}

// misshapen says which parameter of ours is sent twice or is too long, or returns an empty text. A program may ask for
// several resources (RFC 8707, 2).
func misshapen(q url.Values) string {
	for _, name := range slices.Sorted(maps.Keys(lengths)) {
		values, most := q[name], lengths[name]
		if len(values) > 1 && (name != "resource" || len(values) > mostResources) {
			return "The parameter " + name + " is sent twice"
		}
		if slices.ContainsFunc(values, func(v string) bool { return len(v) > most }) {
			return "The parameter " + name + " is too long"
		}
	}
	return ""
}

// program returns the program of a request, or a message that says why there is none.
func (s *site) program(r *http.Request, id string) (p session.Program, message string, err error) {
	if strings.Contains(id, ":") {
		return s.described(r, id)
	}
	p, err = s.registeredProgram(r.Context(), id)
	if errors.Is(err, session.ErrProgram) {
		return p, "The program is not registered. Start again in the program.", nil
	}
	return p, "", err
}

// registeredProgram returns a program that was registered, or session.ErrProgram.
func (s *site) registeredProgram(ctx context.Context, id string) (session.Program, error) {
	if !isToken(strings.TrimPrefix(id, "prg_"), 1, 64) {
		return session.Program{}, session.ErrProgram
	}
	return s.Sessions.Program(ctx, id)
}

// caller returns the id of the program that calls. One that is not registered is refused. A program that a document
// describes is known by its address: its codes and tokens work with that address alone.
func (s *site) caller(ctx context.Context, id string) (string, error) {
	if documentAddress(id) {
		return id, nil
	}
	_, err := s.registeredProgram(ctx, id)
	if errors.Is(err, session.ErrProgram) {
		err = &refusal{status: http.StatusUnauthorized, code: invalidClient,
			description: "The program is not registered. Register it again"}
	}
	return id, err
}

// targets reports whether resources (RFC 8707) are of this service. Without any they are.
func (s *site) targets(resources []string) bool {
	return !slices.ContainsFunc(resources, func(resource string) bool {
		resource = strings.TrimSuffix(resource, "/")
		return resource != "" && resource != s.URL && resource != s.URL+"/mcp"
	})
}

// token issues tokens for a code or a refresh token.
func (s *site) token(r *http.Request) (int, any, error) {
	q, err := parameters(r, "grant_type", "client_id")
	if err != nil {
		return 0, nil, err
	}
	program, err := s.caller(r.Context(), q.Get("client_id"))
	switch {
	case err != nil:
		return 0, nil, err
	case !s.targets(q["resource"]):
		return 0, nil, bad(invalidTarget, "resource is not one of this service")
	}
	err = s.Sessions.MayGuess(r.Context(), session.ProgramTokens, addressOf(r))
	if errors.Is(err, session.ErrGuesses) {
		return 0, nil, &refusal{status: http.StatusTooManyRequests, code: temporarily, after: s.Sessions.GuessesEnd(),
			description: strings.TrimSuffix(messageGuesses, ".")}
	} else if err != nil {
		return 0, nil, err
	}
	out, err := s.issued(r, program, q)
	if err != nil {
		return 0, nil, err
	}
	var names []string
	for _, scope := range out.Scopes {
		names = append(names, string(scope))
	}
	return http.StatusOK, map[string]any{"access_token": out.Access, "token_type": "Bearer",
		"expires_in": int(out.AccessEndsAt.Sub(s.Now()).Round(time.Second).Seconds()), "refresh_token": out.Refresh,
		"scope": strings.Join(names, " ")}, nil
}

// issued returns the tokens that a program gets for a code or a refresh token.
func (s *site) issued(r *http.Request, program string, q url.Values) (out session.Issued, err error) {
	switch q.Get("grant_type") {
	case "authorization_code":
		if q, err = parameters(r, "code", "redirect_uri", "code_verifier"); err != nil {
			return out, err
		}
		if v := q.Get("code_verifier"); len(v) < 43 || len(v) > 128 || !isToken(strings.NewReplacer(".", "", "~", "").
			Replace(v), 1, 128) {
			return out, bad(invalidRequest, "code_verifier has 43 to 128 letters, digits, -, ., _ or ~")
		}
		out, err = s.Sessions.Tokens(r.Context(), program, q.Get("code"), q.Get("redirect_uri"), q.Get("code_verifier"))
	case "refresh_token":
		if q, err = parameters(r, "refresh_token"); err != nil {
			return out, err
		}
		out, err = s.Sessions.Renew(r.Context(), program, q.Get("refresh_token"), s.mayStill)
	default:
		return out, bad("unsupported_grant_type", "grant_type is authorization_code or refresh_token")
	}
	if errors.Is(err, session.ErrReused) {
		slog.Warn("a code or a token of a program was used twice", "key_id", out.KeyID)
		if err := s.endGrant(r.Context(), out.Grant); err != nil {
			return out, err
		}
		return out, bad(invalidGrant, "The code or the token was used before. The person connects the program again")
	}
	if errors.Is(err, session.ErrGrant) {
		if err := s.Sessions.CountGuess(r.Context(), session.ProgramTokens, addressOf(r)); err != nil {
			return out, err
		}
		return out, bad(invalidGrant, "The code or the token is wrong, used or expired, or belongs to another "+
			"program")
	}
	return out, err
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
	program, err := s.caller(r.Context(), q.Get("client_id"))
	if err != nil {
		return 0, nil, err
	}
	g, err := s.Sessions.Withdraw(r.Context(), program, q.Get("token"))
	if errors.Is(err, session.ErrGrant) {
		return 0, nil, bad(invalidGrant, "The token belongs to another program")
	}
	if err == nil && g != nil {
		err = s.endGrant(r.Context(), *g)
	}
	return http.StatusOK, map[string]any{}, err
}
