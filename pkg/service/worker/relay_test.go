package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// fakeBus is a bus that fails as configured.
type fakeBus struct {
	calls []int // how many entries each call had
	taken []worker.BusEvent
	// refuse decides by the entry's detail and how often it came.
	reject func(detail string, seen int) bool
	seen   map[string]int
	down   error
}

func (b *fakeBus) Publish(_ context.Context, batch []worker.BusEvent) ([]error, error) {
	b.calls = append(b.calls, len(batch))
	if b.down != nil {
		return nil, b.down
	}
	if b.seen == nil {
		b.seen = map[string]int{}
	}
	failed := make([]error, len(batch))
	for i, e := range batch {
		b.seen[e.Detail]++
		if b.reject != nil && b.reject(e.Detail, b.seen[e.Detail]) {
			failed[i] = &queue.RefusedEntry{Code: "InternalFailure", Message: "injected"}
			continue
		}
		b.taken = append(b.taken, e)
	}
	return failed, nil
}

// fakeQueue is a queue that fails as configured.
type fakeQueue struct {
	taken  []queue.Message
	reject func(queue.Message) error
}

func (q *fakeQueue) Send(_ context.Context, messages ...queue.Message) []error {
	failed := make([]error, len(messages))
	for i, m := range messages {
		if q.reject != nil {
			failed[i] = q.reject(m)
		}
		if failed[i] == nil {
			q.taken = append(q.taken, m)
		}
	}
	return failed
}

// path is a relay with its destinations.
type path struct {
	*worker.Relay
	bus      *fakeBus
	generate *fakeQueue
	deliver  *fakeQueue
	sums     *fakeQueue
}

func newPath() path {
	p := path{bus: &fakeBus{}, generate: &fakeQueue{}, deliver: &fakeQueue{}, sums: &fakeQueue{}}
	p.Relay = worker.NewRelay(map[topology.Queue]queue.Sender{topology.GenerateText: p.generate,
		topology.Deliver: p.deliver,
		topology.Rollup:  p.sums}, p.bus)
	return p
}

// handle relays records, and returns the sequence numbers that it names as failed.
func (p path) handle(t *testing.T, records ...events.DynamoDBEventRecord) []string {
	t.Helper()
	out, err := p.Handle(t.Context(), events.DynamoDBEvent{Records: records})
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := json.Marshal(out); strings.Contains(string(b), "null") {
		t.Errorf("answered %s", b)
	}
	failed := []string{}
	for _, f := range out.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
	}
	return failed
}

