package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/httpapi/humafix"
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
	// Opens is what it opens, by which mandates, roles and the questions of agents go. 0 means everything.
	Opens Opens
	// Also are the scopes that it needs beside Scope. What opens a copy needs the read scopes of all that is in it.
	Also []auth.Scope
	// Sheet is the name of the file of a list that is also returned as comma-separated values, such as
	// publications.csv. Slice makes its pages.
	Sheet string
	// Errors are the codes that it returns in addition to those of every operation.
	Errors []errs.Code
	// Ends says that another operation is to be used instead. Nil: it stays.
	Ends *Succession
	// Fixed are members of the resource that a body cannot have, with the alternative to each.
	Fixed map[string]string
}

// Ops returns a function that makes operations which a Lambda function serves, and which the document has in the group
// of a tag.
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

	// conditional reports whether the operation takes the header If-Match.
	conditional bool
	// ids are the parameters of the query that take the id of a resource.
	ids []string
}

// Router collects the operations of a function and serves them.
type Router struct {
	mux    *http.ServeMux
	paths  *http.ServeMux // of all methods
	routes []Route
	db     *store.DB
	audit  Recorder
	now    func() time.Time
	// secret is set by SealWith.
	secret seal.Secret
	// actions end the claims of operations that Act has registered.
	actions map[string]ender
	// api, if it is set, describes all operations, and serves none.
	api huma.API
	// refused is the schema of an error response with any code, in the document.
	refused *huma.Schema
	// texts describe the members of types in the document, and described has the types that are described.
	texts     *Texts
	described map[reflect.Type]bool
}

// NewRouter makes a router that commits to db and reports each call to audit.
func NewRouter(db *store.DB, audit Recorder, now func() time.Time) *Router {
	return &Router{mux: http.NewServeMux(), paths: http.NewServeMux(), db: db, audit: audit, now: now}
}

// NewDocument makes a router that serves nothing, but adds the operations registered with it to the document of config.
// The members of their types are described by texts.
func NewDocument(config huma.Config, texts *Texts) *Router {
	return &Router{api: humafix.NewAPI(http.NewServeMux(), config), texts: texts, described: map[reflect.Type]bool{}}
}

// Routes returns the registered operations.
func (r *Router) Routes() []Route { return r.routes }

// OpenAPI returns the document of the operations of a router that NewDocument made.
func (r *Router) OpenAPI() *huma.OpenAPI { return r.api.OpenAPI() }

// Schema returns the schema of a type of answer, registered in that document.
func (r *Router) Schema(t reflect.Type) *huma.Schema {
	schemas := r.api.OpenAPI().Components.Schemas
	s := schemas.Schema(t, true, "")
	schema.MarkNull(schemas, t)
	r.describe()
	return s
}

// describe describes the types that the document got since the last call.
func (r *Router) describe() {
	schemas := r.api.OpenAPI().Components.Schemas
	for name, s := range schemas.Map() {
		if t := schemas.TypeFromRef(schemaPath + name); t != nil && !r.described[t] {
			r.described[t] = true
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

// Write registers an operation that writes only by the transaction: so the record that answers a repeat commits with
// the effect or not at all. The operation may run several times.
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

// answer is a rendered response. huma reads its fields Status and Body by their names.
type answer struct {
	Status      int
	ContentType string `header:"Content-Type"`
	ETag        string `header:"ETag"`
	Replayed    string `header:"Idempotent-Replayed"`
	Location    string `header:"Location"`
	RetryAfter  string `header:"Retry-After"`
	Deprecation string `header:"Deprecation"`
	Sunset      string `header:"Sunset"`
	Link        string `header:"Link"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
	code        errs.Code   // of a failure
	secret      *confidence // nil if the body has no secret
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

// Ending is the data of an answer that names something whose end is known, such as a model. The answer tells it in the
// headers Deprecation (RFC 9745), Sunset (RFC 8594), and Link, which names the guide to such ends.
type Ending interface {
	// Ends returns the time from which on it is advised against, and the one of its end. The zero time stands for none.
	Ends() (deprecated, end time.Time)
}

// endsGuide is the link of answers that name something whose end is known (RFC 9745, section 3).
const endsGuide = `</api-docs/guides/credits#models-that-end>; rel="deprecation"; type="text/html"`

// endOf returns the headers of what ends.
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
	if op.Ends == nil {
		a.Deprecation, a.Sunset, a.Link = endOf(data)
	}
	if p, ok := data.(Pending); ok && a.Status == http.StatusAccepted {
		var after time.Duration
		// A call that was only rehearsed has begun no work, and names none.
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

// register adds an operation to the router. The scope is checked again, though the authorizer has done so, and errors
// get the form of this API.
func register[I any](r *Router, op Op, success reflect.Type, handle func(context.Context, *I) (*answer, error)) {
	takesBody, optional := humafix.TakesBody(reflect.TypeFor[I]())
	codes := op.errors(takesBody)
	first := !slices.ContainsFunc(r.routes, func(known Route) bool { return known.Path == op.Path })
	r.routes = append(r.routes, Route{op.Method, op.Path, op.ID, op.Scope, op.Also, op.Opens, op.Function,
		op.status(), codes, takesIfMatch(reflect.TypeFor[I]()), idParameters(reflect.TypeFor[I]())})
	o := huma.Operation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, DefaultStatus: op.status(),
		MaxBodyBytes: MaxBody + 1, // huma refuses at the limit, not above it
		// The gateway passes complete bodies on: there is no reading to time out.
		BodyReadTimeout: -1,
	}
	serve := func(ctx context.Context, in *I) (*answer, error) {
		c := callFrom(ctx)
		if err := op.permits(auth.FromContext(ctx), r.now()); err != nil {
			return nil, c.fail(err)
		}
		a, err := (*answer)(nil), c.misnamed
		if err == nil {
			a, err = handle(ctx, in)
		}
		if err != nil {
			return nil, huma.ErrorWithHeaders(c.fail(err), errorHeaders(errs.As(err)))
		}
		return a, nil
	}
	if r.api != nil {
		r.document(&o, op, success, codes)
		huma.Register(r.api, o, serve)
		r.describe()
		r.texts.Parameters(operationOf(r.api.OpenAPI().Paths[op.Path], op.Method).Parameters, reflect.TypeFor[I]())
		r.finish(op, success)
		return
	}
	o.Responses = map[string]*huma.Response{strconv.Itoa(op.status()): {}}
	if first {
		r.paths.Handle(op.Path, r.mux)
	}
	ids := idsOf(op.Path)
	operation := humafix.Handler(o, schema.Known{Answer: dataOf(success), Fixed: op.Fixed}, serve)
	r.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, req *http.Request) {
		op.Ends.addTo(w.Header())
		c := callFrom(req.Context())
		if err := c.parse(takesBody, optional); err != nil {
			c.write(w, err)
			return
		}
		c.misnamed = checkPath(req, ids)
		if takesBody && len(c.body) > 0 {
			req = req.WithContext(humafix.WithBody(req.Context(), c.sent))
		}
		operation.ServeHTTP(w, req)
	})
}
