// Package humafix serves operations by huma: huma routes, reads parameters and decodes bodies, and package schema
// checks bodies. It has all workarounds for huma, so that package httpapi needs none. Each was checked with the version
// of huma that its tests name. NewAPI makes the API of huma that the router uses.
package humafix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// NewAPI returns an API that accepts and returns JSON only.
func NewAPI(mux *http.ServeMux, config huma.Config) huma.API {
	config.Formats = huma.DefaultFormats
	config.DefaultFormat = "application/json"
	if config.OpenAPI == nil {
		config.OpenAPI = &huma.OpenAPI{Info: &huma.Info{}}
	}
	if config.Components == nil {
		config.Components = &huma.Components{}
	}
	config.Components.Schemas = schema.NewRegistry()
	return humago.New(mux, config)
}

// Handler serves one operation. Making its schemas takes a good part of a function's start, so it is postponed to the
// first call of the operation, which most instances never get for most operations.
func Handler[I, O any](o huma.Operation, known schema.ResourceInfo,
	serve func(context.Context, *I) (*O, error)) http.Handler {
	return handler(o, known, reflect.TypeFor[I](), func(api huma.API, o huma.Operation, complete completion) {
		huma.Register(api, o, func(ctx context.Context, in *I) (*O, error) {
			if err := complete(ctx, reflect.ValueOf(in).Elem()); err != nil {
				return nil, err
			}
			return serve(ctx, in)
		})
	})
}

// completion completes an input that huma has read, or refuses it.
type completion func(ctx context.Context, in reflect.Value) error

// handler is what is not compiled for each type of input.
func handler(o huma.Operation, known schema.ResourceInfo, input reflect.Type,
	register func(huma.API, huma.Operation, completion)) http.Handler {
	prepared := sync.OnceValue(func() http.Handler {
		mux := http.NewServeMux()
		api := NewAPI(mux, huma.Config{})
		// huma would parse the body again to check it: the tree is checked instead.
		o.SkipValidateBody = true
		o.RequestBody = &huma.RequestBody{}
		sent, _ := input.FieldByName("Body")
		objects := pairs(input)
		var body *schema.Checker
		var described *huma.Operation
		o.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
			c := callFrom(ctx.Context())
			if c == nil {
				c = &call{}
				ctx = huma.WithValue(ctx, callKey{}, c)
			} else if body != nil {
				c.problems = body.Check(c.tree)
			}
			u := ctx.URL()
			c.query = u.Query()
			c.problems = append(parameters(c.query, described), c.problems...)
			if body != nil && len(c.problems) > 0 {
				c.problems = body.AddRules(sent.Type, c.tree, c.problems)
				ctx = refusedContext{ctx}
			}
			next(wholeContext{ctx})
		}}
		register(api, o, func(ctx context.Context, in reflect.Value) error {
			c := callFrom(ctx)
			if len(c.problems) > 0 {
				return render(ctx, schema.Invalid(c.problems))
			}
			if len(objects) > 0 {
				fillPairs(in, objects, c.query)
			}
			return nil
		})
		described = operationOf(api.OpenAPI().Paths[o.Path], o.Method)
		for _, p := range described.Parameters {
			schema.Fill(p.Schema)
		}
		if media := o.RequestBody.Content["application/json"]; media != nil {
			body = schema.NewChecker(api.OpenAPI().Components.Schemas, media.Schema, o.Method == http.MethodPatch,
				known)
		}
		return mux
	})
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { prepared().ServeHTTP(w, req) })
}

// refusedContext is the context of a call whose body is refused. huma decodes an empty one in its place: the types of a
// body that does not fit its schema could take thousands of times its bytes.
type refusedContext struct{ humaContext }

// wholeContext has a body whose whole numbers are written as integers.
type wholeContext struct{ humaContext }

// BodyReader returns the body with its whole numbers as integers, so that 5.0 is 5.
func (c wholeContext) BodyReader() io.Reader {
	text, err := io.ReadAll(c.humaContext.BodyReader())
	if err != nil {
		return io.MultiReader(bytes.NewReader(text), failing{err})
	}
	return bytes.NewReader(jsontree.Whole(text))
}

