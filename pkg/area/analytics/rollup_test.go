package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/rolluptest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/training"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// A record may come twice, late, or not at all where a later one of the same item comes.
func TestEachVersionIsCountedOnce(t *testing.T) {
	w := rollupNewWorld(t, "")
	post, video := w.content(item.Post), w.content(item.Video)
	failed := w.happens(post, item.Past{Failed: 1})
	w.Clock.Add(24 * time.Hour)
	made := w.happens(post, item.Past{Made: 1, Published: 1, Credits: 20})
	canceled := w.happens(video, item.Past{Credits: 7})
	want := map[string]string{"2026-05-01 post ": "[0 1 0 0 0 0 0 0 0 0 0 0 0]", "2026-05-02 post ": "[1 0 1 20 0 0 0 0 0 0 0 0 0]",
		"2026-05-02 video ": "[0 0 0 7 0 0 0 0 0 0 0 0 0]"}
	for name, batches := range map[string][][]events.DynamoDBEventRecord{
		"once":              {{failed}, {made, canceled}},
		"in one batch":      {{failed, made, canceled}},
		"twice":             {{failed, failed}, {made, canceled}, {failed, made}, {canceled}, {made}},
		"the other way":     {{made}, {canceled}, {failed}},
		"in another order":  {{made, canceled, failed}},
		"without the first": {{made, canceled}},
	} {
		t.Run(name, func(t *testing.T) {
			u := rollupNewWorld(t, "")
			u.factory = w.factory
			u.locate("")
			for _, r := range []*item.Record{post, video} {
				u.save(r)
			}
			for _, batch := range batches {
				if again := u.handle(batch...); again != "" {
					t.Errorf("it wants %s again", again)
				}
			}
			is(t, "the sums", u.days("2026-04-01", "2026-06-01", "UTC"), want)
			u.Clock.Add(time.Hour)
			if r := u.verified(); r.Items != 2 || r.Counted != 2 || r.Pending != 0 || r.Totals["cost_credits"] != 27 ||
				r.Totals["made"] != 1 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Whatever the histories, and however their records are delivered, the sums are those of
// the items, in every time zone.
func TestTheSumsAreTheTruth(t *testing.T) {
	kinds := []item.Kind{item.Post, item.Video, item.Carousel, item.Story, item.MusicClip}
	zones := []string{"", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati"}
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			w := rollupNewWorld(t, zones[random.IntN(len(zones))])
			w.Clock.Add(time.Duration(random.IntN(300*24)) * time.Hour)
			var all []*item.Record
			var records []events.DynamoDBEventRecord
			lastOf := map[string]events.DynamoDBEventRecord{}
			for range 1 + random.IntN(60) {
				r := w.content(kinds[random.IntN(len(kinds))])
				all = append(all, r)
				for range random.IntN(4) {
					w.Clock.Add(time.Duration(random.IntN(40*3600)) * time.Second / 8)
					rec := w.happens(r, []item.Past{{Made: 1, Credits: 20}, {Made: 1, Published: 1}, {Failed: 1},
						{Credits: 3}}[random.IntN(4)])
					lastOf[r.Item.ID] = rec
					for range random.IntN(3) { // which may be never
						records = append(records, rec)
					}
				}
			}
			half := len(records) / 2
			w.deliver(random, records[:half])
			w.locate(zones[random.IntN(len(zones))]) // the days of which are others
			w.deliver(random, append(records[half:], records[:half]...))
			for _, rec := range lastOf {
				w.deliver(random, []events.DynamoDBEventRecord{rec})
			}
			for _, in := range []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu",
				"Pacific/Kiritimati"} {
				is(t, in, w.days("2026-04-01", "2027-03-31", in), truth(t, in, all...))
			}
			w.Clock.Add(time.Hour)
			w.verified()
			before := storetest.Snapshot(t, w.DB)
			if w.deliver(random, records); storetest.Snapshot(t, w.DB) != before {
				t.Error("records that were counted have changed something")
			}
			if _, err := analytics.Rebuild(t.Context(), w.DB, w.factory, w.Now()); err != nil {
				t.Error(err)
			}
			for _, in := range []string{"UTC", "Europe/Berlin", "Asia/Kathmandu"} {
				is(t, "rebuilt in "+in, w.days("2026-04-01", "2027-03-31", in), truth(t, in, all...))
			}
			w.verified()
		})
	}
}

// deliver gives records to several instances of the function at the same time, in random
// batches, of which each is given again from where it failed, and some are given twice.
func (w *rollupWorld) deliver(random *rand.Rand, records []events.DynamoDBEventRecord) {
	w.T.Helper()
	records = slices.Clone(records)
	random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	if random.IntN(2) == 0 {
		w.Faults.Lose("TransactWriteItems", 2)
		w.Faults.Reject("BatchGetItem", "InternalServerError", 5) // one more than the SDK repeats
	}
	var batches [][]events.DynamoDBEventRecord
	for len(records) > 0 {
		n := 1 + random.IntN(min(len(records), 30))
		batches = append(batches, records[:n])
		if random.IntN(4) == 0 {
			batches = append(batches, records[:n])
		}
		records = records[n:]
	}
	queue := make(chan []events.DynamoDBEventRecord, len(batches))
	for _, b := range batches {
		queue <- b
	}
	close(queue)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for batch := range queue {
				for len(batch) > 0 {
					again := rolluptest.Handle(w.T.Context(), w.keeper, batch...)
					if again == "" {
						break
					}
					batch = batch[slices.IndexFunc(batch,
						func(r events.DynamoDBEventRecord) bool { return r.Change.SequenceNumber == again }):]
				}
			}
		})
	}
	group.Wait()
	w.Faults.Reset()
}

