package content_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// A key that may not publish changes nothing that is going to be published by itself, unless it waits for an approval
// again.
func TestWhatGoesOutIsChangedByWhoMayPublish(t *testing.T) {
	w := newWorld(t)
	account := w.connect("telegram")
	w.attach(account)
	at := w.Now().Add(time.Hour)
	weak := w.Only(auth.ContentRead, auth.ContentWrite)
	scheduled := w.provide("caption", "Words")
	w.Call(http.MethodPost, path(scheduled.ID, "schedule"), object{"publish_at": at}).Into(t, 200, new(object))
	var ordered item.Item
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post", "prompt": "x",
		"publish_at": at, "social_account_ids": []string{account}}).Into(t, 202, &ordered)
	for name, it := range map[string]item.Item{"scheduled": w.get(scheduled.ID), "ordered": w.get(ordered.ID)} {
		for member, value := range map[string]any{"caption": "TEXT OF A WEAK KEY", "title": "TEXT", "hashtags": []string{"x"},
			"variants": object{"telegram": object{"caption": "TEXT"}}} {
			weak.Call(http.MethodPatch, path(it.ID), object{member: value}).
				Refused(t, http.StatusForbidden, errs.InsufficientScope, "")
		}
		if got := w.get(it.ID); got.Version != it.Version {
			t.Errorf("%s: it was changed: %+v", name, got)
		}
		weak.Call(http.MethodPatch, path(it.ID), object{"metadata": object{"a": "b"}}).Into(t, 200, new(object))
		w.Call(http.MethodPatch, path(it.ID), object{"caption": "Better words"}).Into(t, 200, new(object))
	}
	// Who changes it answers for it: what a weak key has changed before is not published for a stronger one.
	plain := w.provide("caption", "Words")
	weak.Call(http.MethodPatch, path(plain.ID), object{"caption": "Others"}).Into(t, 200, new(object))
	stored, err := w.DB.Get(t.Context(), store.IDKey(plain.ID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := item.Decode(&stored)
	if err != nil {
		t.Fatal(err)
	}
	if r.Authority.Actor.ID != weak.Principal.Actor.ID || r.Authority.Had(auth.ContentPublish) {
		t.Errorf("it is published for %+v", r.Authority)
	}
}

func TestAChangeOfAWeakKeyGoesBackToTheApproval(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	w.attach(w.connect("telegram"))
	it := w.provide("caption", "Words")
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": w.Now().Add(time.Hour)}).
		Into(t, 200, new(object))
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(t, 200, new(object))
	w.work()
	if got := w.get(it.ID); got.State != item.Scheduled {
		t.Fatalf("approved it is %s", got.State)
	}
	var got item.Item
	w.Only(auth.ContentRead, auth.ContentWrite).Call(http.MethodPatch, path(it.ID), object{"caption": "Others"}).
		Into(t, 200, &got)
	if got.State != item.Generated || got.Approval.State != item.ApprovalPending {
		t.Errorf("it is %s and %s", got.State, got.Approval.State)
	}
}
