package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/audit"
	"github.com/content-automation/api/pkg/area/audit/chain"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
)

// world is an audit table with its stream.
type chainWorld struct {
	t      *testing.T
	db     *store.DB
	faults *storetest.Faults
	clock  *apitest.Clock
	log    *audit.Log
	chain  *chain.Chain
	seen   map[string]bool
	last   int // position in the stream
}

func chainNewWorld(t *testing.T) *chainWorld {
	w := &chainWorld{t: t, faults: &storetest.Faults{}, clock: apitest.NewClock(), seen: map[string]bool{}, last: 97}
	w.db = storetest.Open(t, w.clock.Now, w.faults.Attach)
	w.log, w.chain = audit.New(w.db, w.clock.Now), chain.New(w.db, w.clock.Now)
	return w
}

var acme = tenant.Of("acc_1", tenant.Live)

// calls records calls of an owner, one a second.
func (w *chainWorld) calls(owner tenant.Owner, n int) {
	w.t.Helper()
	for range n {
		c := httpapi.Call{
			RequestID: "r", Principal: &auth.Principal{Owner: owner, Actor: auth.Key("key_1")}, OperationID: "getMe",
			Method: "GET", Path: "/v1/me", Status: 200, At: w.clock.Now(),
		}
		if err := w.log.Record(w.t.Context(), c); err != nil {
			w.t.Fatal(err)
		}
		w.clock.Add(time.Second)
	}
}

func (w *chainWorld) rows(kind string) (rows []storetest.Row) {
	w.t.Helper()
	for _, row := range storetest.Rows(w.t, w.db) {
		if row["kind"] == kind {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b storetest.Row) int { return strings.Compare(a["sk"], b["sk"]) })
	return rows
}

// stream returns the records of the entries that were written since it was last read.
func (w *chainWorld) stream() (records []events.DynamoDBEventRecord) {
	w.t.Helper()
	for _, row := range w.rows(chain.EntryKind) {
		if w.seen[row["sk"]] {
			continue
		}
		w.seen[row["sk"]] = true
		w.last++
		records = append(records, events.DynamoDBEventRecord{
			EventName: "INSERT", Change: events.DynamoDBStreamRecord{NewImage: image(row),
				SequenceNumber: fmt.Sprint(w.last)},
		})
	}
	return records
}

func image(row storetest.Row) map[string]events.DynamoDBAttributeValue {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, value := range row {
		if image[name] = events.NewStringAttribute(value); name == "ver" || name == "ttl" {
			image[name] = events.NewNumberAttribute(value)
		}
	}
	return image
}

// handle gives records to the function, and returns where it wants them again from.
func (w *chainWorld) handle(records []events.DynamoDBEventRecord) string {
	w.t.Helper()
	out, err := w.chain.Handle(w.t.Context(), events.DynamoDBEvent{Records: records})
	if err != nil || len(out.BatchItemFailures) > 1 {
		w.t.Fatal(out, err)
	}
	for _, f := range out.BatchItemFailures {
		return f.ItemIdentifier
	}
	return ""
}

func (w *chainWorld) verify(day time.Time) (chain.Report, error) {
	w.t.Helper()
	r, err := chain.Verify(w.t.Context(), w.db, chain.On(acme.Account, day), w.clock.Now())
	if err != nil && !errors.Is(err, chain.ErrBroken) {
		w.t.Fatal(err)
	}
	return r, err
}

func (w *chainWorld) commit(add func(*store.Tx)) {
	w.t.Helper()
	tx := &store.Tx{}
	add(tx)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Fatal(err)
	}
}

func itemOf(row storetest.Row) store.Item {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, value := range row {
		image[name] = events.NewStringAttribute(value)
	}
	for _, name := range []string{"ver", "ttl"} {
		image[name] = events.NewNumberAttribute(row[name])
	}
	it, err := store.FromRecord(image)
	if err != nil {
		panic(err)
	}
	return it
}

// remove removes a row, and put puts it back as it is given, with its version.
func (w *chainWorld) remove(row storetest.Row) {
	w.t.Helper()
	w.commit(func(tx *store.Tx) { tx.Delete(itemOf(row)) })
}

func (w *chainWorld) put(row storetest.Row) {
	w.t.Helper()
	w.remove(row)
	it := itemOf(row)
	it.Version--
	w.commit(func(tx *store.Tx) { tx.Create(it, nil) })
}

// intact checks that the chain of a day is whole and covers so many entries.
func (w *chainWorld) intact(day time.Time, entries, links int) {
	w.t.Helper()
	r, err := w.verify(day)
	if err != nil || r.Entries != entries || r.Links != links || r.Pending != 0 {
		w.t.Errorf("%+v, %v; want %d entries in %d links", r, err, entries, links)
	}
}

