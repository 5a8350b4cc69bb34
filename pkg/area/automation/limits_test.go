package automation_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// An owner has so many automations at most. Each reads its feed every 15 minutes.
func TestAnOwnerHasSoManyAutomations(t *testing.T) {
	w := newWorld(t)
	f := w.makeFactory("brand", "UTC")
	var last automation.Details
	for range automation.MaxPerOwner {
		last = w.create(f, object{"kind": "feed", "url": feedURL})
	}
	body := object{"factory_id": f, "trigger": object{"kind": "feed", "url": feedURL},
		"template": object{"kind": "post", "prompt": "x"}}
	w.Call(http.MethodPost, automations, body).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodDelete, automations+"/"+last.ID, nil).Into(t, http.StatusOK, &last)
	w.create(f, object{"kind": "feed", "url": feedURL})
	w.Call(http.MethodPost, automations, body).Refused(t, http.StatusConflict, errs.InvalidState, "")
}

// An automation of a test key ends after 30 days, as other content of the sandbox does. That of a live key stays.
func TestAutomationsOfTheSandboxEnd(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	w.Clock.Add(29 * 24 * time.Hour)
	if _, more := w.do(a.ID); !more {
		t.Error("it has ended early")
	}
	w.Clock.Add(24 * time.Hour)
	asked := len(w.site.asked)
	if _, more := w.do(a.ID); more || len(w.site.asked) != asked {
		t.Errorf("it goes on, after %d requests", len(w.site.asked))
	}
	w.Call(http.MethodGet, automations+"/"+a.ID, nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

// The feeds of a host are read so often in a day for an account only. What is not read is no failure.
func TestAHostIsReadSoOftenInADay(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "feed", "url": feedURL})
	for range quota.MostOfHostSandbox {
		if ok, err := quota.OfHost(t.Context(), w.DB, w.Now(), w.Principal.Owner, feedURL); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	due, more := w.do(a.ID)
	if got := w.get(a.ID); !more || len(w.site.asked) > 0 || got.Failure != nil || !due.After(w.Now()) {
		t.Errorf("%d requests, %+v, due at %s", len(w.site.asked), got, due)
	}
	w.Clock.Add(24 * time.Hour)
	if w.do(a.ID); len(w.site.asked) != 1 {
		t.Errorf("%d requests on the next day", len(w.site.asked))
	}
	if ok, err := quota.OfHost(t.Context(), w.DB, w.Now(), w.Principal.Owner, "https://other.example/"); !ok ||
		err != nil {
		t.Error(ok, err)
	}
	if _, err := w.DB.Get(t.Context(), store.IDKey(a.ID)); err != nil {
		t.Error(err)
	}
}
