package content_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

const bulkPath = "/v1/publishing/bulk"

// bulk changes the publication of many items; headers are pairs.
func (w *world) bulk(body object, headers ...string) (out content.BulkAnswer) {
	w.T.Helper()
	w.Call(http.MethodPost, bulkPath, body, headers...).Into(w.T, http.StatusOK, &out)
	return out
}

// codes returns the codes of the errors of results, empty for those that succeeded.
func codes(a content.BulkAnswer) (all []string) {
	for _, r := range a.Results {
		code := ""
		if r.Error != nil {
			code = string(r.Error.Code)
		}
		if (r.Item == nil) == (r.Error == nil) {
			code = "both or neither"
		}
		all = append(all, code)
	}
	return all
}

// Each item of a bulk is changed as its own operation would, or has the error of that operation.
func TestABulkChangesWhatItCan(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	w.attach(w.connect("telegram"))
	first, second, ready := w.provide("caption", "One"), w.provide("caption", "Two"), w.provide("caption", "Three")
	w.Call(http.MethodPost, approve(second.ID), nil).Into(t, 200, new(object))
	const unknown = "cnt_01h455vb4pex5vsknk084sn02q"
	body := object{"action": "approve", "content_item_ids": []string{first.ID, second.ID, unknown, "x", ready.ID},
		"note": "Fine"}
	a := w.bulk(body, "Idempotency-Key", "approve-five")
	if want := []string{"", "invalid_state", "not_found", "not_found", ""}; !slices.Equal(codes(a), want) ||
		a.Succeeded != 2 || a.Failed != 3 || a.More {
		t.Fatalf("%v, %+v", codes(a), a)
	}
	single := w.Call(http.MethodPost, approve(second.ID), nil)
	if got := a.Results[1].Error; got.Message != single.Error.Message || got.Type != single.Error.Type ||
		got.Context == nil {
		t.Errorf("%+v, alone %+v", got, single.Error)
	}
	if got := w.get(first.ID); got.Approval.State != item.Approved || *got.Approval.Note != "Fine" ||
		w.events(first.ID)[event.ContentApproved] != 1 {
		t.Errorf("%+v", got.Approval)
	}
	again := w.Call(http.MethodPost, bulkPath, body, "Idempotency-Key", "approve-five")
	if again.Header.Get("Idempotent-Replayed") != "true" || w.events(first.ID)[event.ContentApproved] != 1 {
		t.Errorf("repeated: %s", again.Raw)
	}
	at := w.Now().Add(time.Hour)
	a = w.bulk(object{"action": "schedule", "publish_at": at, "items": []object{{"content_item_id": first.ID},
		{"content_item_id": ready.ID, "publish_at": at.Add(time.Minute)}}})
	if one, two := a.Results[0].Item, a.Results[1].Item; a.Failed != 0 || one.State != item.Scheduled ||
		one.WaitsFor != item.WaitsForTime || !one.PublishAt.Equal(at) || !two.PublishAt.Equal(at.Add(time.Minute)) ||
		two.Version != w.get(ready.ID).Version || len(two.SocialAccountIDs) != 1 {
		t.Errorf("%+v", a)
	}
	a = w.bulk(object{"action": "unschedule", "content_item_ids": []string{first.ID, ready.ID}})
	if got := w.get(first.ID); a.Succeeded != 2 || got.State != item.Generated || got.PublishAt != nil {
		t.Errorf("%+v, %+v", a, got)
	}
	a = w.bulk(object{"action": "publish", "content_item_ids": []string{first.ID, ready.ID}})
	for range 3 {
		w.work()
		w.Clock.Add(time.Minute)
	}
	if one, two := w.get(first.ID), w.get(ready.ID); a.Succeeded != 2 || one.State != item.Published ||
		two.State != item.Published {
		t.Errorf("%+v, %s, %s", a, one.State, two.State)
	}
}

// An approval of a version that was seen is refused if the item has changed since. The caller takes an approval back,
// and nobody else does.
func TestABulkApprovesWhatWasSeenAndTakesItBack(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	first, second := w.provide("caption", "One"), w.provide("caption", "Two")
	a := w.bulk(object{"action": "approve", "items": []object{{"content_item_id": first.ID, "version": first.Version},
		{"content_item_id": second.ID, "version": second.Version + 1}}})
	if got := codes(a); !slices.Equal(got, []string{"", "version_mismatch"}) {
		t.Fatalf("%v", got)
	}
	back := object{"action": "withdraw", "content_item_ids": []string{first.ID, second.ID}}
	if got := codes(w.bulk(back)); !slices.Equal(got, []string{"", "invalid_state"}) {
		t.Errorf("%v", got)
	}
	if got := w.get(first.ID).Approval; got.State != item.ApprovalPending || got.By != nil {
		t.Errorf("%+v", got)
	}
}