func TestEntriesAreChainedByAccountAndDay(t *testing.T) {
	w := chainNewWorld(t)
	first := w.clock.Now()
	w.calls(acme, 3)
	w.calls(tenant.Of("acc_1", tenant.Test), 2)
	w.calls(tenant.Of("acc_2", tenant.Live), 4)
	if again := w.handle(w.stream()); again != "" {
		t.Fatalf("it wants %s again", again)
	}
	w.calls(acme, 2)
	w.handle(w.stream())
	w.intact(first, 7, 2)
	w.clock.Add(24 * time.Hour)
	w.calls(acme, 1)
	w.handle(w.stream())
	w.intact(first, 7, 2)
	w.intact(first.Add(24*time.Hour), 1, 1)
	if links := w.rows("audit_link"); len(links) != 4 ||
		links[0]["ttl"] != fmt.Sprint(first.Truncate(24*time.Hour).Add(92*24*time.Hour).Unix()) {
		t.Errorf("%d links: %v", len(links), links[0])
	}
}

// The stream delivers records again, whole or in part, and other functions may work on
// other shards of it at the same time.
func TestRecordsThatComeAgainAddNothing(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(acme, 5) // over the positions 98 to 102
	all := w.stream()
	w.handle(all[:3])
	for _, again := range [][]events.DynamoDBEventRecord{all[:3], all[1:2], all, all, all[4:]} {
		w.handle(again)
	}
	w.intact(day, 5, 2)

	w.calls(acme, 1)
	w.calls(tenant.Of("acc_1", tenant.Test), 1)
	records := w.stream()
	w.faults.Before("PutItem", func() { w.handle(records[1:]) })
	if again := w.handle(records[:1]); again != "" {
		t.Errorf("it wants %s again", again)
	}
	w.intact(day, 7, 4)
}

func TestWhatFailsComesAgain(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(tenant.Of("acc_2", tenant.Live), 1)
	w.calls(acme, 2)
	records := w.stream()
	w.faults.Before("PutItem", func() { w.faults.Reject("PutItem", "ValidationException", 1) })
	if again := w.handle(records); again != records[1].Change.SequenceNumber {
		t.Errorf("it wants %q again", again)
	}
	if again := w.handle(records[1:]); again != "" {
		t.Errorf("it wants %q again", again)
	}
	w.intact(day, 2, 1)
	if links := w.rows("audit_link"); len(links) != 2 {
		t.Errorf("%d links", len(links))
	}
}

// The stream has given records up, and the chain has gone on meanwhile.
func TestRedriveAddsWhatIsInNoLink(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(acme, 5)
	all := w.stream()
	w.handle(all[:1])
	w.handle(all[4:])
	w.handle(all[1:4])
	w.clock.Add(time.Hour)
	if _, err := w.verify(day); err == nil {
		t.Fatal("nothing is missing")
	}
	for range 2 {
		if err := w.chain.Redrive(t.Context(), events.DynamoDBEvent{Records: all}); err != nil {
			t.Fatal(err)
		}
		w.intact(day, 5, 3)
	}
	w.handle(all[4:])
	w.intact(day, 5, 3)
}

func TestVerifyNamesTheFirstThatIsNotAsItWasWritten(t *testing.T) {
	change := func(row storetest.Row, name string, f func(string) string) storetest.Row {
		row[name] = f(row[name])
		return row
	}
	for name, c := range map[string]struct {
		tamper func(w *chainWorld, entries, links []storetest.Row)
		says   func(entries, links []storetest.Row) string
	}{
		"an entry is altered": {
			func(w *chainWorld, entries, _ []storetest.Row) {
				w.put(change(entries[2], "doc",
					func(s string) string { return strings.Replace(s, "getMe", "getYou", 1) }))
			},
			func(entries, _ []storetest.Row) string { return entries[2]["sk"] + " of acc_1#live is altered" },
		},
		"a filter of an entry is altered": {
			func(w *chainWorld, entries, _ []storetest.Row) {
				w.put(change(entries[1], "f_status", func(string) string { return "201" }))
			},
			func(entries, _ []storetest.Row) string { return entries[1]["sk"] + " of acc_1#live is altered" },
		},
		"entries are removed": {
			func(w *chainWorld, entries, _ []storetest.Row) { w.remove(entries[3]); w.remove(entries[1]) },
			func(entries, _ []storetest.Row) string { return entries[1]["sk"] + " of acc_1#live is missing" },
		},
		"an entry is added past the stream": {
			func(w *chainWorld, _, _ []storetest.Row) { w.calls(acme, 1); w.clock.Add(time.Hour) },
			func(_, _ []storetest.Row) string { return "is in no link" },
		},
		"a link is altered": {
			func(w *chainWorld, _, links []storetest.Row) {
				w.put(change(links[0], "doc", func(s string) string {
					return strings.Replace(s, `"hash":"`,
						`"hash":"A`, 1)
				}))
			},
			func(_, _ []storetest.Row) string { return "link 1 is altered, or link 2" },
		},
		"a link is removed": {
			func(w *chainWorld, _, links []storetest.Row) { w.remove(links[1]) },
			func(_, _ []storetest.Row) string { return "link 2 is missing" },
		},
		"the last link is removed": {
			func(w *chainWorld, _, links []storetest.Row) { w.remove(links[2]); w.clock.Add(time.Hour) },
			func(entries, _ []storetest.Row) string { return entries[4]["sk"] + " of acc_1#live is in no link" },
		},
		"the last link is altered": {
			func(w *chainWorld, _, links []storetest.Row) {
				w.put(change(links[2], "doc", func(s string) string {
					return strings.Replace(s, `"hash":"`,
						`"hash":"A`, 1)
				}))
			},
			func(entries, _ []storetest.Row) string { return entries[4]["sk"] + " of acc_1#live is altered" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := chainNewWorld(t)
			day := w.clock.Now()
			for range 3 {
				w.calls(acme, 2)
				w.handle(w.stream())
			}
			entries, links := w.rows(chain.EntryKind), w.rows("audit_link")
			w.intact(day, 6, 3)
			c.tamper(w, entries, links)
			r, err := w.verify(day)
			if want := c.says(entries, links); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v, %v; want %s", r, err, want)
			}
		})
	}
}

