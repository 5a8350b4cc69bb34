package httpapi

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi/input"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/store"
)

// MaxBody is the largest body of a request, in bytes.
const MaxBody = 256 << 10

// Op declares one operation. The OpenAPI document, the gateway's routes and the authorizer's scope table are made from
// it.
type Op struct {
	ID     string // operationId
	Method string
	Path   string
	Scope  auth.Scope
	// Function is the name of the Lambda that serves it.
	Function string
	// Status is the status of success. 0 means 200.
	Status      int
	Tag         string
	Summary     string
	Description string
	// AccountWide operations concern the whole account. They refuse keys that are bound to profiles.
	AccountWide bool
	// Opens says what a call can cause, for example spending. Mandates, roles and the confirmations of agents depend on
	// it. 0 means everything.
	Opens Opens
	// Also are scopes that it needs beside Scope. For example, an export needs the read scopes of all that is in it.
	Also []auth.Scope
	// Sheet is the name of the file of a list that is also returned as comma-separated values, such as
	// publications.csv. Slice makes its pages.
	Sheet string
	// Errors are the codes that it returns in addition to those of every operation.
	Errors []errs.Code
	// Successor names the operation to use instead of a deprecated one. Nil: it is not deprecated.
	Successor *Succession
	// FixedMembers are members of the resource that a body cannot have, with the alternative to each.
	FixedMembers map[string]string
	// Kind is the kind of the items of the table that it is about, if they are declared: see the package kind.
	Kind string
}

// Ops returns a function that declares operations of the same Lambda function and tag.
func Ops(function, tag string) func(id, method, path string, scope auth.Scope, summary, description string) Op {
	return func(id, method, path string, scope auth.Scope, summary, description string) Op {
		return Op{ID: id, Method: method, Path: path, Scope: scope, Function: function, Tag: tag, Summary: summary,
			Description: description}
	}
}

// ScopedOps is Ops for operations that need the same scope.
func ScopedOps(function, tag string, scope auth.Scope) func(id, method, path, summary, description string) Op {
	return func(id, method, path, summary, description string) Op {
		return Ops(function, tag)(id, method, path, scope, summary, description)
	}
}

// Route is the part of an operation that the gateway and the authorizer need.
type Route struct {
	Method, Path, OperationID string
	Scope                     auth.Scope
	Also                      []auth.Scope
	Opens                     Opens
	Function                  string
	Status                    int
	// Errors are all codes that the operation may return.
	Errors []errs.Code
	// Kind is that of the operation.
	Kind string

	// parameters are made at the first call of the operation.
	parameters func() parameters
}

// parameters are what the router itself needs to know of the parameters of an operation.
type parameters struct {
	// conditional reports whether the operation takes the header If-Match.
	conditional bool
	// ids are the parameters of the query that take the id of a resource.
	ids []string
}

// methods are the operations of a path by their methods. The router has refused other methods before.
type methods map[string]http.HandlerFunc

// ServeHTTP implements http.Handler.
func (m methods) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	serve := m[req.Method]
	if req.Method == http.MethodHead {
		serve = m[http.MethodGet]
	}
	serve(w, req)
}

// Router collects the operations of a function and serves them. Read, List, Write and Act register an operation. A call
// passes ServeHTTP in handler.go, which reads it, then run, which checks the caller, and then the function of the
// operation.
type Router struct {
	mux    *http.ServeMux     // of the paths
	served map[string]methods // by path
	routes []Route
	db     *store.DB
	audit  Recorder
	now    func() time.Time
	// secret is set by SealWith.
	secret seal.Secret
	// actions end the claims of operations that Act has registered.
	actions map[string]ender
	// document, if it is set, gets all operations. They are not served.
	document *huma.OpenAPI
	// anyError is the schema of an error response with any code, in the document.
	anyError *huma.Schema
	// texts describe the members of types in the document, and described has the types that are described.
	texts          *Texts
	describedTypes map[reflect.Type]bool
}

// NewRouter makes a router that commits to db and reports each call to audit.
func NewRouter(db *store.DB, audit Recorder, now func() time.Time) *Router {
	return &Router{mux: http.NewServeMux(), served: map[string]methods{}, db: db, audit: audit, now: now}
}

