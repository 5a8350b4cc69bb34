package apikey_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/base/errs"
)

const day = 24 * time.Hour

// warn publishes the warnings that are due, and returns their number.
func (w *world) warn() int {
	w.T.Helper()
	n, err := apikey.WarnExpiring(w.T.Context(), w.DB, w.Now())
	if err != nil {
		w.T.Fatal(err)
	}
	return n
}

// warned returns the sorted ids of the keys in the events.
func (w *world) warned() (all []string) {
	w.T.Helper()
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] != "event" || row["f_type"] != "api_key.expiring" {
			continue
		}
		var e struct {
			Data struct{ Object apikey.Key }
		}
		if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
			w.T.Fatal(err)
		}
		if e.Data.Object.ExpiresAt == nil || row["acc"] != w.account.ID || row["mode"] != string(e.Data.Object.Kind) ||
			e.Data.Object.State != "active" {
			w.T.Errorf("the event %v", row)
		}
		all = append(all, e.Data.Object.ID)
	}
	slices.Sort(all)
	return all
}

func TestTheAccountIsToldOnceSevenDaysBeforeAKeyExpires(t *testing.T) {
	w := newWorld(t)
	start := w.Now()
	in := func(d time.Duration) string { return start.Add(d).Format(time.RFC3339) }
	soon := w.create("name", "Soon", "expires_at", in(10*day))
	live := w.create("name", "Live", "kind", "live", "expires_at", in(20*day))
	w.create("name", "Never")
	w.create("name", "Short", "expires_at", in(6*day)) // too short for a warning
	revoked := w.create("name", "Revoked", "expires_at", in(10*day))
	w.Call(http.MethodDelete, path(revoked), nil)
	later := w.create("name", "Later", "expires_at", in(10*day))
	w.patch(later, object{"expires_at": in(30 * day)})
	endless := w.create("name", "Endless", "expires_at", in(10*day))
	w.patch(endless, object{"expires_at": nil})

	w.Clock.Add(start.Add(3*day - time.Second).Sub(w.Now()))
	if n := w.warn(); n != 0 || len(w.warned()) != 0 {
		t.Errorf("too early: %d, %v", n, w.warned())
	}
	// A change of something else takes nothing away, even when it is time.
	w.Clock.Add(time.Second)
	w.patch(soon, object{"name": "Still soon"})
	rotated := w.rotate(soon, 0)
	if n := w.warn(); n != 1 || !slices.Equal(w.warned(), []string{soon.ID}) {
		t.Errorf("in time: %d, %v", n, w.warned())
	}
	// The caller's version is the same, so that If-Match holds.
	if got := w.get(soon); got.Version != rotated.Version {
		t.Errorf("version %d has become %d", rotated.Version, got.Version)
	}
	w.patch(soon, object{"name": "Sooner"}, "If-Match", `"3"`)
	w.works(true, rotated.Secret)
	for range 2 {
		w.Clock.Add(time.Hour)
		if n := w.warn(); n != 0 || len(w.warned()) != 1 {
			t.Errorf("again: %d, %v", n, w.warned())
		}
	}
	w.Clock.Add(start.Add(24 * day).Sub(w.Now()))
	// The live key expired before a warning was due.
	want := []string{soon.ID, later.ID}
	slices.Sort(want)
	if n := w.warn(); n != 1 || !slices.Equal(w.warned(), want) {
		t.Errorf("at last: %d, %v; the key that has ended is %s", n, w.warned(), live.ID)
	}
	if n := w.warn(); n != 0 {
		t.Errorf("again: %d", n)
	}
	// A new end has a new warning.
	w.patch(later, object{"expires_at": in(60 * day)})
	w.Clock.Add(30 * day)
	if n := w.warn(); n != 1 || len(w.warned()) != 3 {
		t.Errorf("a new end: %d, %v", n, w.warned())
	}
}

func TestAWarningThatFailsIsMadeUpFor(t *testing.T) {
	w := newWorld(t)
	k := w.create("expires_at", w.Now().Add(8*day).Format(time.RFC3339))
	w.Clock.Add(2 * day)
	w.Faults.Reject("TransactWriteItems", "ValidationException", 1)
	if n, err := apikey.WarnExpiring(t.Context(), w.DB, w.Now()); n != 0 || err == nil {
		t.Errorf("%d, %v", n, err)
	}
	// Another sweep is quicker.
	w.Faults.Before("TransactWriteItems", func() {
		if n := w.warn(); n != 1 {
			t.Errorf("the other told of %d", n)
		}
	})
	if n := w.warn(); n != 0 {
		t.Errorf("told of %d", n)
	}
	if got := w.warned(); !slices.Equal(got, []string{k.ID}) {
		t.Errorf("told of %v", got)
	}
}

// A key that has ended is shown for 90 days; one that others depend on stays.
func TestEndedKeysAreRemoved(t *testing.T) {
	w := newWorld(t)
	expired := w.create("name", "Expired", "expires_at", w.Now().Add(10*day).Format(time.RFC3339))
	revoked := w.create("name", "Revoked")
	parent := w.create("name", "Parent", "kind", "live", "scopes", manager)
	child := w.child(parent)
	active := w.create("name", "Active")
	for _, k := range []apikey.NewKey{revoked, parent} {
		w.Call(http.MethodDelete, path(k), nil).Into(t, http.StatusOK, new(any))
	}
	sweep := func(after time.Duration) (shown []string) {
		w.Clock.Add(after)
		w.warn()
		for _, k := range apitest.All[apikey.Key](w.Live(), "/v1/api-keys", 10) {
			shown = append(shown, k.Name)
		}
		slices.Sort(shown)
		return shown
	}
	all := sweep(89 * day)
	if len(all) != 6 {
		t.Errorf("after 89 days: %v", all)
	}
	if got := sweep(2 * day); !slices.Contains(got, "Parent") || slices.Contains(got, "Revoked") ||
		!slices.Contains(got, "Expired") || len(got) != 5 {
		t.Errorf("after 91 days: %v", got)
	}
	w.Call(http.MethodGet, path(revoked), nil).Refused(t, 404, errs.NotFound, "")
	if got := sweep(10 * day); slices.Contains(got, "Expired") || len(got) != 4 {
		t.Errorf("90 days after its end: %v", got)
	}
	w.works(true, active.Secret, child.Secret)
	w.works(false, expired.Secret, revoked.Secret, parent.Secret)
	w.Call(http.MethodDelete, path(child), nil).Into(t, http.StatusOK, new(any))
	sweep(91 * day)
	if got := sweep(8 * day); !slices.Equal(got, []string{"Active", "First"}) {
		t.Errorf("at last: %v", got)
	}
	// The places of all of them are free: 80 less those that are there.
	for range 80 - 2 {
		w.create()
	}
	w.Call("POST", "/v1/api-keys", body()).Refused(t, 409, errs.InvalidState, "")
}
