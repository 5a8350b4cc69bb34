package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

const contentPath = "/v1/content-items"

// ended waits for the end of the work of a content item.
func ended(t *testing.T, secret, itemID string) (item contentItem) {
	t.Helper()
	poll.Until(t, "the end of "+itemID, func() bool {
		item = into[contentItem](call(t, secret, http.MethodGet, contentPath+"/"+itemID, nil), http.StatusOK)
		return item.State != "queued" && item.State != "generating"
	})
	return item
}

func TestABatchOfContent(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	key := c.test.Secret
	factory := c.factory(key)
	var items []object
	for i := range 12 {
		items = append(items, object{"factory_id": factory, "kind": []string{"post", "story"}[i%2],
			"prompt": fmt.Sprint("Shoe number ", i)})
	}
	// If one item is invalid, none is made.
	bad := append(append([]object{}, items...), object{"factory_id": factory, "kind": "post", "prompt": " "})
	a := call(t, key, http.MethodPost, contentPath+"/batch", object{"items": bad})
	if err := a.refused(http.StatusUnprocessableEntity, "validation_failed"); err != nil ||
		a.Error.Param != "/items/12/prompt" {
		t.Errorf("%v: %s", err, a.Raw)
	}
	if none := into[[]contentItem](call(t, key, http.MethodGet, contentPath, nil), http.StatusOK); len(none) != 0 {
		t.Errorf("there are %d items", len(none))
	}
	made := into[[]contentItem](call(t, key, http.MethodPost, contentPath+"/batch", object{"items": items},
		"Idempotency-Key", "twelve"), http.StatusAccepted)
	again := call(t, key, http.MethodPost, contentPath+"/batch", object{"items": items}, "Idempotency-Key", "twelve")
	if len(made) != len(items) || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Fatalf("%d items; repeated: %s", len(made), again.Raw)
	}
	for i, item := range made {
		if got := ended(t, key, item.ID); got.State != "generated" || got.Kind != items[i]["kind"] ||
			len(got.Media) != 2 {
			t.Errorf("%+v", got)
		}
	}
}

func TestChangesOfContent(t *testing.T) {
	c := newCustomer(t)
	key := c.test.Secret
	body := object{"factory_id": c.factory(key), "kind": "post", "prompt": "A shoe made of recycled nets",
		"sandbox": object{"delay_seconds": 60}}
	item := into[contentItem](call(t, key, http.MethodPost, contentPath, body), http.StatusAccepted)
	at := contentPath + "/" + item.ID

	patched := call(t, key, http.MethodPatch, at, object{"title": "My title"})
	if got := into[contentItem](patched, http.StatusOK); got.Title != "My title" || patched.Header.Get("ETag") == "" {
		t.Errorf("%s", patched.Raw)
	}
	if err := call(t, key, http.MethodPost, at+"/regenerate", nil).refused(http.StatusConflict,
		"invalid_state"); err != nil {
		t.Error(err)
	}
	if got := into[contentItem](call(t, key, http.MethodPost, at+"/cancel", nil),
		http.StatusOK); got.State != "canceled" {
		t.Errorf("%+v", got)
	}
	if err := call(t, key, http.MethodPost, at+"/cancel", nil).refused(http.StatusConflict,
		"invalid_state"); err != nil {
		t.Error(err)
	}
	if got := into[contentItem](call(t, key, http.MethodPost, at+"/regenerate",
		object{"prompt": "A shoe on a muddy path"}), http.StatusAccepted); got.State != "queued" || got.Attempt != 2 {
		t.Errorf("%+v", got)
	}
	got := ended(t, key, item.ID)
	if got.State != "generated" || got.Title != "My title" || len(got.Media) != 2 {
		t.Fatalf("%+v", got)
	}
	if err := call(t, key, http.MethodDelete, at, nil, "If-Match", `"1"`).refused(http.StatusPreconditionFailed,
		"version_mismatch"); err != nil {
		t.Error(err)
	}
	into[contentItem](call(t, key, http.MethodDelete, at, nil), http.StatusOK)
	if err := call(t, key, http.MethodGet, at, nil).refused(http.StatusNotFound, "not_found"); err != nil {
		t.Error(err)
	}
	poll.Until(t, "the removal of its file", func() bool { return status(t, got.Media[0].URL) == http.StatusNotFound })
}
