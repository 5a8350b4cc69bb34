package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// thing is a resource for the tests.
type thing struct {
	resource.Resource
	Name string   `json:"name"`
	Tags []string `json:"tags"`
}

type thingBody struct {
	Name     string            `json:"name" format:"line" minLength:"1" maxLength:"10"`
	Tags     []string          `json:"tags,omitempty"`
	Lines    []line            `json:"lines,omitempty"`
	Nested   *nested           `json:"nested,omitempty"`
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

type nested struct {
	Size int `json:"size" minimum:"1"`
}

type things struct {
	db   *store.DB
	runs atomic.Int64
	// between, when set, is done once, when a run has ended and nothing is committed.
	between func()
}

func (s *things) create(ctx context.Context, tx *store.Tx, in *struct{ Body thingBody }) (thing, error) {
	s.runs.Add(1)
	p := auth.FromContext(ctx)
	v := thing{Resource: resource.New(id.New(id.Factory, noon), noon, in.Body.Metadata), Name: in.Body.Name,
		Tags: in.Body.Tags}
	it, err := store.NewItem("thing", p.Owner, v.ID, v)
	tx.Create(it, nil)
	s.meet()
	return v, err
}

func (s *things) find(ctx context.Context, thingID string) (thing, store.Item, error) {
	it, err := resource.Find(ctx, s.db, id.Factory, "thing", thingID)
	if err != nil {
		return thing{}, it, err
	}
	var v thing
	return v, it, it.Decode(&v)
}

func (s *things) update(ctx context.Context, tx *store.Tx, in *struct {
	ID string `path:"id"`
	httpapi.IfMatch
	Body struct {
		Name string   `json:"name,omitempty"`
		Tags []string `json:"tags,omitempty" nullable:"true"`
	}
}) (v thing, err error) {
	s.runs.Add(1)
	it, err := resource.Find(ctx, s.db, id.Factory, "thing", in.ID)
	if err != nil {
		return v, err
	}
	if err := it.Decode(&v); err != nil {
		return v, err
	}
	if err := in.Check(v.Version); err != nil {
		return v, err
	}
	type settings struct {
		Name string   `json:"name"`
		Tags []string `json:"tags"`
	}
	set, err := httpapi.MergePatch(ctx, settings{v.Name, v.Tags})
	if err != nil {
		return v, err
	}
	v.Name, v.Tags = set.Name, set.Tags
	v.Touch(noon)
	if err := it.Encode(v); err != nil {
		return v, err
	}
	tx.Replace(it)
	s.meet()
	return v, nil
}

// meet lets another call come between.
func (s *things) meet() {
	if do := s.between; do != nil {
		s.between = nil
		do()
	}
}

// log is an audit log for the tests.
type log struct {
	mu    sync.Mutex
	calls []httpapi.Call
}

func (l *log) Record(_ context.Context, c httpapi.Call) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
	return nil
}

type fixture struct {
	t      testing.TB
	router *httpapi.Router
	things *things
	log    *log
	caller auth.Principal
	// within, when set, is how much time each call has.
	within time.Duration
}

func newFixture(t testing.TB, with ...func(*aws.Config)) *fixture {
	return newFixtureAt(t, clock, with...)
}