// NewDocument makes a router that serves nothing, but adds the operations registered with it to a document. The members
// of their types are described by texts.
func NewDocument(document *huma.OpenAPI, texts *Texts) *Router {
	if document.Components == nil {
		document.Components = &huma.Components{}
	}
	document.Components.Schemas = schema.NewRegistry()
	return &Router{document: document, texts: texts, describedTypes: map[reflect.Type]bool{}}
}

// Routes returns the registered operations.
func (r *Router) Routes() []Route { return r.routes }

// OpenAPI returns the document of the operations of a router that NewDocument made.
func (r *Router) OpenAPI() *huma.OpenAPI { return r.document }

// Schema returns the schema of a type of answer, registered in that document.
func (r *Router) Schema(t reflect.Type) *huma.Schema {
	schemas := r.document.Components.Schemas
	s := schemas.Schema(t, true, "")
	schema.MarkNull(schemas, t)
	r.describe()
	return s
}

// describe describes the types that the document got since the last call.
func (r *Router) describe() {
	schemas := r.document.Components.Schemas
	for name, s := range schemas.Map() {
		if t := schemas.TypeFromRef(schemaPath + name); t != nil && !r.describedTypes[t] {
			r.describedTypes[t] = true
			r.texts.Members(s, t)
		}
	}
}

// DescribeMembers describes the members of a type whose schema has a name that is not the type's.
func (r *Router) DescribeMembers(s *huma.Schema, t reflect.Type) { r.texts.Members(s, t) }

// Read registers an operation that changes nothing.
func Read[I, T any](r *Router, op Op, handle func(context.Context, *I) (T, error)) {
	register(r, op, reflect.TypeFor[Envelope[T]](), func(ctx context.Context, in *I) (*answer, error) {
		data, err := handle(ctx, in)
		if err != nil {
			return nil, err
		}
		a, err := render(ctx, op, data)
		if err == nil && callFrom(ctx).has(a.ETag) {
			return &answer{Status: http.StatusNotModified, ETag: a.ETag}, nil
		}
		return a, err
	})
}

// List registers an operation that returns a page of a list.
func List[I, T any](r *Router, op Op, handle func(context.Context, *I) (Page[T], error)) {
	register(r, op, reflect.TypeFor[ListEnvelope[T]](), func(ctx context.Context, in *I) (*answer, error) {
		c := callFrom(ctx)
		c.sheet = c.sheet && op.Sheet != ""
		page, err := handle(ctx, in)
		if err != nil {
			return nil, err
		}
		if c.sheet {
			return renderSheet(op, page.Items)
		}
		if page.Members == nil {
			return renderList(c, page.Items, page.Next)
		}
		some, err := sparse(page.Items, page.Members)
		if err != nil {
			return nil, err
		}
		return renderList(c, some, page.Next)
	})
}

// renderList returns a page of a list.
func renderList[T any](c *call, all []T, next string) (*answer, error) {
	body := ListEnvelope[T]{Data: all, RequestID: c.RequestID}
	if body.Data == nil {
		body.Data = []T{}
	}
	if next != "" {
		body.NextCursor = &next
	}
	return encode(http.StatusOK, "", body)
}

// Write registers an operation that writes only through the transaction. The answer is stored in the same transaction,
// so a repeated request gets it exactly if the first one had its effect. If a commit meets a conflict, handle is called
// again.
func Write[I, T any](r *Router, op Op, handle func(context.Context, *store.Tx, *I) (T, error)) {
	register(r, op, reflect.TypeFor[Envelope[T]](), func(ctx context.Context, in *I) (*answer, error) {
		return r.commit(ctx, func(tx *store.Tx) (*answer, error) {
			data, err := handle(ctx, tx, in)
			if err != nil {
				return nil, err
			}
			return r.answer(ctx, op, data)
		})
	})
}

// answer is a rendered response.
type answer struct {
	Status      int
	ContentType string
	ETag        string
	Replayed    string
	Location    string
	RetryAfter  string
	Deprecation string
	Sunset      string
	Link        string
	Disposition string
	Body        []byte
	code        errs.Code   // of a failure
	secret      *confidence // nil if the body has no secret
}

// send writes the answer.
func (a *answer) send(w http.ResponseWriter, requestID string) {
	for _, header := range [][2]string{{"Content-Type", a.ContentType}, {"ETag", a.ETag},
		{"Idempotent-Replayed", a.Replayed}, {"Location", a.Location}, {"Retry-After", a.RetryAfter},
		{"Deprecation", a.Deprecation}, {"Sunset", a.Sunset}, {"Link", a.Link},
		{"Content-Disposition", a.Disposition}} {
		if header[1] != "" {
			w.Header().Set(header[0], header[1])
		}
	}
	w.WriteHeader(a.Status)
	if _, err := w.Write(a.Body); err != nil {
		slog.Warn("answer not written", "request_id", requestID, "error", err)
	}
}