func TestManyItemsAreCountedInFewTransactions(t *testing.T) {
	w := rollupNewWorld(t, "Europe/Berlin")
	var records []events.DynamoDBEventRecord
	for range 100 {
		records = append(records, w.happens(w.content(item.Post), item.Past{Made: 1, Credits: 20}))
	}
	w.Faults.Reset()
	if again := w.handle(records...); again != "" {
		t.Errorf("it wants %s again", again)
	}
	if got := w.Faults.Operations(); got != strings.TrimSpace(strings.Repeat("BatchGetItem TransactWriteItems ", 4)) {
		t.Errorf("%s", got)
	}
	w.Clock.Add(time.Hour)
	if r := w.verified(); r.Totals["made"] != 100 || r.Totals["cost_credits"] != 2000 {
		t.Errorf("%+v", r)
	}
}

// The longest histories fit into transactions, even where all of it is
// counted in another time zone.
func TestALongHistoryIsCounted(t *testing.T) {
	w := rollupNewWorld(t, "Pacific/Kiritimati")
	var all []*item.Record
	records := map[string]events.DynamoDBEventRecord{}
	for range 4 {
		r := w.content(item.Story)
		all = append(all, r)
		for range 16 {
			w.Clock.Add(21*24*time.Hour + 7*time.Hour)
			records[r.Item.ID] = w.happens(r, item.Past{Made: 1, Credits: 2})
		}
	}
	for range 2 {
		var batch []events.DynamoDBEventRecord
		for _, r := range all {
			r.Item.Touch(w.Now())
			w.save(r)
			batch = append(batch, w.record(r))
		}
		if again := w.handle(batch...); again != "" {
			t.Fatalf("it wants %s again", again)
		}
		w.Clock.Add(time.Hour)
		if r := w.verified(); r.Totals["made"] != 64 {
			t.Errorf("%+v", r)
		}
		w.locate("Pacific/Pago_Pago")
	}
}

