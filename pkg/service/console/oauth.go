package console

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/session"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/cloud/safehttp"
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
	mostRedirects, longestRedirect = 20, 512
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
	routes.HandleFunc("GET "+authorizePath, s.visited(authorize))
	// They take no cookie, so that programs in the pages of others may call them as well.
	for path, handle := range map[string]func(*http.Request) (int, any, error){registerPath: s.register,
		tokenPath: s.token, revokePath: s.revoke} {
		routes.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { s.serveProgram(w, r, handle) })
	}
	routes.HandleFunc("/oauth/", func(w http.ResponseWriter, _ *http.Request) {
		refuseProgram(w, &refusal{status: http.StatusNotFound, code: invalidRequest,
			description: "There is no such path. The metadata are at " + oauthMetadataPath})
	})
}

// serveProgram answers a program, which may be in the page of another site.
func (s *site) serveProgram(w http.ResponseWriter, r *http.Request,
	handle func(*http.Request) (int, any, error)) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.Method {
	case http.MethodPost:
		s.answerProgram(w, r, handle)
	case http.MethodOptions:
		w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
		w.Header().Set("Access-Control-Allow-Headers", "Content-Type, MCP-Protocol-Version")
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Allow", http.MethodPost)
		refuseProgram(w, &refusal{status: http.StatusMethodNotAllowed, code: invalidRequest,
			description: "Send a POST request"})
	}
}

// answerProgram answers a program in JSON.
func (s *site) answerProgram(w http.ResponseWriter, r *http.Request,
	handle func(*http.Request) (int, any, error)) {
	status, body, err := handle(r)
	if e, ok := errors.AsType[*refusal](err); ok {
		refuseProgram(w, e)
		return
	}
	switch {
	case err != nil:
		slog.Error("a program was not answered", "path", r.URL.Path, "error", err)
		refuseProgram(w, &refusal{status: http.StatusServiceUnavailable, code: temporarily,
			description: strings.TrimSuffix(messageUnavailable, ".")})
	case body == nil:
		w.WriteHeader(status)
	default:
		writeJSON(w, status, body)
	}
}

func refuseProgram(w http.ResponseWriter, e *refusal) {
	if e.after > 0 {
		w.Header().Set("Retry-After", inSeconds(e.after))
	}
	writeJSON(w, e.status, map[string]string{"error": e.code, "error_description": e.description + ".",
		"request_id": w.Header().Get("X-Request-Id")})
}

// guesses returns an error of a guess, as a program from a network with too many wrong codes gets it.
func (s *site) guesses(err error) error {
	if errors.Is(err, session.ErrGuesses) {
		return &refusal{status: http.StatusTooManyRequests, code: temporarily, after: s.Sessions.GuessesEnd(),
			description: strings.TrimSuffix(messageGuesses, ".")}
	}
	return err
}

// inSeconds returns a time as Retry-After has it.
func inSeconds(d time.Duration) string { return strconv.Itoa(int((d + time.Second - 1) / time.Second)) }

// addressOf returns the address that a request comes from.
func addressOf(r *http.Request) string {
	gateway, _ := proxy.Gateway(r.Context())
	return gateway.Identity.SourceIP
}

// messageGuesses is the public message of a network that has sent too many wrong codes or links.
const messageGuesses = "Too many wrong codes or links came from this network. Try again in five minutes."