// versioned is a resource that has an ETag.
type versioned interface{ ResourceVersion() int64 }

// tagged is a resource whose ETag does not derive from its version, because the version does not count all changes of
// its members.
type tagged interface{ ETag() (string, error) }

// Pending is the data of every answer with status 202: work that continues.
type Pending interface {
	// Pending returns the path, with its query, that shows the progress of the work, and the time after which it makes
	// sense to read it.
	Pending() (path string, after time.Duration)
}

// Ending is the data of an answer that names something with a known end, for example a model. The end is in the headers
// Deprecation (RFC 9745), Sunset (RFC 8594), and Link, which names the guide about it.
type Ending interface {
	// Ends returns the time of the deprecation and the time of the end. The zero time stands for none.
	Ends() (deprecated, end time.Time)
}

// endsGuide is the header Link of answers that name something with a known end (RFC 9745, section 3).
const endsGuide = `</api-docs/guides/credits#models-that-end>; rel="deprecation"; type="text/html"`

// endOf returns the values of the headers Deprecation, Sunset and Link.
func endOf(data any) (deprecation, sunset, link string) {
	e, ok := data.(Ending)
	if !ok {
		return "", "", ""
	}
	deprecated, end := e.Ends()
	if deprecated.IsZero() {
		deprecated = end // what has ended is advised against at the latest then
	}
	if !deprecated.IsZero() {
		deprecation = "@" + strconv.FormatInt(deprecated.Unix(), 10)
	}
	if !end.IsZero() {
		sunset = end.UTC().Format(http.TimeFormat)
	}
	if deprecation != "" || sunset != "" {
		link = endsGuide
	}
	return deprecation, sunset, link
}

// render returns the answer with the data of an operation, and the headers that follow from its type.
func render(ctx context.Context, op Op, data any) (a *answer, err error) {
	etag := ""
	switch v := data.(type) {
	case tagged:
		if etag, err = v.ETag(); err != nil {
			return nil, err
		}
	case versioned:
		etag = ETag(v.ResourceVersion())
	}
	if a, err = encode(op.status(), etag, Envelope[any]{Data: data, RequestID: callFrom(ctx).RequestID}); err != nil {
		return nil, err
	}
	if op.Successor == nil {
		a.Deprecation, a.Sunset, a.Link = endOf(data)
	}
	if p, ok := data.(Pending); ok && a.Status == http.StatusAccepted {
		var after time.Duration
		// A rehearsal has begun no work, so there is nothing to poll.
		if a.Location, after = p.Pending(); a.Location != "" {
			a.RetryAfter = seconds(after)
		}
	}
	return a, nil
}

// answer renders the answer of an operation whose answers are remembered.
func (r *Router) answer(ctx context.Context, op Op, data any) (*answer, error) {
	a, err := render(ctx, op, data)
	if err != nil {
		return nil, err
	}
	a.secret, err = conceal(ctx, op, data, r.now())
	return a, err
}

// status returns the status of success.
func (op Op) status() int {
	if op.Status == 0 {
		return http.StatusOK
	}
	return op.Status
}

// dataOf returns the type of the data of an envelope.
func dataOf(envelope reflect.Type) reflect.Type {
	data, _ := envelope.FieldByName("Data")
	return data.Type
}

// permits refuses a caller who may not call the operation.
func (op Op) permits(p *auth.Principal, now time.Time) error {
	err := p.RequireMandate(now)
	if err == nil {
		err = p.MayCall(op.Scope, op.Method)
	}
	if err == nil && op.AccountWide {
		err = p.RequireAccount()
	}
	for _, scope := range op.Also {
		if err == nil {
			err = p.Require(scope, "")
		}
	}
	if err == nil {
		err = op.opened(p)
	}
	return err
}

// register adds an operation to the router. It is compiled for each type of input; what does not need the type is in
// other functions.
func register[I any](r *Router, op Op, success reflect.Type, handle func(context.Context, *I) (*answer, error)) {
	r.add(&op, reflect.TypeFor[I](), success, func(ctx context.Context, in any) (*answer, error) {
		return handle(ctx, in.(*I))
	})
}

