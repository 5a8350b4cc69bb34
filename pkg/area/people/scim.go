package people

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// SCIMPath is the base of all paths.
const SCIMPath = "/scim/v2"

const (
	userSchema  = "urn:ietf:params:scim:schemas:core:2.0:User"
	groupSchema = "urn:ietf:params:scim:schemas:core:2.0:Group"
	listSchema  = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
	errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error"
)

// SCIM serves SCIM.
type SCIM struct {
	db          *store.DB
	people      *person.Service
	connections *connection.Service
	audit       httpapi.Recorder
	now         func() time.Time
}

// NewSCIM makes the service.
func NewSCIM(db *store.DB, people *person.Service, connections *connection.Service, audit httpapi.Recorder,
	now func() time.Time) *SCIM {
	return &SCIM{db, people, connections, audit, now}
}

// OpenSCIM makes the service of a function.
func OpenSCIM(e area.Env) *SCIM {
	return NewSCIM(e.DB, person.NewService(e.DB, e.Now, e.Random), connection.NewService(e.DB, e.Now, e.Random, nil,
		nil),
		e.Audit, e.Now)
}

// With returns the handler of the function, which serves SCIM and the operations.
func (s *SCIM) With(operations http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !strings.HasPrefix(req.URL.Path, SCIMPath+"/") {
			operations.ServeHTTP(w, req)
			return
		}
		s.serve(w, req)
	})
}

// call is one call of a directory.
type call struct {
	*http.Request
	account tenant.Account
	by      connection.Connection
	base    string // of the links
}

// answer is the status and the body of a response. A response without a body has nil.
type answer struct {
	status int
	body   any
}

type failure struct {
	status int
	kind   string // scimType, may be empty
	detail string
}

// Error returns the detail.
func (f *failure) Error() string { return "scim: " + f.detail }

func invalid(kind, detail string) error { return &failure{http.StatusBadRequest, kind, detail} }

func missing(what string) error {
	return &failure{http.StatusNotFound, "", "There is no such " + what + "."}
}

func (s *SCIM) serve(w http.ResponseWriter, req *http.Request) {
	began, g := s.now(), httpapi.GatewayOf(req.Context())
	c, err := s.identify(req)
	var a answer
	if err == nil {
		a, err = s.route(c)
	}
	if err != nil {
		a = s.refusal(err, g.RequestID)
	}
	web.SetHeaders(w.Header())
	w.Header().Set("X-Request-Id", g.RequestID)
	if a.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	if a.body != nil {
		w.Header().Set("Content-Type", "application/scim+json")
	}
	if c != nil {
		s.record(c, g, a.status, began)
	}
	w.WriteHeader(a.status)
	if a.body != nil {
		if err := json.NewEncoder(w).Encode(a.body); err != nil {
			slog.Warn("answer not written", "request_id", g.RequestID, "error", err)
		}
	}
}

// identify finds the connection of the token. Its error is a failure with status 401 for any other token.
func (s *SCIM) identify(req *http.Request) (*call, error) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	unknown := &failure{http.StatusUnauthorized, "", "The header Authorization has no valid token of a directory."}
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, unknown
	}
	account, by, err := s.connections.ByDirectory(req.Context(), strings.TrimSpace(token))
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknown
	}
	if err != nil {
		return nil, err
	}
	return &call{req, account, by, httpapi.GatewayOf(req.Context()).BaseURL + SCIMPath}, nil
}

// record writes the call to the audit log.
func (s *SCIM) record(c *call, g httpapi.Gateway, status int, began time.Time) {
	kind, _, _ := strings.Cut(strings.Trim(strings.TrimPrefix(c.URL.Path, SCIMPath), "/"), "/")
	err := s.audit.Record(c.Context(), httpapi.Call{RequestID: g.RequestID, Principal: &auth.Principal{
		Owner: tenant.Of(c.account, tenant.Live), Actor: auth.Actor{Kind: auth.Directory, ID: c.by.ID}},
		OperationID: "scim." + strings.ToLower(kind), Method: c.Method, Path: c.URL.Path, Status: status,
		IP: g.SourceIP, UserAgent: g.UserAgent, At: began, Latency: s.now().Sub(began)})
	if err != nil {
		slog.Error("audit entry lost", "request_id", g.RequestID, "connection_id", c.by.ID, "error", err)
	}
}

