package area_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var acme = tenant.Of("acc_1", tenant.Live)

// levelWorld is a table of counts, and an audit table whose entries become records.
type levelWorld struct {
	*servicetest.World
	audit   *store.DB
	counter *account.CallCounter
	seen    map[string]bool
	last    int
}

func levelNewWorld(t *testing.T) *levelWorld {
	w := &levelWorld{World: servicetest.New(t), seen: map[string]bool{}, last: 97}
	w.audit = storetest.Open(t, w.Now)
	w.counter = account.NewCallCounter(w.DB)
	return w
}

// call writes the audit entry of a call, and returns its record.
func (w *levelWorld) call(o tenant.Owner, operation string, status int,
	latency time.Duration) events.DynamoDBEventRecord {
	w.T.Helper()
	p := &auth.Principal{Owner: o, Actor: auth.Key("key_1")}
	c := httpapi.Call{RequestID: "r", Principal: p, OperationID: operation, Method: "GET", Path: "/v1/me",
		Status: status, At: w.Now(), Latency: latency}
	if err := audit.New(w.audit, w.Now).Record(w.T.Context(), c); err != nil {
		w.T.Fatal(err)
	}
	return w.next()
}

// next returns the record of the entry that was written last.
func (w *levelWorld) next() events.DynamoDBEventRecord {
	w.T.Helper()
	w.Clock.Add(time.Second)
	for _, row := range storetest.Rows(w.T, w.audit) {
		if w.seen[row["sk"]] {
			continue
		}
		w.seen[row["sk"]] = true
		w.last++
		image := map[string]events.DynamoDBAttributeValue{}
		for name, value := range row {
			if image[name] = events.NewStringAttribute(value); name == "ver" || name == "ttl" {
				image[name] = events.NewNumberAttribute(value)
			}
		}
		return events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{NewImage: image,
			SequenceNumber: fmt.Sprint(w.last)}}
	}
	w.T.Fatal("no entry")
	return events.DynamoDBEventRecord{}
}

// handle calls the function, and returns the record that is to come again.
func (w *levelWorld) handle(records ...events.DynamoDBEventRecord) string {
	w.T.Helper()
	out, err := w.counter.Handle(w.T.Context(), events.DynamoDBEvent{Records: records})
	if err != nil || len(out.BatchItemFailures) > 1 {
		w.T.Fatal(out, err)
	}
	for _, f := range out.BatchItemFailures {
		return f.ItemIdentifier
	}
	return ""
}

// month reads the counts of an account as text: operation, calls, failures, and the
// latency of half of them.
func (w *levelWorld) month(o tenant.Owner, at time.Time) (all []string) {
	w.T.Helper()
	month, err := account.ReadLevels(w.T.Context(), w.DB, o, at)
	if err != nil {
		w.T.Fatal(err)
	}
	for _, c := range month.Operations {
		half, _ := c.Percentile(50)
		all = append(all, fmt.Sprint(c.Of, " ", c.Calls, " ", c.Failed, " ", half))
	}
	return all
}

func (w *levelWorld) is(got []string, want ...string) {
	w.T.Helper()
	if !reflect.DeepEqual(got, want) {
		w.T.Errorf("got %q, want %q", got, want)
	}
}

func TestCallsAreCountedByAccountMonthAndOperation(t *testing.T) {
	w := levelNewWorld(t)
	first := w.Now()
	test := tenant.Of("acc_1", tenant.Test)
	w.handle(
		w.call(acme, "getMe", 200, 7*time.Millisecond), w.call(acme, "getMe", 503, time.Minute),
		w.call(acme, "getMe", 429, 12*time.Millisecond),
		w.call(acme, "createImage", 202, 200*time.Millisecond), w.call(test, "getMe", 200, 60*time.Millisecond),
		w.call(acme, "", 404, 0), w.call(acme, "admin.account.update", 200, 0),
	)
	w.is(w.month(acme, first), "createImage 1 0 250", "getMe 3 1 25")
	w.is(w.month(test, first), "getMe 1 0 100")
	w.Clock.Add(31 * 24 * time.Hour)
	w.handle(w.call(acme, "getMe", 200, 0))
	w.is(w.month(acme, w.Now()), "getMe 1 0 10")
	w.is(w.month(acme, first), "createImage 1 0 250", "getMe 3 1 25")
	for _, row := range storetest.Rows(t, w.DB) {
		ofKey := strings.HasPrefix(row["pk"], "usage#")
		if row["ttl"] == "" || ofKey != strings.Contains(fmt.Sprint(row), "key_1") {
			t.Errorf("%v", row)
		}
	}
}

func TestRecordsThatComeAgainCountOnce(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	var all []events.DynamoDBEventRecord
	for i := range 6 { // over the positions 98 to 103
		all = append(all, w.call(acme, []string{"getMe", "listEvents"}[i%2], 200, 0))
	}
	for _, batch := range [][]events.DynamoDBEventRecord{all[:2], all[:5], all[1:2], all[3:], all, all[:1]} {
		if again := w.handle(batch...); again != "" {
			t.Errorf("it wants %s again", again)
		}
	}
	w.is(w.month(acme, at), "getMe 3 0 10", "listEvents 3 0 10")

	// The stream of a replica has lower positions.
	next := w.call(acme, "getMe", 200, 0)
	next.AWSRegion, next.Change.SequenceNumber = "eu-central-1", "7"
	for range 2 {
		if again := w.handle(next); again != "" {
			t.Errorf("it wants %s again", again)
		}
	}
	w.is(w.month(acme, at), "getMe 4 0 10", "listEvents 3 0 10")
}