// A bulk of all or none changes nothing if one of its items cannot be changed.
func TestABulkOfAllOrNone(t *testing.T) {
	w := newWorld(t)
	w.attach(w.connect("telegram"))
	first, second := w.provide("caption", "One"), w.provide("caption", "Two")
	at := w.Now().Add(time.Hour)
	before := storetest.Snapshot(t, w.DB)
	body := object{"action": "schedule", "mode": "all", "items": []object{
		{"content_item_id": first.ID, "publish_at": at},
		{"content_item_id": second.ID, "publish_at": at.Add(-2 * time.Hour)}, {"content_item_id": "cnt_1"}}}
	a := w.Call(http.MethodPost, bulkPath, body, "Idempotency-Key", "all")
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "/items/1")
	if storetest.Snapshot(t, w.DB) != before || len(a.Error.Details) != 2 || a.Error.Details[1].Param != "/items/2" ||
		!strings.Contains(a.Error.Details[0].Message, second.ID+": /publish_at: must be in the future") {
		t.Errorf("%s", a.Raw)
	}
	body["items"] = body["items"].([]object)[:1]
	var done content.BulkAnswer
	w.Call(http.MethodPost, bulkPath, body, "Idempotency-Key", "all").Into(t, http.StatusOK, &done)
	if done.Succeeded != 1 || w.get(first.ID).State != item.Scheduled {
		t.Errorf("the key was used up: %+v", done)
	}
}

// What a bulk does not take is refused before anything is changed.
func TestBulksThatAreRefused(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "One")
	ids := []string{it.ID}
	for param, body := range map[string]object{
		"/content_item_ids":   {"action": "approve"},
		"/note":               {"action": "publish", "content_item_ids": ids, "note": "x"},
		"/publish_at":         {"action": "publish", "content_item_ids": ids, "publish_at": "next_slot"},
		"/social_account_ids": {"action": "approve", "content_item_ids": ids, "social_account_ids": []string{"x"}},
		"/content_plan_id":    {"action": "publish", "content_plan_id": "pln_01h455vb4pex5vsknk084sn02q"},
		"/items/1/content_item_id": {"action": "approve", "items": []object{{"content_item_id": it.ID},
			{"content_item_id": it.ID}}},
		"/items/0/social_account_ids": {"action": "unschedule", "items": []object{{"content_item_id": it.ID,
			"social_account_ids": []string{"x"}}}},
		"/items/0/version": {"action": "withdraw", "items": []object{{"content_item_id": it.ID, "version": 1}}},
		"/action":          {"action": "delete", "content_item_ids": ids},
	} {
		w.Call(http.MethodPost, bulkPath, body).Refused(t, 422, errs.ValidationFailed, param)
	}
	w.Call(http.MethodPost, bulkPath, object{"action": "approve", "content_item_ids": ids, "items": []object{
		{"content_item_id": it.ID}}}).Refused(t, 422, errs.ValidationFailed, "/content_item_ids")
	w.Call(http.MethodPost, bulkPath, object{"action": "approve", "content_item_ids": many(101, it.ID)}).
		Refused(t, 422, errs.ValidationFailed, "/content_item_ids")
	w.Call(http.MethodPost, bulkPath, object{"action": "approve", "content_plan_id": "pln_01h455vb4pex5vsknk084sn02q"}).
		Refused(t, 404, errs.NotFound, "/content_plan_id")
	body := object{"action": "approve", "content_item_ids": ids}
	w.Without(auth.ContentPublish).Call(http.MethodPost, bulkPath, body).
		Refused(t, 403, errs.InsufficientScope, "")
	if a := w.Stranger().Call(http.MethodPost, bulkPath, body); !strings.Contains(a.Raw, "not_found") ||
		w.get(it.ID).Approval.State != item.ApprovalNone {
		t.Errorf("a stranger: %s", a.Raw)
	}
}

// Items that take the next slot in one call take different ones.
func TestABulkFillsTheSchedule(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"schedule": object{"timezone": "UTC",
		"times": []string{"08:00", "18:00"}}}).Into(t, 200, new(object))
	w.attach(w.connect("telegram"))
	var ids []string
	for range 5 {
		ids = append(ids, w.provide("caption", "Words").ID)
	}
	a := w.bulk(object{"action": "schedule", "publish_at": "next_slot", "content_item_ids": ids})
	var times []string
	for _, r := range a.Results {
		times = append(times, r.Item.PublishAt.Format(time.RFC3339))
	}
	if len(slices.Compact(times)) != 5 || !slices.IsSorted(times) {
		t.Errorf("%v", times)
	}
}
