package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	mcpauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/proxy"
	"github.com/content-automation/api/pkg/httpapi"
)

// The paths of the handler. The path of the metadata (RFC 9728) ends with that of the server, or is without it.
const (
	Path         = "/mcp"
	MetadataPath = "/.well-known/oauth-protected-resource"
)

const requestIDHeader = "X-Request-Id"

// callerKey is the name of the caller in the information about a token.
const callerKey = "caller"

// Options are the options of New.
type Options struct {
	// Base returns the base URL of the API for a request.
	Base func(*http.Request) string
	// Public returns the base URL as callers use it. Nil means Base.
	Public func(*http.Request) string
	// HTTP calls the API.
	HTTP *http.Client
	// SignIn has the issuer of the access tokens of people. Without it, agents use API keys only.
	SignIn signin.Settings
	Now    func() time.Time
}

// handler serves the protocol and its metadata.
type handler struct {
	Options
	// rpc answers messages in JSON, and stream as events, for agents that take nothing else.
	rpc, stream http.Handler
	// scopes are those of the tools, by name.
	scopes func() map[string]string
}

const (
	// identifyTime bounds the question for the scopes. Without them all tools are listed.
	identifyTime = 1500 * time.Millisecond
	// mostRequest is the size of the largest request: that of the largest body of the API.
	mostRequest = 256 << 10
)

// New returns the handler of the paths of the package.
func New(o Options) http.Handler {
	if o.Public == nil {
		o.Public = o.Base
	}
	h := &handler{Options: o}
	// The schemas of the tools take milliseconds to make, while the function waits for its first request.
	tools := sync.OnceValue(func() *server { return newServer(o.Now, nil) })
	go tools()
	h.scopes = func() map[string]string { return tools().scopes }
	identified := func(ctx context.Context, _ string, _ *http.Request) (*mcpauth.TokenInfo, error) {
		return &mcpauth.TokenInfo{Extra: map[string]any{callerKey: ctx.Value(callerContext{})}}, nil
	}
	serve := func(asJSON bool) http.Handler {
		return mcpauth.RequireBearerToken(identified, &mcpauth.RequireBearerTokenOptions{AllowMissingExpiration: true})(
			sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return tools().tools },
				&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: asJSON, MaxRequestBodyBytes: mostRequest,
					// The gateway checks the host. Its address may be local where it runs on one machine.
					DisableLocalhostProtection: true}))
	}
	h.rpc, h.stream = serve(true), serve(false)
	same := http.NewCrossOriginProtection()
	same.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.refuse(w, r, http.StatusForbidden, errs.InvalidHeader, "Pages of other origins may not call this server.")
	}))
	return same.Handler(h)
}

// callerContext is the key of the caller in a context.
type callerContext struct{}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set(requestIDHeader, r.Header.Get(requestIDHeader))
	web.SetHeaders(header)
	header.Set("Cache-Control", "no-store")
	switch {
	case strings.HasPrefix(r.URL.Path, MetadataPath):
		h.metadata(w, r)
	case r.Method != http.MethodPost:
		header.Set("Allow", http.MethodPost)
		h.refuse(w, r, http.StatusMethodNotAllowed, errs.MethodNotAllowed, "Agents send POST requests here.")
	default:
		c, err := h.identify(r)
		var f *failure
		switch {
		case errors.As(err, &f) && f.status == http.StatusTooManyRequests:
			if f.after != "" {
				header.Set("Retry-After", f.after)
			}
			if m, ok := h.single(w, r); ok && m.Method == "tools/call" && m.ID != nil {
				reply(w, m, failed(f))
			} else if ok {
				h.refuse(w, r, f.status, f.Code, f.Message)
			}
			return
		case err != nil:
			h.unauthorized(w, r, err)
			return
		}
		m, ok := h.single(w, r)
		if !ok || answered(w, m) || h.lacks(w, r, c, m) {
			return
		}
		if m.Method == "initialize" {
			// The version is that of the body: both sides agree on one by this message.
			r.Header.Del("MCP-Protocol-Version")
		}
		serve := h.rpc
		if onlyEvents(r) {
			serve = h.stream
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		serve.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerContext{}, c)))
	}
}

// requests is what a request may have. What an item takes has some hundred values.
var requests = budget.Budget{Name: "request of an agent", Bytes: mostRequest, Elements: 20_000, Depth: 100,
	Time: 5 * time.Second}

// single returns the message in the body of a request, and puts it back. If it is not one message, single refuses the
// request: the protocol has no batches since its version 2025-06-18, and one request counts as one call.
func (h *handler) single(w http.ResponseWriter, r *http.Request) (m message, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostRequest))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		h.refuse(w, r, http.StatusRequestEntityTooLarge, errs.BodyTooLarge, "The request is larger than 256 KiB.")
	case err != nil:
		h.refuse(w, r, http.StatusBadRequest, errs.MalformedJSON, "The body could not be read.")
	case requests.JSON(r.Context(), body) != nil:
		h.refuse(w, r, http.StatusRequestEntityTooLarge, errs.BodyTooLarge, "The request has too many values.")
	case bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")):
		h.refuse(w, r, http.StatusBadRequest, errs.MalformedJSON, "Batches are not taken: send each message in a "+
			"request of its own, as a JSON object.")
	case json.Unmarshal(body, &m) != nil:
		complain(w, http.StatusBadRequest, nil, codeParse, "The body is not a JSON-RPC message: an object in JSON.")
	default:
		r.Body = io.NopCloser(bytes.NewReader(body))
		return m, true
	}
	return m, false
}

