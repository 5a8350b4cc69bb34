package area_test

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/resource"
)

// auditWorld is an audit log with a caller of its operation. Its own calls are recorded elsewhere, so that reading does
// not change the log.
type auditWorld struct {
	*servicetest.World
	log  *audit.Log
	made map[string]string // ids of requests by their names
}

func newAuditWorld(t *testing.T) *auditWorld {
	w := &auditWorld{World: servicetest.New(t), made: map[string]string{}}
	w.log = audit.New(w.DB, w.Now)
	w.Serve(w.log)
	return w
}

// record puts a call of the caller's key into the log.
func (w *auditWorld) record(requestID string, change func(*httpapi.Call)) {
	w.T.Helper()
	p := w.Principal
	c := httpapi.Call{
		RequestID: w.requestID(requestID), Principal: &p, OperationID: "getMe", Method: "GET",
		Path: "/v1/me", Status: 200,
		IP: "203.0.113.9", UserAgent: "curl/8", At: w.Now(), Latency: 12*time.Millisecond + 700*time.Microsecond,
	}
	if change != nil {
		change(&c)
	}
	if err := w.log.Record(w.T.Context(), c); err != nil {
		w.T.Fatal(err)
	}
	w.Clock.Add(time.Minute)
}

// requestID returns the id of a request that was received now.
func (w *auditWorld) requestID(name string) string {
	id := fmt.Sprint(w.Now().UnixMilli(), "-", name)
	w.made[name] = id
	return id
}

// nameOf returns the name that a test gave to a request.
func nameOf(requestID string) string {
	_, name, _ := strings.Cut(requestID, "-")
	return name
}

