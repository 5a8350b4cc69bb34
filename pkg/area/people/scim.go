package people

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/budget"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
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
	return NewSCIM(e.DB, person.NewService(e.DB, e.Now, e.Random),
		connection.NewService(e.DB, e.Now, e.Random, nil, nil), e.Audit, e.Now)
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

// named returns the path below the base, without slashes at its ends.
func (c *call) named() string { return strings.Trim(strings.TrimPrefix(c.URL.Path, SCIMPath), "/") }

// answer is a response: its body is nil if it has none, and only a new resource has a location.
type answer struct {
	status   int
	body     any
	location string
}

func created(resource map[string]any) answer {
	return answer{http.StatusCreated, resource, resource["meta"].(meta).Location}
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

// present returns an error, or nil if it says that there is no such resource.
func present(err error) error {
	if f := (*failure)(nil); errors.As(err, &f) && f.status == http.StatusNotFound {
		return nil
	}
	return err
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
	if a.location != "" {
		w.Header().Set("Location", a.location)
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
	kind, _, _ := strings.Cut(c.named(), "/")
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
	return answer{status: f.status, body: body}
}

// route finds the handler of a path.
func (s *SCIM) route(c *call) (answer, error) {
	kind, id, _ := strings.Cut(c.named(), "/")
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
	case documents()[c.named()] != nil:
		known = map[string]handler{http.MethodGet: func(*call, string) (answer, error) {
			return answer{status: http.StatusOK, body: documents()[c.named()]}, nil
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

// documents describe the service, by their paths.
var documents = sync.OnceValue(func() (all map[string]json.RawMessage) {
	if err := json.Unmarshal(documentsJSON, &all); err != nil {
		panic(err)
	}
	for kind, of := range map[string][]string{"ResourceTypes": {"User", "Group"},
		"Schemas": {userSchema, groupSchema}} {
		each := []any{all[kind+"/"+of[0]], all[kind+"/"+of[1]]}
		b, err := json.Marshal(list(each, 1, len(each)))
		if err != nil {
			panic(err)
		}
		all[kind] = b
	}
	return all
})

//go:embed scim.json
var documentsJSON []byte

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
	return answer{status: http.StatusOK, body: list(all[from:min(from+count, len(all))], start, len(all))}, nil
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

// operation is one operation of a PATCH.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// patch is the body of a PATCH.
type patch struct {
	Operations []operation `json:"Operations"`
}

// maxOperations bounds the operations of a PATCH.
const maxOperations = 100

// each calls set for each attribute that the operations change. An operation without a path has an object of
// attributes. Removed attributes have no value.
func (p patch) each(set func(op, path string, value json.RawMessage) error) error {
	if len(p.Operations) == 0 || len(p.Operations) > maxOperations {
		return invalid("invalidSyntax", "Operations must have 1 to 100 operations.")
	}
	for _, o := range p.Operations {
		op := strings.ToLower(o.Op) // Entra ID writes Add, Replace and Remove
		if op != "add" && op != "replace" && op != "remove" {
			return invalid("invalidSyntax", "op must be add, replace or remove.")
		}
		if op != "remove" && len(o.Value) == 0 {
			return invalid("invalidValue", "An add or replace operation needs a value.")
		}
		if o.Path != "" {
			if err := set(op, o.Path, o.Value); err != nil {
				return err
			}
			continue
		}
		var members map[string]json.RawMessage
		if op == "remove" || json.Unmarshal(o.Value, &members) != nil {
			return invalid("noTarget", "An operation without a path needs an object as its value.")
		}
		for path, value := range members {
			if err := set(op, path, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// attribute returns the path of an attribute in lower case, without the schema, which may precede it.
func attribute(schema, path string) string {
	return strings.TrimPrefix(strings.ToLower(path), strings.ToLower(schema)+":")
}

func scimText(value json.RawMessage) (string, error) {
	var s string
	if len(value) > 0 && json.Unmarshal(value, &s) != nil {
		return "", invalid("invalidValue", "The value must be a text.")
	}
	return s, nil
}

// truth reads a boolean. Entra ID writes it as the text "True" or "False".
func truth(value json.RawMessage) (bool, error) {
	switch strings.ToLower(strings.Trim(string(value), `"`)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid("invalidValue", "active must be true or false.")
}

// filter is a filter of the form attribute eq "value". The zero filter passes everything.
type filter struct{ attribute, value string }

// parseFilter reads a filter. Directories look for one resource at a time.
func parseFilter(s string, attributes ...string) (f filter, err error) {
	if s == "" {
		return f, nil
	}
	s = strings.TrimSpace(s)
	for _, known := range attributes {
		n := len(known)
		if len(s) <= n || !strings.EqualFold(s[:n], known) {
			continue
		}
		op, value, _ := strings.Cut(strings.TrimSpace(s[n:]), " ")
		if s[n] == ' ' && strings.EqualFold(op, "eq") && json.Unmarshal([]byte(value), &f.value) == nil {
			f.attribute = strings.ToLower(known)
			return f, nil
		}
	}
	return f, invalid("invalidFilter", "The filter must compare one of "+strings.Join(attributes, ", ")+
		" by eq with a text.")
}

// matches reports whether a resource passes. The ids of a directory may differ in case alone (RFC 7643, section 3.1),
// and names and addresses may not.
func (f filter) matches(id, externalID, name string) bool {
	switch f.attribute {
	case "":
		return true
	case "id":
		return f.value == id
	case "externalid":
		return f.value == externalID
	}
	return strings.EqualFold(f.value, name)
}

// user is a user as a directory sends it. Other attributes are not kept.
type user struct {
	ExternalID  string `json:"externalId"`
	UserName    string `json:"userName"`
	DisplayName string `json:"displayName"`
	Name        struct {
		Formatted  string `json:"formatted"`
		GivenName  string `json:"givenName"`
		FamilyName string `json:"familyName"`
	} `json:"name"`
	Active json.RawMessage `json:"active"`
}

func (u *user) name() string {
	for _, s := range []string{u.DisplayName, u.Name.Formatted, u.Name.GivenName + " " + u.Name.FamilyName} {
		if s = person.CleanName(s); s != "" {
			return s
		}
	}
	return ""
}

// active reports whether a user has access. Without the attribute it has.
func (u *user) active() (bool, error) {
	if len(u.Active) == 0 {
		return true, nil
	}
	return truth(u.Active)
}

// meta is the metadata of a resource.
type meta struct {
	ResourceType string        `json:"resourceType"`
	Created      resource.Time `json:"created"`
	LastModified resource.Time `json:"lastModified"`
	Location     string        `json:"location"`
}

// render returns a person as a user.
func (c *call) render(r *person.Record) map[string]any {
	u := map[string]any{
		"schemas": []string{userSchema}, "id": r.ID, "userName": r.Email, "displayName": r.Name,
		"name": map[string]string{"formatted": r.Name}, "active": r.State != person.Removed,
		"emails": []any{map[string]any{"value": r.Email, "type": "work", "primary": true}},
		"meta":   meta{"User", r.CreatedAt, r.UpdatedAt, c.base + "/Users/" + r.ID},
	}
	if r.ExternalID != "" {
		u["externalId"] = r.ExternalID
	}
	return u
}

// find reads a person whom the directory may see: with an address of a domain that its connection has verified.
func (s *SCIM) find(c *call, id string) (person.Record, error) {
	r, _, err := s.people.Find(c.Context(), c.account, id)
	if errs.CodeOf(err) == errs.NotFound || err == nil && !c.sees(&r) {
		return r, missing("user")
	}
	return r, err
}

func (c *call) sees(r *person.Record) bool { return !r.Deleted && c.by.Speaks(person.Domain(r.Email)) }

func (s *SCIM) listUsers(c *call, _ string) (answer, error) {
	f, err := parseFilter(c.URL.Query().Get("filter"), "userName", "externalId", "id", "emails.value", "emails",
		`emails[type eq "work"].value`)
	if err != nil {
		return answer{}, err
	}
	found := []any{}
	err = s.people.Each(c.Context(), c.account, func(r person.Record, _ store.Item) error {
		if !c.sees(&r) || !f.matches(r.ID, r.ExternalID, r.Email) {
			return nil
		}
		// A removed person is left out if another person has the address now.
		replaced, err := s.replaced(c, &r)
		if err == nil && !replaced {
			found = append(found, c.render(&r))
		}
		return err
	})
	if err != nil {
		return answer{}, err
	}
	return page(c, found)
}

// replaced reports whether another person has the address of a removed one now.
func (s *SCIM) replaced(c *call, r *person.Record) (bool, error) {
	if r.State != person.Removed {
		return false, nil
	}
	_, _, err := s.people.ByEmail(c.Context(), r.Email)
	if errors.Is(err, store.ErrNotFound) || errs.CodeOf(err) == errs.NotFound {
		return false, nil
	}
	return err == nil, err
}

func (s *SCIM) getUser(c *call, id string) (answer, error) {
	r, err := s.find(c, id)
	return answer{status: http.StatusOK, body: c.render(&r)}, err
}

func (s *SCIM) createUser(c *call, _ string) (answer, error) {
	var u user
	if err := read(c, &u); err != nil {
		return answer{}, err
	}
	email, err := person.Address(u.UserName, "/userName")
	if err != nil || !c.by.Speaks(person.Domain(email)) {
		return answer{}, invalid("invalidValue", "userName must be an e-mail address of a domain that the connection "+
			"has verified.")
	}
	active, err := u.active()
	if err != nil {
		return answer{}, err
	}
	at, err := s.db.GetAll(c.Context(), store.IDKey(person.Emails(email)))
	if err != nil {
		return answer{}, err
	}
	holder, err := s.people.HolderOf(c.Context(), at[0])
	switch {
	case err != nil:
		return answer{}, err
	case holder.Taken() || at[0].Kind != "" && at[0].Account == c.account:
		return answer{}, person.ErrDuplicate
	}
	role, _ := c.by.RoleOf(nil)
	tx := &store.Tx{}
	r, err := s.people.Provision(tx, person.New{Account: c.account, Email: email, Name: u.name(), Role: role,
		Connection: c.by.ID, ExternalID: text.ClipText(u.ExternalID, maxExternalID), Holder: holder})
	if err == nil {
		err = s.db.Commit(c.Context(), tx)
	}
	if err == nil && !active {
		r, err = s.change(c, r.ID, func(tx *store.Tx, r *person.Record, it store.Item) error {
			return s.people.Remove(tx, r, it)
		})
	}
	return created(c.render(&r)), err
}

// maxExternalID bounds an id that the directory has chosen, in bytes.
const maxExternalID = 256

// change changes a person whom the directory may see.
func (s *SCIM) change(c *call, id string, edit func(*store.Tx, *person.Record, store.Item) error) (person.Record,
	error) {
	if _, err := s.find(c, id); err != nil {
		return person.Record{}, err
	}
	return s.people.Change(c.Context(), c.account, id, edit)
}

// apply changes a person to the given attributes. Those that are nil stay.
func (s *SCIM) apply(c *call, id string, name, externalID *string, active *bool) (answer, error) {
	r, err := s.change(c, id, func(tx *store.Tx, r *person.Record, it store.Item) error {
		before, external := r.Name, r.ExternalID
		if name != nil && *name != "" {
			r.Name = *name
		}
		if externalID != nil {
			r.ExternalID = text.ClipText(*externalID, maxExternalID)
		}
		switch {
		case active != nil && !*active && r.State != person.Removed:
			return s.people.Remove(tx, r, it)
		case active != nil && *active && r.State == person.Removed:
			// The role is that of the groups, which follow keeps for removed people, too.
			r.Role, _ = c.by.RoleOf(r.Groups)
			return s.people.Expect(c.Context(), tx, r, it, c.by.ID)
		case r.Name == before && r.ExternalID == external:
			return nil
		}
		return s.people.Save(tx, r, it)
	})
	return answer{status: http.StatusOK, body: c.render(&r)}, err
}

// sameName refuses another userName: the address names the person.
func (s *SCIM) sameName(c *call, id, userName string) error {
	r, err := s.find(c, id)
	if err == nil && userName != "" && !strings.EqualFold(userName, r.Email) {
		return invalid("mutability", "userName cannot change. Create another user.")
	}
	return err
}

func (s *SCIM) putUser(c *call, id string) (answer, error) {
	var u user
	if err := read(c, &u); err != nil {
		return answer{}, err
	}
	active, err := u.active()
	if err == nil {
		err = s.sameName(c, id, u.UserName)
	}
	if err != nil {
		return answer{}, err
	}
	name := u.name()
	return s.apply(c, id, &name, &u.ExternalID, &active)
}

func (s *SCIM) patchUser(c *call, id string) (answer, error) {
	var p patch
	if err := read(c, &p); err != nil {
		return answer{}, err
	}
	var u user
	var externalID *string
	var active *bool
	err := p.each(func(op, path string, value json.RawMessage) (err error) {
		switch attribute(userSchema, path) {
		case "active":
			on := false // a removed attribute takes the access
			if op != "remove" {
				on, err = truth(value)
			}
			active = &on
		case "displayname":
			u.DisplayName, err = scimText(value)
		case "name.formatted":
			u.Name.Formatted, err = scimText(value)
		case "name.givenname":
			u.Name.GivenName, err = scimText(value)
		case "name.familyname":
			u.Name.FamilyName, err = scimText(value)
		case "name":
			if op != "remove" && json.Unmarshal(value, &u.Name) != nil {
				return invalid("invalidValue", "name must be an object.")
			}
		case "externalid":
			var given string
			given, err = scimText(value)
			externalID = &given
		case "username":
			var given string
			if given, err = scimText(value); err == nil {
				err = s.sameName(c, id, given)
			}
		}
		return err
	})
	if err != nil {
		return answer{}, err
	}
	if u.Name.GivenName == "" || u.Name.FamilyName == "" { // one of them alone is no name
		u.Name.GivenName, u.Name.FamilyName = "", ""
	}
	name := u.name()
	return s.apply(c, id, &name, externalID, active)
}

// deleteUser ends the access of a user, and takes the user out of the groups and the directory. Repeating the call
// finishes what was interrupted.
func (s *SCIM) deleteUser(c *call, id string) (answer, error) {
	if _, err := s.change(c, id, s.people.Remove); err != nil {
		return answer{}, err
	}
	all, err := s.groups(c)
	if err != nil {
		return answer{}, err
	}
	for _, g := range all {
		if !slices.Contains(g.Members, id) {
			continue
		}
		if _, err := s.changeGroup(c, g.ID, func(g *group) error {
			g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return m == id })
			return nil
		}); present(err) != nil {
			return answer{}, err
		}
	}
	_, err = s.change(c, id, func(tx *store.Tx, r *person.Record, it store.Item) error {
		r.Deleted = true
		return s.people.Save(tx, r, it)
	})
	return answer{status: http.StatusNoContent}, err
}

// member is a member of a group.
type member struct {
	Value string `json:"value"`
}

// group is a group of a directory. The connection maps its name to a role.
type group struct {
	resource.Resource
	DisplayName string   `json:"displayName"`
	ExternalID  string   `json:"externalId,omitempty"`
	Members     []string `json:"members"`
	// Unsettled are the people whose records may not follow the group yet, and Former the names that it may still have
	// there. What a call leaves that ends before they do is for the next one.
	Unsettled []string `json:"unsettled,omitempty"`
	Former    []string `json:"former,omitempty"`
}

// groupBody is a group as a directory sends it.
type groupBody struct {
	DisplayName string   `json:"displayName"`
	ExternalID  string   `json:"externalId"`
	Members     []member `json:"members"`
}

const (
	groupKind = "group"
	maxGroups = 500
)

func (c *call) partition() string { return "directory#groups#" + c.by.ID }

func (c *call) renderGroup(g *group) map[string]any {
	members := []any{}
	for _, m := range g.Members {
		members = append(members, map[string]string{"value": m, "$ref": c.base + "/Users/" + m})
	}
	out := map[string]any{"schemas": []string{groupSchema}, "id": g.ID, "displayName": g.DisplayName,
		"members": members, "meta": meta{"Group", g.CreatedAt, g.UpdatedAt, c.base + "/Groups/" + g.ID}}
	if g.ExternalID != "" {
		out["externalId"] = g.ExternalID
	}
	return out
}

// groups reads all groups of the connection.
func (s *SCIM) groups(c *call) (all []group, err error) {
	q := store.Query{Index: store.Table, Partition: c.partition(), Limit: 100, OldestFirst: true}
	err = s.db.Each(c.Context(), q, func(it store.Item) error {
		var g group
		if err := it.Decode(&g); err != nil {
			return err
		}
		all = append(all, g)
		return nil
	})
	return all, err
}

func (s *SCIM) findGroup(c *call, groupID string) (g group, it store.Item, err error) {
	if it, err = s.db.Get(c.Context(), store.Key{PK: c.partition(), SK: groupID}); errors.Is(err, store.ErrNotFound) {
		return g, it, missing("group")
	}
	if err != nil {
		return g, it, err
	}
	return g, it, it.Decode(&g)
}

func (s *SCIM) listGroups(c *call, _ string) (answer, error) {
	f, err := parseFilter(c.URL.Query().Get("filter"), "displayName", "externalId", "id")
	if err != nil {
		return answer{}, err
	}
	all, err := s.groups(c)
	if err != nil {
		return answer{}, err
	}
	found := []any{}
	for _, g := range all {
		if f.matches(g.ID, g.ExternalID, g.DisplayName) {
			found = append(found, c.renderGroup(&g))
		}
	}
	return page(c, found)
}

func (s *SCIM) getGroup(c *call, groupID string) (answer, error) {
	g, _, err := s.findGroup(c, groupID)
	return answer{status: http.StatusOK, body: c.renderGroup(&g)}, err
}

// set checks and sets the attributes of a group.
func (g *group) set(from groupBody) error {
	if text.IsBlank(from.DisplayName) || len(from.DisplayName) > 256 {
		return invalid("invalidValue", "displayName must have 1 to 256 characters.")
	}
	g.DisplayName, g.ExternalID, g.Members = from.DisplayName, text.ClipText(from.ExternalID, maxExternalID), []string{}
	return g.add(from.Members)
}

// nameKey is the key of the item that holds the name of a group. Names decide the roles: two groups of one name would
// overwrite each other's.
func (c *call) nameKey(name string) store.Key {
	return store.IDKey("directory#group#" + c.by.ID + "#" + strings.ToLower(strings.ToUpper(name)))
}

// takeName takes the name of a group, unless another group has it. The one that it had before is free again.
func (s *SCIM) takeName(c *call, tx *store.Tx, before, name string) {
	free, taken := c.nameKey(before), c.nameKey(name)
	if before != "" && free == taken {
		return
	}
	if before != "" {
		tx.Expire(free, s.now())
	}
	it := store.Item{Key: taken, Kind: "group_name", Owner: tenant.Of(c.account, "")}
	tx.CreateExpiring(it, s.now().Unix(), &failure{http.StatusConflict, "uniqueness",
		"A group with this displayName exists."})
}

func (g *group) add(members []member) error {
	known := make(map[string]bool, len(g.Members))
	for _, m := range g.Members {
		known[m] = true
	}
	for _, m := range members {
		if !id.Valid(id.Person, m.Value) {
			return invalid("invalidValue", "A member must have the id of a user as its value.")
		}
		if !known[m.Value] {
			known[m.Value], g.Members = true, append(g.Members, m.Value)
		}
		if len(g.Members) > person.Most {
			return invalid("tooMany", "A group can have 1000 members.")
		}
	}
	return nil
}

func (s *SCIM) createGroup(c *call, _ string) (answer, error) {
	var from groupBody
	if err := read(c, &from); err != nil {
		return answer{}, err
	}
	now := s.now()
	g := group{Resource: resource.New(id.New(id.Group, now), now, nil)}
	if err := g.set(from); err != nil {
		return answer{}, err
	}
	all, err := s.groups(c)
	if err != nil {
		return answer{}, err
	}
	for _, other := range all {
		// The answer to a creation may be lost before people follow the group. Directories then read that it exists.
		if strings.EqualFold(other.DisplayName, g.DisplayName) {
			if err := s.settle(c, other.ID); err != nil {
				return answer{}, err
			}
		}
	}
	if len(all) >= maxGroups {
		return answer{}, invalid("tooMany", "There can be 500 groups.")
	}
	g.Unsettled = g.Members
	it, err := store.NewItem(groupKind, tenant.Of(c.account, ""), g.ID, g)
	if err != nil {
		return answer{}, err
	}
	it.Key, it.ListKey = store.Key{PK: c.partition(), SK: g.ID}, store.Key{}
	tx := &store.Tx{}
	tx.Create(it, nil)
	s.takeName(c, tx, "", g.DisplayName)
	if err := s.db.Commit(c.Context(), tx); err != nil {
		return answer{}, err
	}
	return created(c.renderGroup(&g)), s.settle(c, g.ID)
}

// changeGroup changes a group, and then the roles of its members. Repeating the call finishes what was interrupted.
func (s *SCIM) changeGroup(c *call, groupID string, edit func(*group) error) (answer, error) {
	var g group
	err := s.db.Change(c.Context(), func(tx *store.Tx) (err error) {
		var it store.Item
		if g, it, err = s.findGroup(c, groupID); err != nil {
			return err
		}
		before := g
		before.Members = slices.Clone(g.Members)
		if err := edit(&g); err != nil {
			return err
		}
		s.takeName(c, tx, before.DisplayName, g.DisplayName)
		both := func(id string) bool { return slices.Contains(before.Members, id) && slices.Contains(g.Members, id) }
		changed := slices.Concat(before.Members, g.Members)
		if g.DisplayName != before.DisplayName {
			g.Former = append(g.Former, before.DisplayName)
		} else {
			changed = slices.DeleteFunc(changed, both)
		}
		g.Unsettled = slices.Concat(g.Unsettled, changed)
		slices.Sort(g.Unsettled)
		g.Unsettled = slices.Compact(g.Unsettled)
		g.Touch(s.now())
		return tx.Rewrite(it, g)
	})
	if err != nil {
		return answer{}, busyGroup(err)
	}
	return answer{status: http.StatusOK, body: c.renderGroup(&g)}, s.settle(c, groupID)
}

// busyGroup returns the error of a change of a group.
func busyGroup(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return errs.Wrap(err, errs.ProviderUnavailable, "The group is being changed by other calls. Try again.")
	}
	return err
}

// settle has the people follow a group who may not do so yet.
func (s *SCIM) settle(c *call, groupID string) error {
	g, it, err := s.findGroup(c, groupID)
	if err != nil {
		return err
	}
	for _, id := range g.Unsettled {
		if err := present(s.follow(c, id, &g)); err != nil {
			return err
		}
	}
	if len(g.Unsettled)+len(g.Former) == 0 {
		return nil
	}
	g.Unsettled, g.Former = nil, nil
	tx := &store.Tx{}
	if err := tx.Rewrite(it, g); err != nil {
		return err
	}
	// A call that has changed the group meanwhile settles these people, too.
	if err := s.db.Commit(c.Context(), tx); !errors.Is(err, store.ErrConflict) {
		return err
	}
	return nil
}

// follow gives a member of a group its name, takes it from another person, and sets the role that follows. Removed
// people may come back, and follow as well.
func (s *SCIM) follow(c *call, personID string, was *group) error {
	_, err := s.change(c, personID, func(tx *store.Tx, r *person.Record, it store.Item) error {
		g, item, err := s.findGroup(c, was.ID)
		if err != nil {
			return err
		}
		groups := slices.DeleteFunc(slices.Clone(r.Groups), func(name string) bool {
			return name == g.DisplayName || slices.Contains(was.Former, name)
		})
		if slices.Contains(g.Members, personID) {
			groups = append(groups, g.DisplayName)
		}
		// Another group may have one of these names now. If it settles this person meanwhile, this change repeats, and
		// reads the groups again.
		if len(was.Former) > 0 {
			all, err := s.groups(c)
			if err != nil {
				return err
			}
			for _, other := range all {
				if other.ID != g.ID && slices.Contains(was.Former, other.DisplayName) &&
					slices.Contains(other.Members, personID) {
					groups = append(groups, other.DisplayName)
				}
			}
		}
		slices.Sort(groups)
		if slices.Equal(groups, r.Groups) {
			return nil
		}
		r.Groups = groups
		// Without a group that gives a role, the default of the connection counts.
		role, _ := c.by.RoleOf(groups)
		s.people.Follow(tx, r, c.account, role)
		tx.Unchanged(item)
		return s.people.Save(tx, r, it)
	})
	return err
}

func (s *SCIM) putGroup(c *call, groupID string) (answer, error) {
	var from groupBody
	if err := read(c, &from); err != nil {
		return answer{}, err
	}
	return s.changeGroup(c, groupID, func(g *group) error { return g.set(from) })
}

func (s *SCIM) patchGroup(c *call, groupID string) (answer, error) {
	var p patch
	if err := read(c, &p); err != nil {
		return answer{}, err
	}
	return s.changeGroup(c, groupID, func(g *group) error {
		return p.each(func(op, path string, value json.RawMessage) (err error) {
			lower := attribute(groupSchema, path)
			switch {
			case lower == "displayname":
				name, err := scimText(value)
				if err != nil {
					return err
				}
				members := g.Members
				err = g.set(groupBody{DisplayName: name, ExternalID: g.ExternalID})
				g.Members = members
				return err
			case lower == "externalid":
				external, err := scimText(value)
				g.ExternalID = text.ClipText(external, maxExternalID)
				return err
			case lower == "members":
				return g.patchMembers(op, value)
			case strings.HasPrefix(lower, "members[") && op != "remove":
				return invalid("invalidPath", "Members are added and replaced by the path members.")
			case strings.HasPrefix(lower, "members["):
				f, err := parseFilter(strings.TrimSuffix(strings.TrimPrefix(lower, "members["), "]"), "value")
				if err == nil {
					g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return m == f.value })
				}
				return err
			}
			return nil // such as the id, which Okta repeats
		})
	})
}

// patchMembers adds, replaces or removes members. A removal without a value removes all.
func (g *group) patchMembers(op string, value json.RawMessage) error {
	var members []member
	if trimmed := bytes.TrimSpace(value); len(trimmed) > 0 && trimmed[0] == '{' { // a value of one member
		value = slices.Concat([]byte("["), trimmed, []byte("]"))
	}
	if len(value) > 0 && json.Unmarshal(value, &members) != nil {
		return invalid("invalidValue", "members must be a list of objects with a value.")
	}
	switch {
	case op == "remove" && members == nil:
		g.Members = []string{}
		return nil
	case op == "remove":
		gone := make(map[string]bool, len(members))
		for _, m := range members {
			gone[m.Value] = true
		}
		g.Members = slices.DeleteFunc(g.Members, func(m string) bool { return gone[m] })
		return nil
	case op == "replace":
		g.Members = []string{}
	}
	return g.add(members)
}

// deleteGroup takes the roles that a group gives, and then the group.
func (s *SCIM) deleteGroup(c *call, groupID string) (answer, error) {
	if _, err := s.changeGroup(c, groupID, func(g *group) error {
		g.Members = []string{}
		return nil
	}); err != nil {
		return answer{}, err
	}
	err := s.db.Change(c.Context(), func(tx *store.Tx) error {
		g, it, err := s.findGroup(c, groupID)
		if err == nil && len(g.Members)+len(g.Unsettled) > 0 {
			err = store.ErrConflict
		}
		if err != nil {
			return err
		}
		tx.Expire(c.nameKey(g.DisplayName), s.now())
		it.ExpireAt = s.now()
		tx.Replace(it)
		return nil
	})
	return answer{status: http.StatusNoContent}, busyGroup(err)
}