// DynamoDB takes updates of up to 4 KB.
func TestUpdatesAreShort(t *testing.T) {
	w := rollupNewWorld(t, "")
	kinds := []item.Kind{item.Post, item.Video, item.Carousel, item.Story, item.MusicClip}
	var batch []events.DynamoDBEventRecord
	for n := range 30 {
		r := w.content(kinds[n%len(kinds)])
		for day := range 16 {
			at := time.Date(2026, 5, 1+(day+n)%31, 12, 0, 0, 0, time.UTC)
			r.History = append(r.History, item.Past{At: resource.Instant(at), Made: 1, Failed: 1,
				Published: 1, Credits: 5})
		}
		w.save(r)
		batch = append(batch, w.record(r))
	}
	w.Faults.Reset()
	w.Faults.Bodies = true
	if again := w.handle(batch...); again != "" {
		t.Fatalf("it wants %s again", again)
	}
	longest := 0
	for _, c := range w.Faults.Calls() {
		var sent struct {
			TransactItems []struct {
				Update struct{ UpdateExpression string }
			}
		}
		if err := json.Unmarshal(c.Body, &sent); err != nil {
			t.Fatal(err)
		}
		for _, write := range sent.TransactItems {
			longest = max(longest, len(write.Update.UpdateExpression))
		}
	}
	if longest > 4096 || longest < 1000 {
		t.Errorf("the longest update has %d bytes", longest)
	}
	w.Clock.Add(time.Hour)
	if r := w.verified(); r.Totals["made"] != 30*16 {
		t.Errorf("%+v", r)
	}
}

func TestWhatFailsComesAgain(t *testing.T) {
	w := rollupNewWorld(t, "")
	post, other := w.content(item.Post), w.content(item.Post)
	other.Item.FactoryID = "fac_other"
	first, second := w.happens(post, item.Past{Made: 1}), w.happens(post, item.Past{Made: 1})
	broken := w.recordOf(store.Item{Key: store.IDKey("cnt_x"), Kind: item.ItemKind, Owner: acme,
		Doc: []byte(`{"history":7}`)})
	w.Faults.Reject("TransactWriteItems", "ValidationException", 1)
	if again := w.handle(first, second); again != first.Change.SequenceNumber {
		t.Errorf("it wants %q again", again)
	}
	if again := w.handle(first, second, broken); again != broken.Change.SequenceNumber {
		t.Errorf("it wants %q again", again)
	}
	is(t, "the sums", w.days("2026-05-01", "2026-05-01", "UTC"), truth(t, "UTC", post))
}