// stream writes items in one transaction, and returns the records that the stream
// of the table brings of it, in the order of the items.
func stream(t *testing.T, items ...store.Item) []events.DynamoDBEventRecord {
	t.Helper()
	db := storetest.Open(t, time.Now)
	tx := &store.Tx{}
	for _, it := range items {
		tx.Create(it, nil)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	rows := map[string]storetest.Row{}
	for _, row := range storetest.Rows(t, db) {
		rows[row["pk"]] = row
	}
	var records []events.DynamoDBEventRecord
	for i, it := range items {
		image := map[string]events.DynamoDBAttributeValue{}
		for name, value := range rows[it.PK] {
			if image[name] = events.NewStringAttribute(value); name == "ver" || name == "ttl" {
				image[name] = events.NewNumberAttribute(value)
			}
		}
		records = append(records, events.DynamoDBEventRecord{
			EventName: "INSERT", EventID: fmt.Sprint(i),
			Change: events.DynamoDBStreamRecord{NewImage: image, SequenceNumber: sequence(i)},
		})
	}
	return records
}

// sequence is the sequence number of the i-th record.
func sequence(i int) string { return fmt.Sprintf("%021d", 100+i) }

var now = apitest.NewClock().Now()

// outgoing is a message that a transaction asks to send.
type outgoing struct {
	ID      string         `json:"id"`
	Queue   topology.Queue `json:"queue"`
	Subject string         `json:"subject"`
	Attempt int            `json:"attempt"`
	tenant.Owner
}

func aMessage(t *testing.T, name topology.Queue, account tenant.Account, subject string) store.Item {
	t.Helper()
	m := outgoing{"message#" + subject + "#1", name, subject, 1, tenant.Of(account, tenant.Test)}
	it, err := store.NewItem(task.OutboxKind, m.Owner, m.ID, m)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func anEvent(t *testing.T, kind event.Type) store.Item {
	t.Helper()
	it, err := event.New(now, tenant.Of("acc_1", tenant.Test), kind,
		map[string]string{"id": "cnt_1", "factory_id": "fac_1"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func TestMessagesGoToTheirQueuesAndEventsToTheBus(t *testing.T) {
	p := newPath()
	other, err := store.NewItem("factory", tenant.Of("acc_1", tenant.Test), "fac_1", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	happened := anEvent(t, event.ContentGenerated)
	failed := p.handle(t, stream(t,
		other, aMessage(t, topology.GenerateText, "acc_1", "cnt_1"), happened,
		aMessage(t, topology.Deliver, "acc_2", "dlv_1"), aMessage(t, topology.GenerateText, "acc_2", "cnt_2"),
	)...)
	if len(failed) != 0 {
		t.Errorf("failed: %v", failed)
	}
	var subjects []string
	for _, m := range append(p.generate.taken, p.deliver.taken...) {
		var j outgoing
		if err := json.Unmarshal([]byte(m.Body), &j); err != nil {
			t.Fatal(err)
		}
		if m.Group != string(j.Account)+"#test" || m.Delay != 0 || j.Attempt != 1 || j.Mode != "test" ||
			j.ID != "message#"+j.Subject+"#1" {
			t.Errorf("sent %+v", m)
		}
		subjects = append(subjects, string(j.Queue)+" "+j.Subject)
	}
	if want := []string{"generate-text cnt_1", "generate-text cnt_2", "deliver dlv_1"}; !slices.Equal(subjects, want) {
		t.Errorf("sent %v, want %v", subjects, want)
	}
	if len(p.bus.taken) != 1 {
		t.Fatalf("%d events on the bus", len(p.bus.taken))
	}
	e := p.bus.taken[0]
	var ref event.Ref
	if err := json.Unmarshal([]byte(e.Detail), &ref); err != nil {
		t.Fatal(err)
	}
	if want := (event.Ref{ID: happened.PK, Type: event.ContentGenerated, Owner: tenant.Of("acc_1", tenant.Test),
		Factory: "fac_1"}); ref != want {
		t.Errorf("detail %s", e.Detail)
	}
	if e.Type != "content.generated" {
		t.Errorf("entry %+v", e)
	}
}

func TestChangesAndRemovalsAreNotSent(t *testing.T) {
	p := newPath()
	records := stream(t, aMessage(t, topology.GenerateText, "acc_1", "cnt_1"), anEvent(t, event.ContentGenerated))
	records[0].EventName, records[1].EventName = "MODIFY", "REMOVE"
	records = append(records, events.DynamoDBEventRecord{EventName: "INSERT", Change: events.DynamoDBStreamRecord{
		SequenceNumber: "9", NewImage: map[string]events.DynamoDBAttributeValue{"pk": events.NewStringAttribute("x"),
			"n": events.NewNumberAttribute("1")},
	}})
	if failed := p.handle(t, records...); len(failed) != 0 || len(p.generate.taken) != 0 || len(p.bus.calls) != 0 {
		t.Errorf("failed %v, sent %v and %v", failed, p.generate.taken, p.bus.calls)
	}
	if failed := p.handle(t); len(failed) != 0 {
		t.Errorf("an empty batch failed: %v", failed)
	}
}

// The message of a task that is due much later is sent when it is almost due.
func TestAParkedTaskIsNotSent(t *testing.T) {
	p := newPath()
	db := storetest.Open(t, time.Now)
	tx := &store.Tx{}
	m := task.Message{ID: "task#1", Queue: topology.GenerateText, Owner: tenant.Of("acc_1", tenant.Live)}
	if err := task.Create(tx, time.Now(), task.Task{Message: m, DueAt: time.Now().Add(time.Hour)}, 0); err != nil {
		t.Fatal(err)
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	it, err := db.Get(t.Context(), store.IDKey("task#1"))
	if err != nil {
		t.Fatal(err)
	}
	it.Version = 0
	if failed := p.handle(t, stream(t, it)...); len(failed) != 0 || len(p.generate.taken) != 0 {
		t.Errorf("failed %v, sent %v", failed, p.generate.taken)
	}
}

func TestTheFirstRecordThatFailedIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(p path, records []events.DynamoDBEventRecord)
		want  int
	}{
		"a message": {func(p path, _ []events.DynamoDBEventRecord) {
			p.generate.reject = func(m queue.Message) error {
				if strings.Contains(m.Body, "cnt_2") {
					return errors.New("no")
				}
				return nil
			}
		}, 2},
		"an event": {func(p path, _ []events.DynamoDBEventRecord) {
			p.bus.reject = func(detail string, _ int) bool { return strings.Contains(detail, "balance.low") }
		}, 3},
		"the whole bus": {func(p path, _ []events.DynamoDBEventRecord) { p.bus.down = errors.New("no route") }, 1},
		"both": {func(p path, _ []events.DynamoDBEventRecord) {
			p.bus.reject = func(detail string, _ int) bool { return strings.Contains(detail, "balance.low") }
			p.generate.reject = func(queue.Message) error { return errors.New("no") }
		}, 0},
		"a queue that there is not": {func(p path, _ []events.DynamoDBEventRecord) {
			*p.Relay = *worker.NewRelay(map[topology.Queue]queue.Sender{topology.GenerateText: p.generate,
				topology.Rollup: p.sums},
				p.bus)
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPath()
			records := stream(t,
				aMessage(t, topology.GenerateText, "acc_1", "cnt_1"), anEvent(t, event.ContentGenerated),
				aMessage(t, topology.GenerateText, "acc_1", "cnt_2"),
				anEvent(t, event.BalanceLow), aMessage(t, topology.Deliver, "acc_1", "dlv_1"),
			)
			c.spoil(p, records)
			if failed := p.handle(t, records...); !slices.Equal(failed, []string{sequence(c.want)}) {
				t.Errorf("failed: %v, want %v", failed, sequence(c.want))
			}
		})
	}
}

// Repeating a record that cannot be decoded would hold back all that follows, so it is put aside.
func TestWhatCannotBeDecodedIsPutAside(t *testing.T) {
	var counted bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&counted))
	p := newPath()
	made, err := (&item.Record{Item: item.Item{Resource: resource.New("cnt_1", now, nil), FactoryID: "fac_1",
		State: item.Generated}}).Entry(tenant.Of("acc_1", tenant.Live))
	if err != nil {
		t.Fatal(err)
	}
	records := stream(t,
		aMessage(t, topology.GenerateText, "acc_1", "cnt_1"), anEvent(t, event.ContentGenerated), made,
		aMessage(t, topology.Deliver, "acc_1", "dlv_1"), aMessage(t, topology.GenerateText, "acc_1", "cnt_2"),
	)
	records[0].Change.NewImage["doc"] = events.NewStringAttribute("{")
	delete(records[1].Change.NewImage, "f_type")
	records[2].Change.NewImage["doc"] = events.NewStringAttribute(`{"history":7}`)
	records[3].Change.NewImage["packed"] = events.NewBinaryAttribute([]byte("garbage"))
	if failed := p.handle(t, records...); len(failed) != 0 || len(p.generate.taken) != 1 || len(p.deliver.taken) != 0 ||
		len(p.bus.taken) != 0 || len(p.sums.taken) != 0 {
		t.Errorf("failed: %v; sent %v", failed, p.generate.taken)
	}
	if n := strings.Count(counted.String(), `"`+metric.Aside+`":1`); n != 4 {
		t.Errorf("%d were counted: %s", n, counted.String())
	}
}

// Items that analytics count go to the queue of their sums, whether they were made or changed. A queue that does not
// take them holds back no task and no event of the batch.
func TestChangesThatAnalyticsCountGoToTheirQueue(t *testing.T) {
	p := newPath()
	content := func(id string, state item.State) store.Item {
		r := item.Record{Item: item.Item{Resource: resource.New(id, now, nil), FactoryID: "fac_1", Kind: item.Post,
			State: state}, History: []item.Past{{At: resource.Instant(now), Made: 1}}}
		it, err := r.Entry(tenant.Of("acc_1", tenant.Live))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	records := stream(t, content("cnt_1", item.Generated), content("cnt_2", item.Generated),
		content("cnt_3", item.Generating), content("cnt_4", item.Generated),
		aMessage(t, topology.GenerateText, "acc_1", "cnt_3"), anEvent(t, event.ContentGenerated))
	records[1].EventName, records[3].EventName = "MODIFY", "REMOVE"
	if failed := p.handle(t, records...); len(failed) != 0 {
		t.Errorf("failed: %v", failed)
	}
	var subjects []string
	for _, m := range p.sums.taken {
		var c struct{ Factory, Subject string }
		if err := json.Unmarshal([]byte(m.Body), &c); err != nil || c.Factory != "fac_1" || m.Group != "acc_1" {
			t.Errorf("%+v, %v", m, err)
		}
		subjects = append(subjects, c.Subject)
	}
	if !slices.Equal(subjects, []string{"cnt_1", "cnt_2"}) {
		t.Errorf("sent %v", subjects)
	}
	p = newPath()
	p.sums.reject = func(queue.Message) error { return errors.New("no") }
	if failed := p.handle(t, records...); !slices.Equal(failed, []string{sequence(0)}) || len(p.generate.taken) != 1 ||
		len(p.bus.taken) != 1 {
		t.Errorf("failed: %v; sent %v and %v", failed, p.generate.taken, p.bus.taken)
	}
}

func TestEventsGoTenAtATimeAndRefusedOnesAgain(t *testing.T) {
	p := newPath()
	var items []store.Item
	for range 23 {
		items = append(items, anEvent(t, event.ContentGenerated))
	}
	p.bus.reject = func(detail string, seen int) bool { return strings.Contains(detail, items[12].PK) && seen < 3 }
	if failed := p.handle(t, stream(t, items...)...); len(failed) != 0 {
		t.Errorf("failed: %v", failed)
	}
	if !slices.Equal(p.bus.calls, []int{10, 10, 3, 1, 1}) || len(p.bus.taken) != 23 {
		t.Errorf("calls of %v, %d taken", p.bus.calls, len(p.bus.taken))
	}
}

func TestABusThatAnswersTooLittleHasTakenNothing(t *testing.T) {
	p := newPath()
	*p.Relay = *worker.NewRelay(map[topology.Queue]queue.Sender{topology.GenerateText: p.generate,
		topology.Deliver: p.deliver},
		shortBus{})
	if failed := p.handle(t, stream(t, anEvent(t, event.ContentGenerated))...); len(failed) != 1 {
		t.Errorf("failed: %v", failed)
	}
}

type shortBus struct{}

func (shortBus) Publish(context.Context, []worker.BusEvent) ([]error, error) { return nil, nil }
