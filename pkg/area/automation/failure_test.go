package automation_test

import (
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/source/fetch"
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
				if _, err := w.Kernel(handlers).Do(t.Context(), was.Message, 1); err != nil {
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
