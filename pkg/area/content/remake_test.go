package content_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
	shelfrecord "github.com/content-automation/api/pkg/record/shelf"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// says has the writer state a price in the caption.
func (s *shelf) says(caption string) {
	s.w.provider.write = func(_ provider.Request, t *provider.Text) { t.Caption = caption }
}

// made returns how many of some items are made again, and how many wait for a reason.
func (s *shelf) made(ids []string, reason string) (again, wait int) {
	s.w.T.Helper()
	for _, id := range ids {
		switch it := s.w.get(id); {
		case it.Attempt == 2:
			again++
		case it.WaitsFor == item.WaitsForProduct && it.Remake != nil && it.Remake.Reason != nil &&
			*it.Remake.Reason == reason && it.Remake.Credits != nil:
			wait++
		}
	}
	return again, wait
}

func TestItemsAreMadeAgainUpToTheLimitOfADay(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w, "remake_per_day", 2), w.connect("telegram")
	s.says("Jetzt für 129 €, der Schuh für lange Wege.")
	var ids []string
	for range 4 {
		ids = append(ids, s.present("A", telegram, 100*time.Hour).ID)
	}
	requests := len(w.provider.requests)
	s.rows["A"] = "139 EUR"
	s.sync()
	s.follow()
	if again, wait := s.made(ids, item.RemakeLimited); again != 2 || wait != 2 {
		t.Fatalf("%d were made again, and %d wait", again, wait)
	}
	for _, id := range ids {
		if n := w.events(id)[event.ContentUnscheduled]; n != 1 {
			t.Errorf("content.unscheduled of %s happened %d times", id, n)
		}
	}
	for _, id := range ids[:4] {
		if w.get(id).Attempt == 2 {
			w.doAttempt(id, 2)
		}
	}
	// The same day again changes nothing, and the next one makes the others.
	s.sync()
	s.follow()
	if again, wait := s.made(ids, item.RemakeLimited); again != 2 || wait != 2 {
		t.Errorf("then %d were made again, and %d wait", again, wait)
	}
	w.Clock.Add(24 * time.Hour)
	s.sync()
	s.follow()
	if again, _ := s.made(ids, ""); again != 4 {
		t.Errorf("on the next day %d were made again", again)
	}
	for _, id := range ids {
		if w.get(id).State == item.Queued {
			w.doAttempt(id, 2)
		}
		w.work()
		got := w.get(id)
		if got.State != item.Scheduled || got.Remake != nil || len(got.Outdated) != 0 || s.shows(id).Amount != 13900 ||
			got.Caption != "Jetzt für 139 €, der Schuh für lange Wege." {
			t.Errorf("it is %s, %q with %s, remake %+v", got.State, got.Caption, s.shows(id), got.Remake)
		}
	}
	if n := len(w.provider.requests) - requests; n != 0 {
		t.Errorf("%d requests were made for what shows no price", n)
	}
}

// The count of a day is exact, whatever runs at once and wherever a run dies.
func TestTheCountOfADayIsExact(t *testing.T) {
	for n := range 40 {
		w := newWorld(t)
		s, telegram := newShelf(w, "remake_per_day", 2), w.connect("telegram")
		var ids []string
		for range 4 {
			ids = append(ids, s.present("A", telegram, 100*time.Hour).ID)
		}
		s.rows["A"] = "139 EUR"
		s.sync()
		w.Clock.Add(3 * time.Second)
		follow := func(ctx context.Context) error {
			return s.follower.Follow(ctx, w.Principal.Owner, s.seller, &shelfrecord.Following{})
		}
		ctx, die := context.WithCancel(t.Context())
		reached := false
		for i := range n + 1 {
			w.Faults.Before("TransactWriteItems", func() {
				if i < n {
					return
				}
				if reached = true; n%2 == 0 { // another run is as far
					_ = follow(t.Context()) // it may conflict, and is repeated below
				} else {
					die()
				}
			})
		}
		_ = follow(ctx) // it dies, or another run was faster
		die()
		w.Faults.Reset()
		if err := follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		again, wait := s.made(ids, item.RemakeLimited)
		if again != 2 || wait != 2 {
			t.Fatalf("at write %d: %d were made again, and %d wait", n, again, wait)
		}
		if !reached {
			return
		}
	}
}

func TestWhatMakingAgainCosts(t *testing.T) {
	w := newWorld(t)
	w.connect("telegram")
	w.live(1000)
	s := newShelf(w)
	made := w.generated("factory_id", s.seller, "product_id", s.product("A"), "kind", "video", "script", "Der neue Schuh kostet 129 €. Er trägt dich weit.")
	s.rows["A"] = "139 EUR"
	s.sync()
	s.follow()
	got := w.get(made.ID)
	if got.WaitsFor != item.WaitsForProduct || got.Remake == nil || got.Remake.Reason == nil ||
		*got.Remake.Reason != item.RemakeNotSet || got.Remake.Credits == nil || *got.Remake.Credits == 0 {
		t.Fatalf("it waits for %s, remake %+v", got.WaitsFor, got.Remake)
	}
	// Only the voice is made again, for what was said.
	again, kinds := w.corrected(got, object{})
	if !slices.Equal(kinds, []provider.Kind{provider.KindVoice}) || !strings.Contains(string(again.Script), "139 €") ||
		again.CostCredits-made.CostCredits > *got.Remake.Credits || again.CostCredits == made.CostCredits {
		t.Errorf("%v were made for %d of %d credits: %q", kinds, again.CostCredits-made.CostCredits,
			*got.Remake.Credits, again.Script)
	}
	if got.Remake = w.get(made.ID).Remake; got.Remake != nil {
		t.Errorf("remake is %+v", got.Remake)
	}
}

