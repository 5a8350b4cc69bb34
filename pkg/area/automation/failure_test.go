package automation_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/craft/source/fetch"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// refuse makes the template of the automations of a factory one that is refused, and permit ends that.
func (w *world) refuse(factoryID string) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+factoryID, object{"content_types": []string{"story"}}).
		Into(w.T, http.StatusOK, new(object))
}

func (w *world) permit(factoryID string) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+factoryID, object{"content_types": []string{"post", "story"}}).
		Into(w.T, http.StatusOK, new(object))
}

// An automation whose template its factory refuses by now can be paused, and deleted.
func TestAnAutomationCanAlwaysBePaused(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	a := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	w.refuse(f)
	for _, patch := range []object{{"state": "paused"}, {"state": "paused", "metadata": object{"why": "holidays"}},
		{"max_per_day": 2}} {
		w.Call(http.MethodPatch, automations+"/"+a.ID, patch).Into(t, http.StatusOK, &a)
	}
	if a.State != automation.Paused || a.MaxPerDay != 2 || a.Metadata["why"] != "holidays" {
		t.Errorf("paused and changed: %+v", a.Automation)
	}
	for _, patch := range []object{{"state": "active"}, {"template": object{"prompt": "Else"}},
		{"trigger": object{"kind": "time", "cron": "5 * * * *"}}, {"utm": object{"source": "social"}}} {
		if got := w.Call(http.MethodPatch, automations+"/"+a.ID, patch); got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d %s", patch, got.Status, got.Raw)
		}
	}
	w.permit(f)
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &a)
	if a.State != automation.Active {
		t.Errorf("resumed: %s", a.State)
	}
}

// Five items in a row that cannot be made end the automation, with one event. It makes nothing until it is resumed,
// and nothing of what came in between.
func TestFiveRefusedItemsEndTheAutomation(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	a := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	w.do(a.ID)
	w.refuse(f)
	hour := func() {
		w.Clock.Add(time.Hour)
		w.do(a.ID)
	}
	for n := range 5 {
		if got := w.get(a.ID); got.State != automation.Active || len(got.Runs) != n {
			t.Fatalf("before the failure %d: %+v", n+1, got)
		}
		hour()
	}
	got := w.get(a.ID)
	if got.State != automation.Failed || got.Failure == nil || got.Failure.Code != string(errs.ValidationFailed) ||
		got.LastRun == nil || got.LastRun.Failure == nil || got.LastRun.ContentItemID != nil {
		t.Errorf("after five failures: %+v", got)
	}
	w.permit(f)
	hour()
	hour()
	failed := slices.DeleteFunc(w.events(), func(kind string) bool { return kind != "automation.failed" })
	if len(failed) != 1 || len(w.items()) != 0 {
		t.Errorf("failed, it has made %v; events %v", w.prompts(), failed)
	}
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &a)
	if a.Failure != nil {
		t.Errorf("resumed: %+v", a.Failure)
	}
	w.do(a.ID)
	if n := len(w.items()); n != 0 {
		t.Errorf("resumed, it has made %d items of times that have passed", n)
	}
	hour()
	if got := w.get(a.ID); len(w.items()) != 1 || got.State != automation.Active || got.LastRun.ContentItemID == nil {
		t.Errorf("an hour later: %v, %+v", w.prompts(), got)
	}
}

// Failures with a success in between are not in a row, even if the feed has nothing new.
func TestASuccessEndsARowOfFailures(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.do(a.ID)
	w.site.entries = []string{"one"}
	w.do(a.ID)
	for range 3 {
		w.site.status = http.StatusBadGateway
		for range 3 {
			w.do(a.ID)
		}
		w.site.status = 0
		due, _ := w.do(a.ID)
		if got := w.get(a.ID); got.State != automation.Active || got.Failure != nil ||
			due.Sub(w.Now()) != 15*time.Minute {
			t.Errorf("read again: %+v, next in %s", got.Automation, due.Sub(w.Now()))
		}
	}
	if n := len(w.items()); n != 1 {
		t.Errorf("made %d items", n)
	}
}

