package automation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/base/errs"
)

// A feed makes one item of each entry that comes after the automation was created, and none twice.
func TestAFeedMakesOneItemOfEachNewEntry(t *testing.T) {
	w := newWorld(t)
	w.site.entries = []string{"old-1", "old-2"}
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL},
		"template", object{"kind": "post", "prompt": "{{title}} at {{url}}"},
		"utm", object{"source": "social", "campaign": "blog"})
	if due, _ := w.do(a.ID); len(w.items()) != 0 || due.Sub(w.Now()) != 15*time.Minute {
		t.Errorf("the first look has made %v, and the next is at %s", w.prompts(), due)
	}
	w.site.entries = append([]string{"new-1"}, w.site.entries...)
	w.Clock.Add(15 * time.Minute)
	w.do(a.ID)
	want := []string{"new-1 is new at https://www.example.com/new-1?utm_campaign=blog&utm_source=feed"} // the link has a source
	if got := w.prompts(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	w.do(a.ID)
	if last := w.site.asked[len(w.site.asked)-1].Get("If-None-Match"); last != `"3"` || len(w.items()) != 1 {
		t.Errorf("asked again with %q, items %v", last, w.prompts())
	}
	w.site.entries = []string{"new-2", "new-1"} // fewer, and another tag
	w.do(a.ID)
	got := w.get(a.ID)
	if len(w.items()) != 2 || len(got.Runs) != 2 || got.LastRun.Entry != "new-2" ||
		*got.LastRun.ContentItemID != w.items()[1].ID || got.Version != 1 {
		t.Errorf("after another entry: %v, %+v", w.prompts(), got)
	}
}

// An entry that a feed shows again makes no second item, and neither does a message that comes again.
func TestAnEntryThatComesAgainMakesNoSecondItem(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.do(a.ID)
	w.site.entries = []string{"one", "two"}
	for range 3 { // the message comes three times
		w.do(a.ID)
		w.site.entries = append(w.site.entries, "one") // the same entry, in a feed with another tag
	}
	if got := w.items(); len(got) != 2 {
		t.Errorf("made %d items", len(got))
	}
}

func TestADayTakesSoManyItems(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL}, "max_per_day", 2)
	w.do(a.ID)
	w.site.entries = []string{"one", "two", "three"}
	w.do(a.ID)
	w.do(a.ID)
	if n := len(w.items()); n != 2 {
		t.Errorf("made %d items on the first day", n)
	}
	w.Clock.Add(24 * time.Hour)
	w.do(a.ID)
	if n := len(w.items()); n != 3 {
		t.Errorf("made %d items on both days", n)
	}
}

// If the first reads fail, the entries since the creation of the automation are new, by their dates. Entries without a
// date, or with one in the future, are not.
func TestEntriesSinceTheCreationAreNew(t *testing.T) {
	w := newWorld(t)
	began := w.Now()
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.site.status = http.StatusBadGateway
	w.do(a.ID)
	w.Clock.Add(time.Hour)
	w.do(a.ID)
	w.site.status, w.site.entries = 0, []string{"later", "new", "undated", "old"}
	w.site.dates = map[string]time.Time{"old": began.Add(-time.Minute), "new": began.Add(time.Minute),
		"later": w.Now().Add(time.Hour)}
	if w.do(a.ID); len(w.items()) != 0 {
		t.Errorf("the look that notes what is old has made %v", w.prompts())
	}
	for range 2 {
		w.do(a.ID)
	}
	if got := w.get(a.ID); len(w.items()) != 1 || got.LastRun.Entry != "new" || got.Failure != nil {
		t.Errorf("made %v: %+v", w.prompts(), got)
	}
	w.site.entries = append(w.site.entries, "newer") // it has no date, and was not there before
	if w.do(a.ID); len(w.items()) != 2 {
		t.Errorf("made %v", w.prompts())
	}
}

func TestAFeedThatCannotBeReadEndsTheAutomation(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.site.status = http.StatusNotFound
	for range 4 {
		w.do(a.ID)
	}
	if got := w.get(a.ID); got.State != automation.Active || got.Failure.Code != "feed_unreadable" {
		t.Errorf("after four failures: %+v", got.Automation)
	}
	w.do(a.ID)
	if got := w.get(a.ID); got.State != automation.Failed || !slices.Contains(w.events(), "automation.failed") {
		t.Errorf("after five failures: %+v, events %v", got.Automation, w.events())
	}
	w.site.status = 0
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &a)
	w.do(a.ID)
	if got := w.get(a.ID); got.State != automation.Active || got.Failure != nil {
		t.Errorf("set to active again: %+v", got.Automation)
	}
}

func TestANewProductMakesAnItem(t *testing.T) {
	w := newWorld(t)
	shop := w.makeFactory("seller", "UTC")
	make := func(sku string) {
		w.Call(http.MethodPost, "/v1/products", object{"factory_id": shop, "sku": sku, "name": "Shoe " + sku,
			"price": object{"amount": 9900, "currency": "EUR"}}).Into(t, http.StatusCreated, new(object))
		w.Clock.Add(time.Second)
	}
	make("old")
	a := w.create(shop, object{"kind": "product"}, "template", object{"kind": "post", "prompt": "New: {{name}}"})
	w.do(a.ID)
	make("one")
	make("two")
	w.do(a.ID)
	w.Clock.Add(5 * time.Minute)
	w.do(a.ID)
	if got := w.prompts(); !slices.Equal(got, []string{"New: Shoe one", "New: Shoe two"}) {
		t.Errorf("got %q", got)
	}
	for _, it := range w.items() {
		if it.ProductID == nil {
			t.Errorf("%s presents no product", it.ID)
		}
	}
}

