package e2e

import (
	"fmt"
	"net/http"
	"testing"

	parts "github.com/content-automation/api/pkg/media/compose/sample"
)

const contentPath = "/v1/content-items"

// ended waits for the end of the work of a content item.
func ended(t *testing.T, secret, itemID string) (item contentItem) {
	t.Helper()
	eventually(t, "the end of "+itemID, func() bool {
		item = into[contentItem](call(t, secret, http.MethodGet, contentPath+"/"+itemID, nil), http.StatusOK)
		return item.State != "queued" && item.State != "generating"
	})
	return item
}

func TestABatchOfContent(t *testing.T) {
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
	eventually(t, "the removal of its file", func() bool { return status(t, got.Media[0].URL) == http.StatusNotFound })
}

// Content of live keys combines parts of several providers, and is charged as one.
func TestLiveContent(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	const credits = 2000
	c.topUp(credits)
	key := c.live.Secret
	factory := c.factory(key)
	spent := int64(0)
	for name, k := range map[string]struct {
		body  object
		files int
	}{
		// The finished media with poster and captions, and then their parts.
		"post":  {object{"kind": "post"}, 1 + 1},
		"video": {object{"kind": "video", "duration_seconds": 10, "music": "generated"}, 3 + 1 + 1 + 2},
		"video from stills": {object{"kind": "video", "duration_seconds": 10, "model": "kling-2.6-pro",
			"music": bring(t, key, "audio/wav", parts.Tone(10e9, 440))}, 3 + 1 + 2*2},
		"carousel":   {object{"kind": "carousel", "slides": []object{{"text": "One"}, {}}}, 2 + 2},
		"story clip": {object{"kind": "story", "model": "runway-gen-4.5"}, 2 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			k.body["factory_id"], k.body["prompt"] = factory, "A shoe made of recycled nets"
			estimate := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
				object{"operation": "createContentItem", "body": k.body}), http.StatusOK)
			before := c.balance()
			made := into[contentItem](call(t, key, http.MethodPost, contentPath, k.body), http.StatusAccepted)
			reserved := before - c.balance()
			got := ended(t, key, made.ID)
			if got.State != "generated" || len(got.Media) != k.files || got.Cost != reserved ||
				estimate.Credits != reserved || reserved <= 0 || made.Cost != 0 {
				t.Fatalf("reserved %d: %+v %+v", reserved, got, got.Failure)
			}
			for _, f := range got.Media {
				if s := status(t, f.URL); s != http.StatusOK {
					t.Errorf("a file answers %d", s)
				}
			}
			spent += reserved
		})
	}
	t.Run("canceled", func(t *testing.T) {
		made := into[contentItem](call(t, key, http.MethodPost, contentPath,
			object{"factory_id": factory, "kind": "video", "prompt": "A shoe"}), http.StatusAccepted)
		a := call(t, key, http.MethodPost, contentPath+"/"+made.ID+"/cancel", nil)
		got := into[contentItem](a, http.StatusOK)
		if got.State != "canceled" {
			t.Errorf("%s", a.Raw)
		}
		spent += got.Cost // The cost of the existing parts.
	})
	sum, states := c.entries()
	if b := c.balance(); b != credits-spent || sum != b || states["held"] != 0 {
		t.Errorf("the balance is %d after spending %d; the entries add up to %d: %v", b, spent, sum, states)
	}
}