// add adds an operation with a type of input and one of success. handle is called with a pointer to the input.
func (r *Router) add(op *Op, in, success reflect.Type, handle func(context.Context, any) (*answer, error)) {
	body, optional := input.Body(in)
	codes := op.errors(body != nil)
	r.routes = append(r.routes, Route{op.Method, op.Path, op.ID, op.Scope, op.Also, op.Opens, op.Function,
		op.status(), codes, op.Kind, sync.OnceValue(func() parameters {
			return parameters{takesIfMatch(in), idParameters(in)}
		})})
	if r.document != nil {
		r.describeOperation(op, in, success, codes)
		return
	}
	if r.served[op.Path] == nil {
		r.served[op.Path] = methods{}
		r.mux.Handle(op.Path, r.served[op.Path])
	}
	// Most instances get no call of most operations.
	reader := sync.OnceValue(func() *input.Reader {
		return input.NewReader(in, op.Method == http.MethodPatch, schema.ResourceInfo{Answer: dataOf(success),
			FixedMembers: op.FixedMembers})
	})
	ids := idsOf(op.Path)
	r.served[op.Path][op.Method] = func(w http.ResponseWriter, req *http.Request) {
		op.Successor.addTo(w.Header())
		c := callFrom(req.Context())
		c.idError = checkPath(req, ids)
		if len(ids) > 0 {
			c.id = req.PathValue(ids[len(ids)-1].name)
		}
		err := c.parse(body != nil, optional)
		var read any
		if err == nil {
			read, err = reader().Read(req, c.body, c.parsedBody)
		}
		var a *answer
		if err == nil {
			a, err = r.run(req.Context(), op, func() (*answer, error) { return handle(req.Context(), read) })
		}
		if err != nil {
			c.write(w, err)
			return
		}
		a.send(w, c.RequestID)
	}
}

// run runs an operation on a call that was read. The scope is checked again, though the authorizer has done so.
func (r *Router) run(ctx context.Context, op *Op, handle func() (*answer, error)) (*answer, error) {
	if err := op.permits(auth.FromContext(ctx), r.now()); err != nil {
		return nil, err
	}
	if err := callFrom(ctx).idError; err != nil {
		return nil, err
	}
	return handle()
}

// describeOperation adds an operation to the document.
func (r *Router) describeOperation(op *Op, in, success reflect.Type, codes []errs.Code) {
	o := &huma.Operation{OperationID: op.ID, Method: op.Method, Path: op.Path}
	r.describeAnswers(o, *op, success, codes)
	o.Parameters = append(o.Parameters, documentIDs(idsOf(op.Path), in)...)
	input.Describe(o, in, r.document.Components.Schemas)
	r.document.AddOperation(o)
	r.describe()
	r.texts.Parameters(o.Parameters, in)
	r.finish(o, *op, success)
}

// SecurityScheme is the name of the API key in the document.
const SecurityScheme = "apiKey"

// RequiredScopes is the member of an operation in the document that has its scopes: security requirements have scopes
// for OAuth 2 only.
const RequiredScopes = "x-required-scopes"

// OpensMember is the member of an operation in the document that has its Opens.
const OpensMember = "x-opens"

// listed returns several names as a list in a text.
func listed(names []string) string {
	last := len(names) - 1
	return "`" + strings.Join(names[:last], "`, `") + "` and `" + names[last] + "`"
}

// describeAnswers describes the answers of the operation and the required scope.
func (r *Router) describeAnswers(o *huma.Operation, op Op, success reflect.Type, codes []errs.Code) {
	o.Summary, o.Description, o.Tags = op.Summary, op.Description, []string{op.Tag}
	o.Security = []map[string][]string{{SecurityScheme: {}}}
	o.Extensions = map[string]any{RequiredScopes: op.scopes(), OpensMember: op.Opens.Names()}
	needs := "Needs the scope `" + string(op.Scope) + "`."
	if len(op.Also) > 0 {
		needs = "Needs the scopes " + listed(op.scopes()) + "."
	}
	o.Description = strings.TrimSpace(o.Description + "\n\n" + needs)
	if op.Successor != nil {
		op.Successor.describe(o)
	}
	schema := r.Schema(success)
	o.Responses = map[string]*huma.Response{strconv.Itoa(op.status()): {
		Description: http.StatusText(op.status()),
		Content:     map[string]*huma.MediaType{"application/json": {Schema: schema}},
	}}
	if op.Method != http.MethodGet {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header",
			Description: "Makes the request idempotent: within 24 hours, a repeat with the same key returns the " +
				"first response and has no further effect",
			Schema: &huma.Schema{Type: huma.TypeString, MinLength: pointerTo(1), MaxLength: pointerTo(255)},
		})
	}
	maps.Copy(o.Responses, r.errorResponses(codes))
}

