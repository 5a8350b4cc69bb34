package content_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// An error lists as allowed exactly the calls that succeed.
func TestInvalidStateListsWhatIsAllowed(t *testing.T) {
	calls := map[string]struct{ method, rest string }{
		"update": {http.MethodPatch, ""}, "cancel": {http.MethodPost, "cancel"},
		"regenerate": {http.MethodPost, "regenerate"}, "delete": {http.MethodDelete, ""},
		"schedule": {http.MethodPost, "schedule"}, "publish": {http.MethodPost, "publish"},
		"approve": {http.MethodPost, "approve"}, "request_changes": {http.MethodPost, "request-changes"},
	}
	bodies := map[string]any{"update": object{"title": "Mine"}, "request_changes": object{"note": "Shorter"}}
	for _, state := range states {
		var refused []errs.StateContext
		done := []string{}
		for name, c := range calls {
			w := newWorld(t)
			itemID := w.in(state)
			accounts := []string{w.connect("telegram")}
			bodies["publish"] = object{"social_account_ids": accounts}
			bodies["schedule"] = object{"social_account_ids": accounts, "publish_at": w.Now().Add(time.Hour)}
			at := strings.TrimSuffix(path(itemID, c.rest), "/")
			if name == "approve" || name == "request_changes" {
				at = "/v1/approvals/" + itemID + "/" + c.rest
			}
			a := w.Call(c.method, at, bodies[name])
			if a.Status < 300 {
				done = append(done, name)
				continue
			}
			a.Refused(t, 409, errs.InvalidState, "")
			var data errs.StateContext
			b, err := json.Marshal(a.Error.Context)
			if err == nil {
				err = json.Unmarshal(b, &data)
			}
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(data.Allowed)
			refused = append(refused, data)
		}
		slices.Sort(done)
		if len(refused)+len(done) != len(calls) || len(refused) == 0 {
			t.Errorf("%s: done %v, refused %v", state, done, refused)
		}
		for _, got := range refused {
			if got.State != string(state) || !slices.Equal(got.Allowed, done) {
				t.Errorf("%s permits %v, and the refusal says %+v", state, done, got)
			}
		}
	}
}

// The events show the item as the calls answer it.
func TestCancelAndDeleteAreEvents(t *testing.T) {
	w := newWorld(t)
	it := w.create("sandbox", object{"delay_seconds": 60})
	canceled, deleted := w.Call(http.MethodPost, path(it.ID, "cancel"), nil),
		w.Call(http.MethodDelete, path(it.ID), nil)
	gone := w.generated("kind", "carousel")
	last := w.Call(http.MethodDelete, path(gone.ID), nil)
	var events []event.Event
	w.Call(http.MethodGet, "/v1/events", nil).Into(t, http.StatusOK, &events)
	shown := map[string]json.RawMessage{}
	for _, e := range events {
		var about struct{ ID string }
		if err := json.Unmarshal(e.Data.Object, &about); err != nil {
			t.Fatal(err)
		}
		shown[about.ID+string(e.Type)] = e.Data.Object
	}
	for key, a := range map[string]json.RawMessage{
		it.ID + "content.canceled": canceled.Data, it.ID + "content.deleted": deleted.Data,
		gone.ID + "content.deleted": last.Data,
	} {
		if !jsonEqual(t, shown[key], a) {
			t.Errorf("%s shows\n%s, want\n%s", key, shown[key], a)
		}
	}
}

func jsonEqual(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal(a, &x), json.Unmarshal(b, &y)); err != nil {
		t.Error(err)
	}
	return reflect.DeepEqual(x, y)
}