// newFixtureAt is newFixture with a clock of the test's own.
func newFixtureAt(t testing.TB, clock func() time.Time, with ...func(*aws.Config)) *fixture {
	db := storetest.Open(t, clock, with...)
	f := &fixture{t: t, things: &things{db: db}, log: &log{}}
	f.router = httpapi.NewRouter(db, f.log, clock)
	f.caller = auth.Principal{
		Owner: tenant.Of("acc_1", tenant.Test), Actor: auth.Key("key_1"), Scopes: auth.AllScopes(),
		Rate: auth.Rate{Limit: 60, Window: 60, Remaining: 59, Reset: 30},
	}
	op := httpapi.Op{ID: "createThing", Method: http.MethodPost, Path: "/v1/things", Scope: auth.FactoriesWrite,
		Function: "things", Status: http.StatusCreated}
	httpapi.Write(f.router, op, f.things.create)
	op.ID, op.Path = "createThings", "/v1/things/batch"
	httpapi.Write(f.router, op, f.things.create)
	httpapi.Write(f.router, httpapi.Op{ID: "updateThing", Method: http.MethodPatch, Path: "/v1/things/{id}",
		Scope: auth.FactoriesWrite, Function: "things"}, f.things.update)
	httpapi.Read(f.router, httpapi.Op{ID: "getThing", Method: http.MethodGet, Path: "/v1/things/{id}",
		Scope: auth.FactoriesRead, Function: "things"},
		func(ctx context.Context, in *struct {
			ID string `path:"id"`
		}) (thing, error) {
			v, _, err := f.things.find(ctx, in.ID)
			return v, err
		})
	httpapi.List(f.router, httpapi.Op{ID: "listThings", Method: http.MethodGet, Path: "/v1/things",
		Scope: auth.FactoriesRead, Function: "things"},
		func(ctx context.Context, in *struct {
			httpapi.PageInput
			Name string `query:"name"`
		}) (httpapi.Page[thing], error) {
			p := auth.FromContext(ctx)
			return httpapi.ListItems(ctx, db, store.Query{
				Index: store.ByOwner, Partition: store.OwnerPartition(p.Owner, "thing"),
			}, in.PageInput, func(it store.Item) (v thing, err error) { return v, it.Decode(&v) })
		})
	httpapi.Read(f.router, httpapi.Op{ID: "breakThing", Method: http.MethodGet, Path: "/v1/broken/{how}",
		Scope: auth.FactoriesRead, Function: "things"},
		func(ctx context.Context, in *struct {
			How string `path:"how"`
		}) (thing, error) {
			switch in.How {
			case "panic":
				panic("svc_live_secret")
			case "timeout":
				return thing{}, fmt.Errorf("read: %w", context.DeadlineExceeded)
			default:
				return thing{}, errors.New("the password is hunter2")
			}
		})
	return f
}

// answer is the answer to a call.
type answer struct {
	status int
	header http.Header
	raw    string
	Data   json.RawMessage `json:"data"`
	Error  *struct {
		Code    string
		Type    string
		Message string
		Param   string
		Details []errs.Detail
	} `json:"error"`
	RequestID  string  `json:"request_id"`
	NextCursor *string `json:"next_cursor"`
}

func (a answer) code() string {
	if a.Error == nil {
		return ""
	}
	return a.Error.Code
}

// call makes a call; headers are pairs of name and value.
func (f *fixture) call(method, path, body string, headers ...string) answer {
	f.t.Helper()
	values, err := f.caller.Encode()
	if err != nil {
		f.t.Fatal(err)
	}
	return f.callAs(values, method, path, body, headers...)
}

func (f *fixture) callAs(authorizer map[string]any, method, path, body string, headers ...string) answer {
	f.t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		if i > 1 && headers[i] == headers[i-2] { // another line of the same header
			req.Header.Add(headers[i], headers[i+1])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	ctx := req.Context()
	if f.within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.within)
		defer cancel()
	}
	req = req.WithContext(httpapi.WithGateway(ctx, httpapi.Gateway{
		RequestID: "req-1", SourceIP: "198.51.100.7", UserAgent: "test", ReceivedAt: noon, Authorizer: authorizer,
	}))
	w := httptest.NewRecorder()
	f.router.ServeHTTP(w, req)
	a := answer{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if w.Code == http.StatusNotModified {
		return a // without a body
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		f.t.Fatalf("%s %s answered no JSON: %v\n%s", method, path, err, a.raw)
	}
	if a.RequestID != "req-1" || a.header.Get("X-Request-Id") != "req-1" {
		f.t.Errorf("%s %s: request id %q, header %q", method, path, a.RequestID, a.header.Get("X-Request-Id"))
	}
	want := map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "application/json",
		"Content-Security-Policy":   "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
		"Strict-Transport-Security": "max-age=63072000; includeSubDomains",
	}
	for name, value := range want {
		if got := a.header.Get(name); got != value {
			f.t.Errorf("%s %s: the header %s is %q", method, path, name, got)
		}
	}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(w.Body.Bytes(), &members)
	for _, name := range []string{"data", "error", "request_id"} {
		if _, ok := members[name]; !ok {
			f.t.Errorf("%s %s: the envelope lacks %s: %s", method, path, name, a.raw)
		}
	}
	return a
}

