package automation_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/rehearsal"
)

// rehearse rehearses an automation, of which nothing else may be stored but its count.
func (w *world) rehearse(factoryID string, trigger object, members ...any) *rehearsal.Rehearsal {
	w.T.Helper()
	stored := func() (n int) {
		for _, row := range storetest.Rows(w.T, w.DB) {
			if row["kind"] != "answer" && !strings.HasPrefix(row["pk"], "quota#rehearsal#") {
				n++
			}
		}
		return n
	}
	before := stored()
	a := w.create(factoryID, trigger, append(members, "rehearse", true)...)
	if a.Rehearsal == nil || stored() != before+1 {
		w.T.Fatalf("%d more are stored: %+v", stored()-before, a)
	}
	w.Call(http.MethodGet, automations+"/"+a.ID, nil).Refused(w.T, http.StatusNotFound, errs.NotFound, "")
	return a.Rehearsal
}

// The rehearsal of an automation at times has those at which it then runs.
func TestARehearsalHasTheTimesOfTheRuns(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "Europe/Berlin")
	cron := object{"kind": "time", "cron": "*/30 9,18 * * *"}
	r := w.rehearse(f, cron, "max_per_day", 1)
	if len(r.Refusals) > 0 || r.Credits == 0 || len(r.Items) < 7 || len(r.Items[0].Models) == 0 {
		t.Fatalf("the rehearsal is %+v", r)
	}
	a := w.create(f, cron, "max_per_day", 1)
	end := w.Now().Add(7 * 24 * time.Hour)
	for w.Now().Before(end) {
		due, more := w.do(a.ID)
		if !more || due.After(end) {
			break
		}
		w.Clock.Add(due.Sub(w.Now()))
	}
	made := w.items()
	if len(made) != len(r.Items) {
		t.Fatalf("it has made %d items, rehearsed %d", len(made), len(r.Items))
	}
	for i, it := range made {
		if late := it.CreatedAt.Sub(r.Items[i].PublishAt.Time); late < 0 || late > time.Minute {
			t.Errorf("item %d is made at %v, rehearsed at %v", i, it.CreatedAt, r.Items[i].PublishAt)
		}
	}
}

// A rehearsed automation of a feed has an item that stands for each entry, and is not quoted.
func TestARehearsalOfAFeedHasThePriceOfAnEntry(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "Europe/Berlin")
	feed := object{"kind": "feed", "url": "https://www.example.com/feed.xml"}
	r := w.rehearse(f, feed)
	if len(r.Refusals) > 0 || len(r.Items) != 1 || r.Items[0].PublishAt != nil || r.Items[0].Credits == 0 {
		t.Errorf("the rehearsal is %+v", r)
	}
	w.Call(http.MethodPost, "/v1/quotes", object{"rehearsal_id": r.ID}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/rehearsal_id")
	w.Call(http.MethodPatch, "/v1/factories/"+f, object{"state": "paused"}).Into(t, http.StatusOK, new(any))
	r = w.rehearse(f, feed)
	if len(r.Refusals) != 1 || r.Refusals[0].Code != errs.InvalidState || len(r.Items) != 1 || r.Items[0].Credits == 0 {
		t.Errorf("the rehearsal of a paused factory is %+v", r)
	}
	if a := w.create(f, feed, "rehearse", true); a.FactoryID != f || a.Trigger.Kind != automation.OfFeed ||
		a.CreatedBy != w.Principal.Actor.ID {
		t.Errorf("the refused automation is %+v", a)
	}
	// What is no trigger cannot be shown.
	w.Call(http.MethodPost, automations, object{"factory_id": f, "max_per_day": 1, "rehearse": true,
		"trigger": object{"kind": "time", "cron": "now"}, "template": object{"kind": "post", "prompt": "{{title}}"}}).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/trigger/cron")
}
