package plan_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/store"
)

// The topics of a range of days are approved together.
func TestARangeOfDaysIsApproved(t *testing.T) {
	w := newWorld(t)
	w.create("days", 6, "posts_per_day", 1, "approve", "topics", "starts_on", "2026-06-01")
	w.until(plan.Proposed)
	approve := func(body object) apitest.Answer {
		return w.Call(http.MethodPost, w.path()+"/topics/approve", body)
	}
	approve(object{"from": "2026-06-02", "numbers": []int{1}}).Refused(t, 422, errs.ValidationFailed, "/numbers")
	approve(object{"from": "2026-06-04", "to": "2026-06-02"}).Refused(t, 422, errs.ValidationFailed, "/to")
	approve(object{"from": "2026-07-04"}).Refused(t, 409, errs.InvalidState, "")
	var p plan.Plan
	approve(object{"from": "2026-06-02", "to": "2026-06-04"}).Into(t, http.StatusAccepted, &p)
	for i, topic := range p.Calendar {
		if (topic.State == plan.TopicApproved) != (i >= 1 && i <= 3) {
			t.Errorf("%d: %s", i, topic.State)
		}
	}
}

// Another topic is written for a slot if a person asks for one, with the reason, and waits for an approval again. What
// was reserved for it is released. The reason of a dropped topic reaches the model, too.
func TestAnotherTopicIsWritten(t *testing.T) {
	w := newWorld(t)
	w.live(10_000)
	w.create("days", 5, "posts_per_day", 1, "approve", "topics", "starts_on", "2026-06-01")
	p := w.until(plan.Proposed)
	w.Call(http.MethodPost, w.path()+"/topics/approve", object{"numbers": []int{2, 3}}).Into(t, http.StatusAccepted, &p)
	w.Call(http.MethodDelete, w.topicPath(5)+"?reason=we+sell+no+socks", nil).Into(t, http.StatusOK, new(any))
	w.Call(http.MethodPatch, w.topicPath(2), object{"reason": "too dry"}).Refused(t, 422, errs.ValidationFailed, "/reason")
	old, before := p.Calendar[1].Topic, w.balance()
	var topic plan.Topic
	w.Call(http.MethodPatch, w.topicPath(2), object{"topic": nil, "reason": "too dry"}).Into(t, http.StatusOK, &topic)
	if topic.Topic != "" || topic.State != plan.TopicProposed || topic.Angle != "" || w.balance() <= before {
		t.Errorf("it is %+v, and %d credits of %d are left", topic, w.balance(), before)
	}
	w.Call(http.MethodPost, w.path()+"/topics/approve", object{"numbers": []int{2}}).
		Refused(t, 422, errs.ValidationFailed, "/numbers/0")
	for range 50 {
		if w.engine.Step(); w.get().Calendar[1].Topic != "" {
			break
		}
	}
	p = w.get()
	if now := p.Calendar[1]; now.Topic == "" || now.Topic == old || now.State != plan.TopicProposed || now.Hook == "" ||
		now.PublishAt != topic.PublishAt || p.State != plan.Proposed {
		t.Errorf("it is %+v, and was about %q", now, old)
	}
	q := w.writer.asked[len(w.writer.asked)-1]
	dropped := slices.ContainsFunc(q.Dropped, func(d struct{ Topic, Reason string }) bool {
		return d.Reason == "we sell no socks" && d.Topic == p.Calendar[4].Topic
	})
	if len(q.Slots) != 1 || q.Slots[0].Wanted != "too dry" || !dropped || !slices.Contains(q.Avoid, old) {
		t.Errorf("the model was asked %+v", q)
	}
}

// A topic that was not found is looked for again by itself, and fails only if it never is.
func TestAFailedTopicIsReplaced(t *testing.T) {
	for _, found := range []bool{true, false} {
		w := newWorld(t)
		answers := 0
		w.writer.topics = func(q question) (topics []string, err error) {
			answers++
			for i := range q.Slots {
				if len(q.Slots) > 1 {
					topics = append(topics, []string{"Nets from the sea", "How a sole is glued", "Nets from the sea"}[i])
				} else if topics = append(topics, "Nets from the sea"); found && answers > 10 {
					topics[0] = "The people of the night shift"
				}
			}
			return topics, nil
		}
		w.create("days", 3, "posts_per_day", 1, "approve", "topics", "starts_on", "2026-06-01")
		w.until(plan.Proposed)
		for range 100 {
			if w.engine.Step(); w.get().Calendar[2].Topic != "" || w.get().Calendar[2].State == plan.TopicFailed {
				break
			}
		}
		p := w.get()
		if got := p.Calendar[2]; found && (got.Topic != "The people of the night shift" || got.State != plan.TopicProposed) ||
			!found && (got.State != plan.TopicFailed || p.Items.Failed != 1) {
			t.Errorf("found %v: %+v after %d answers", found, got, answers)
		}
	}
}

// feed is a source with articles.
type feed struct{ articles []source.Article }