func TestRefusals(t *testing.T) {
	f := newFixture(t)
	made := f.call("POST", "/v1/things", `{"name":"a"}`)
	var v thing
	if err := json.Unmarshal(made.Data, &v); err != nil || made.status != http.StatusCreated {
		t.Fatalf("create: %d %s", made.status, made.raw)
	}
	runs := f.things.runs.Load()
	tests := []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		code, param              string
	}{
		{"unknown path", "GET", "/v1/thing", "", nil, 404, "unknown_path", ""},
		{"trailing slash", "GET", "/v1/things/", "", nil, 404, "unknown_path", ""},
		{"unclean path", "GET", "/v1//things", "", nil, 404, "unknown_path", ""},
		{"unknown method", "DELETE", "/v1/things", "", nil, 405, "method_not_allowed", ""},
		{"OPTIONS", "OPTIONS", "/v1/things", "", nil, 405, "method_not_allowed", ""},
		{"no body", "POST", "/v1/things", "", nil, 400, "malformed_json", ""},
		{"malformed", "POST", "/v1/things", `{"name":`, nil, 400, "malformed_json", ""},
		{"trailing garbage", "POST", "/v1/things", `{"name":"a"} x`, nil, 400, "malformed_json", ""},
		{"not an object", "POST", "/v1/things", `[]`, nil, 422, "validation_failed", ""},
		{"null", "POST", "/v1/things", `null`, nil, 422, "validation_failed", ""},
		{"media type", "POST", "/v1/things", `name=a`, []string{"Content-Type", "application/x-www-form-urlencoded"},
			415, "unsupported_media_type", ""},
		{"required", "POST", "/v1/things", `{}`, nil, 422, "validation_failed", "/name"},
		{"wrong type", "POST", "/v1/things", `{"name":1}`, nil, 422, "validation_failed", "/name"},
		{"unknown member", "POST", "/v1/things", `{"name":"a","nam":"b"}`, nil, 422, "validation_failed", "/nam"},
		{"wrong case", "POST", "/v1/things", `{"Name":"a"}`, nil, 422, "validation_failed", "/name"},
		{"too long", "POST", "/v1/things", `{"name":"aaaaaaaaaaaa"}`, nil, 422, "validation_failed", "/name"},
		{"control character", "POST", "/v1/things", `{"name":"a\u0007"}`, nil, 422, "validation_failed", "/name"},
		{"nested", "POST", "/v1/things", `{"name":"a","nested":{"size":0}}`, nil, 422, "validation_failed",
			"/nested/size"},
		{"item of a list", "POST", "/v1/things", `{"name":"a","tags":["x",2]}`, nil, 422,
			"validation_failed", "/tags/1"},
		{"metadata value", "POST", "/v1/things", `{"name":"a","metadata":{"k":1}}`, nil, 422, "validation_failed",
			"/metadata/k"},
		{"large body", "POST", "/v1/things", `{"name":"` + strings.Repeat("a", httpapi.MaxBody) + `"}`, nil, 413,
			"body_too_large", ""},
		{"body of a GET", "GET", "/v1/things", `{"limit":5}`, nil, 422, "validation_failed", ""},
		{"limit", "GET", "/v1/things?limit=101", "", nil, 422, "validation_failed", "limit"},
		{"limit no number", "GET", "/v1/things?limit=ten", "", nil, 422, "validation_failed", "limit"},
		{"unknown parameter", "GET", "/v1/things?limmit=10", "", nil, 422, "validation_failed", "limmit"},
		{"cursor", "GET", "/v1/things?cursor=abc", "", nil, 400, "invalid_cursor", "cursor"},
		{"long cursor", "GET", "/v1/things?cursor=" + strings.Repeat("a", 2000), "", nil, 400,
			"invalid_cursor", "cursor"},
		{"parameter sent twice", "GET", "/v1/things?limit=1&limit=2", "", nil, 422, "validation_failed", "limit"},
		{"malformed id", "GET", "/v1/things/fac_1", "", nil, 404, "not_found", ""},
		{"unknown id", "GET", "/v1/things/" + id.New(id.Factory, noon), "", nil, 404, "not_found", ""},
		{"idempotency key", "POST", "/v1/things", `{"name":"a"}`, []string{"Idempotency-Key", strings.Repeat("k", 256)},
			400, "invalid_header", "Idempotency-Key"},
		{"If-Match", "PATCH", "/v1/things/" + v.ID, `{"name":"b"}`, []string{"If-Match", "7"}, 400,
			"invalid_header", "If-Match"},
		{"version", "PATCH", "/v1/things/" + v.ID, `{"name":"b"}`, []string{"If-Match", `"7"`}, 412,
			"version_mismatch", "If-Match"},
		{"weak tag", "PATCH", "/v1/things/" + v.ID, `{"name":"b"}`, []string{"If-Match", `W/"1"`}, 412,
			"version_mismatch", "If-Match"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := f.call(test.method, test.path, test.body, test.headers...)
			if a.status != test.status || a.code() != test.code {
				t.Fatalf("got %d %s, want %d %s: %s", a.status, a.code(), test.status, test.code, a.raw)
			}
			if a.Error.Param != test.param {
				t.Errorf("param is %q, want %q", a.Error.Param, test.param)
			}
			if a.Error.Message == "" || string(a.Data) != "null" {
				t.Errorf("answer: %s", a.raw)
			}
			last := f.log.calls[len(f.log.calls)-1]
			if last.Status != test.status || last.ErrorCode != test.code {
				t.Errorf("audited as %d %s", last.Status, last.ErrorCode)
			}
		})
	}
	if a := f.call("GET", "/v1/things/"+v.ID, ""); a.status != 200 || a.header.Get("ETag") != `"1"` {
		t.Errorf("a refused call has changed the thing: %d %s %s", a.status, a.header.Get("ETag"), a.raw)
	}
	// The last two tests reach the operation, which refuses by itself.
	if n := f.things.runs.Load(); n != runs+2 {
		t.Errorf("%d refused calls ran the operation", n-runs-2)
	}
	for _, c := range [][3]string{
		{"DELETE", "/v1/things", "GET, HEAD, POST"}, {"OPTIONS", "/v1/things", "GET, HEAD, POST"},
		// Not the methods of the thing with the id batch.
		{"OPTIONS", "/v1/things/batch", "POST"}, {"GET", "/v1/things/batch", "POST"},
		{"PUT", "/v1/things/x", "GET, HEAD, PATCH"},
	} {
		if a := f.call(c[0], c[1], ""); a.status != 405 || a.header.Get("Allow") != c[2] {
			t.Errorf("%s %s: %d, Allow is %q", c[0], c[1], a.status, a.header.Get("Allow"))
		}
	}
	if a := f.call("HEAD", "/v1/things", ""); a.status != 200 {
		t.Errorf("HEAD: %d", a.status)
	}
}