func TestEntriesOfTheLastMinuteArePending(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(acme, 2)
	if r, err := w.verify(day); err != nil || r.Pending != 2 || r.Links != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	w.clock.Add(time.Minute)
	if r, err := w.verify(day); err == nil {
		t.Errorf("%+v", r)
	}
	w.handle(w.stream())
	w.intact(day, 2, 1)
}

func TestExpiredEntriesAreNotMissing(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(acme, 1)
	w.clock.Add(6 * time.Hour)
	w.calls(acme, 1)
	w.handle(w.stream())
	w.clock.Add(audit.Keep - 5*time.Hour)
	w.remove(w.rows(chain.EntryKind)[0])
	if r, err := w.verify(day); err != nil || r.Expired != 1 || r.Entries != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The stream of a replica has positions of its own, and at first the entries that the other
// region has chained: they are left out, and those that are new are not.
func TestAChainGoesOnInAnotherRegion(t *testing.T) {
	w := chainNewWorld(t)
	day := w.clock.Now()
	w.calls(acme, 3)
	w.calls(tenant.Of("acc_1", tenant.Test), 1)
	first := w.stream()
	w.handle(first)
	w.calls(acme, 2)
	w.calls(tenant.Of("acc_1", tenant.Test), 1)
	all := append(first, w.stream()...)
	for i := range all { // lower positions than in the other region
		all[i].AWSRegion, all[i].Change.SequenceNumber = "eu-central-1", fmt.Sprint(i+1)
	}
	if w.handle(all[:2]); len(w.rows("audit_link")) != 1 {
		t.Errorf("there are %d links", len(w.rows("audit_link")))
	}
	w.handle(all[2:6])
	w.handle(all[2:])
	w.handle(all)
	w.intact(day, 7, 3)
}

// The other replicas are not shown which one removes expired entries.
func TestTheRemovalOfWhatHasExpiredIsNoAlteration(t *testing.T) {
	w := chainNewWorld(t)
	w.calls(acme, 1)
	old := image(w.rows(chain.EntryKind)[0])
	var counts bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&counts))
	removed := []events.DynamoDBEventRecord{{EventName: "REMOVE", Change: events.DynamoDBStreamRecord{OldImage: old,
		SequenceNumber: "1"}}}
	w.handle(removed)
	if !strings.Contains(counts.String(), "AuditEntriesAltered") {
		t.Error("a removal before the entry has expired is not counted")
	}
	counts.Reset()
	w.clock.Add(91 * 24 * time.Hour)
	if w.handle(removed); counts.Len() > 0 {
		t.Errorf("after it has expired, its removal is counted: %s", counts.String())
	}
}

func TestAlterationsAreCounted(t *testing.T) {
	w := chainNewWorld(t)
	w.calls(acme, 1)
	old := image(w.rows(chain.EntryKind)[0])
	var counts bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&counts))
	expiry := &events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "dynamodb.amazonaws.com"}
	w.handle([]events.DynamoDBEventRecord{
		{EventName: "MODIFY", Change: events.DynamoDBStreamRecord{OldImage: old, NewImage: old, SequenceNumber: "1"}},
		{EventName: "REMOVE", Change: events.DynamoDBStreamRecord{OldImage: old, SequenceNumber: "2"}},
		{EventName: "REMOVE", Change: events.DynamoDBStreamRecord{OldImage: old, SequenceNumber: "3"},
			UserIdentity: expiry},
	})
	if got := counts.String(); strings.Count(got, `"AuditEntriesAltered":1`) != 2 ||
		strings.Count(got, `"change":"MODIFY"`) != 1 || strings.Count(got, `"change":"REMOVE"`) != 1 {
		t.Errorf("counted %s", got)
	}
	if len(w.rows("audit_link")) != 0 {
		t.Error("a link was made")
	}
}