func (s *SCIM) refusal(err error, requestID string) answer {
	var f *failure
	if !errors.As(err, &f) {
		e := errs.As(err)
		f = &failure{http.StatusBadRequest, "invalidValue", e.Message}
		switch e.Code {
		case errs.NotFound:
			f = &failure{http.StatusNotFound, "", e.Message}
		case errs.Duplicate:
			f = &failure{http.StatusConflict, "uniqueness", "A user with this userName exists."}
		case errs.InvalidState:
			f = &failure{http.StatusConflict, "", e.Message}
		case errs.ProviderUnavailable, errs.Timeout:
			f = &failure{http.StatusServiceUnavailable, "", e.Message}
		case errs.Internal:
			slog.Error("request failed", "request_id", requestID, "error", err)
			f = &failure{http.StatusInternalServerError, "", e.Message}
		}
	}
	body := map[string]any{"schemas": []string{errorSchema}, "status": strconv.Itoa(f.status), "detail": f.detail}
	if f.kind != "" {
		body["scimType"] = f.kind
	}
	return answer{f.status, body}
}

// route finds the handler of a path.
func (s *SCIM) route(c *call) (answer, error) {
	kind, id, _ := strings.Cut(strings.Trim(strings.TrimPrefix(c.URL.Path, SCIMPath), "/"), "/")
	type handler func(*call, string) (answer, error)
	var known map[string]handler
	switch {
	case kind == "Users" && id == "":
		known = map[string]handler{http.MethodGet: s.listUsers, http.MethodPost: s.createUser}
	case kind == "Users":
		known = map[string]handler{http.MethodGet: s.getUser, http.MethodPut: s.putUser, http.MethodPatch: s.patchUser,
			http.MethodDelete: s.deleteUser}
	case kind == "Groups" && id == "":
		known = map[string]handler{http.MethodGet: s.listGroups, http.MethodPost: s.createGroup}
	case kind == "Groups":
		known = map[string]handler{http.MethodGet: s.getGroup, http.MethodPut: s.putGroup,
			http.MethodPatch: s.patchGroup, http.MethodDelete: s.deleteGroup}
	case id == "" && documents[kind] != nil:
		known = map[string]handler{http.MethodGet: func(*call, string) (answer, error) {
			return answer{http.StatusOK, documents[kind]}, nil
		}}
	default:
		return answer{}, missing("resource")
	}
	serve := known[c.Method]
	if serve == nil {
		return answer{}, &failure{http.StatusMethodNotAllowed, "", "The resource does not support " + c.Method + "."}
	}
	return serve(c, id)
}

// supported says that a feature is or is not there.
type supported struct {
	Supported bool `json:"supported"`
}

// documents describe the service.
var documents = map[string]any{
	"ServiceProviderConfig": map[string]any{
		"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"},
		"patch":   supported{true}, "changePassword": supported{}, "sort": supported{}, "etag": supported{},
		"bulk":   map[string]any{"supported": false, "maxOperations": 0, "maxPayloadSize": 0},
		"filter": map[string]any{"supported": true, "maxResults": maxResults},
		"authenticationSchemes": []any{map[string]any{"type": "oauthbearertoken", "name": "Bearer token",
			"description": "The token of the sign-on connection", "primary": true}},
	},
	"ResourceTypes": list([]any{
		map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"}, "id": "User",
			"name": "User", "endpoint": "/Users", "schema": userSchema},
		map[string]any{"schemas": []string{"urn:ietf:params:scim:schemas:core:2.0:ResourceType"}, "id": "Group",
			"name": "Group", "endpoint": "/Groups", "schema": groupSchema},
	}, 1, 2),
}

const (
	maxResults = 200
	maxBody    = 1 << 20
)

// list renders a page of which start is the number of the first resource, from 1.
func list(page []any, start, total int) map[string]any {
	return map[string]any{"schemas": []string{listSchema}, "totalResults": total, "startIndex": start,
		"itemsPerPage": len(page), "Resources": page}
}

// page returns the part of a list that a call asks for.
func page(c *call, all []any) (answer, error) {
	number := func(name string, otherwise, least int) int {
		n, err := strconv.Atoi(c.URL.Query().Get(name))
		if err != nil {
			return otherwise
		}
		return max(n, least)
	}
	start, count := number("startIndex", 1, 1), min(number("count", maxResults, 0), maxResults)
	from := min(start-1, len(all))
	return answer{http.StatusOK, list(all[from:min(from+count, len(all))], start, len(all))}, nil
}

// bodies is what the body of a directory's call may have.
var bodies = budget.Budget{Name: "call of a directory", Bytes: maxBody, Elements: 100_000, Depth: 50,
	Time: 5 * time.Second}

// read decodes the body of a call.
func read(c *call, v any) error {
	b, err := io.ReadAll(io.LimitReader(c.Body, maxBody+1))
	if err != nil || len(b) > maxBody {
		return &failure{http.StatusRequestEntityTooLarge, "", "The body cannot be read, or is too large."}
	}
	if err := bodies.JSON(c.Context(), b); err != nil {
		return &failure{http.StatusRequestEntityTooLarge, "", "The body has too many values."}
	}
	if err := json.Unmarshal(b, v); err != nil {
		return invalid("invalidSyntax", "The body is no JSON of this resource.")
	}
	return nil
}