// oauthMetadata describes the server (RFC 8414).
func (s *site) oauthMetadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	writeJSON(w, http.StatusOK, map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + authorizePath, "token_endpoint": s.URL + tokenPath,
		"revocation_endpoint": s.URL + revokePath, "registration_endpoint": s.URL + registerPath,
		"scopes_supported": asTexts(auth.AllScopes()), "response_types_supported": []string{"code"},
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

// program returns the program of a request, or why there is none.
func (s *site) program(r *http.Request, id string) (session.Program, error) {
	if strings.Contains(id, ":") {
		return s.described(r, id)
	}
	p, err := s.registeredProgram(r.Context(), id)
	if errors.Is(err, session.ErrProgram) {
		err = &failure{Status: http.StatusBadRequest,
			Message: "The program is not registered. Start again in the program."}
	}
	return p, err
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
	if err := s.guesses(s.Sessions.MayGuess(r.Context(), session.ProgramTokens, addressOf(r))); err != nil {
		return 0, nil, err
	}
	out, err := s.issued(r, program, q)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, map[string]any{"access_token": out.Access, "token_type": "Bearer",
		"expires_in": int(out.AccessEndsAt.Sub(s.Now()).Round(time.Second).Seconds()), "refresh_token": out.Refresh,
		"scope": strings.Join(asTexts(out.Scopes), " ")}, nil
}

// issued returns the tokens that a program gets for a code or a refresh token.
func (s *site) issued(r *http.Request, program string, q url.Values) (out session.TokenSet, err error) {
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
	role, err := s.role(ctx, g.Account, g.By)
	if err != nil || role == "" {
		return false, err
	}
	return !slices.ContainsFunc(g.Scopes, func(scope auth.Scope) bool {
		return !slices.Contains(role.Scopes(), scope)
	}), nil
}

// endGrant revokes the key of a grant, so that its tokens end at once, and forgets the grant.
func (s *site) endGrant(ctx context.Context, g session.Grant) error {
	if err := s.endKey(ctx, g.Account, g.KeyID); err != nil {
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

// register registers a program (RFC 7591). Anybody may, within bounds: a program can do nothing before a person has
// connected it, on a page that shows its address. The answer has the values that the service supports in place of
// others, as RFC 7591, 3.2.1 permits: the program decides whether it can work with them.
func (s *site) register(r *http.Request) (int, any, error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return 0, nil, bad(invalidMetadata, "Send the program as JSON")
	}
	var in struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Grants    []string `json:"grant_types"`
		Responses []string `json:"response_types"`
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, 16<<10))
	err = errors.Join(err, json.Unmarshal(raw, &in))
	if member, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && member.Field != "" {
		return 0, nil, bad(invalidMetadata, member.Field+" has a value of the wrong type (RFC 7591, 2)")
	}
	if err != nil {
		return 0, nil, bad(invalidMetadata, "The body is not a program in JSON of up to 16 KiB")
	}
	if in.Name = clippedName(in.Name); in.Name == "" {
		in.Name = "Program"
	}
	usable := redirectables(in.Redirects)
	switch {
	case !printable(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name has printable characters alone")
	case !oneScript(in.Name):
		return 0, nil, bad(invalidMetadata, "client_name mixes letters of scripts that look alike, such as Latin and "+
			"Cyrillic: write it in one")
	case !ownsName(in.Name, in.Redirects):
		return 0, nil, bad(invalidMetadata, "client_name is that of a known program, and redirect_uris has addresses "+
			"of others: choose another name")
	case !offers(in.Grants, grants), !offers(in.Responses, responses):
		return 0, nil, bad(invalidMetadata, "grant_types has authorization_code or refresh_token, and "+
			"response_types code")
	case len(in.Redirects) > mostRedirects:
		return 0, nil, bad(invalidRedirect, "redirect_uris has up to 20 addresses")
	case len(usable) == 0:
		return 0, nil, bad(invalidRedirect, "redirect_uris needs an address that is supported: https, http on "+
			"127.0.0.1, [::1] or "+
			"localhost, or has a scheme of a program of the computer such as com.example.app, and no fragment. "+
			"It is ASCII: a host with other letters is written as xn--…")
	}
	p, err := s.Sessions.Register(r.Context(), session.Program{Name: in.Name, Redirects: usable}, addressOf(r))
	if errors.Is(err, session.ErrRegistrations) {
		now := s.Now().UTC()
		return 0, nil, &refusal{after: now.Truncate(time.Hour).Add(time.Hour).Sub(now),
			status: http.StatusTooManyRequests, code: temporarily, description: "Too many " +
				"programs were registered from this network. Repeat the request in the next hour, after the seconds " +
				"in Retry-After"}
	}
	return http.StatusCreated, map[string]any{"client_id": p.ID, "client_id_issued_at": p.MadeAt.Unix(),
		"client_name": p.Name, "redirect_uris": p.Redirects, "token_endpoint_auth_method": "none",
		"grant_types": grants, "response_types": responses}, err
}

// offers reports whether a list is empty, or has one of the known values.
func offers(list, known []string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(v string) bool { return slices.Contains(known, v) })
}