// The counts of a deleted item stay, with the charges of its deletion.
func TestWhatWasDeletedStaysCounted(t *testing.T) {
	w := rollupNewWorld(t, "")
	made, running := w.content(item.Post), w.content(item.Video)
	w.handle(w.happens(made, item.Past{Made: 1, Credits: 20}))
	running.Charge(w.Now(), 9)
	end, err := running.End(w.owner, w.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*item.Record{made, running} {
		it, err := w.DB.Get(t.Context(), store.IDKey(r.Item.ID))
		if err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Delete(it)
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	removed := w.record(made)
	removed.EventName, removed.Change.NewImage = "REMOVE", nil
	w.handle(removed, w.recordOf(end), w.recordOf(end))
	want := map[string]string{"2026-05-01 post ": "[1 0 0 20 0 0 0 0 0 0 0 0 0]", "2026-05-01 video ": "[0 0 0 9 0 0 0 0 0 0 0 0 0]"}
	is(t, "the sums", w.days("2026-05-01", "2026-05-02", "UTC"), want)
	if _, err := analytics.Rebuild(t.Context(), w.DB, w.factory, w.Now()); err != nil {
		t.Fatal(err)
	}
	is(t, "rebuilt", w.days("2026-05-01", "2026-05-02", "UTC"), want)
	if r := w.verified(); r.Items != 0 || r.Counted != 2 {
		t.Errorf("%+v", r)
	}
}

func TestASandboxThatWasEmptiedIsNotCountedIn(t *testing.T) {
	w := rollupNewWorld(t, "")
	w.owner = tenant.Of("acc_1", tenant.Test)
	w.locate("")
	record := w.happens(w.content(item.Post), item.Past{Made: 1})
	it, err := w.DB.Get(t.Context(), store.IDKey(w.factory))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	before := storetest.Snapshot(t, w.DB)
	if again := w.handle(record); again != "" || storetest.Snapshot(t, w.DB) != before {
		t.Errorf("it wants %q again, and the table has changed", again)
	}
}

func TestVerifyFindsWhatIsWrongAndRebuildCorrectsIt(t *testing.T) {
	for name, spoil := range map[string]func(w *rollupWorld, made, other *item.Record){
		"a sum": func(w *rollupWorld, _, _ *item.Record) {
			w.change("day#2026-05", func(it *store.Item) { it.Numbers["01010000"]++ })
		},
		"a sum too many": func(w *rollupWorld, _, _ *item.Record) {
			w.change("day#2026-05", func(it *store.Item) { it.Numbers["31010008"] = 4 })
		},
		"the quarters": func(w *rollupWorld, _, _ *item.Record) {
			w.change("quarter#2026-05-01", func(it *store.Item) { it.Numbers = map[string]int64{} })
		},
		"no sums":             func(w *rollupWorld, _, _ *item.Record) { w.remove("day#2026-05") },
		"nothing was counted": func(w *rollupWorld, made, _ *item.Record) { w.remove("counted#" + made.Item.ID) },
		"an item that was not counted": func(w *rollupWorld, _, other *item.Record) {
			w.happens(other, item.Past{Made: 1})
			w.Clock.Add(2 * time.Minute)
		},
		"what was counted": func(w *rollupWorld, made, _ *item.Record) {
			w.change("counted#"+made.Item.ID, func(it *store.Item) {
				it.Doc = []byte(strings.Replace(string(it.Doc), "20", "21", 1))
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := rollupNewWorld(t, "")
			made, other := w.content(item.Post), w.content(item.Carousel)
			w.handle(w.happens(made, item.Past{Made: 1, Credits: 20}), w.happens(other, item.Past{Failed: 1}))
			spoil(w, made, other)
			if r, err := analytics.Verify(t.Context(), w.DB, w.factory, w.Now()); !errors.Is(err,
				analytics.ErrWrong) ||
				r.WrongTotal == 0 || len(r.Wrong) != r.WrongTotal {
				t.Errorf("%+v, %v", r, err)
			}
			if r, err := analytics.Rebuild(t.Context(), w.DB, w.factory, w.Now()); err != nil ||
				r.WrongTotal == 0 {
				t.Errorf("%+v, %v", r, err)
			}
			w.verified()
			is(t, "rebuilt", w.days("2026-05-01", "2026-05-01", "UTC"), truth(t, "UTC", made, other))
			is(t, "rebuilt", w.days("2026-05-01", "2026-05-02", "Asia/Kathmandu"),
				truth(t, "Asia/Kathmandu", made, other))
		})
	}
}

// Items counted while the sums are compared cause no false alarm.
func TestVerifyWithstandsWhatIsCountedMeanwhile(t *testing.T) {
	w := rollupNewWorld(t, "")
	w.handle(w.happens(w.content(item.Post), item.Past{Made: 1}))
	late := w.happens(w.content(item.Post), item.Past{Made: 1})
	queries := 0
	w.Faults.After = func(c storetest.Call) error {
		if c.Operation == "Query" {
			if queries++; queries == 3 { // the sums are read
				w.handle(late)
			}
		}
		return nil
	}
	if r := w.verified(); r.Pending != 1 || r.Counted != 2 || r.Totals["made"] != 2 {
		t.Errorf("%+v", r)
	}
	if queries < 8 {
		t.Errorf("the sums were compared after %d queries", queries)
	}
}

func TestVerifyNeedsAFactory(t *testing.T) {
	w := rollupNewWorld(t, "")
	post := w.content(item.Post)
	for _, name := range []string{"", "fac_x", post.Item.ID} {
		if _, err := analytics.Verify(t.Context(), w.DB, name, w.Now()); err == nil ||
			!strings.Contains(err.Error(), "there is no factory") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func (w *rollupWorld) change(sk string, f func(*store.Item)) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.Key{PK: "analytics#" + w.factory, SK: sk})
	if err != nil {
		w.T.Fatal(err)
	}
	f(&it)
	w.put(it)
}

func (w *rollupWorld) remove(sk string) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.Key{PK: "analytics#" + w.factory, SK: sk})
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

func TestTrainingsAreCounted(t *testing.T) {
	w := rollupNewWorld(t, "")
	train := func(credits int64) events.DynamoDBEventRecord {
		t.Helper()
		r := training.Record{Training: training.Training{
			Resource: resource.New(id.New(id.Training, w.Now()), w.Now(), nil), FactoryID: w.factory,
			State: training.Completed, CostCredits: credits,
		}}
		it, err := store.NewItem(training.ItemKind, w.owner, r.ID, r)
		if err != nil {
			t.Fatal(err)
		}
		it.Key, it.Filters = training.Key(w.factory), map[string]string{"state": string(r.State)}
		w.put(it)
		return w.recordOf(it)
	}
	first := train(700)
	if r, err := analytics.Verify(t.Context(), w.DB, w.factory, w.Now().Add(time.Hour)); err == nil {
		t.Errorf("a training that was not counted is proved: %+v", r)
	}
	w.handle(first, first)
	w.Clock.Add(24 * time.Hour)
	second := train(300) // takes the place of the first
	w.handle(first, second)
	w.handle(second)
	want := map[string]string{"2026-05-01  ": "[0 0 0 700 0 0 0 0 0 0 0 0 0]", "2026-05-02  ": "[0 0 0 300 0 0 0 0 0 0 0 0 0]"}
	is(t, "the sums", w.days("2026-05-01", "2026-05-03", "UTC"), want)
	if r := w.verified(); r.Totals["cost_credits"] != 1000 {
		t.Errorf("%+v", r)
	}
	if _, err := analytics.Rebuild(t.Context(), w.DB, w.factory, w.Now()); err != nil {
		t.Fatal(err)
	}
	is(t, "rebuilt", w.days("2026-05-01", "2026-05-03", "UTC"), want)
}

// still is a queue whose messages stay hidden.
type still struct{}

func (still) ExtendVisibility(_ context.Context, _ time.Duration, receipts ...string) []error {
	return make([]error, len(receipts))
}

// Of the messages of a batch, those that were not counted come again, and a message that is
// none holds back no other.
func TestMessagesThatWereNotCountedComeAgain(t *testing.T) {
	w := rollupNewWorld(t, "")
	post := w.content(item.Post)
	it, err := store.FromRecord(w.happens(post, item.Past{Made: 1}).Change.NewImage)
	if err != nil {
		t.Fatal(err)
	}
	m, ok, err := analytics.Message(it)
	if err != nil || !ok || m.Group != string(acme.Account) {
		t.Fatal(m, ok, err)
	}
	beats := func() (<-chan time.Time, func()) { return nil, func() {} }
	out, err := queue.NewHolder(still{}, beats).Handler(w.keeper.Count)(t.Context(),
		events.SQSEvent{Records: []events.SQSMessage{
			{MessageId: "none", Body: `{"Records":[]}`}, {MessageId: "first", Body: m.Body},
			{MessageId: "again", Body: m.Body},
		}})
	if err != nil || len(out.BatchItemFailures) != 1 || out.BatchItemFailures[0].ItemIdentifier != "none" {
		t.Errorf("%+v, %v", out, err)
	}
	is(t, "the sums", w.days("2026-05-01", "2026-05-01", "UTC"), truth(t, "UTC", post))
}