// errors returns all codes that the operation may return, in order.
func (op Op) errors(takesBody bool) []errs.Code {
	codes := append([]errs.Code{
		errs.MissingAPIKey, errs.InvalidAPIKey, errs.PlanNotAllowed, errs.IPNotAllowed, errs.InsufficientScope,
		errs.PersonRequired, errs.OutsideMandate,
		errs.RateLimited, errs.Internal, errs.ProviderUnavailable, errs.Timeout, errs.ValidationFailed,
	}, op.Errors...)
	if op.AccountWide {
		codes = append(codes, errs.ProfileNotAllowed)
	}
	if strings.Contains(op.Path, "{") {
		codes = append(codes, errs.NotFound)
	}
	if op.Method != http.MethodGet {
		codes = append(codes, errs.InvalidHeader, errs.IdempotencyKeyReused, errs.IdempotencyInProgress,
			errs.BodyTooLarge, errs.UnsupportedMediaType)
	}
	if takesBody {
		codes = append(codes, errs.MalformedJSON)
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// Headers are the headers of answers, for the components of the document.
func Headers() map[string]*huma.Param {
	text := func(doc string) *huma.Param {
		return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return map[string]*huma.Param{
		"X-Request-Id":     text("Id of the request; the same as request_id in the body"),
		"RateLimit-Policy": text("Limit of the key: q requests in w seconds (draft-ietf-httpapi-ratelimit-headers)"),
		"RateLimit":        text("Remaining quota: r requests for the next t seconds"),
		"ETag":             text("Version of the resource, for If-Match"),
		"Idempotent-Replayed": text("`true` if this is the response of an earlier request with the same " +
			"Idempotency-Key"),
		"WWW-Authenticate": text("`Bearer`"),
		"Deprecation": text("`@` and the Unix time from which on the operation, or a model that the resource uses, " +
			"is deprecated (RFC 9745). Absent if none is"),
		"Sunset": text("Time at which the operation, or a model that the resource uses, ends (RFC 8594). Absent if " +
			"no end is known"),
		"Link": text("Path of the operation to use instead, with the relation successor-version (RFC 5829), or of " +
			"the guide to models that end, with the relation deprecation (RFC 9745). Absent if nothing ends"),
		"Location": text("Path that shows how far the work is. Absent of a rehearsal, which creates none"),
		"Retry-After": {Description: "Seconds to wait before the next request. With 202: until it makes " +
			"sense to look at Location", Schema: &huma.Schema{Type: huma.TypeInteger}},
	}
}

// headersNamed returns references to some of Headers.
func headersNamed(names ...string) map[string]*huma.Param {
	m := map[string]*huma.Param{}
	for _, name := range names {
		m[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return m
}

// finish adds the headers of answers.
func (r *Router) finish(o *huma.Operation, op Op, success reflect.Type) {
	names := []string{"X-Request-Id", "RateLimit-Policy", "RateLimit"}
	if data, ok := success.FieldByName("Data"); ok && data.Type.Implements(reflect.TypeFor[versioned]()) {
		names = append(names, "ETag")
	}
	if data, ok := success.FieldByName("Data"); ok && op.status() == http.StatusAccepted &&
		data.Type.Implements(reflect.TypeFor[Pending]()) {
		names = append(names, "Location", "Retry-After")
	}
	if data, ok := success.FieldByName("Data"); ok && data.Type.Implements(reflect.TypeFor[Ending]()) {
		names = append(names, "Deprecation", "Sunset", "Link")
	}
	if op.Successor != nil {
		names = append(names, "Deprecation", "Sunset", "Link")
	}
	if op.Method != http.MethodGet {
		names = append(names, "Idempotent-Replayed")
	} else if slices.Contains(names, "ETag") {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "If-None-Match", In: "header", Schema: &huma.Schema{Type: huma.TypeString},
			Description: "ETag of an earlier response. If the resource has not changed since, the response is 304 " +
				"without a body. Signed URLs in the earlier response expire all the same",
		})
		o.Responses[strconv.Itoa(http.StatusNotModified)] = &huma.Response{Description: http.StatusText(
			http.StatusNotModified), Headers: headersNamed(names...)}
	}
	o.Responses[strconv.Itoa(op.status())].Headers = headersNamed(names...)
	if o.RequestBody == nil {
		return
	}
	if json := o.RequestBody.Content["application/json"]; json != nil && op.Method == http.MethodPatch {
		o.RequestBody.Content["application/merge-patch+json"] = json
	}
}

func pointerTo[T any](v T) *T { return &v }

// Succession says that an operation is deprecated, and which one follows it. Answers say so in the headers Deprecation
// (RFC 9745), Sunset (RFC 8594) and Link. At least 180 days lie between the two times.
type Succession struct {
	// Path is the path of the operation that follows, and Operation its id.
	Path, Operation string
	// Deprecated is the time of the deprecation, and Sunset the time from which on the operation may be removed.
	Deprecated, Sunset time.Time
}

// addTo adds the headers to those of an answer, also of a refusal. Without a succession it adds nothing.
func (s *Succession) addTo(h http.Header) {
	if s == nil {
		return
	}
	h.Set("Deprecation", "@"+strconv.FormatInt(s.Deprecated.Unix(), 10))
	h.Set("Sunset", s.Sunset.UTC().Format(http.TimeFormat))
	h.Set("Link", "<"+s.Path+`>; rel="successor-version"`)
}

// describe marks the operation in the document. Generators of Go know the paragraph that begins with Deprecated.
func (s *Succession) describe(o *huma.Operation) {
	o.Deprecated = true
	o.Description += "\n\nDeprecated: use `" + s.Operation + "` (`" + s.Path + "`) instead. This operation is served " +
		"until " + s.Sunset.UTC().Format(time.DateOnly) + " at least."
	o.Extensions["x-sunset"] = s.Sunset.UTC().Format(time.DateOnly)
}

// Enum describes a text with the given values.
func Enum[T ~string](values []T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// CheckMember checks a parsed member of a body whose type depends on the resource, so that the schema of the body is
// less strict than that of the type.
func CheckMember(t reflect.Type, name string, value any) error { return schema.Check(t, name, value) }

// CheckPatch checks a parsed merge patch against the schema of a body.
func CheckPatch(t reflect.Type, patch any) error { return schema.CheckPatch(t, patch) }

// CheckSandbox refuses the member sandbox of a body that a live key has sent.
func CheckSandbox(sent bool, mode tenant.Mode) error {
	if sent && mode != tenant.Test {
		return errs.Invalid("/sandbox", "works with test keys only; leave it out with a live key")
	}
	return nil
}

// Member checks a parsed member of a body against the schema of T, and decodes it.
func Member[T any](name string, value any) (v T, err error) {
	if err := CheckMember(reflect.TypeFor[T](), name, value); err != nil {
		return v, err
	}
	b, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	return v, err
}

// schemaPath is the location of schemas in the document.
const schemaPath = "#/components/schemas/"

// Unevaluated is the keyword unevaluatedProperties of JSON Schema, which huma does not have. It refuses members that no
// part of a schema describes.
const Unevaluated = "unevaluatedProperties"

// RefTo returns a reference to the schema of a name.
func RefTo(name string) *huma.Schema { return &huma.Schema{Ref: schemaPath + name} }

// Variant is one variant of a union.
type Variant struct {
	// Value is the value of the discriminating member.
	Value string
	// Name is the name of the variant's schema, and Description its description.
	Name, Description string
	// Members are the members that it has in addition to those of all variants.
	Members  map[string]*huma.Schema
	Required []string
	// Closed refuses other members.
	Closed bool
}

// Union adds one schema for each variant to the document, which extends the schema base, and describes the choice
// between them by the value of a member.
func Union(schemas map[string]*huma.Schema, base, member string, variants []Variant) *huma.Schema {
	union := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: member, Mapping: map[string]string{}}}
	for _, v := range variants {
		schemas[v.Name] = v.extend(base, member, schemas[base].Properties[member].Description)
		union.OneOf = append(union.OneOf, RefTo(v.Name))
		union.Discriminator.Mapping[v.Value] = schemaPath + v.Name
	}
	if len(variants) == 1 {
		return union.OneOf[0]
	}
	return union
}

func (v Variant) extend(base, member, doc string) *huma.Schema {
	own := &huma.Schema{
		Type: huma.TypeObject, Required: append([]string{member}, v.Required...),
		// An enumeration of one value is used, since not all generators combine a constant with the enumeration of all
		// values in base.
		Properties: map[string]*huma.Schema{member: {Type: huma.TypeString, Enum: []any{v.Value}, Description: doc}},
	}
	maps.Copy(own.Properties, v.Members)
	s := &huma.Schema{Description: v.Description, AllOf: []*huma.Schema{RefTo(base), own}}
	if v.Closed {
		s.Extensions = map[string]any{Unevaluated: false}
	}
	return s
}

// Opens is what an operation opens: what others can reach after it, and what nobody takes back. The zero value means
// everything, so that a new operation is left to people by every mandate until its declaration says less.
type Opens uint8

// What an operation opens.
const (
	// Nothing: it reads or changes what belongs to the caller, and nothing else.
	Nothing Opens = 1 << iota
	// Address: it sets an address or account to which data or content are sent from then on.
	Address
	// Credential: it makes, replaces or takes a secret that lets somebody in.
	Credential
	// Copy: it makes or shows a copy of data behind links that need no key.
	Copy
	// Right: it gives a key or a person rights, or widens them.
	Right
	// Deletion: it deletes, ends or disconnects.
	Deletion
	// Spending: it may spend credits, at once or later. Where they are reserved, the mandate is compared.
	Spending
	// Publishing: it may publish, at once or later. Its scope is content:publish, or it needs that scope for what is
	// published.
	Publishing
)

// everything is what an operation without a declaration opens.
const everything = Address | Credential | Copy | Right | Deletion | Spending | Publishing

// Opening is one thing that operations open: its name, and the act by which a mandate leaves it to people.
type Opening struct {
	Opens Opens
	Name  string
	Act   auth.Act
}

// Openings returns all that operations open, in the order of the documents.
func Openings() []Opening { return slices.Clone(openings) }

var openings = []Opening{
	{Address, "address", auth.ActInvite},
	{Credential, "credential", auth.ActInvite},
	{Copy, "copy", auth.ActInvite},
	{Right, "right", auth.ActInvite},
	{Deletion, "deletion", auth.ActDelete},
	{Spending, "spending", auth.ActSpend},
	{Publishing, "publishing", auth.ActPublish},
}

// Opening returns the operation with what it opens.
func (op Op) Opening(what Opens) Op {
	op.Opens = what
	return op
}

// Has reports whether one of some things is opened.
func (o Opens) Has(some Opens) bool {
	if o == 0 {
		o = everything
	}
	return o&some != 0
}

// Names returns the names of what is opened, in the order of the documents.
func (o Opens) Names() []string {
	names := []string{}
	for _, one := range openings {
		if o.Has(one.Opens) {
			names = append(names, one.Name)
		}
	}
	return names
}

// String returns the names as a list, or nothing.
func (o Opens) String() string {
	if o == Nothing {
		return "nothing"
	}
	return strings.Join(o.Names(), ", ")
}

// Acts returns the acts that the operation always does. What may spend or publish is compared with a mandate where it
// does, unless nothing is declared.
func (o Opens) Acts() (acts []auth.Act) {
	for _, one := range openings {
		always := o == 0 || !(Spending | Publishing).Has(one.Opens)
		if always && o.Has(one.Opens) && !slices.Contains(acts, one.Act) {
			acts = append(acts, one.Act)
		}
	}
	return acts
}

// opened refuses a caller to whom the operation opens too much: a key whose mandate leaves it to people, and an
// auditor, who reads what needs a sign-in and takes nothing out of the account.
func (op Op) opened(p *auth.Principal) error {
	for _, act := range op.Opens.Acts() {
		if err := p.RequirePerson(act); err != nil {
			return err
		}
	}
	if p.Role == auth.Auditor && op.Opens.Has(everything) {
		return errs.New(errs.InsufficientScope, "Your role, %s, does not permit this: it reads, and opens nothing to "+
			"others. Ask an owner or an admin of the account.", p.Role)
	}
	return nil
}

// scopes returns the names of the scopes that the operation needs.
func (op Op) scopes() []string {
	names := []string{string(op.Scope)}
	for _, scope := range op.Also {
		names = append(names, string(scope))
	}
	return names
}
