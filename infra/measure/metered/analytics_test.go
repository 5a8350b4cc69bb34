package metered

import (
	"encoding/json"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/infra/verify/harness/rolluptest"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// made returns the stream's record of an item that was generated at a time.
func made(t *testing.T, w *World, factory store.Item, kind item.Kind, at time.Time) events.DynamoDBEventRecord {
	t.Helper()
	r := item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, at), at, nil), FactoryID: factory.PK,
		Kind: kind}, History: []item.Past{{At: resource.Instant(at), Made: 1, Credits: 20}}}
	doc, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return events.DynamoDBEventRecord{EventName: "MODIFY",
		Change: events.DynamoDBStreamRecord{NewImage: map[string]events.DynamoDBAttributeValue{
			"pk": events.NewStringAttribute(r.Item.ID), "kind": events.NewStringAttribute(item.ItemKind),
			"doc":  events.NewStringAttribute(string(doc)),
			"acc":  events.NewStringAttribute(string(factory.Account)),
			"mode": events.NewStringAttribute(string(factory.Mode)),
		}}}
}

// many is the number of content items in the analytics.
var many = flag.Int("items", 2000, "content items whose analytics are measured")

// TestAnalyticsCostTheSameHoweverMuchThereIs checks that analytics of many times as much content take the same
// round trips and units.
func TestAnalyticsCostTheSameHoweverMuchThereIs(t *testing.T) {
	const few = 1000
	w := filled(t)
	factoryID, err := w.make(t.Context(), "createFactory")
	if err != nil {
		t.Fatal(err)
	}
	factory, err := w.State.Get(t.Context(), store.IDKey(factoryID))
	if err != nil {
		t.Fatal(err)
	}
	keeper, counted := analytics.New(w.State), 0
	kinds := []item.Kind{item.Post, item.Video, item.Carousel}
	// The content is spread over a year, all kinds on each day.
	count := func(until int) {
		t.Helper()
		for counted < until {
			var batch []events.DynamoDBEventRecord
			for ; len(batch) < 100 && counted < until; counted++ {
				at := w.Now().AddDate(0, 0, -counted%365).Add(-time.Duration(counted%97) * time.Minute)
				batch = append(batch, made(t, w, factory, kinds[counted%len(kinds)], at))
			}
			if uncounted := rolluptest.Handle(t.Context(), keeper, batch...); uncounted != "" {
				t.Fatal(uncounted, "is not counted")
			}
		}
	}
	read := func() (costs []Reading) {
		t.Helper()
		w.Meter.Weigh = true
		defer func() { w.Meter.Weigh = false }()
		for _, days := range []int{30, 366} {
			r := Request{Operation: "getFactoryAnalytics", ID: factoryID,
				Query: map[string]string{"from": w.Now().AddDate(0, 0, 1-days).Format(time.DateOnly),
					"group_by": "kind"}}
			a, err := w.Call(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			var sums struct{ Totals struct{ Made int } }
			if err := json.Unmarshal(a.Data, &sums); err != nil || days == 366 && sums.Totals.Made != counted {
				t.Errorf("%d of %d items are counted: %v", sums.Totals.Made, counted, err)
			}
			costs = append(costs, a.Cost.Function)
			t.Logf("%d items, %d days: %d round trips, %g read units", counted, days, a.Cost.Function.Trips,
				a.Cost.Function.Reads)
		}
		return costs
	}
	count(few)
	before := read()
	count(*many)
	if after := read(); fmt.Sprint(after) != fmt.Sprint(before) || after[1].Trips != 1 {
		t.Errorf("%d items cost %+v, and %d cost %+v", few, before, *many, after)
	}
}
