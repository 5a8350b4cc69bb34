package standalone

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
)

// function is a function behind the gateway.
type function func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// gateway does the work of API Gateway: it finds the function of a path, has the authorizer check the key, and passes
// the request on as an event. It is the transport of the edge, which does the rest.
type gateway struct {
	paths     *http.ServeMux // of routes
	authorize func(context.Context, events.APIGatewayCustomAuthorizerRequestTypeRequest) (
		events.APIGatewayCustomAuthorizerResponse, error)
	base string
	// people reports that people sign in.
	people bool
	now    func() time.Time
	// journal has what answers tell of.
	journal journal
	// names returns the id of each request.
	names func() string
}

// route is a path that the gateway knows.
type route struct {
	path    string
	public  bool
	timeout time.Duration
	handle  function
}

// ServeHTTP implements http.Handler, so that http.ServeMux finds a route. It is never called.
func (route) ServeHTTP(http.ResponseWriter, *http.Request) {}

// newGateway returns the gateway of some functions with their routes.
func newGateway(routes []httpapi.Route, functions map[string]function, public map[string]bool) *gateway {
	g := &gateway{paths: http.NewServeMux(), now: time.Now,
		names: func() string { return uuid.Must(uuid.NewV4()).String() }}
	known := map[string]bool{}
	for _, r := range routes {
		if known[r.Path] {
			continue // another method
		}
		known[r.Path] = true
		pattern := strings.ReplaceAll(r.Path, "+}", "...}")
		if r.Path == "/" {
			pattern = "/{$}"
		}
		g.paths.Handle(pattern,
			route{r.Path, public[r.Path], topology.FunctionNamed(r.Function).Timeout, functions[r.Function]})
	}
	return g
}

// RoundTrip implements http.RoundTripper.
func (g *gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	id := g.names()
	// The paths have no dots, so that no path is cleaned.
	found, pattern := g.paths.Handler(&http.Request{Method: r.Method, URL: r.URL, Host: r.Host})
	to, ok := found.(route)
	if !ok || pattern == "" {
		return g.own(r, id, "MISSING_AUTHENTICATION_TOKEN"), nil
	}
	e, err := g.event(r, id, to)
	if err != nil {
		return nil, err
	}
	// As on AWS, a call goes on if its caller hangs up.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), to.timeout)
	defer cancel()
	if !to.public {
		if r.Header.Get("Authorization") == "" {
			return g.own(r, id, "UNAUTHORIZED"), nil
		}
		admitted, kind := g.admit(ctx, e)
		if kind != "" {
			return g.own(r, id, kind), nil
		}
		e.RequestContext.Authorizer = admitted
	}
	out, err := to.call(ctx, e)
	g.journal.settle() // what the answer tells of outlives the process, also if another call has written it
	switch {
	case err != nil && ctx.Err() != nil:
		return g.own(r, id, "INTEGRATION_TIMEOUT"), nil
	case err != nil:
		slog.Error("a function failed", "path", to.path, "request", id, "error", err)
		return g.own(r, id, "DEFAULT_5XX"), nil
	}
	return response(r, out)
}

// call calls the function. Of a function that outlasts its context, call returns the context's error.
func (to route) call(ctx context.Context, e events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	var out events.APIGatewayProxyResponse
	ended := make(chan error, 1)
	go func() {
		ended <- guarded(func() (err error) {
			out, err = to.handle(ctx, e)
			return err
		})
	}()
	select {
	case err := <-ended:
		return out, err
	case <-ctx.Done():
		return events.APIGatewayProxyResponse{}, ctx.Err()
	}
}

// admit has the authorizer check a call, and returns its context, or the type of the gateway's own response.
func (g *gateway) admit(ctx context.Context, e events.APIGatewayProxyRequest) (admitted map[string]any, kind string) {
	ctx, cancel := context.WithTimeout(ctx, topology.FunctionNamed("authorizer").Timeout)
	defer cancel()
	rc := e.RequestContext
	in := events.APIGatewayCustomAuthorizerRequestTypeRequest{
		Type: "REQUEST", MethodArn: "arn:aws:execute-api:local:000000000000:local/" + rc.Stage + "/" + e.HTTPMethod + e.Path,
		Resource: e.Resource, Path: e.Path, HTTPMethod: e.HTTPMethod, Headers: e.Headers,
		MultiValueHeaders: e.MultiValueHeaders, PathParameters: e.PathParameters,
		RequestContext: events.APIGatewayCustomAuthorizerRequestTypeRequestContext{
			Path: e.Path, Stage: rc.Stage, RequestID: rc.RequestID, APIID: rc.APIID, ResourcePath: e.Resource,
			HTTPMethod: e.HTTPMethod,
			Identity:   events.APIGatewayCustomAuthorizerRequestTypeRequestIdentity{SourceIP: rc.Identity.SourceIP},
		},
	}
	var out events.APIGatewayCustomAuthorizerResponse
	err := guarded(func() (err error) {
		out, err = g.authorize(ctx, in)
		return err
	})
	switch {
	case err != nil && err.Error() == "Unauthorized":
		return nil, "UNAUTHORIZED"
	case err != nil:
		slog.Error("the authorizer failed", "request", rc.RequestID, "error", err)
		return nil, "AUTHORIZER_CONFIGURATION_ERROR"
	}
	for _, s := range out.PolicyDocument.Statement {
		if s.Effect != "Allow" {
			return nil, "ACCESS_DENIED"
		}
	}
	return out.Context, ""
}