func TestWhatFailsComesAgain(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	all := []events.DynamoDBEventRecord{w.call(acme, "getMe", 200, 0), w.call(acme, "listEvents", 200, 0),
		w.call(acme, "getMe", 200, 0)}
	w.Faults.Before("UpdateItem", func() { w.Faults.Reject("UpdateItem", "ValidationException", 1) })
	if again := w.handle(all...); again != all[1].Change.SequenceNumber {
		t.Errorf("it wants %q again", again)
	}
	if again := w.handle(all[1:]...); again != "" {
		t.Errorf("it wants %q again", again)
	}
	w.is(w.month(acme, at), "getMe 2 0 10", "listEvents 1 0 10")
	// The answer to an update is lost.
	w.Faults.Lose("UpdateItem", 1)
	w.handle(w.call(acme, "getMe", 200, 0))
	w.is(w.month(acme, at), "getMe 3 0 10", "listEvents 1 0 10")
}

func TestOneEntryMayStandForManyCalls(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	r := w.call(acme, "getMe", 429, 0)
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.Change.NewImage["doc"].String()), &doc); err != nil {
		t.Fatal(err)
	}
	doc["count"] = 40
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	r.Change.NewImage["doc"] = events.NewStringAttribute(string(b))
	r.Change.SequenceNumber = "1" + strings.Repeat("0", 30)
	bad := w.call(acme, "getMe", 200, 0)
	bad.Change.NewImage["doc"] = events.NewStringAttribute("{")
	changed := w.call(acme, "getMe", 200, 0)
	changed.EventName = "MODIFY"
	w.handle(r, bad, changed)
	w.is(w.month(acme, at), "getMe 40 0 10")
}

func TestProbes(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	for i, took := range []time.Duration{4 * time.Second, 9 * time.Second, time.Minute} {
		if err := account.Probed(t.Context(), w.DB, at, took, i != 2); err != nil {
			t.Fatal(err)
		}
	}
	got, err := account.ReadStack(t.Context(), w.DB, at)
	half, _ := got.Probes.Percentile(50)
	most, _ := got.Probes.Percentile(100)
	if err != nil || got.Probes.Calls != 3 || got.Probes.Failed != 1 || half != 10000 || most != 60000 ||
		got.Waiting.Calls != 0 || !got.ReadAt.IsZero() {
		t.Errorf("%+v, %d, %d, %v", got, half, most, err)
	}
	if none, err := account.ReadStack(t.Context(), w.DB, at.AddDate(0, 1, 0)); err != nil || none.Probes.Calls != 0 {
		t.Errorf("%+v, %v", none, err)
	}
	if _, ok := (account.Counts{}).Percentile(50); ok {
		t.Error("no calls have a latency")
	}
}

// At its end the month shows the results of the looks: the last one, and how many found work that was late.
func TestWaitingWork(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	for n, age := range []time.Duration{0, 3 * time.Minute, 0} {
		if err := account.Waited(t.Context(), w.DB, at.Add(time.Duration(n)*time.Minute), age); err != nil {
			t.Fatal(err)
		}
		got, err := account.ReadStack(t.Context(), w.DB, at)
		if err != nil || got.Oldest != age ||
			!got.ReadAt.Equal(at.Add(time.Duration(n)*time.Minute).Truncate(time.Second)) ||
			got.Waiting.Calls != int64(n+1) || got.Waiting.Failed != int64(min(n, 1)) {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestGenerationsAndDeliveries(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	other := tenant.Of(acme.Account, tenant.Test)
	for n, o := range []tenant.Owner{acme, acme, acme, other} {
		if err := account.Observe(w.DB)(t.Context(), task.EndedTask{Owner: o, At: at, Label: "content_item.video",
			Took: time.Duration(n+1) * time.Minute, Done: n != 2}); err != nil {
			t.Fatal(err)
		}
		if err := account.Delivered(t.Context(), w.DB, o, at, 5, int64(n)); err != nil {
			t.Fatal(err)
		}
	}
	w.handle(w.call(acme, "getMe", 200, 0))
	m, err := account.ReadLevels(t.Context(), w.DB, acme, at)
	if err != nil || len(m.Operations) != 1 || len(m.Generations) != 1 || m.Deliveries.Calls != 18 ||
		m.Deliveries.Failed != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	video := m.Generations[0]
	most, _ := video.Percentile(100) // that of those which succeeded
	if video.Of != "content_item.video" || video.Calls != 3 || video.Failed != 1 || most != 120_000 {
		t.Errorf("%+v, %d", video, most)
	}
}

// The stream of a replica has the entries of other regions, which count them.
func TestACallIsCountedInTheRegionThatTookIt(t *testing.T) {
	w := levelNewWorld(t)
	at := w.Now()
	for _, region := range []string{"eu-west-1", "eu-central-1", ""} {
		r := w.call(acme, "getMe", 200, 0)
		if r.AWSRegion = "eu-central-1"; region != "" {
			r.Change.NewImage["x_"+auditlog.Region] = events.NewStringAttribute(region)
		}
		w.handle(r)
	}
	w.is(w.month(acme, at), "getMe 2 0 10")
}