func TestFailuresTellNothingOfTheirCause(t *testing.T) {
	f := newFixture(t)
	for how, want := range map[string]struct {
		status int
		code   string
	}{"panic": {500, "internal"}, "error": {500, "internal"}, "timeout": {504, "timeout"}} {
		a := f.call("GET", "/v1/broken/"+how, "")
		if a.status != want.status || a.code() != want.code || a.Error.Type != "api_error" {
			t.Errorf("%s: %d %s", how, a.status, a.raw)
		}
		if strings.Contains(a.raw, "hunter2") || strings.Contains(a.raw, "svc_live") {
			t.Errorf("%s tells its cause: %s", how, a.raw)
		}
		if last := f.log.calls[len(f.log.calls)-1]; last.Status != want.status {
			t.Errorf("%s: audited as %d", how, last.Status)
		}
	}
}

func TestWithoutAPrincipalThereIsOnly401(t *testing.T) {
	f := newFixture(t)
	for _, authorizer := range []map[string]any{nil, {}, {"principal": ""}, {"principal": "{"}, {"principal": "{}"},
		{"principal": `{"account":"a","key":"k","mode":"other"}`}, {"principal": 7}} {
		for _, path := range []string{"/v1/things", "/v1/nothing"} {
			a := f.callAs(authorizer, "GET", path, "")
			if a.status != 401 || a.code() != "invalid_api_key" || !strings.HasPrefix(a.header.Get("WWW-Authenticate"),
				`Bearer error="invalid_token", scope="`) {
				t.Errorf("%v: %d %s", authorizer, a.status, a.raw)
			}
		}
	}
	if len(f.log.calls) != 0 {
		t.Errorf("%d calls of nobody were audited", len(f.log.calls))
	}
}