// failing is a reader that fails.
type failing struct{ err error }

// Read implements io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

// humaContext has a name of its own, since a context has a method Context.
type humaContext huma.Context

// BodyReader returns an empty body.
func (refusedContext) BodyReader() io.Reader { return strings.NewReader("{}") }

// call is the state of the call that is being served.
type call struct {
	tree     any           // the body, nil if there is none
	query    url.Values    // the parameters of the query
	problems []errs.Detail // of the names of its parameters, and of the tree with its schema
}

type callKey struct{}

// WithBody returns a context with the parsed body of a call.
func WithBody(ctx context.Context, tree any) context.Context {
	return context.WithValue(ctx, callKey{}, &call{tree: tree})
}

// callFrom returns nil if there is none.
func callFrom(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// TakesBody reports whether an input has a body, and whether it may be left out.
func TakesBody(input reflect.Type) (takes, optional bool) {
	body, ok := input.FieldByName("Body")
	return ok, ok && body.Type.Kind() == reflect.Pointer
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if o != nil && o.Method == method {
			return o
		}
	}
	return nil
}

// memberOf returns the object and the member that the name of a parameter names, such as metadata[order]. The name of
// the member goes to the last bracket, so that it may have brackets itself: metadata[a[b]]. An object in an object, as
// metadata[a][b] would be, has no members.
func memberOf(name string) (object, member string, ok bool) {
	object, member, ok = strings.Cut(name, "[")
	member, closed := strings.CutSuffix(member, "]")
	return object, member, ok && closed && member != "" && !strings.Contains(member, "][")
}

// pairs are the fields of an input that take pairs in brackets, by the names of their parameters.
func pairs(input reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(input) {
		name, options, _ := strings.Cut(f.Tag.Get("query"), ",")
		if options == "deepObject" && f.Type.Kind() == reflect.Map {
			fields[name] = f.Index
		}
	}
	return fields
}

// fillPairs sets the fields of an input that take pairs in brackets: huma cuts names at each bracket, and would look
// for the member a of metadata[a[b]].
func fillPairs(input reflect.Value, fields map[string][]int, query url.Values) {
	for _, at := range fields {
		input.FieldByIndex(at).SetZero()
	}
	for name, values := range query {
		object, member, ok := memberOf(name)
		at, known := fields[object]
		if !ok || !known {
			continue
		}
		field := input.FieldByIndex(at)
		if field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
		field.SetMapIndex(reflect.ValueOf(member), reflect.ValueOf(values[0]))
	}
}

// isMember reports whether the name of a parameter is that of a member of one of the objects.
func isMember(objects []string, name string) bool {
	object, _, ok := memberOf(name)
	return ok && slices.Contains(objects, object)
}

// The faults of parameters that are reported, and the length of a name in them: a query may have thousands.
const (
	mostParameters = 20
	mostName       = 64
)

// parameters returns the first faults in the names of the parameters of a query, repeated parameters, and empty ones.
func parameters(query url.Values, o *huma.Operation) []errs.Detail {
	var names, objects []string
	for _, p := range o.Parameters {
		switch {
		case p.In == "query" && p.Style == "deepObject":
			names, objects = append(names, p.Name+"[…]"), append(objects, p.Name)
		case p.In == "query":
			names = append(names, p.Name)
		}
	}
	var found []errs.Detail
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(found) == mostParameters {
			break
		}
		p := errs.Detail{Param: text.ClipText(name, mostName)}
		switch values := query[name]; {
		case slices.Contains(objects, name):
			p.Message = "takes the name of a pair in brackets: " + name + "[order]=4711"
		case !slices.Contains(names, name) && !isMember(objects, name):
			p.Message = schema.Unknown("is not a parameter of this operation", p.Param, "It takes ", names)
		case len(values) > 1:
			p.Message = "is sent more than once"
		case values[0] == "":
			p.Message = "is empty; send a value, or leave it out"
		default:
			continue
		}
		found = append(found, p)
	}
	return found
}

// render renders an error; see RenderWith.
var render func(context.Context, *errs.Error) huma.StatusError