// Two workers that read the same feed at the same time make one item of each entry.
func TestTwoWorkersMakeOneItemOfAnEntry(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.do(a.ID)
	handlers := w.service.Handlers(fetch.ParseFeed)
	for round := range 5 {
		w.site.entries = append(w.site.entries, string(rune('a'+round)), string(rune('A'+round)))
		it, err := w.DB.Get(t.Context(), store.IDKey(task.ID(automation.Kind, a.ID, 1)))
		if err != nil {
			t.Fatal(err)
		}
		var was task.Task
		if err := it.Decode(&was); err != nil {
			t.Fatal(err)
		}
		was.Message.Wake = true
		// Both have read the automation before one of them writes.
		var both, all sync.WaitGroup
		both.Add(2)
		var came atomic.Int32
		w.site.gate = func() {
			if came.Add(1) <= 2 { // the others repeat after a conflict
				both.Done()
				both.Wait()
			}
		}
		for range 2 {
			all.Go(func() {
				if _, err := w.Kernel(handlers).Do(t.Context(), was.Message, ""); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.site.gate = nil
		w.do(a.ID)
		if n := len(w.items()); n != 2*(round+1) {
			t.Fatalf("of %d entries %d items were made", 2*(round+1), n)
		}
	}
	if got := w.get(a.ID); got.Failure != nil || got.State != automation.Active {
		t.Errorf("%+v", got)
	}
}

// A day of a mandate whose credits are spent leaves runs out, with the reason. It is no failure: the automation stays
// active for as many days as it takes, and entries of a feed wait for the next day.
func TestASpentDayOfAMandateLeavesRunsOut(t *testing.T) {
	w := newWorld(t)
	w.Caller = w.Live()
	w.TopUp(100_000)
	f := w.makeFactory("brand", "UTC")
	hourly := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	feed := w.create(f, object{"kind": "feed", "url": feedURL})
	w.do(feed.ID)
	mandate := func(credits int64) {
		w.ChangeKey(func(k *keyrecord.Record) {
			k.Mandate = &keyrecord.Mandate{ID: k.ID + ":2", CreditsADay: &credits}
		})
	}
	mandate(0)
	w.site.entries = []string{"one", "two"}
	for range 7 { // more than end an automation that fails
		w.Clock.Add(time.Hour)
		w.do(hourly.ID)
		ends := w.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
		if due, _ := w.do(feed.ID); due.Sub(w.Now()) != min(ends.Sub(w.Now()), 6*time.Hour) {
			t.Errorf("at %s the feed is read again in %s", w.Now(), due.Sub(w.Now()))
		}
	}
	for _, id := range []string{hourly.ID, feed.ID} {
		got := w.get(id)
		if got.State != automation.Active || got.LastRun == nil || got.LastRun.ContentItemID != nil ||
			got.LastRun.Failure == nil || got.LastRun.Failure.Code != string(errs.SpendLimitReached) ||
			!strings.Contains(got.LastRun.Failure.Message, "mandate") {
			t.Errorf("on a spent day: %+v", got)
		}
	}
	if hours, entries := w.get(hourly.ID).Runs, w.get(feed.ID).Runs; len(hours) != 7 || len(entries) != 1 {
		t.Errorf("%d and %d runs are noted", len(hours), len(entries))
	}
	if slices.Contains(w.events(), "automation.failed") || len(w.items()) != 0 {
		t.Errorf("events %v, items %v", w.events(), w.prompts())
	}
	mandate(100_000)
	w.Clock.Add(24 * time.Hour)
	w.do(hourly.ID)
	w.do(feed.ID)
	if n := len(w.items()); n != 3 {
		t.Errorf("on the next day it has made %d items: %+v, %+v", n, w.get(hourly.ID), w.get(feed.ID))
	}
	for _, id := range []string{hourly.ID, feed.ID} {
		if got := w.get(id); got.Failure != nil || got.LastRun.ContentItemID == nil {
			t.Errorf("on the next day: %+v", got)
		}
	}
}

// A feed that ends each function that reads it ends the automation at the third, with a failure that says so. Another
// feed goes on from there.
func TestAFeedThatEndsItsReadersIsGivenUp(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	deaths := 0
	kernel := w.Kernel(w.service.Handlers(func(context.Context, []byte) ([]source.Entry, error) {
		deaths++
		panic("died")
	}))
	m := task.Message{ID: task.ID(automation.Kind, a.ID, 1), Kind: automation.Kind, Wake: true}
	for range 8 {
		func() {
			defer func() { _ = recover() }()
			if _, err := kernel.Do(t.Context(), m, ""); err != nil {
				t.Error(err)
			}
		}()
		w.Clock.Add(time.Minute)
	}
	got := w.get(a.ID)
	if deaths != 3 || got.State != automation.Failed || got.Failure == nil || got.Failure.Code != "feed_unreadable" ||
		!strings.Contains(got.Failure.Message, "three times") {
		t.Fatalf("after %d deaths: %+v, %+v", deaths, got.Automation, got.Failure)
	}
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &a)
	w.site.entries = []string{"one"}
	w.do(a.ID)
	if got := w.get(a.ID); got.State != automation.Active || got.Failure != nil {
		t.Errorf("a feed that can be read: %+v", got)
	}
}