// event returns the event of a request.
func (g *gateway) event(r *http.Request, id string, to route) (events.APIGatewayProxyRequest, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return events.APIGatewayProxyRequest{}, err
		}
	}
	e := events.APIGatewayProxyRequest{
		Resource: to.path, Path: r.URL.EscapedPath(), HTTPMethod: r.Method, Body: string(body),
		Headers: map[string]string{"Host": r.Host}, MultiValueHeaders: map[string][]string{"Host": {r.Host}},
		MultiValueQueryStringParameters: query(r.URL.RawQuery),
		PathParameters:                  parameters(to.path, r.URL.EscapedPath()),
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID: id, Stage: "local", APIID: "local", ResourcePath: to.path, HTTPMethod: r.Method,
			RequestTimeEpoch: g.now().UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: "127.0.0.1", UserAgent: r.UserAgent()},
		},
	}
	if address, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		e.RequestContext.Identity.SourceIP = address
	}
	if forwarded := r.Header.Get("X-Forwarded-For"); forwarded != "" { // by the edge
		e.RequestContext.Identity.SourceIP = forwarded
	}
	for name, values := range r.Header {
		e.Headers[name], e.MultiValueHeaders[name] = values[len(values)-1], values
	}
	if !utf8.Valid(body) {
		e.Body, e.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	}
	return e, nil
}

// query returns the parameters of a query. A part that is not well formed is passed on as it came, so that the service
// can refuse it.
func query(raw string) map[string][]string {
	all := map[string][]string{}
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		plain := func(s string) string {
			if decoded, err := url.QueryUnescape(s); err == nil {
				return decoded
			}
			return s
		}
		all[plain(name)] = append(all[plain(name)], plain(value))
	}
	return all
}

// parameters returns the parameters of an escaped path.
func parameters(template, path string) map[string]string {
	out := map[string]string{}
	parts, values := strings.Split(template, "/"), strings.Split(path, "/")
	for i, part := range parts {
		name, is := strings.CutPrefix(strings.TrimSuffix(part, "}"), "{")
		if !is || i >= len(values) {
			continue
		}
		value := values[i]
		if rest, all := strings.CutSuffix(name, "+"); all {
			name, value = rest, strings.Join(values[i:], "/")
		}
		out[name], _ = url.PathUnescape(value) // which the server has read already
	}
	return out
}

// response returns the response of a function.
func response(r *http.Request, out events.APIGatewayProxyResponse) (*http.Response, error) {
	body := []byte(out.Body)
	if out.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(out.Body); err != nil {
			return nil, err
		}
	}
	header := http.Header{}
	for name, value := range out.Headers {
		header.Set(name, value)
	}
	for name, values := range out.MultiValueHeaders {
		header[http.CanonicalHeaderKey(name)] = values
	}
	// As on AWS, a challenge of a function does not arrive under its name.
	if challenge := header["Www-Authenticate"]; challenge != nil {
		header[gatewayresponse.Renamed] = challenge
		delete(header, "Www-Authenticate")
	}
	return answer(r, out.StatusCode, header, body), nil
}

// own returns a response of the gateway itself.
func (g *gateway) own(r *http.Request, id, kind string) *http.Response {
	for _, a := range gatewayresponse.All {
		if a.Type != kind {
			continue
		}
		header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {id}}
		own := a.Headers()
		if g.people {
			own = a.HeadersAt(g.base)
		}
		for name, value := range own {
			header.Set(name, value)
		}
		return answer(r, a.Status(), header, []byte(a.Body(id, g.base)))
	}
	panic("standalone: the gateway has no response " + kind)
}

func answer(r *http.Request, status int, header http.Header, body []byte) *http.Response {
	length := int64(len(body))
	header.Set("Content-Length", strconv.FormatInt(length, 10))
	if r.Method == http.MethodHead {
		body = nil
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length, Request: r,
	}
}
