package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/studio"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Resources of a test key expire after 30 days, with their files; those of a live key do not.
func TestContentOfTheSandboxExpires(t *testing.T) {
	w := newSandboxWorld(t)
	factory := struct{ ID string }{}
	w.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Blog"}).Into(t,
		http.StatusCreated, &factory)
	body := object{"factory_id": factory.ID, "kind": "post", "prompt": "A shoe"}
	var one item.Item
	var many []item.Item
	var made studio.Generation
	w.Call(http.MethodPost, "/v1/content-items", body).Into(t, http.StatusAccepted, &one)
	w.Call(http.MethodPost, "/v1/content-items/batch", object{"items": []object{body, body}}).Into(t,
		http.StatusAccepted, &many)
	w.Call(http.MethodPost, "/v1/studio/images", object{"prompt": "A shoe"}).Into(t, http.StatusAccepted, &made)
	w.engine.Drain()
	if one.ExpiresAt == nil || !one.ExpiresAt.Equal(one.CreatedAt.AddDate(0, 0, 30)) || made.ExpiresAt == nil ||
		many[1].ExpiresAt == nil || len(w.engine.Objects.Keys()) < 4 {
		t.Fatalf("%+v; %+v; the files are %v", one.ExpiresAt, made.ExpiresAt, w.engine.Objects.Keys())
	}
	paths := []string{"/v1/content-items/" + one.ID, "/v1/content-items/" + many[0].ID,
		"/v1/content-items/" + many[1].ID, "/v1/studio/generations/" + made.ID}
	w.Clock.Add(29 * 24 * time.Hour)
	for _, path := range paths {
		w.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, new(any))
	}
	w.Clock.Add(2 * 24 * time.Hour)
	w.engine.Drain()
	for _, path := range paths {
		if a := w.Call(http.MethodGet, path, nil); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.Status)
		}
	}
	if left := w.engine.Objects.Keys(); len(left) > 0 {
		t.Errorf("the files %s stay", strings.Join(left, ", "))
	}
	// A task of a live resource deletes nothing.
	if _, err := w.DB.Get(t.Context(), store.IDKey(task.ID("generate.expire", one.ID, 1))); err != nil {
		t.Error(err)
	}
}
