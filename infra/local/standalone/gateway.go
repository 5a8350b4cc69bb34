package standalone

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
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
	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/gofrs/uuid/v5"

	"github.com/content-automation/api/infra/app/gatewayresponse"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
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

// aws returns a configuration of the SDK for the service's own doubles at an address.
func (s *Service) aws(endpoint string) aws.Config {
	access := s.access()
	cfg := aws.Config{Region: s.options.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials(access), nil
		})}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}

// access returns the access key of the service.
func (s *Service) access() accessKey {
	secret, _ := s.secrets.get(accessSecret)
	return accessKey{AccessKeyID: accessKeyID, SecretAccessKey: secret, Source: "standalone"}
}

// AWS returns a configuration of the SDK with which the operator's command works on the service.
func (s *Service) AWS() aws.Config { return s.aws(s.Endpoint()) }

// Endpoint returns the address of the calls of AWS that the operator's command makes.
func (s *Service) Endpoint() string { return s.internal + operatorPath }

// DB returns the state table.
func (s *Service) DB() *store.DB { return s.db }

// Environment returns the variables with which the operator's command works on the service, as lines of NAME=value.
func (s *Service) Environment() string {
	access := s.access()
	var lines strings.Builder
	for _, v := range [][2]string{
		{"AWS_ENDPOINT_URL", s.Endpoint()}, {"AWS_REGION", s.options.Region}, {"AWS_ACCESS_KEY_ID", access.AccessKeyID},
		{"AWS_SECRET_ACCESS_KEY", access.SecretAccessKey}, {"TABLE_NAME", StateTable}, {"AUDIT_TABLE_NAME", AuditTable},
		{"MEDIA_BUCKET", bucket}, {"PROVIDER_SECRET", ProviderSecret}, {"PLATFORM_SECRET", PlatformSecret},
	} {
		fmt.Fprintf(&lines, "%s=%s\n", v[0], v[1])
	}
	return lines.String()
}

// Envelope returns what seals the secrets of customers.
func (s *Service) Envelope() *seal.Envelope { return s.envelope() }

// PutFile stores an object in the bucket of the media.
func (s *Service) PutFile(key string, content io.Reader) error {
	return s.blobs.put(bucket+"/"+key, content)
}

// accessKey is the only access key of a service. It signs requests and URLs as on AWS (Signature Version 4).
type accessKey aws.Credentials

// accessKeyID is the id of the access key. It is no secret: each signed URL has it.
const accessKeyID = "standalone"

// signatureTime is the layout of the time of a signature.
const signatureTime = "20060102T150405Z"

// largestCall bounds the body of a call whose signature has the hash of the body, but no header has it.
const largestCall = 16 << 20

// signed reports whether the header Authorization of a request is the signature of the request.
func (k accessKey) signed(r *http.Request) bool {
	given := r.Header.Get("Authorization")
	parts := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimPrefix(given, "AWS4-HMAC-SHA256 "), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		parts[name] = value
	}
	scope := strings.Split(parts["Credential"], "/") // id, date, region, service, aws4_request
	at, err := time.Parse(signatureTime, r.Header.Get("X-Amz-Date"))
	if err != nil || len(scope) != 5 {
		return false
	}
	hash := r.Header.Get("X-Amz-Content-Sha256")
	if hash == "" {
		body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, largestCall))
		if err != nil {
			return false
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		sum := sha256.Sum256(body)
		hash = hex.EncodeToString(sum[:])
	}
	again, err := unsigned(r, r.URL.Query(), parts["SignedHeaders"])
	if err != nil {
		return false
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = scope[3] == "s3" })
	err = signer.SignHTTP(r.Context(), aws.Credentials(k), again, hash, scope[3], scope[2], at)
	return err == nil && same(again.Header.Get("Authorization"), given)
}

// presigned reports whether the query q of a request has the signature of the request, which was made at the given
// time.
func (k accessKey) presigned(r *http.Request, q url.Values, at time.Time) bool {
	scope := strings.Split(q.Get("X-Amz-Credential"), "/")
	bare := url.Values{}
	for name, values := range q {
		if !strings.HasPrefix(name, "X-Amz-") || name == "X-Amz-Expires" {
			bare[name] = values
		}
	}
	again, err := unsigned(r, bare, q.Get("X-Amz-SignedHeaders"))
	if err != nil || len(scope) != 5 {
		return false
	}
	signer := v4.NewSigner(func(o *v4.SignerOptions) {
		o.DisableURIPathEscaping, o.DisableHeaderHoisting = true, true
	})
	signed, _, err := signer.PresignHTTP(r.Context(), aws.Credentials(k), again, "UNSIGNED-PAYLOAD", "s3", scope[2], at)
	if err != nil {
		return false
	}
	u, err := url.Parse(signed)
	return err == nil && same(u.Query().Get("X-Amz-Signature"), q.Get("X-Amz-Signature"))
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// unsigned returns a request as its signer had it: with the given query, and with the signed headers only.
func unsigned(r *http.Request, q url.Values, headers string) (*http.Request, error) {
	target := url.URL{Scheme: "http", Host: r.Host, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: q.Encode()}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, target.String(), nil)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(headers, ";") {
		switch name {
		case "host":
		case "content-length":
			out.ContentLength = r.ContentLength
		default:
			out.Header[http.CanonicalHeaderKey(name)] = r.Header.Values(name)
		}
	}
	return out, nil
}
