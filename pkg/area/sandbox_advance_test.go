package area_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	sandboxarea "github.com/content-automation/api/pkg/area/sandbox"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// adapters finds the platforms of the sandbox.
type adapters struct{ now func() time.Time }

// Of implements publication.Platforms.
func (a adapters) Of(_ tenant.Mode, name string) (platform.Adapter, bool) {
	return registry.Sandbox(name, a.now)
}

// publish makes an item that is published now, and returns its id.
func (w *sandboxWorld) publish(o tenant.Owner) string {
	w.T.Helper()
	now := w.Now()
	adapter, _ := adapters{w.Clock.Now}.Of(o.Mode, "instagram")
	itemID := id.New(id.ContentItem, now)
	handle, err := platform.Go(platform.StageCheck, map[string]int64{"ready": now.UnixMilli()}, 0)
	if err != nil {
		w.T.Fatal(err)
	}
	step, err := adapter.Finalize(w.T.Context(), platform.Account{ID: "1"}, platform.Post{Key: itemID}, handle.Handle)
	if err != nil {
		w.T.Fatal(err)
	}
	at := resource.Instant(now)
	r := &item.Record{Item: item.Item{Resource: resource.New(itemID, now, nil), FactoryID: "fac_1", Kind: item.Post,
		State: item.Published, Publications: []item.Publication{{
			Resource: resource.New(id.New(id.Publication, now), now, nil),
			Platform: "instagram", State: item.PublicationPublished, PublishedAt: &at, PlatformPostID: &step.Post.ID,
			URL: &step.Post.URL, Warnings: []item.PublicationWarning{}}}}}
	tx := &store.Tx{}
	if err := r.Create(tx, o); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	return itemID
}

// views returns the views of an item's post, and whether they were read.
func (w *sandboxWorld) views(itemID string) (views int64, read bool) {
	w.T.Helper()
	under, err := w.DB.Under(w.T.Context(), itemID)
	if err != nil || len(under) == 0 {
		w.T.Fatal(err)
	}
	r, err := item.Of(under)
	if err != nil {
		w.T.Fatal(err)
	}
	m := r.Item.Publications[0].Metrics
	if m == nil {
		return 0, false
	}
	if !m.ReadAt.Equal(w.Now()) {
		w.T.Errorf("read at %v, at %v", m.ReadAt, w.Now())
	}
	return *m.Views, true
}

// advance moves the clock of the sandbox, and waits for the end.
func (w *sandboxWorld) advance(seconds int64) {
	w.T.Helper()
	w.Clock.Add(time.Second)
	a := w.Call(http.MethodPost, "/v1/sandbox/advance", object{"seconds": seconds})
	var r sandboxarea.Advanced
	a.Into(w.T, http.StatusAccepted, &r)
	if r.State != "advancing" || a.Header.Get("Location") != "/v1/publications" {
		w.T.Errorf("%+v, %v", r, a.Header)
	}
	w.engine.Drain()
}

// Metrics grow with the clock of the sandbox, which makes nothing older that is published later.
func TestTheClockOfTheSandboxMoves(t *testing.T) {
	w := newSandboxWorld(t)
	w.engine.Handle(publication.Advance, (&publication.Worker{DB: w.DB, Platforms: adapters{w.Clock.Now},
		Now: w.Clock.Now}).Handlers()[publication.Advance])
	automations := automation.NewService(w.DB, nil, nil, nil, w.Clock.Now)
	w.engine.Handle(automation.Advance, automations.Handlers(nil)[automation.Advance])
	var posts []string
	for range 30 { // more than one step reads
		posts = append(posts, w.publish(w.Principal.Owner))
	}
	others := []string{w.publish(w.Live().Principal.Owner), w.publish(w.Stranger().Principal.Owner)}
	var before int64
	for n, seconds := range []int64{24 * 3600, 24 * 3600, 365 * 24 * 3600} {
		w.advance(seconds)
		var all int64
		for _, post := range posts {
			views, read := w.views(post)
			if !read || views < 200 || views > 10_000 {
				t.Errorf("after %d moves, a post has %d views", n+1, views)
			}
			all += views
		}
		if all <= before {
			t.Errorf("after %d moves there are %d views, before %d", n+1, all, before)
		}
		before = all
	}
	w.Clock.Add(time.Minute)
	late := w.publish(w.Principal.Owner)
	w.advance(1)
	if views, read := w.views(late); !read || views > 5 {
		t.Errorf("a later post has %d views", views)
	}
	for _, other := range others {
		if _, read := w.views(other); read {
			t.Errorf("%s of another sandbox has metrics", other)
		}
	}
	for _, seconds := range []int64{0, -1, 365*24*3600 + 1} {
		w.Call(http.MethodPost, "/v1/sandbox/advance", object{"seconds": seconds}).Refused(t, 422,
			errs.ValidationFailed, "/seconds")
	}
	w.Live().Call(http.MethodPost, "/v1/sandbox/advance", object{"seconds": 1}).Refused(t, 422, errs.ValidationFailed, "")
}

// Who still moves the clock by a reset learns the new operation, and loses nothing.
func TestAResetTakesNoAdvance(t *testing.T) {
	w := newSandboxWorld(t)
	post := w.publish(w.Principal.Owner)
	for _, seconds := range []any{nil, 0, 3600} {
		a := w.Call(http.MethodPost, "/v1/sandbox/reset", object{"advance": seconds})
		a.Refused(t, 422, errs.ValidationFailed, "/advance")
		if !strings.Contains(a.Raw, "POST /v1/sandbox/advance") {
			t.Errorf("%v: %s", seconds, a.Raw)
		}
	}
	w.engine.Drain()
	if _, err := w.DB.Get(t.Context(), store.IDKey(post)); err != nil {
		t.Error(err)
	}
}
