package content_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
)

func TestAFactoryMakesItsContentTypesOnly(t *testing.T) {
	w := newWorld(t)
	w.create("kind", "music_clip") // a factory that names none makes all
	w.factory = w.makeFactory(object{"type": "blogger", "name": "Blog", "content_types": []string{"post", "story"}})
	w.create("kind", "story")
	before := storetest.Snapshot(t, w.DB)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body("kind", "video"))
	a.Refused(t, 422, errs.ValidationFailed, "/kind")
	if !strings.Contains(a.Error.Message, "post, story") {
		t.Errorf("%s", a.Error.Message)
	}
	w.Call(http.MethodPost, batchPath, object{"items": []object{w.body(), w.body("kind", "video")}}).Refused(t, 422,
		errs.ValidationFailed, "/items/1/kind")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was made")
	}
	// Accepted items keep the settings that their factory had.
	it := w.generated()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"content_types": []string{"video"}}).Into(t,
		http.StatusOK, &object{})
	w.Call(http.MethodPost, path(it.ID, "regenerate"), nil).Into(t, http.StatusAccepted, &it)
	w.create("kind", "video")
}

func TestAPausedFactoryTakesNoNewItems(t *testing.T) {
	w := newWorld(t)
	it := w.create()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": "paused"}).Into(t, http.StatusOK, &object{})
	before := storetest.Snapshot(t, w.DB)
	for path, a := range map[string]any{"/v1/content-items": w.body(), batchPath: object{"items": []object{w.body()}}} {
		got := w.Call(http.MethodPost, path, a)
		got.Refused(t, 409, errs.InvalidState, map[bool]string{true: "/items/0/factory_id",
			false: "/factory_id"}[path == batchPath])
		got.Context(t, `{"state":"paused","allowed":["update"]}`)
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was made")
	}
	if wait := w.do(it.ID); wait == 0 || w.get(it.ID).State != item.Queued {
		t.Errorf("what was queued is %+v", w.get(it.ID))
	}
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": "active"}).Into(t, http.StatusOK, &object{})
	w.create()
}