// The pages of the account area read much: the log leaves it out on request, and keeps what people change.
func TestReadsOfPeopleAreLeftOut(t *testing.T) {
	w := newAuditWorld(t)
	person := func(c *httpapi.Call) {
		p := w.Principal
		p.Actor = auth.Actor{Kind: auth.Person, ID: "usr_01h455vb4pex5vsknk084sn021"}
		c.Principal = &p
	}
	w.record("key", nil)
	w.record("read", person)
	w.record("change", func(c *httpapi.Call) { person(c); c.Method = http.MethodPost })
	for query, want := range map[string]string{"": "change read key", "exclude_person_reads=true": "change key",
		"exclude_person_reads=false": "change read key", "person_id=usr_01h455vb4pex5vsknk084sn021": "change read", "person_id=usr_01h455vb4pex5vsknk084sn022": "",
		"person_id=usr_01h455vb4pex5vsknk084sn021&exclude_person_reads=true": "change", "status=2xx": "change read key", "status=5xx": ""} {
		if got := w.list(query); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
}

// A call is found by the factory, the profile and the kind of what it concerned.
func TestCallsAreFoundByWhatTheyConcerned(t *testing.T) {
	w := newAuditWorld(t)
	w.record("none", nil)
	w.record("post", func(c *httpapi.Call) {
		c.Concern = resource.Concern{FactoryID: "fac_01h455vb4pex5vsknk084sn021", ProfileID: "prf_01h455vb4pex5vsknk084sn021", Kind: "post"}
	})
	w.record("video", func(c *httpapi.Call) {
		c.Concern = resource.Concern{FactoryID: "fac_01h455vb4pex5vsknk084sn021", Kind: "video"}
	})
	w.record("bound", func(c *httpapi.Call) {
		p := w.Principal
		p.Profile = "prf_01h455vb4pex5vsknk084sn021"
		c.Principal = &p
	})
	for query, want := range map[string]string{"factory_id=fac_01h455vb4pex5vsknk084sn021": "video post", "factory_id=fac_01h455vb4pex5vsknk084sn022": "",
		"kind=post": "post", "profile_id=prf_01h455vb4pex5vsknk084sn021": "bound post", "factory_id=fac_01h455vb4pex5vsknk084sn021&kind=video": "video",
		"profile_id=prf_01h455vb4pex5vsknk084sn021&kind=video": ""} {
		if got := w.list(query); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	kinds := []string{string(item.Post), string(item.Video), string(item.Carousel), string(item.Story),
		string(item.MusicClip)}
	for _, k := range provider.Kinds() {
		if k != provider.KindText { // the studio makes no texts
			kinds = append(kinds, string(k))
		}
	}
	for _, kind := range kinds {
		w.list("kind=" + kind) // fails if the filter is refused
	}
	for _, e := range apitest.All[audit.Entry](w.Caller, "/v1/audit-log?kind=post", 2) {
		if *e.FactoryID != "fac_01h455vb4pex5vsknk084sn021" || *e.ProfileID != "prf_01h455vb4pex5vsknk084sn021" || *e.Kind != "post" {
			t.Errorf("%+v", e)
		}
	}
}

func (w *auditWorld) list(query string) (requests []string) {
	w.T.Helper()
	for _, e := range apitest.All[audit.Entry](w.Caller, "/v1/audit-log?"+query, 2) {
		requests = append(requests, nameOf(e.RequestID))
	}
	return requests
}

func TestAnEntryHasAllOfACall(t *testing.T) {
	w := newAuditWorld(t)
	at := w.Now()
	w.record("r-1", func(c *httpapi.Call) {
		c.Status, c.ErrorCode, c.At = 429, "rate_limited", at.Add(1234567*time.Nanosecond)
	})
	if ops := w.Faults.Operations(); ops != "PutItem" {
		t.Errorf("it took %s", ops)
	}
	got := apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 10)
	code, keyID := "rate_limited", w.Principal.KeyID()
	want := audit.Entry{
		At: resource.Instant(at.Add(time.Millisecond)), RequestID: w.made["r-1"],
		Actor: audit.Actor{Kind: "api_key", ID: keyID}, KeyID: &keyID, Count: 1, OperationID: "getMe", Method: "GET",
		Path:   "/v1/me",
		Status: 429, ErrorCode: &code, IP: "203.0.113.9", UserAgent: "curl/8", LatencyMS: 12,
	}
	if len(got) != 1 || !id.Valid(id.AuditEntry, got[0].ID) {
		t.Fatalf("%+v", got)
	}
	want.ID = got[0].ID
	if !reflect.DeepEqual(got[0], want) {
		t.Errorf("got  %+v\nwant %+v", got[0], want)
	}
	row := storetest.Rows(t, w.DB)[0]
	if row["ttl"] != fmt.Sprint(at.Add(audit.Keep).Unix()) || audit.Keep != 90*24*time.Hour || row["owner_pk"] != "" {
		t.Errorf("%v", row)
	}
}

func TestASuccessHasNoErrorCode(t *testing.T) {
	w := newAuditWorld(t)
	w.record("r-1", nil)
	if raw := w.Call(http.MethodGet, "/v1/audit-log", nil).Raw; !strings.Contains(raw, `"error_code":null`) {
		t.Error(raw)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	w := newAuditWorld(t)
	w.record("r-1", func(c *httpapi.Call) {
		c.Path, c.UserAgent = "/v1/"+strings.Repeat("ü", 10_000), strings.Repeat("\xff", 10_000)
	})
	got := apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 10)
	if len(got) != 1 || len(got[0].Path) > 600 || len(got[0].UserAgent) > 2000 {
		t.Errorf("%+v", got)
	}
}

func TestFilters(t *testing.T) {
	w := newAuditWorld(t)
	start := w.Now()
	for i := range 8 {
		w.record(fmt.Sprint("r-", i), func(c *httpapi.Call) {
			if i%2 == 1 {
				c.OperationID, c.Status, c.ErrorCode = "createFactory", 422, "validation_failed"
			}
			if i > 5 {
				p := w.Principal
				p.Actor = auth.Key("key_01h455vb4pex5vsknk084sn022")
				c.Principal, c.OperationID, c.Status = &p, "", 404
			}
		})
	}
	at := func(i int) string {
		return url.QueryEscape(start.Add(time.Duration(i) * time.Minute).Format(time.RFC3339))
	}
	r3, r9 := w.made["r-3"], fmt.Sprint(start.UnixMilli(), "-r-9")
	for query, want := range map[string]string{
		"":                                      "r-7 r-6 r-5 r-4 r-3 r-2 r-1 r-0",
		"key_id=" + w.Principal.KeyID():         "r-5 r-4 r-3 r-2 r-1 r-0",
		"key_id=key_01h455vb4pex5vsknk084sn022": "r-7 r-6",
		"key_id=key_01h455vb4pex5vsknk084sn023": "",
		"operation_id=createFactory":            "r-5 r-3 r-1",
		"status=404":                            "r-7 r-6",
		"status=4xx":                            "r-7 r-6 r-5 r-3 r-1",
		"status=200&key_id=key_01h455vb4pex5vsknk084sn022":    "",
		"status=422&operation_id=createFactory&from=" + at(2): "r-5 r-3",
		"from=" + at(5):                    "r-7 r-6 r-5",
		"to=" + at(2):                      "r-1 r-0",
		"from=" + at(2) + "&to=" + at(4):   "r-3 r-2",
		"request_id=" + r3:                 "r-3",
		"request_id=" + r9:                 "",
		"request_id=" + r3 + "&status=422": "r-3",
		"request_id=" + r3 + "&status=200": "",
		"request_id=" + r3 + "&key_id=key_01h455vb4pex5vsknk084sn022": "",
		"request_id=" + r3 + "&from=" + at(3):                         "r-3",
		"request_id=" + r3 + "&from=" + at(4):                         "",
		"request_id=" + r3 + "&to=" + at(3):                           "",
		"request_id=" + r3 + "&to=" + at(4):                           "r-3",
		"from=2020-01-01T00:00:00Z&to=" + at(1):                       "r-0",
	} {
		if got := w.list(query); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	for query, param := range map[string]string{
		"status=999": "status", "status=ok": "status", "from=" + at(2) + "&to=" + at(2): "from", "from=x": "from",
		"ip=x": "ip", "kind=posts": "kind",
		"request_id=" + strings.Repeat("x", 3000): "request_id",
	} {
		w.Call(http.MethodGet, "/v1/audit-log?"+query, nil).Refused(t, 422, errs.ValidationFailed, param)
	}
	w.Call(http.MethodGet, "/v1/audit-log?cursor=x", nil).Refused(t, 400, errs.InvalidCursor, "cursor")
}

func TestNothingOfOthersIsSeen(t *testing.T) {
	w := newAuditWorld(t)
	w.record("mine", nil)
	for name, c := range map[string]*apitest.Caller{"theirs": w.Stranger(), "live": w.Live()} {
		p := c.Principal
		w.record(name, func(c *httpapi.Call) { c.Principal = &p })
		for query, want := range map[string]int{"": 1, "request_id=" + w.made["mine"]: 0,
			"request_id=" + w.made[name]: 1, "key_id=" + w.Principal.KeyID(): 1} {
			if got := apitest.All[audit.Entry](c, "/v1/audit-log?"+query, 10); len(got) != want || want == 1 &&
				nameOf(got[0].RequestID) != name {
				t.Errorf("%s sees with %q %+v", name, query, got)
			}
		}
	}
	if got := w.list(""); !slices.Equal(got, []string{"mine"}) {
		t.Errorf("we see %v", got)
	}
	for _, theirs := range []string{"theirs", "live"} {
		if got := w.list("request_id=" + w.made[theirs]); got != nil {
			t.Errorf("we see %v", got)
		}
	}
	w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.AccountRead} }).Call(http.MethodGet,
		"/v1/audit-log", nil).
		Refused(t, 403, errs.InsufficientScope, "")
}

