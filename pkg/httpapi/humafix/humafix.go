// Package humafix serves operations by huma: huma routes, reads parameters and decodes bodies, and package schema
// checks bodies. It has all workarounds for huma, so that package httpapi needs none. Each was checked with the version
// of huma that its tests name. NewAPI makes the API of huma that the router uses.
package humafix

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/content-automation/api/pkg/base/errs"
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
func Handler[I, O any](o huma.Operation, known schema.Known, serve func(context.Context, *I) (*O, error)) http.Handler {
	prepared := sync.OnceValue(func() http.Handler {
		mux := http.NewServeMux()
		api := NewAPI(mux, huma.Config{})
		// huma would parse the body again to check it: the tree is checked instead.
		o.SkipValidateBody = true
		o.RequestBody = &huma.RequestBody{}
		sent, _ := reflect.TypeFor[I]().FieldByName("Body")
		objects := pairs(reflect.TypeFor[I]())
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
		huma.Register(api, o, func(ctx context.Context, in *I) (*O, error) {
			c := callFrom(ctx)
			if len(c.problems) > 0 {
				return nil, render(ctx, schema.Invalid(c.problems))
			}
			if len(objects) > 0 {
				fillPairs(reflect.ValueOf(in).Elem(), objects, c.query)
			}
			return serve(ctx, in)
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

// BodyReader returns the body.
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

// operationOf returns the operation of a method.
func operationOf(item *huma.PathItem, method string) *huma.Operation {
	for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
		if o != nil && o.Method == method {
			return o
		}
	}
	return nil
}