// schemes are the schemes of programs of the computer that have no dot, as RFC 8252 wants.
var schemes = []string{"claude", "codex", "cursor", "goose", "jetbrains", "kiro", "lmstudio", "raycast", "trae",
	"vscode", "vscode-insiders", "vscodium", "warp", "windsurf", "zed"}

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

// redirectables returns the addresses that may get codes. Programs register those of all their versions.
func redirectables(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(address string) bool { return !redirectable(address) })
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

// A program needs no registration if its client_id is the address of a document that describes it
// (draft-ietf-oauth-client-id-metadata-document). Who owns the address owns the program.

const (
	// longestDocument bounds the address of a document, in characters, and largestDocument a document, in bytes.
	longestDocument, largestDocument = 500, 10 << 10
	documentTime                     = 5 * time.Second
	// usuallyFresh is the time for which a document is kept whose headers say nothing.
	usuallyFresh = 5 * time.Minute
)

// DocumentClient calls the addresses of documents of programs.
type DocumentClient interface {
	Do(req *http.Request) (*http.Response, error)
}

// NewDocumentClient returns the client of the documents of programs, which are on the Internet. Loopback is for the
// local system, whose roots may verify certificates too.
func NewDocumentClient(loopback bool, roots *x509.CertPool) DocumentClient {
	return safehttp.New(safehttp.Options{AllowLoopback: loopback, RootCAs: roots, Timeout: documentTime,
		MaxBody: largestDocument})
}

// The messages about programs that are described by a document.
const (
	messageDocumentURL = "The program names a document that describes it by a wrong address: it is https, has a path " +
		"without . or .. and up to 500 characters of ASCII, and has no user and no fragment."
	messageDocumentAnswer = "The document that describes the program cannot be read: its server answers with 200, in " +
		"five seconds, and with JSON of up to 10 KB. Try again, or tell the maker of the program."
	messageDocumentForm = "The document that describes the program is wrong: its client_id is its own address, it " +
		"has redirect_uris, the grant authorization_code and no secret. Tell the maker of the program."
	messageDocumentMany = "Too many programs were connected from this network in this hour. Try again in the next one."
)

// documentAddress reports whether an id of a program is the address of a document.
func documentAddress(id string) bool {
	u, err := url.Parse(id)
	if err != nil || !session.IsDocument(id) || len(id) > longestDocument || !ascii(id) || u.User != nil ||
		strings.ContainsAny(id, "#\\ <>\"'") || u.Path == "" || u.Path == "/" {
		return false
	}
	if slices.ContainsFunc(strings.Split(u.Path, "/"), func(part string) bool { return part == "." || part == ".." }) {
		return false
	}
	return hostNamed(u.Hostname()) || loopback(u) // which the client refuses but on the local system
}

// described returns the program of a document, or why there is none. A fresh one is kept; otherwise the document is
// fetched, which counts as a registration.
func (s *site) described(r *http.Request, id string) (session.Program, error) {
	wrong := func(message string) (session.Program, error) {
		return session.Program{}, &failure{Status: http.StatusBadRequest, Message: message}
	}
	if !documentAddress(id) {
		return wrong(messageDocumentURL)
	}
	p, err := s.Sessions.Document(r.Context(), id)
	if !errors.Is(err, session.ErrProgram) {
		return p, err
	}
	switch err := s.Sessions.CountDocument(r.Context(), addressOf(r)); {
	case errors.Is(err, session.ErrRegistrations):
		return wrong(messageDocumentMany)
	case err != nil:
		return p, err
	}
	raw, header, err := s.fetched(r.Context(), id)
	if err != nil {
		slog.Warn("the document of a program was not read", "reason", safehttp.Describe(err))
		return wrong(messageDocumentAnswer)
	}
	p, ok := programOf(id, raw)
	if !ok {
		return wrong(messageDocumentForm)
	}
	p.MadeAt = s.Now().UTC()
	if fresh := freshness(header, s.Now()); fresh > 0 {
		return p, s.Sessions.KeepDocument(r.Context(), p, fresh)
	}
	return p, nil
}

