package plan_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// A factory publishes the items of a plan by itself only if the plan's caller may publish.
func TestAPlanWithoutTheScopeToPublishPublishesNothing(t *testing.T) {
	for _, c := range []struct {
		lacking []auth.Scope
		want    bool
	}{{nil, true}, {[]auth.Scope{auth.ContentPublish}, false}} {
		w := newWorld(t)
		w.engine.Handle(item.AutoPublish,
			(&publication.Worker{DB: w.DB, Now: w.Clock.Now}).Handlers()[item.AutoPublish])
		w.factory = w.makeFactory("auto_publish", true)
		w.Without(c.lacking...).Call(http.MethodPost, w.path(), body()).Into(t, http.StatusAccepted, new(plan.Plan))
		p := w.until(plan.Completed)
		for _, it := range w.items(p.ID) {
			_, err := w.DB.Get(t.Context(), store.IDKey(task.ID(item.AutoPublish, it.ID, 1)))
			if it.State != item.Generated || err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("%+v: %v", it, err)
			}
			if (err == nil) != c.want {
				t.Errorf("without %v, the %s is published: %v", c.lacking, it.Kind, err == nil)
			}
		}
		if p.Items.Generated != 4 {
			t.Errorf("%+v", p.Items)
		}
	}
}

// The items of topics are published on behalf of whoever has last changed or approved them.
func TestWhoApprovesTopicsPublishesThem(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(w *world)
		want bool
	}{
		{"approved by one who may", func(w *world) { w.approveTopics() }, true},
		{"approved by one who may not", func(w *world) {
			w.Without(auth.ContentPublish).Call(http.MethodPost, w.topics()+"/approve", object{}).Into(t,
				http.StatusAccepted, new(plan.Plan))
		}, false},
		{"changed later by one who may not", func(w *world) {
			w.approveTopics()
			w.Without(auth.ContentPublish).Call(http.MethodPatch, w.topicPath(1), object{"topic": "Etwas anderes"}).Into(t,
				http.StatusOK, new(plan.Topic))
		}, false},
	} {
		w := newWorld(t)
		w.engine.Handle(item.AutoPublish,
			(&publication.Worker{DB: w.DB, Now: w.Clock.Now}).Handlers()[item.AutoPublish])
		w.factory = w.makeFactory("auto_publish", true)
		p := w.propose("days", 1)
		c.act(w)
		w.Clock.Add(time.Second)
		w.until(plan.Completed)
		made := w.items(p.ID)
		if len(made) != 1 {
			t.Fatalf("%s: %d items", c.name, len(made))
		}
		_, err := w.DB.Get(t.Context(), store.IDKey(task.ID(item.AutoPublish, made[0].ID, 1)))
		if err != nil && !errors.Is(err, store.ErrNotFound) || (err == nil) != c.want {
			t.Errorf("%s, it is published: %v", c.name, err == nil)
		}
	}
}