// newCaller returns a caller. It follows no redirect, because the credential is for the API alone.
func newCaller(client *http.Client, base, token, mode string) *caller {
	if _, isKey := auth.ParseKey(token); isKey {
		mode = ""
	} else if mode == "" {
		mode = string(tenant.Test) // people choose the live mode themselves
	}
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &caller{http: &own, base: strings.TrimRight(base, "/"), token: token, mode: mode}
}

// identify returns the caller of a request, which counts as a call of the key. Without an answer of the gateway's
// authorizer, identify asks the API. It fails only if the API does not know the credential, or takes no more calls of
// it.
func (h *handler) identify(r *http.Request) (*caller, error) {
	// one or more (RFC 9110, 11.4)
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, &failure{Code: errs.MissingAPIKey, Message: "Send an API key: Authorization: Bearer svc_test_…"}
	}
	if _, isKey := auth.ParseKey(token); !isKey && !signin.LooksLikeToken(token) {
		return nil, &failure{Code: errs.InvalidAPIKey, Message: "The API key is malformed."}
	}
	c := newCaller(h.HTTP, h.Base(r), token, r.Header.Get(auth.ModeHeader))
	// The gateway's authorizer has counted the call. What it has refused is refused by the API, with its exact words.
	gateway, _ := proxy.Gateway(r.Context())
	if p, err := auth.Decode(gateway.Authorizer); err == nil && p.Denial == nil {
		c.program, c.ticket, c.scopes = p.Program, p.Ticket, make([]string, 0, len(p.Scopes))
		for _, s := range p.Scopes {
			c.scopes = append(c.scopes, string(s))
		}
		return c, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), identifyTime)
	defer cancel()
	me, err := into[struct{ Key struct{ Scopes []string } }](c.get(ctx, "/v1/me", nil))
	var f *failure
	switch {
	case errors.As(err, &f) && (f.status == http.StatusUnauthorized || f.status == http.StatusTooManyRequests):
		return nil, err
	case err != nil: // such as a key without the scope: the tools say what is wrong
		return c, nil
	}
	c.scopes = append([]string{}, me.Key.Scopes...)
	return c, nil
}

// unauthorized refuses a request, and names the metadata if people can sign in.
func (h *handler) unauthorized(w http.ResponseWriter, r *http.Request, err error) {
	f := &failure{Code: errs.InvalidAPIKey}
	errors.As(err, &f)
	w.Header().Set("WWW-Authenticate", httpapi.Challenge(f.Code, h.metadataURL(r), ""))
	h.refuse(w, r, http.StatusUnauthorized, f.Code, f.Message)
}

// metadataURL returns the address of the metadata, or an empty text where people do not sign in.
func (h *handler) metadataURL(r *http.Request) string {
	if h.SignIn.Issuer == "" {
		return ""
	}
	return h.Public(r) + MetadataPath + Path
}

// lacks refuses a call of a tool for which a program lacks a scope, and reports whether it did so: the program can ask
// the person for more (RFC 6750, 3.1). A key has the scopes that it has, so that the tool tells its agent.
func (h *handler) lacks(w http.ResponseWriter, r *http.Request, c *caller, m message) bool {
	if !c.program || m.Method != "tools/call" {
		return false
	}
	scope := h.scopes()[m.Params.Name]
	if m.Params.Name == callOperationTool {
		for _, o := range operations() {
			if o.ID == m.Params.Arguments.OperationID {
				scope = o.Scope
			}
		}
	}
	if c.may(scope) {
		return false
	}
	w.Header().Set("WWW-Authenticate", httpapi.Challenge(errs.InsufficientScope, h.metadataURL(r), auth.Scope(scope)))
	h.refuse(w, r, http.StatusForbidden, errs.InsufficientScope, "The program lacks the scope "+scope+
		". Connect it again, and permit it.")
	return true
}

// metadata describes where people get access tokens.
func (h *handler) metadata(w http.ResponseWriter, r *http.Request) {
	if h.SignIn.Issuer == "" {
		h.refuse(w, r, http.StatusNotFound, errs.NotFound, "People do not sign in here: agents use API keys.")
		return
	}
	mcpauth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
		// The service itself is the authorization server of programs: people sign in there.
		Resource: h.Public(r) + Path, AuthorizationServers: []string{h.Public(r)}, ScopesSupported: scopeNames(),
		BearerMethodsSupported: []string{"header"}, ResourceName: "Content Automation",
		ResourceDocumentation: h.Public(r) + "/api-docs/guides/agents",
	}).ServeHTTP(w, r)
}

// scopeNames returns the scopes that programs may ask for.
func scopeNames() (names []string) {
	for _, s := range auth.ProgramScopes() {
		names = append(names, string(s))
	}
	return names
}

// refuse answers in the envelope of the API.
func (h *handler) refuse(w http.ResponseWriter, r *http.Request, status int, code errs.Code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	id := r.Header.Get(requestIDHeader)
	err := json.NewEncoder(w).Encode(object{"data": nil, "request_id": id, "error": object{
		"code": code, "message": message, "type": errs.InfoOf(code).Type, "doc_url": errs.DocURL(h.Public(r), code)}})
	if err != nil {
		slog.Warn("answer not written", "request_id", id, "error", err)
	}
}