// The days on which the clocks change: in spring 02:30 does not exist, and in autumn it comes twice.
func TestTimesOfDaysOnWhichTheClockChanges(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, cron, from string
		days             int
		want             []string
	}{
		{"a time that the clock skips", "30 2 * * *", "2027-03-27T12:00", 3, []string{"2027-03-28T03:30",
			"2027-03-29T02:30", "2027-03-30T02:30"}},
		{"a time that is one with it", "30 2,3 * * *", "2027-03-27T12:00", 2, []string{"2027-03-28T03:30",
			"2027-03-29T02:30", "2027-03-29T03:30"}},
		{"a time that the clock repeats", "30 2 * * *", "2026-10-24T12:00", 3, []string{"2026-10-25T02:30",
			"2026-10-26T02:30", "2026-10-27T02:30"}},
		{"a time of day", "0 9 * * *", "2027-03-27T12:00", 2, []string{"2027-03-28T09:00", "2027-03-29T09:00"}},
		{"working days", "0 9 * * 1-5", "2026-10-23T12:00", 4, []string{"2026-10-26T09:00", "2026-10-27T09:00"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			from, err := time.ParseInLocation("2006-01-02T15:04", c.from, berlin)
			if err != nil {
				t.Fatal(err)
			}
			w.Clock.Add(from.Sub(w.Now()))
			a := w.create(w.makeFactory("brand", "Europe/Berlin"), object{"kind": "time", "cron": c.cron},
				"template", object{"kind": "post", "prompt": "Good morning, {{date}}"})
			for end := from.AddDate(0, 0, c.days); ; {
				due, more := w.do(a.ID)
				if !more || due.After(end) {
					break
				}
				w.Clock.Add(max(due.Sub(w.Now()), 0))
			}
			var got []string
			for _, run := range slices.Backward(w.get(a.ID).Runs) {
				got = append(got, run.Entry)
			}
			if !slices.Equal(got, c.want) || len(w.items()) != len(c.want) {
				t.Errorf("ran at %v and made %d items, want %v", got, len(w.items()), c.want)
			}
		})
	}
}

func TestAPausedOrDeletedAutomationMakesNothing(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	a := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "paused"}).Into(t, http.StatusOK, &a)
	w.Clock.Add(2 * time.Hour)
	if w.do(a.ID); len(w.items()) != 0 {
		t.Errorf("paused, it has made %v", w.prompts())
	}
	w.Call(http.MethodDelete, automations+"/"+a.ID, nil).Into(t, http.StatusOK, &a.Automation)
	if _, more := w.do(a.ID); more {
		t.Error("the task of a deleted automation goes on")
	}
	b := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	w.Call(http.MethodDelete, "/v1/factories/"+f, nil).Into(t, http.StatusOK, new(object))
	w.Clock.Add(time.Hour)
	if _, more := w.do(b.ID); more || len(w.items()) != 0 {
		t.Errorf("after the deletion of the factory: goes on %v, items %v", more, w.prompts())
	}
	w.Call(http.MethodGet, automations+"/"+b.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

func TestBadAutomationsAreRefused(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	good := object{"kind": "post", "prompt": "{{title}}"}
	for _, c := range []struct {
		trigger, template object
		param             string
	}{
		{object{"kind": "feed"}, good, "/trigger/url"},
		{object{"kind": "feed", "url": feedURL, "cron": "0 9 * * *"}, good, "/trigger/cron"},
		{object{"kind": "time"}, good, "/trigger/cron"},
		{object{"kind": "time", "cron": "every day"}, good, "/trigger/cron"},
		{object{"kind": "time", "cron": "0 0 30 2 *"}, good, "/trigger/cron"},
		{object{"kind": "time", "cron": "@every 1s"}, good, "/trigger/cron"},
		{object{"kind": "time", "cron": "TZ=UTC 0 9 * * *"}, good, "/trigger/cron"},
		{object{"kind": "time", "cron": "TZ=0"}, good, "/trigger/cron"},
		{object{"kind": "product"}, good, "/trigger/kind"},
		{object{"kind": "feed", "url": feedURL}, object{"kind": "post"}, "/template/prompt"},
		{object{"kind": "feed", "url": feedURL}, object{"kind": "post", "prompt": "x", "slides": []object{{}, {}}},
			"/template/slides"},
		{object{"kind": "feed", "url": feedURL}, object{"kind": "post", "prompt": "x", "factory_id": f},
			"/template/factory_id"},
	} {
		w.Call(http.MethodPost, automations, object{"factory_id": f, "trigger": c.trigger, "template": c.template}).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, c.param)
	}
	w.Call(http.MethodPost, automations, object{"factory_id": "fac_01h455vb4pex5vsknk084sn02q",
		"trigger": object{"kind": "feed", "url": feedURL}, "template": good}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/factory_id")
}

// A factory may have changed since: the fault is then in what the patch leaves as it is.
func TestARefusedPatchNamesWhatItHas(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	a := w.create(f, object{"kind": "time", "cron": "0 * * * *"})
	w.Call(http.MethodPatch, "/v1/factories/"+f, object{"content_types": []string{"story"}}).
		Into(t, http.StatusOK, new(object))
	for param, patch := range map[string]object{
		"":               {"max_per_day": 2},
		"/template/kind": {"template": object{"prompt": "Else"}},
	} {
		got := w.Call(http.MethodPatch, automations+"/"+a.ID, patch)
		got.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
		if got.Error == nil || !strings.HasPrefix(got.Error.Message, "/template/kind: ") {
			t.Errorf("%v: %s", patch, got.Raw)
		}
	}
}