func (f *feed) Read(_ context.Context, s source.Source, _ source.Cache) (source.Cache, error) {
	return source.Cache{Source: s, Articles: f.articles}, nil
}

// A slot of news is empty until its hour, and then takes the latest story of the feed that no other item has. One for
// which there is none by its time fails, and costs nothing.
func TestNewsTakeTheirTopicsFromTheFeed(t *testing.T) {
	w := newWorld(t)
	f := &feed{}
	signer := apitest.Signer(t, w.Now)
	w.run(item.Loader{Sign: item.SignedBy(signer), Reader: f, Repeats: true})
	w.factory = w.makeFactory("type", "news", "name", "Hafenblick", "topics", []string{"Hafen", "Verkehr"},
		"schedule", object{"timezone": "UTC", "times": []string{"18:00"}},
		"settings", object{"sources": []object{{"url": "https://example.com/feed", "kind": "feed"}}})
	w.create("days", 3, "posts_per_day", 1, "starts_on", "2026-05-02", "content_types", []string{"post"})
	p := w.until(plan.Generating)
	for _, topic := range p.Calendar {
		if topic.Topic != "" || topic.State != plan.TopicApproved || topic.Pillar != "" {
			t.Errorf("before its hour: %+v", topic)
		}
	}
	if len(w.writer.asked) != 0 {
		t.Errorf("the model was asked for news: %+v", w.writer.asked)
	}
	story := func(title string, hours int) {
		at := w.Now().Add(-time.Duration(hours) * time.Hour)
		f.articles = append(f.articles, source.Article{Title: title, URL: "https://example.com/" + title, PublishedAt: &at,
			Text: title + ". More of it."})
	}
	on := func(day int, hour int) {
		w.within(time.Date(2026, 5, day, hour, 1, 0, 0, time.UTC).Sub(w.Now()))
	}
	story("Neue Schleuse am Hafen eröffnet", 3)
	story("Fähre nach Norden fällt aus", 1)
	on(2, 16)
	if p = w.get(); p.Calendar[0].Topic != "Fähre nach Norden fällt aus" || p.Calendar[0].ContentItemID == "" {
		t.Errorf("at its hour: %+v", p.Calendar[0])
	}
	on(3, 16)
	if p = w.get(); p.Calendar[1].Topic != "Neue Schleuse am Hafen eröffnet" || p.Calendar[1].Pillar != "Hafen" {
		t.Errorf("on the next day: %+v", p.Calendar[1])
	}
	on(4, 17)
	if p = w.get(); p.Calendar[2].Topic != "" || p.Calendar[2].State != plan.TopicApproved {
		t.Errorf("without a story: %+v", p.Calendar[2])
	}
	on(4, 19)
	if p = w.get(); p.Calendar[2].State != plan.TopicFailed || p.Items.Failed != 1 {
		t.Errorf("after its hour: %+v", p)
	}
}

// measure has the posts of an item have views and likes.
func (w *world) measure(itemID string, views, likes int64) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(itemID))
	if err != nil {
		w.T.Fatal(err)
	}
	r, err := item.Decode(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	r.Item.State = item.Published
	r.Item.Publications = []item.Publication{{Platform: "instagram", SocialAccountID: social.NewID(w.Now()),
		State:   item.PublicationPublished,
		Metrics: &item.Metrics{Counts: item.Counts{Views: &views, Likes: &likes}}}}
	tx := &store.Tx{}
	if err := item.Replace(tx, it, r); err != nil {
		w.T.Fatal(err)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
}

// The planner sees what worked, what is on offer and where it is published, as the writer does.
func TestThePlannerSeesTheChannel(t *testing.T) {
	w := newWorld(t)
	s := w.open()
	boot := w.sell(s, "Boot")
	s.Call(http.MethodPost, "/v1/promotions", object{"factory_id": w.factory, "product_ids": []string{boot},
		"name": "Spring sale", "discount": object{"kind": "percent", "value": 20},
		"starts_at": "2026-05-10T00:00:00+02:00", "ends_at": "2026-05-18T00:00:00+02:00"}).
		Into(t, http.StatusCreated, new(any))
	p := w.create("days", 4, "posts_per_day", 1)
	w.until(plan.Completed)
	for i, it := range w.items(p.ID) {
		w.measure(it.ID, int64(1000), int64(10*(i+1)))
	}
	w.connect("instagram")
	w.create("days", 4, "posts_per_day", 1, "starts_on", "2026-05-08")
	w.until(plan.Completed)
	q := w.writer.asked[len(w.writer.asked)-1]
	if len(q.Offers) != 1 || !strings.HasPrefix(q.Offers[0], "Spring sale, 20 % off, from 2026-05-10 to 2026-05-17") {
		t.Errorf("offers %q", q.Offers)
	}
	if len(q.Best) == 0 || len(q.Worst) == 0 || q.Best[0].Title == "" {
		t.Errorf("best %v, worst %v", q.Best, q.Worst)
	}
	if len(q.Platforms) != 1 || q.Platforms[0].Name != "Instagram" {
		t.Errorf("platforms %v", q.Platforms)
	}
}