// fetched fetches a document.
func (s *site) fetched(ctx context.Context, address string) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.Documents.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !(strings.HasPrefix(kind, "application/") &&
		strings.HasSuffix(kind, "+json")) {
		return nil, nil, errors.New("the answer is no JSON")
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil, errors.New("the answer has the status " + strconv.Itoa(resp.StatusCode))
	}
	raw, err := safehttp.ReadBody(resp, largestDocument)
	return raw, resp.Header, err
}

// programOf reads a document. It returns false if the document does not describe a program that can be connected. A
// program that bears the name of another is known by its host.
func programOf(id string, raw []byte) (p session.Program, ok bool) {
	var in struct {
		ID        string          `json:"client_id"`
		Name      string          `json:"client_name"`
		Redirects []string        `json:"redirect_uris"`
		Method    string          `json:"token_endpoint_auth_method"`
		Grants    []string        `json:"grant_types"`
		Responses []string        `json:"response_types"`
		Secret    json.RawMessage `json:"client_secret"`
		Expires   json.RawMessage `json:"client_secret_expires_at"`
	}
	if json.Unmarshal(raw, &in) != nil || in.ID != id || in.Secret != nil || in.Expires != nil ||
		strings.HasPrefix(in.Method, "client_secret") || !offers(in.Grants, grants) ||
		!offers(in.Responses, responses) {
		return p, false
	}
	p = session.Program{ID: id, Name: clippedName(in.Name), Redirects: redirectables(in.Redirects)}
	if len(p.Redirects) == 0 {
		return p, false
	}
	if p.Name == "" || !printable(p.Name) || !oneScript(p.Name) ||
		!ownsName(p.Name, append(slices.Clone(p.Redirects), id)) {
		p.Name = sourceOf(id)
	}
	return p, true
}

// clippedName returns the part of a program's name that is shown. It is empty for a name that shows nothing.
func clippedName(name string) string {
	if text.IsBlank(name) {
		return ""
	}
	return strings.TrimSpace(text.ClipLetters(strings.TrimSpace(name), longestProgram))
}

// sourceOf returns the host of a document as it is shown, and an empty text for a registered program.
func sourceOf(id string) string {
	u, err := url.Parse(id)
	if err != nil || !session.IsDocument(id) {
		return ""
	}
	return shownAt(u)
}

// freshness returns the time for which an answer may be kept (RFC 9111): what its headers say, at most a day.
func freshness(h http.Header, now time.Time) time.Duration {
	age, _ := strconv.Atoi(h.Get("Age"))
	said, fresh := false, time.Duration(0)
	for _, directive := range strings.Split(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store", "no-cache", "private":
			return 0
		case "max-age", "s-maxage":
			if said && name == "max-age" {
				continue // s-maxage is for what serves many people
			}
			n, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64)
			if errors.Is(err, strconv.ErrRange) {
				n, err = int64(session.DocumentLifetime/time.Second), nil
			}
			if err != nil || n < 0 {
				n = 0
			}
			fresh = time.Duration(min(n, int64(session.DocumentLifetime/time.Second)))*time.Second -
				time.Duration(max(age, 0))*time.Second
			said = true
		}
	}
	if !said {
		fresh = usuallyFresh
		if expires := h.Get("Expires"); expires != "" {
			at, err := http.ParseTime(expires)
			if fresh = at.Sub(now); err != nil {
				fresh = 0
			}
		}
	}
	return max(0, min(fresh, session.DocumentLifetime))
}