// A text whose price cannot be replaced waits, and says why.
func TestTextsWhosePriceCannotBeReplaced(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w, "remake_per_day", 5), w.connect("telegram")
	s.rows["A"] = "129 EUR,,99 EUR"
	s.sync()
	s.says("Jetzt für 99 € statt 129 €.")
	it := s.present("A", telegram, 100*time.Hour)
	s.rows["A"] = "129 EUR"
	s.sync()
	s.follow()
	got := w.get(it.ID)
	if got.WaitsFor != item.WaitsForProduct || got.Remake == nil || *got.Remake.Reason != item.RemakeRefused ||
		!strings.Contains(*got.Remake.Message, "cannot replace the price") || got.Remake.Credits != nil {
		t.Fatalf("it waits for %s, remake %+v", got.WaitsFor, got.Remake)
	}
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"reuse": true}).Refused(t, 422, errs.ValidationFailed,
		"/reuse")
	// With a text of the caller it is made again.
	w.Call(http.MethodPatch, path(it.ID), object{"caption": "Jetzt für 129 €."}).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPost, path(it.ID, "regenerate"), object{"reuse": true}).Into(t, http.StatusAccepted, new(any))
}

// With a key that has lost content:write, nothing is made again.
func TestRemakesNeedContentWrite(t *testing.T) {
	w := newWorld(t)
	s := newShelf(w)
	set := object{"source": object{"url": "https://93.184.215.14/feed.csv"}, "format": "csv", "remake_per_day": 3}
	without := s.Only(auth.ProductsWrite, auth.ProductsRead)
	without.Call(http.MethodPut, "/v1/factories/"+s.seller+"/feed", set).Refused(t, 403, errs.InsufficientScope, "")
	s.Call(http.MethodPut, "/v1/factories/"+s.seller+"/feed", set).Into(t, http.StatusOK, new(any))
	it := s.present("A", w.connect("telegram"), 100*time.Hour)
	s.rows["A"] = "139 EUR"
	s.Caller = without // which reads the feed now, and may not spend
	s.sync()
	s.follow()
	if got := w.get(it.ID); got.Attempt != 1 || got.Remake == nil || *got.Remake.Reason != item.RemakeRefused {
		t.Errorf("attempt %d, remake %+v", got.Attempt, got.Remake)
	}
}

// A published post is changed where its media show no price, once for each price.
func TestPublishedPostsShowThePriceOfNow(t *testing.T) {
	w := newWorld(t)
	s, telegram := newShelf(w, "on_price_change", "withdraw"), w.connect("telegram")
	w.Call(http.MethodPatch, "/v1/factories/"+s.seller, object{"settings": object{"product_badge": false}}).
		Into(t, http.StatusOK, new(any))
	s.says("Jetzt für 129 €.")
	it := s.present("A", telegram, time.Hour)
	s.publishes(it.ID, time.Hour)
	for n, price := range []string{"139", "149", "149"} {
		s.rows["A"] = price + " EUR"
		for range 2 {
			s.sync()
			s.follow()
		}
		w.work()
		pub := w.publications(it.ID)[0]
		if pub.State != item.PublicationPublished || pub.Change == nil || pub.Change.Kind != item.ChangeEdit ||
			pub.Change.State != item.ChangeDone || !strings.Contains(string(pub.Posted.Text), "für "+price+" €") {
			t.Fatalf("%s: the post is %s, %+v, %q", price, pub.State, pub.Change, pub.Posted.Text)
		}
		got := w.get(it.ID)
		prices := min(n+1, 2)
		if events := w.events(it.ID); events[event.ProductOutdated] != prices ||
			events[event.ContentUpdated] != prices || len(got.Outdated) != 0 {
			t.Errorf("%s: the events are %v, outdated %v", price, events, got.Outdated)
		}
		if _, err := w.DB.Get(t.Context(), store.IDKey(task.ID("publish.change", pub.ID, min(n+1, 2)+1))); err == nil {
			t.Errorf("%s: the post was changed once more", price)
		}
	}
	s.rows["A"] = "149 EUR,out_of_stock" // on_sold_out is hold
	s.sync()
	s.follow()
	if got := w.get(it.ID); !slices.Equal(got.Outdated, item.Ways{item.SoldOut}) {
		t.Errorf("outdated %v", got.Outdated)
	}
}