func TestWhatTheCallerHasIsNotSentAgain(t *testing.T) {
	f := newFixture(t)
	var v thing
	if err := json.Unmarshal(f.call("POST", "/v1/things", `{"name":"a"}`).Data, &v); err != nil {
		t.Fatal(err)
	}
	path := "/v1/things/" + v.ID
	for tags, want := range map[string]int{`"1"`: 304, `W/"1"`: 304, `"7", "1"`: 304, "*": 304, `"2"`: 200,
		`,"2" ,, "1"`: 304} {
		for _, method := range []string{"GET", "HEAD"} {
			a := f.call(method, path, "", "If-None-Match", tags)
			h := a.header
			if a.status != want || h.Get("ETag") != `"1"` || h.Get("X-Request-Id") == "" || h.Get("RateLimit") == "" ||
				want == 304 && (a.raw != "" || h.Get("Content-Type") != "") {
				t.Errorf("%s %s: %d %v %s", method, tags, a.status, h, a.raw)
			}
		}
	}
	if a := f.call("PATCH", path, `{"name":"b"}`); a.status != 200 || a.header.Get("ETag") != `"2"` {
		t.Errorf("%d %s", a.status, a.raw)
	}
	if a := f.call("GET", path, "", "If-None-Match", `"1"`); a.status != 200 {
		t.Errorf("a changed thing: %d", a.status)
	}
	if a := f.call("GET", "/v1/things", "", "If-None-Match", "*"); a.status != 200 {
		t.Errorf("a list: %d", a.status)
	}
}

func TestTheAuthorizersRefusalComesFirst(t *testing.T) {
	f := newFixture(t)
	f.caller.Rate = auth.Rate{Limit: 60, Window: 60, Remaining: 0, Reset: 17}
	f.caller.Denial = &auth.Denial{Code: errs.RateLimited, Message: "Wait.",
		Rate: &errs.RateContext{Limit: 600, WindowSeconds: 60}}
	for _, path := range []string{"/v1/things", "/v1/nothing"} {
		a := f.call("POST", path, "{")
		if a.status != 429 || a.code() != "rate_limited" || a.header.Get("Retry-After") != "17" ||
			!strings.Contains(a.raw, `"context":{"limit":600,"window_seconds":60}`) {
			t.Errorf("%s: %d %v %s", path, a.status, a.header, a.raw)
		}
		if got := a.header.Get("RateLimit"); got != `"default";r=0;t=17` {
			t.Errorf("RateLimit is %s", got)
		}
		if got := a.header.Get("RateLimit-Policy"); got != `"default";q=60;w=60, "account";q=600;w=60` {
			t.Errorf("RateLimit-Policy is %s", got)
		}
	}
	if op := f.log.calls[0].OperationID; op != "createThing" {
		t.Errorf("the refused call was audited as %q", op)
	}
	// A principal without the scope is refused here too, whatever let it through.
	f.caller.Denial, f.caller.Scopes = nil, []auth.Scope{auth.FactoriesRead}
	if a := f.call("POST", "/v1/things", `{"name":"a"}`); a.status != 403 || a.code() != "insufficient_scope" {
		t.Errorf("without the scope: %d %s", a.status, a.raw)
	}
}
