package analytics_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/rolluptest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/clock"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

var acme = tenant.Of("acc_1", tenant.Live)

// rollupWorld is a state table with a factory, and the function that keeps its sums.
type rollupWorld struct {
	*servicetest.World
	keeper  *analytics.Keeper
	owner   tenant.Owner
	factory string
	last    int // position in the stream
}

func rollupNewWorld(t *testing.T, zone string) *rollupWorld {
	w := &rollupWorld{World: servicetest.New(t), owner: acme}
	w.keeper = analytics.New(w.DB)
	w.factory = id.New(id.Factory, w.Now())
	w.locate(zone)
	return w
}

// locate writes the factory with a time zone; empty: it has no schedule.
func (w *rollupWorld) locate(zone string) {
	w.T.Helper()
	doc := map[string]any{"id": w.factory, "schedule": nil}
	if zone != "" {
		doc["schedule"] = map[string]any{"timezone": zone}
	}
	it, err := store.NewItem(factoryrecord.Kind, w.owner, w.factory, doc)
	if err != nil {
		w.T.Fatal(err)
	}
	w.put(it)
}

// put writes an item, whether there is one or not.
func (w *rollupWorld) put(it store.Item) {
	w.T.Helper()
	tx := &store.Tx{}
	if was, err := w.DB.Get(w.T.Context(), it.Key); err == nil {
		it.Version = was.Version
		tx.Replace(it)
	} else {
		tx.Create(it, nil)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// content is a new content item, which is in the table and in no record of the stream.
func (w *rollupWorld) content(kind item.Kind) *item.Record {
	w.T.Helper()
	w.Clock.Add(time.Millisecond)
	r := &item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, w.Now()), w.Now(), nil),
		FactoryID: w.factory, Kind: kind, State: item.Queued}}
	w.save(r)
	return r
}

func (w *rollupWorld) save(r *item.Record) {
	w.T.Helper()
	it, err := r.Entry(w.owner)
	if err != nil {
		w.T.Fatal(err)
	}
	w.put(it)
}

// happens adds to the history of an item, writes it, and returns the record of that.
func (w *rollupWorld) happens(r *item.Record, p item.Past) events.DynamoDBEventRecord {
	w.T.Helper()
	p.At = resource.Instant(w.Now())
	r.History = append(r.History, p)
	r.Item.State = item.Generated
	r.Item.Touch(w.Now())
	w.save(r)
	return w.record(r)
}

// record is the record of the stream of an item as it is.
func (w *rollupWorld) record(r *item.Record) events.DynamoDBEventRecord {
	w.T.Helper()
	it, err := r.Entry(w.owner)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.recordOf(it)
}

func (w *rollupWorld) recordOf(it store.Item) events.DynamoDBEventRecord {
	w.last++
	return events.DynamoDBEventRecord{EventName: "MODIFY", Change: events.DynamoDBStreamRecord{
		SequenceNumber: strconv.Itoa(w.last),
		NewImage: map[string]events.DynamoDBAttributeValue{
			"pk": events.NewStringAttribute(it.PK), "sk": events.NewStringAttribute(it.SK),
			"kind": events.NewStringAttribute(it.Kind),
			"acc":  events.NewStringAttribute(string(it.Account)), "mode": events.NewStringAttribute(string(it.Mode)),
			"doc": events.NewStringAttribute(string(it.Doc)), "ver": events.NewNumberAttribute("1"),
			"f_state": events.NewStringAttribute(it.Filters["state"]),
		},
	}}
}

// handle calls the function with records, and returns the first that is to be delivered again.
func (w *rollupWorld) handle(records ...events.DynamoDBEventRecord) string {
	w.T.Helper()
	return rolluptest.Handle(w.T.Context(), w.keeper, records...)
}

func day(s string) time.Time {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return at
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := clock.Zone(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// days reads the sums in a time zone, as text by day, kind and platform.
func (w *rollupWorld) days(from, to, in string) map[string]string {
	w.T.Helper()
	read, err := w.DB.GetAll(w.T.Context(), analytics.DayKeys(w.factory, day(from), day(to))...)
	if err != nil {
		w.T.Fatal(err)
	}
	sums, err := analytics.Days(w.T.Context(), w.DB, w.factory, day(from), day(to), zone(w.T, in), read)
	if err != nil {
		w.T.Fatal(err)
	}
	return texts(sums)
}

// texts are sums, without those that are zero.
func texts(sums map[analytics.Group]analytics.RollupAmounts) map[string]string {
	all := map[string]string{}
	for g, a := range sums {
		if a != (analytics.RollupAmounts{}) {
			all[fmt.Sprint(g.Day, " ", g.Kind, " ", g.Platform)] = fmt.Sprint(a)
		}
	}
	return all
}

// truth returns the sums that items must have in a time zone.
func truth(t *testing.T, in string, all ...*item.Record) map[string]string {
	t.Helper()
	sums := map[analytics.Group]analytics.RollupAmounts{}
	for _, r := range all {
		for _, p := range r.History {
			g := analytics.Group{Day: p.At.In(zone(t, in)).Format(time.DateOnly), Kind: string(r.Item.Kind)}
			a := sums[g]
			a[analytics.Made] += p.Made
			a[analytics.Failed] += p.Failed
			a[analytics.Published] += p.Published
			a[analytics.Spend] += p.Credits
			sums[g] = a
		}
	}
	return texts(sums)
}

// is checks that the shown sums equal the counted ones.
func is(t *testing.T, what string, got, want any) {
	t.Helper()
	a, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%s:\n%s\nwant\n%s", what, a, b)
	}
}

// verified checks that the sums are proved.
func (w *rollupWorld) verified() analytics.Report {
	w.T.Helper()
	r, err := analytics.Verify(w.T.Context(), w.DB, w.factory, w.Now())
	if err != nil {
		w.T.Errorf("%+v, %v", r, err)
	}
	return r
}