func TestNothingOlderThan90DaysIsShown(t *testing.T) {
	w := newAuditWorld(t)
	w.record("old", nil)
	w.record("new", nil) // a minute later
	w.Clock.Add(audit.Keep - 2*time.Minute - time.Second)
	if got := w.list(""); !slices.Equal(got, []string{"new", "old"}) {
		t.Errorf("just before: %v", got)
	}
	w.Clock.Add(time.Second)
	for _, query := range []string{"", "from=2020-01-01T00:00:00Z", "key_id=" + w.Principal.KeyID()} {
		if got := w.list(query); !slices.Equal(got, []string{"new"}) {
			t.Errorf("90 days later with %q: %v", query, got)
		}
	}
	if got := w.list("request_id=" + w.made["old"]); got != nil {
		t.Errorf("by its request: %v", got)
	}
}

func TestEveryCallOfAKeyIsInTheLog(t *testing.T) {
	w := newAuditWorld(t)
	c := apitest.New(t, w.DB, w.log, w.Now, w.log)
	c.Principal = w.Principal
	c.Gateway.ReceivedAt = w.Now().Add(-20 * time.Millisecond)
	for i, call := range []struct{ method, path string }{
		{"GET", "/v1/audit-log"}, {"GET", "/v1/audit-log?status=1&secret=hunter2"}, {"DELETE", "/v1/audit-log"},
		{"GET", "/v1/nothing"},
	} {
		c.Gateway.RequestID = fmt.Sprint("r-", i)
		c.Call(call.method, call.path, nil, "Authorization", "Bearer hunter2", "Cookie", "hunter2")
	}
	refused := c.As(func(p *auth.Principal) { p.Denial = &auth.Denial{Code: errs.PlanNotAllowed, Message: "No."} })
	refused.Gateway.RequestID = "r-4"
	refused.Call("GET", "/v1/audit-log", nil)
	var got []string
	for _, e := range apitest.All[audit.Entry](w.Caller, "/v1/audit-log", 10) {
		code := "-"
		if e.ErrorCode != nil {
			code = *e.ErrorCode
		}
		got = append(got, fmt.Sprint(e.RequestID, " ", e.OperationID, " ", e.Path, " ", e.Status, " ", code))
		if e.LatencyMS != 20 || e.IP != "198.51.100.7" {
			t.Errorf("%+v", e)
		}
	}
	slices.Sort(got)
	want := []string{
		"r-0 listAuditEntries /v1/audit-log 200 -", "r-1 listAuditEntries /v1/audit-log 422 validation_failed",
		"r-2  /v1/audit-log 405 method_not_allowed", "r-3  /v1/nothing 404 unknown_path",
		"r-4 listAuditEntries /v1/audit-log 403 plan_not_allowed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if table := storetest.Snapshot(t, w.DB); strings.Contains(table, "hunter2") {
		t.Error("the log keeps a query or a header")
	}
}

// An entry has the region that has written it, which no caller sees.
func TestAnEntryHasItsRegion(t *testing.T) {
	w := newAuditWorld(t)
	w.log.In("eu-west-1")
	w.record("one", nil)
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == auditlog.EntryKind &&
			(row["x_"+auditlog.Region] != "eu-west-1" || strings.Contains(row["doc"], "eu-west-1")) {
			t.Errorf("%v", row)
		}
	}
}
