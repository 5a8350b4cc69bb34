package content_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// publishes reports whether an attempt at an item has started the task that publishes it
// by itself. It has the item generated.
func (w *world) publishes(itemID string, attempt int) bool {
	w.T.Helper()
	if wait := w.doAttempt(itemID, attempt); wait != 0 {
		w.T.Fatalf("the worker asks for %v", wait)
	}
	if it := w.get(itemID); it.State != item.Generated {
		w.T.Fatalf("it is %s", it.State)
	}
	_, err := w.DB.Get(w.T.Context(), store.IDKey(task.ID(item.AutoPublish, itemID, attempt)))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.T.Fatal(err)
	}
	return err == nil
}

func TestWhatIsMadeWithoutTheScopeToPublishStaysGenerated(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "auto_publish": true})
	weak := w.Without(auth.ContentPublish)
	var one item.Item
	weak.Call(http.MethodPost, "/v1/content-items", w.body()).Into(t, http.StatusAccepted, &one)
	w.Clock.Add(time.Second)
	var several []item.Item
	weak.Call(http.MethodPost, "/v1/content-items/batch",
		object{"items": []object{w.body(), w.body("kind", "story")}}).Into(t, http.StatusAccepted, &several)
	w.begin(several[0].ID)
	for _, it := range append(several, one) {
		if w.publishes(it.ID, 1) {
			t.Errorf("the %s is published", it.Kind)
		}
	}
	// Whoever may publish regenerates it, and it is published.
	w.Call(http.MethodPost, path(one.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &one)
	if !w.publishes(one.ID, 2) {
		t.Error("an attempt of a key that may publish is not published")
	}
	if strong := w.create(); !w.publishes(strong.ID, 1) {
		t.Error("an item of a key that may publish is not published")
	}
}

func TestAnAttemptWithoutTheScopeToPublishStaysGenerated(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "auto_publish": true})
	it := w.create()
	w.Call(http.MethodPost, path(it.ID, "cancel"), nil).Into(t, http.StatusOK, &it)
	w.Without(auth.ContentPublish).Call(http.MethodPost, path(it.ID, "regenerate"),
		object{"prompt": "Something else"}).Into(t, http.StatusAccepted, &it)
	if w.publishes(it.ID, 2) {
		t.Error("it is published")
	}
}

// A change answers no media to a key that may not read content.
func TestAChangeSignsNothingForWhoMayNotReadContent(t *testing.T) {
	w := newWorld(t)
	it := w.generated()
	account := w.connect("telegram")
	at := w.Now().Add(time.Hour).Format(time.RFC3339)
	for _, c := range []struct {
		scope        auth.Scope
		method, path string
		body         any
		status       int
	}{
		{auth.ContentPublish, http.MethodPost, path(it.ID, "schedule"),
			object{"publish_at": at, "social_account_ids": []string{account}}, 200},
		{auth.ContentPublish, http.MethodPost, path(it.ID, "schedule"), object{"publish_at": nil}, 200},
		{auth.ContentWrite, http.MethodPatch, path(it.ID), object{"title": "Boot"}, 200},
		{auth.ContentWrite, http.MethodPatch, path(it.ID), object{}, 200},
		{auth.ContentWrite, http.MethodPost, path(it.ID, "regenerate"), object{}, 202},
		{auth.ContentWrite, http.MethodPost, path(it.ID, "cancel"), nil, 200},
		{auth.ContentWrite, http.MethodDelete, path(it.ID), nil, 200},
	} {
		var got item.Item
		a := w.Only(c.scope).Call(c.method, c.path, c.body)
		if a.Into(t, c.status, &got); len(got.Media) != 0 || got.Media == nil ||
			strings.Contains(a.Raw, "X-Amz-Signature") {
			t.Errorf("%s %s with %s answers %s", c.method, c.path, c.scope, a.Raw)
		}
		if c.method != http.MethodDelete && len(w.get(it.ID).Media) == 0 {
			t.Error("it has no media")
		}
	}
	it = w.generated()
	var got item.Item
	if w.Call(http.MethodPatch, path(it.ID), object{}).Into(t, http.StatusOK, &got); len(got.Media) == 0 {
		t.Errorf("%+v", got)
	}
}
