package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/task"
)

func TestServiceLevels(t *testing.T) {
	clock, faults := apitest.NewClock(), &storetest.Faults{}
	db := storetest.Open(t, clock.Now, faults.Attach)
	c := apitest.New(t, db, &apitest.Log{}, clock.Now, account.NewLevels(db, clock.Now))
	levels := func(c *apitest.Caller, query string) (l account.ServiceLevels) {
		t.Helper()
		c.Call(http.MethodGet, "/v1/service-levels"+query, nil).Into(t, http.StatusOK, &l)
		return l
	}
	if raw := c.Call(http.MethodGet, "/v1/service-levels", nil).Raw; !strings.Contains(raw, `"met":null`) ||
		!strings.Contains(raw, `"operations":[]`) || !strings.Contains(raw, `"latency_p95_ms":1000`) ||
		strings.Count(raw, `"availability_percent":null`) != 2 || !strings.Contains(raw, `"generations":[]`) ||
		!strings.Contains(raw, `"success_percent":null`) || !strings.Contains(raw, `"oldest_ms":null`) {
		t.Errorf("without calls: %s", raw)
	}
	first := clock.Now()
	position := 0
	count := func(c *apitest.Caller, operation, status, ms string, times int) {
		t.Helper()
		var batch events.DynamoDBEvent
		for range times {
			position++
			image := map[string]events.DynamoDBAttributeValue{}
			for name, value := range map[string]string{
				"kind": "audit_entry", "acc": string(c.Principal.Account), "mode": string(c.Principal.Mode),
				"doc": `{"at":"` + clock.Now().Format(time.RFC3339) + `","operation_id":"` + operation +
					`","status":` + status + `,"latency_ms":` + ms + `}`,
			} {
				image[name] = events.NewStringAttribute(value)
			}
			batch.Records = append(batch.Records, events.DynamoDBEventRecord{EventName: "INSERT",
				Change: events.DynamoDBStreamRecord{
					NewImage: image, SequenceNumber: strings.Repeat("1", position),
				}})
		}
		if out, err := account.NewCallCounter(db).Handle(t.Context(), batch); err != nil ||
			len(out.BatchItemFailures) > 0 {
			t.Fatal(out, err)
		}
	}
	count(c, "getMe", "200", "5", 9)
	count(c, "createImage", "202", "700", 1)
	count(c.Live(), "getMe", "200", "5", 3)
	count(c.Stranger(), "getMe", "200", "5", 3)
	got := levels(c, "")
	if got.Month != first.Format("2006-01") || got.Met == nil || !*got.Met || got.All.Calls != 10 ||
		*got.All.Availability != 100 || *got.All.LatencyP50 != 10 || *got.All.LatencyP95 != 1000 ||
		len(got.Operations) != 2 || got.Operations[0].OperationID != "createImage" || got.Operations[1].Calls != 9 {
		t.Errorf("%+v", got)
	}
	count(c, "getMe", "500", "20000", 1)
	got = levels(c, "?month="+first.Format("2006-01"))
	if *got.Met || got.All.Failed != 1 || *got.All.Availability != 90.9090 || *got.All.ErrorRate != 9.0909 ||
		*got.All.LatencyP99 != 30000 {
		t.Errorf("%+v", got)
	}
	if err := account.Probed(t.Context(), db, clock.Now(), 3*time.Second, false); err != nil {
		t.Fatal(err)
	}
	if p := levels(c, "").Probes; p.Count != 1 || p.Failed != 1 || *p.Availability != 0 || *p.LatencyP95 != 5000 {
		t.Errorf("%+v", p)
	}
	owner := c.Principal.Owner
	for _, err := range []error{
		account.Observe(db)(t.Context(), task.EndedTask{Owner: owner, At: clock.Now(), Label: "content_item.post",
			Took: 25 * time.Second, Done: true}),
		account.Observe(db)(t.Context(), task.EndedTask{Owner: owner, At: clock.Now(), Label: "generation.video",
			Took: 25 * time.Second, Done: false}),
		account.Delivered(t.Context(), db, owner, clock.Now(), 3, 1), account.Waited(t.Context(), db, clock.Now(), 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	got = levels(c, "")
	if g := got.Generations; len(g) != 2 || g[0].Resource != "content_item" || g[0].Kind != "post" ||
		*g[0].TimeP99 != 30_000 || g[1].Resource != "generation" || g[1].Failed != 1 || g[1].TimeP50 != nil {
		t.Errorf("%+v", got.Generations)
	}
	if d, w := got.Deliveries, got.Waiting; d.Count != 4 || d.Failed != 1 || *d.Success != 75 || w.Checks != 1 ||
		w.Late != 0 || *w.Oldest != 0 || *w.OldestP99 != 0 || w.CheckedAt == nil {
		t.Errorf("%+v, %+v", d, w)
	}
	if got := levels(c.Stranger(), ""); len(got.Generations) != 0 || got.Deliveries.Count != 0 ||
		got.Waiting.Checks != 1 {
		t.Errorf("another account sees %+v", got)
	}
	if err := account.Waited(t.Context(), db, clock.Now(), 3*time.Minute); err != nil {
		t.Fatal(err)
	}
	if w := levels(c, "").Waiting; w.Late != 1 || *w.Oldest != 180_000 || *w.OldestP99 != 300_000 {
		t.Errorf("%+v", w)
	}
	clock.Add(40 * 24 * time.Hour)
	if got := levels(c, ""); got.All.Calls != 0 || got.Month == first.Format("2006-01") {
		t.Errorf("a month later: %+v", got)
	}
	if got := levels(c, "?month="+first.Format("2006-01")); got.All.Calls != 11 {
		t.Errorf("of the month before: %+v", got)
	}
	for _, month := range []string{"2026-13", "x", clock.Now().AddDate(0, 2, 0).Format("2006-01"), "2020-01"} {
		c.Call(http.MethodGet, "/v1/service-levels?month="+month, nil).Refused(t, 422, errs.ValidationFailed, "month")
	}
	c.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ContentRead} }).Call(http.MethodGet,
		"/v1/service-levels", nil).Refused(t, 403, errs.InsufficientScope, "")
	faults.Reset()
	faults.Reject("Query", "ValidationException", 2)
	c.Call(http.MethodGet, "/v1/service-levels", nil).Refused(t, 500, errs.Internal, "")
}
