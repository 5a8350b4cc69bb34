package content_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
)

// moderator flags texts that have a word, or fails.
type moderator struct {
	mu    sync.Mutex
	calls int
	err   error
}

func (m *moderator) Moderate(_ context.Context, text string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls++
	return strings.Contains(text, "vile"), m.err
}

// Texts that the moderation stops are refused by name, before anything is stored or reserved.
func TestOwnTextsAreModerated(t *testing.T) {
	w := newWorld(t)
	w.live(5000)
	w.attach(w.connect("telegram"))
	m := &moderator{}
	w.items.Moderated(m)
	own := w.provide("caption", "Fine", "variants", object{"telegram": object{"caption": "Fine, too"}})
	made := w.generated("kind", "video", "duration_seconds", 10)
	before := storetest.Snapshot(t, w.DB)
	post := func(members ...any) object { return w.body(members...) }
	provided := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "How vile"}
	for name, c := range map[string]struct {
		method, path string
		body         object
		params       []string
	}{
		"own post": {http.MethodPost, "/v1/content-items", provided, []string{"/caption"}},
		"two texts": {http.MethodPost, "/v1/content-items", post("title", "vile", "hashtags",
			[]string{"ok", "vile"}), []string{"/title", "/hashtags"}},
		"a variant": {http.MethodPost, "/v1/content-items", post("caption", "ok", "variants",
			object{"telegram": object{"caption": "vile"}}), []string{"/variants/telegram/caption"}},
		"a script": {http.MethodPost, "/v1/content-items", post("kind", "video", "script",
			"We pulled these vile nets out of the sea. Now they carry you up the hill, all the way."), []string{"/script"}},
		"a scene": {http.MethodPost, "/v1/content-items", post("kind", "video", "scenes", []object{
			{"text": "We pulled these nets out of the sea. Now they carry you up the hill."},
			{"text": "All the way up.", "on_screen": "vile"}}), []string{"/scenes/1"}},
		"a slide": {http.MethodPost, "/v1/content-items", post("kind", "carousel", "slides", []object{{}, {"text": "x",
			"body": "vile"}}), []string{"/slides/1"}},
		"a batch": {http.MethodPost, "/v1/content-items/batch", object{"items": []object{post(), provided}},
			[]string{"/items/1/caption"}},
		"a patch": {http.MethodPatch, path(own.ID), object{"caption": "vile"}, []string{"/caption"}},
		"a patched variant": {http.MethodPatch, path(own.ID), object{"variants": object{"telegram": object{
			"title": nil, "caption": "vile"}}}, []string{"/variants/telegram/caption"}},
		"a correction": {http.MethodPost, path(made.ID) + "/regenerate", object{"reuse": true, "title": "vile"},
			[]string{"/title"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.Call(c.method, c.path, c.body)
			a.Refused(t, 422, errs.ValidationFailed, c.params[0])
			for _, param := range c.params {
				if !strings.Contains(string(a.Raw), `"`+param+`"`) || !strings.Contains(string(a.Raw), "moderation of texts") {
					t.Errorf("%s", a.Raw)
				}
			}
		})
	}
	m.err = errors.New("no answer")
	w.Call(http.MethodPatch, path(own.ID), object{"caption": "Finer"}).Refused(t, 503, errs.ProviderUnavailable, "")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("a refused call has changed something")
	}
	// What does not change, and what models write, is not moderated here.
	calls := m.calls
	w.Call(http.MethodPatch, path(own.ID), object{"caption": "Fine", "metadata": object{"a": "b"}}).Into(t, 200,
		&item.Item{})
	w.create("kind", "post")
	if m.calls != calls {
		t.Errorf("%d calls", m.calls-calls)
	}
}