// RenderWith sets the form of errors of huma's own checks. huma builds them by variables of its package, so there is
// one form for the program: set it in init.
func RenderWith(as func(context.Context, *errs.Error) huma.StatusError) {
	render = as
	huma.NewError = func(status int, msg string, causes ...error) huma.StatusError {
		return render(context.Background(), translate(status, msg, causes, nil))
	}
	huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, causes ...error) huma.StatusError {
		return render(ctx.Context(), translate(status, msg, causes, callFrom(ctx.Context())))
	}
}

// translate turns an error of huma's into an error of this service. huma checks parameters, and decodes bodies. Only
// the place and the message of each cause are used, never the value from the caller.
func translate(status int, msg string, causes []error, c *call) *errs.Error {
	if status != http.StatusUnprocessableEntity {
		return errs.As(fmt.Errorf("huma: %d %s: %w", status, msg, errors.Join(causes...)))
	}
	if c == nil {
		c = &call{}
	}
	ofBody := slices.ContainsFunc(c.problems, func(d errs.Detail) bool {
		return d.Param == "" || strings.HasPrefix(d.Param, "/")
	})
	var problems []errs.Detail
	for _, cause := range causes {
		d, ok := cause.(huma.ErrorDetailer)
		switch {
		case !ok:
			problems = append(problems, errs.Detail{Message: cause.Error()})
		case strings.HasPrefix(d.ErrorDetail().Location, "path."):
			// An address with another value than ids and numbers names nothing.
			return errs.New(errs.NotFound, "The path names nothing: %s %s.",
				strings.TrimPrefix(d.ErrorDetail().Location, "path."), detail(d.ErrorDetail(), c.tree).Message)
		case ofBody && d.ErrorDetail().Location == "body":
			// A body that does not fit the schema need not fit the input.
		default:
			problems = append(problems, detail(d.ErrorDetail(), c.tree))
		}
	}
	if problems = append(problems, c.problems...); len(problems) == 0 {
		return errs.Invalid("", "%s", msg)
	}
	return schema.Invalid(problems)
}

// Only a refusal needs the pattern: most cold starts do not compile it.
var noInteger = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^json: cannot unmarshal number \S+ into Go struct field [^.\s]+\.(\S+) of type ` +
		`u?int`)
})

func detail(e *huma.ErrorDetail, sent any) errs.Detail {
	if m := noInteger().FindStringSubmatch(e.Message); m != nil {
		// The schema takes 1.0 for an integer, but the decoder does not.
		return errs.Detail{Param: field(strings.Split(m[1], "."), sent), Message: schema.MustBeInteger}
	}
	_, name, _ := strings.Cut(e.Location, ".") // such as query.limit
	d := errs.Detail{Message: schema.Refine(e.Message, e.Value)}
	d.Param, _, _ = strings.Cut(name, "[") // which of several values it is
	switch {
	case strings.HasPrefix(e.Message, "invalid date/time"):
		d.Message = schema.MustBeTime + "; in a URL, write + as %2B"
	case e.Message == "invalid integer":
		d.Message = validation.MsgExpectedInteger
	case e.Message == "invalid boolean":
		d.Message = validation.MsgExpectedBoolean
	}
	return d
}

// field turns the path of a struct's field, as package json writes it, into a JSON pointer. The path names embedded
// structs, which are not members of the body, and omits the indexes of lists: if several items have the field, the
// pointer ends at their list.
func field(path []string, sent any) string {
	if len(path) == 0 {
		return ""
	}
	switch v := sent.(type) {
	case map[string]any:
		if next, ok := v[path[0]]; ok {
			return "/" + jsontree.Escape(path[0]) + field(path[1:], next)
		}
		return field(path[1:], v)
	case []any:
		last, found, times := path[len(path)-1], "", 0
		for i, item := range v {
			if place := field(path, item); strings.HasSuffix(place, "/"+jsontree.Escape(last)) {
				found, times = "/"+strconv.Itoa(i)+place, times+1
			}
		}
		if times == 1 {
			return found
		}
	}
	return ""
}