// ascii reports whether a text has visible characters of ASCII alone, and spaces.
func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// hostName is a name of the DNS in ASCII, with two labels at least.
var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`)
})

// hostNamed reports whether a host is a name in ASCII, as the DNS has it. Letters of other scripts are in it as xn--…,
// so that no host looks like another one. A host may have them in an address without the address having them, by
// percent signs.
func hostNamed(host string) bool {
	if !hostName().MatchString(host) || len(host) > 253 || net.ParseIP(host) != nil {
		return false
	}
	_, err := idna.Lookup.ToUnicode(strings.ToLower(host)) // refuses xn--… that stands for nothing
	return err == nil
}

// shownHost returns a host as it is shown to people: with letters of other scripts as xn--….
func shownHost(host string) string {
	if shown, err := idna.Lookup.ToASCII(host); err == nil {
		return shown
	}
	return url.PathEscape(host)
}

// alike are scripts whose letters look like those of Latin.
var alike = map[string]*unicode.RangeTable{"Latin": unicode.Latin, "Cyrillic": unicode.Cyrillic, "Greek": unicode.Greek,
	"Armenian": unicode.Armenian, "Cherokee": unicode.Cherokee, "Coptic": unicode.Coptic, "Lisu": unicode.Lisu,
	"Deseret": unicode.Deseret, "Georgian": unicode.Georgian}

// oneScript reports whether a name has letters of one of the scripts that look alike at most. Letters of others, such
// as those of Chinese, may be beside Latin ones. Letters that are made of others, such as mathematical ones, are none.
func oneScript(name string) bool {
	found := map[string]bool{}
	for _, r := range name {
		if !unicode.IsLetter(r) {
			continue
		}
		if r >= 0x1d400 && r <= 0x1d7ff || r >= 0xff21 && r <= 0xff5a || r >= 0x2100 && r <= 0x214f ||
			r >= 0x1f130 && r <= 0x1f189 {
			return false
		}
		for script, table := range alike {
			if unicode.Is(table, r) {
				found[script] = true
			}
		}
	}
	return len(found) <= 1
}

// famous are programs that many people know, with the hosts that they return to.
var famous = map[string][]string{
	"claude": {"claude.ai", "claude.com", "anthropic.com"}, "anthropic": {"claude.ai", "claude.com", "anthropic.com"},
	"chatgpt": {"chatgpt.com", "openai.com"}, "openai": {"chatgpt.com", "openai.com"},
	"cursor": {"cursor.com", "cursor.sh"}, "perplexity": {"perplexity.ai"}, "zapier": {"zapier.com"},
}

// latin are letters and digits by the Latin letters that they look like.
var latin = strings.NewReplacer("а", "a", "в", "b", "с", "c", "ԁ", "d", "е", "e", "ё", "e", "є", "e", "ԍ", "g", "һ",
	"h",
	"н", "h", "і", "i", "ї", "i", "ј", "j", "к", "k", "ӏ", "l", "м", "m", "о", "o", "р", "p", "ԛ", "q", "г", "r", "ѕ",
	"s",
	"т", "t", "ц", "u", "ѵ", "v", "ԝ", "w", "х", "x", "у", "y", "α", "a", "β", "b", "ϲ", "c", "ε", "e", "η", "n", "ι",
	"i",
	"κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "ω", "w", "ս", "u", "օ", "o", "ո", "n",
	"0", "o", "1", "l", "3", "e", "5", "s", "ı", "i", "ɑ", "a", "ɡ", "g", "ß", "b",
	"℮", "e", "ǃ", "l", "|", "l", "@", "a", "$", "s")

// plain returns a name without the marks on its letters, and with the letters that others are made of.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			return -1
		}
		return r
	}, norm.NFKD.String(name))
}

// together finds where two words stand together, such as in ClaudeDesktop.
var together = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\p{Ll})(\p{Lu})`)
})

// ownsName reports whether a program may have a name: one that many people know is for its own hosts, and for programs
// of the computer, which are shown as such. Letters that look like others count as those.
func ownsName(name string, redirects []string) bool {
	// Of i, l and 1 nobody tells one from another in all fonts.
	fold := func(s string) string { return strings.ReplaceAll(latin.Replace(strings.ToLower(s)), "i", "l") }
	name = plain(name)
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && latin.Replace(string(r)) == string(r)
		})
	}
	words := append(split(name), split(together().ReplaceAllString(name, "$1 $2"))...)
	words = append(words, strings.Join(split(name), ""))
	for program, hosts := range famous {
		if !slices.ContainsFunc(words, func(word string) bool {
			return fold(word) == fold(program) || fold(word) == fold(program+"ai")
		}) {
			continue
		}
		for _, address := range redirects {
			u, err := url.Parse(address)
			if err != nil || u.Scheme == "https" && !slices.ContainsFunc(hosts, func(host string) bool {
				at := strings.ToLower(u.Hostname())
				return at == host || strings.HasSuffix(at, "."+host)
			}) {
				return false
			}
		}
	}
	return true
}
