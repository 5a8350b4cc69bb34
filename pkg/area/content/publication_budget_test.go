package content_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/oauth"
	fakeyoutube "github.com/content-automation/api/testdata/platforms/youtube"
)

// pass takes the steps that are due while the time passes.
func (w *publicationWorld) pass(d, step time.Duration) {
	w.t.Helper()
	for until := w.clock.Now().Add(d); w.clock.Now().Before(until); w.clock.Advance(step) {
		for range 20 {
			due := w.due()
			if len(due) == 0 {
				break
			}
			w.deliver(due, 1)
		}
	}
}

// states returns how many of the items with these ids are in each state.
func (w *publicationWorld) states(ids []string) map[item.State]int {
	w.t.Helper()
	found := map[item.State]int{}
	for _, w.item = range ids {
		_, r := w.read()
		found[r.Item.State]++
	}
	return found
}

// All accounts of the application share its uploads of a day. They are spread over the day, and further ones wait:
// YouTube never refuses one.
func TestUploadsAreSpreadOverTheDay(t *testing.T) {
	w := newPublicationWorld(t, "youtube")
	f := w.fake.(*fakeyoutube.Fake)
	f.Quota, w.worker.Budgets = 4, map[string]int{"youtube": 4}
	first, second := w.account, w.connect("soc_2", "youtube", fakes["youtube"].account)
	var ids []string
	for n := range 7 {
		if n > 0 {
			w.makeItem(fmt.Sprint("cnt_", n+1))
		}
		if w.account = first; n%2 > 0 {
			w.account = second
		}
		ids = append(ids, w.item)
		w.publish()
	}
	begins := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) // of the day in California; it is one hour later
	w.pass(time.Minute, time.Minute)
	if n := len(f.Inserts()); n != 2 {
		t.Errorf("%d uploads at once, want a fourth of the 4 of the day, and one of this hour", n)
	}
	w.pass(46*time.Hour, 20*time.Minute)
	if got := w.states(ids); got[item.Published] != 7 || f.Refused > 0 || len(f.Inserts()) != 7 {
		t.Fatalf("the items are %v, with %d uploads and %d refusals", got, len(f.Inserts()), f.Refused)
	}
	used := map[int]int{}
	for _, at := range f.Inserts() {
		n := int(at.Sub(begins).Hours() / 24)
		used[n]++
		if most := 2 + 3*(at.Sub(begins).Hours()/24-float64(n)); float64(used[n]) > most+0.01 {
			t.Errorf("the upload %d of the day %d is at %v, when %.1f may be", used[n], n, at, most)
		}
	}
	if used[0] != 4 {
		t.Errorf("the uploads of the days are %v, want all of the 4 on the first", used)
	}
}

// An application of a customer has a budget of its own, which may have another limit: the operator's is not touched.
func TestAnOwnApplicationHasABudgetOfItsOwn(t *testing.T) {
	w := newPublicationWorld(t, "youtube")
	f := w.fake.(*fakeyoutube.Fake)
	f.Quota, w.worker.Budgets = 20, map[string]int{"youtube": 4}
	app := id.New(id.Application, w.clock.Now())
	it, err := store.NewItem(social.ApplicationKind, owner, app, map[string]any{"id": app, "platform": "youtube",
		"client_id": oauth.OwnClientID, "daily_limit": 8})
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Create(it, nil); return nil })
	first, second := w.account, w.connect("soc_2", "youtube", fakes["youtube"].account)
	kept, err := w.db.Get(t.Context(), store.IDKey(second.ID))
	if err != nil {
		t.Fatal(err)
	}
	second.ApplicationID = &app
	if err := second.WriteTo(&kept); err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) error { tx.Replace(kept); return nil })
	of := map[string][]string{}
	for n := range 10 {
		if n > 0 {
			w.makeItem(fmt.Sprint("cnt_", n+1))
		}
		if w.account = first; n%2 > 0 {
			w.account = second
		}
		of[w.account.ID] = append(of[w.account.ID], w.item)
		w.publish()
	}
	w.pass(30*time.Minute, time.Minute)
	// A fourth of the day's uploads, and those of the hours that have passed.
	if a, b := w.states(of[first.ID])[item.Published], w.states(of[second.ID])[item.Published]; a != 2 || b != 3 {
		t.Errorf("%d items were published with the operator's application, and %d with the customer's", a, b)
	}
	w.pass(46*time.Hour, 20*time.Minute)
	if a, b := w.states(of[first.ID])[item.Published], w.states(of[second.ID])[item.Published]; a != 5 || b != 5 {
		t.Errorf("%d and %d items were published", a, b)
	}
}
