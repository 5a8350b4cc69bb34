package plan_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
)

func (w *world) topics() string { return w.path() + "/topics" }

func (w *world) topicPath(number int) string { return fmt.Sprint(w.topics(), "/", number) }

// propose plans with topics that wait for an approval, and waits for them. It plans ten days with one post each.
func (w *world) propose(members ...any) plan.Plan {
	w.T.Helper()
	w.create(append([]any{"approve", "topics", "days", 10, "posts_per_day", 1, "content_types", []string{"post"}},
		members...)...)
	return w.until(plan.Proposed)
}

// within takes steps for some time, or until there are none.
func (w *world) within(d time.Duration) {
	w.T.Helper()
	for end := w.Now().Add(d); w.Now().Before(end) && w.engine.Step(); {
	}
}

// approveTopics approves topics by their numbers, or all.
func (w *world) approveTopics(numbers ...int) (p plan.Plan) {
	w.T.Helper()
	sent := object{}
	if len(numbers) > 0 {
		sent["numbers"] = numbers
	}
	w.Call(http.MethodPost, w.topics()+"/approve", sent).Into(w.T, http.StatusAccepted, &p)
	w.Clock.Add(time.Second)
	return p
}

func (w *world) topic(number int) (t plan.Topic) {
	w.T.Helper()
	w.Call(http.MethodGet, w.topicPath(number), nil).Into(w.T, http.StatusOK, &t)
	return t
}

// topicStates counts the topics of the plan by their state.
func (w *world) topicStates() map[plan.TopicState]int {
	w.T.Helper()
	all := map[plan.TopicState]int{}
	for _, one := range w.get().Calendar {
		all[one.State]++
	}
	return all
}

func TestBadInputAboutTopics(t *testing.T) {
	w := newWorld(t)
	for param, members := range map[string][]any{
		"/approve": {"approve", "items"}, "/write_ahead_hours": {"write_ahead_hours", 0},
	} {
		w.Call(http.MethodPost, w.path(), body(members...)).Refused(t, 422, errs.ValidationFailed, param)
	}
	w.Call(http.MethodGet, w.topicPath(1), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.create("starts_on", "2026-08-01")
	w.Call(http.MethodPost, w.topics()+"/approve", object{}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.until(plan.Generating) // all at once
	w.Call(http.MethodPatch, w.topicPath(1), object{"topic": "Neu"}).Refused(t, http.StatusConflict, errs.InvalidState, "")

	p := w.propose()
	in := func(d time.Duration) string { return w.Now().Add(d).Format(time.RFC3339) }
	day := 24 * time.Hour
	for name, c := range map[string]struct {
		method string
		path   string
		sent   any
		param  string
	}{
		"no topic":        {http.MethodPost, w.topics(), object{"publish_at": in(2 * day)}, "/topic"},
		"a blank topic":   {http.MethodPost, w.topics(), object{"topic": " ", "publish_at": in(2 * day)}, "/topic"},
		"two lines":       {http.MethodPost, w.topics(), object{"topic": "a\nb", "publish_at": in(2 * day)}, "/topic"},
		"a long topic":    {http.MethodPatch, w.topicPath(1), object{"topic": strings.Repeat("ü", 201)}, "/topic"},
		"a long angle":    {http.MethodPatch, w.topicPath(1), object{"angle": strings.Repeat("ü", 61)}, "/angle"},
		"a long hook":     {http.MethodPatch, w.topicPath(1), object{"hook": strings.Repeat("ü", 121)}, "/hook"},
		"no time":         {http.MethodPost, w.topics(), object{"topic": "Neu"}, "/publish_at"},
		"the past":        {http.MethodPatch, w.topicPath(1), object{"publish_at": in(-time.Minute)}, "/publish_at"},
		"another day":     {http.MethodPatch, w.topicPath(1), object{"publish_at": in(11 * day)}, "/publish_at"},
		"an unknown type": {http.MethodPatch, w.topicPath(1), object{"content_type": "video"}, "/content_type"},
		"another type":    {http.MethodPatch, w.topicPath(1), object{"content_type": "story"}, "/content_type"},
		"a product":       {http.MethodPatch, w.topicPath(1), object{"product_id": w.factory}, "/product_id"},
		"a state":         {http.MethodPatch, w.topicPath(1), object{"state": "approved"}, "/state"},
		"no numbers":      {http.MethodPost, w.topics() + "/approve", object{"numbers": []int{}}, "/numbers"},
		"a wrong number":  {http.MethodPost, w.topics() + "/approve", object{"numbers": []int{1, 99}}, "/numbers/1"},
		"a plan by name":  {http.MethodGet, w.topicPath(1) + "?content_plan_id=one", nil, "content_plan_id"},
	} {
		a := w.Call(c.method, c.path, c.sent)
		if a.Refused(t, 422, errs.ValidationFailed, c.param); t.Failed() {
			t.Fatalf("%s: %s", name, a.Raw)
		}
	}
	w.Call(http.MethodGet, w.topicPath(11), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	for method, path := range map[string]string{http.MethodGet: w.topicPath(1), http.MethodDelete: w.topicPath(1),
		http.MethodPost: w.topics() + "/approve"} {
		var sent any
		if method == http.MethodPost {
			sent = object{}
		}
		w.Stranger().Call(method, path, sent).Refused(t, http.StatusNotFound, errs.NotFound, "")
		w.Live().Call(method, path, sent).Refused(t, http.StatusNotFound, errs.NotFound, "")
	}
	if got := w.get(); got.Version != p.Version || w.topicStates()[plan.TopicProposed] != 10 {
		t.Errorf("refused calls have changed %+v", got)
	}
}

// A plan stops at its topics, which cost nothing. They are read, changed, dropped, added and approved, and each item is
// written two days before its time.
func TestTopicsAreApprovedBeforeTheyCost(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	before := w.balance()
	p := w.propose()
	if w.balance() != before || p.ReservedCredits != 0 || p.CostEstimate == 0 || len(w.items(p.ID)) != 0 ||
		*p.WriteAheadHours != 48 || p.Approve != "topics" || len(p.Calendar) != 10 {
		t.Fatalf("%d of %d credits, %+v", w.balance(), before, p)
	}
	price := p.CostEstimate / 10
	// Topic 1 is changed, 2 is dropped, and 11 is added.
	first := w.topic(1)
	if first.State != plan.TopicProposed || first.Version != 1 || first.Topic == "" || first.ContentItemID != "" {
		t.Fatalf("%+v", first)
	}
	var changed plan.Topic
	w.Call(http.MethodPatch, w.topicPath(1), object{"topic": "Unser linker Schuh", "angle": nil}, "If-Match", `"1"`).
		Into(t, http.StatusOK, &changed)
	if changed.Topic != "Unser linker Schuh" || changed.Angle != "" || changed.Hook != first.Hook || changed.Version != 2 ||
		!changed.PublishAt.Equal(first.PublishAt.Time) || changed.Goal != first.Goal {
		t.Errorf("changed: %+v", changed)
	}
	w.Call(http.MethodPatch, w.topicPath(1), object{"topic": "Zu spät"}, "If-Match", `"1"`).
		Refused(t, http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	w.Call(http.MethodDelete, w.topicPath(2), nil).Into(t, http.StatusOK, &changed)
	if changed.State != plan.TopicDiscarded {
		t.Errorf("dropped: %+v", changed)
	}
	w.Call(http.MethodPatch, w.topicPath(2), object{"topic": "Neu"}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.Call(http.MethodPost, w.topics(), object{"topic": "Ein Tag am Deich", "publish_at": first.PublishAt.Add(time.Hour)}).
		Into(t, http.StatusCreated, &changed)
	if changed.Number != 11 || changed.State != plan.TopicProposed || changed.ContentType != "post" {
		t.Errorf("added: %+v", changed)
	}
	w.Clock.Add(time.Second)
	// One is approved, then all: each is paid once.
	if p = w.approveTopics(3, 4); p.State != plan.Proposed || p.ReservedCredits != 2*price ||
		w.balance() != before-2*price {
		t.Errorf("approved two: %+v, %d credits", p, before-w.balance())
	}
	w.approveTopics(3) // again
	if p = w.approveTopics(); p.State != plan.Generating || w.balance() != before-10*price ||
		p.CostEstimate != 10*price {
		t.Errorf("approved all: %+v, %d credits", p, before-w.balance())
	}
	w.Call(http.MethodPost, w.topics()+"/approve", object{}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	// One that is approved can still be changed, but for its type, and dropped: its money comes back.
	w.Call(http.MethodPatch, w.topicPath(3), object{"topic": "Ein neuer Gedanke"}).Into(t, http.StatusOK, &changed)
	w.Call(http.MethodDelete, w.topicPath(4), nil).Into(t, http.StatusOK, &changed)
	if w.balance() != before-9*price {
		t.Errorf("%d credits are held", before-w.balance())
	}
	written := map[string]time.Time{}
	w.engine.Drain()
	for _, it := range w.items(p.ID) {
		lead := it.PublishAt.Sub(it.CreatedAt.Time)
		if lead > 48*time.Hour || lead < 12*time.Hour {
			t.Errorf("%q is written %v before its time", it.Prompt, lead)
		}
		written[it.Prompt] = it.PublishAt.Time
	}
	p = w.get()
	if p.State != plan.Completed || p.Items.Generated != 9 || p.Items.Canceled != 2 || p.Items.Total != 11 ||
		p.CostCredits != 9*price || p.ReservedCredits != 0 || len(written) != 9 {
		t.Errorf("%+v, %d written", p, len(written))
	}
	if _, known := written["Ein neuer Gedanke"]; !known || written["Unser linker Schuh"].IsZero() ||
		written["Ein Tag am Deich"].IsZero() {
		t.Errorf("%v", written)
	}
	if at := w.topic(1); at.State != plan.TopicCompleted || w.item(string(at.ContentItemID)).Prompt != at.Topic {
		t.Errorf("%+v", at)
	}
	if happened := w.events(p.ID); happened[event.ContentPlanProposed] != 1 ||
		happened[event.ContentPlanCompleted] != 1 {
		t.Errorf("happened: %v", happened)
	}
	w.Call(http.MethodPost, w.topics()+"/approve", object{}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.settled()
}

// An approval that the balance does not cover approves nothing.
func TestAnApprovalNeedsMoney(t *testing.T) {
	w := newWorld(t)
	w.live(1)
	p := w.propose()
	w.Call(http.MethodPost, w.topics()+"/approve", object{}).Refused(t, http.StatusPaymentRequired,
		errs.InsufficientBalance, "")
	if got := w.get(); got.State != plan.Proposed || w.topicStates()[plan.TopicProposed] != 10 || w.balance() != 1 ||
		got.Version != p.Version {
		t.Errorf("%+v", got)
	}
}

// Topics that nobody approves in time are missed. A plan without any other has made nothing.
func TestTopicsThatNobodyApprovesAreMissed(t *testing.T) {
	w := newWorld(t)
	w.live(1000)
	w.propose()
	w.within(5 * 24 * time.Hour)
	if states := w.topicStates(); states[plan.TopicExpired] == 0 || states[plan.TopicProposed] == 0 {
		t.Errorf("%v", states)
	}
	w.engine.Drain()
	if got := w.get(); got.State != plan.Canceled || got.Items.Canceled != 10 || w.balance() != 1000 {
		t.Errorf("%+v", got)
	}
	w.settled()
}

// The clock of the sandbox writes the items whose time comes.
func TestTheClockOfTheSandboxWritesItems(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory("type", "news", "settings", object{}, "plan_approve", "topics")
	w.create("days", 10, "posts_per_day", 1, "content_types", []string{"post"})
	p := w.until(plan.Proposed)
	if p.Approve != "topics" || *p.WriteAheadHours != 2 {
		t.Fatalf("%+v", p)
	}
	w.approveTopics()
	if w.steps(1); len(w.items(p.ID)) != 0 {
		t.Error("items were written days before")
	}
	began := w.Now()
	for _, days := range []int64{5, 20} {
		tx := &store.Tx{}
		if _, err := testclock.Add(t.Context(), w.DB, tx, w.Principal.Owner, testclock.Move{At: w.Now(),
			Seconds: days * 24 * 3600}); err != nil {
			t.Fatal(err)
		}
		if err := plan.StartAdvance(tx, w.Now(), w.Principal.Account); err != nil {
			t.Fatal(err)
		}
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		w.Clock.Add(time.Second)
		w.within(time.Minute)
		if n := len(w.items(p.ID)); days == 5 && (n < 4 || n > 6) || days == 20 && n != 10 {
			t.Errorf("after %d days, %d items are written", days, n)
		}
	}
	if got := w.get(); got.State != plan.Completed || w.Now().Sub(began) > 24*time.Hour {
		t.Errorf("%+v after %v", got, w.Now().Sub(began))
	}
}

// News without an approval are written just in time, too, and their whole price is reserved.
func TestNewsAreWrittenJustInTime(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	w.factory = w.makeFactory("type", "news", "settings", object{})
	before := w.balance()
	p := w.create("days", 3, "posts_per_day", 10, "content_types", []string{"post"})
	if before-w.balance() != p.CostEstimate || p.ReservedCredits != p.CostEstimate {
		t.Errorf("%d credits are held for %+v", before-w.balance(), p)
	}
	w.until(plan.Generating)
	if n := len(w.items(p.ID)); n != 0 {
		t.Errorf("%d items are written", n)
	}
	w.engine.Drain()
	for _, it := range w.items(p.ID) {
		if lead := it.PublishAt.Sub(it.CreatedAt.Time); lead > 2*time.Hour || lead < time.Hour {
			t.Errorf("%q is written %v before its time", it.Prompt, lead)
		}
	}
	got := w.get()
	if got.State != plan.Completed || got.Items.Generated != 30 || got.CostCredits != p.CostEstimate {
		t.Errorf("%+v", got)
	}
	w.settled()
}

// A plan that is replaced gives the money of its approved topics back, and so does one whose factory is deleted.
func TestPlansWithTopicsAreCanceled(t *testing.T) {
	for name, end := range map[string]func(w *world){
		"replaced": func(w *world) {
			w.create("approve", "topics", "days", 3, "replace", true, "content_types", []string{"post"})
		},
		"deleted": func(w *world) { w.Call(http.MethodDelete, w.at(), nil) },
	} {
		for _, approved := range [][]int{nil, {1, 2, 3}} {
			w := newWorld(t)
			w.live(100_000)
			before := w.balance()
			p := w.propose()
			if approved != nil {
				w.approveTopics(approved[:2]...)
				w.approveTopics(approved[2:]...)
				w.steps(8)
			}
			made := len(w.items(p.ID))
			end(w)
			w.Clock.Add(time.Second)
			w.engine.Drain()
			var spent int64
			for _, it := range w.items(p.ID) {
				if it.State != item.Generated && it.State != item.Canceled {
					t.Errorf("%s: %s is %s", name, it.ID, it.State)
				}
				spent += it.CostCredits
			}
			if before-w.balance() != spent || approved != nil && made == 0 {
				t.Errorf("%s with %v: %d credits are missing, and %d were spent for %d items", name, approved,
					before-w.balance(), spent, made)
			}
			w.settled()
			if name == "replaced" {
				var old plan.Plan
				w.Call(http.MethodGet, w.path()+"?content_plan_id="+p.ID, nil).Into(t, http.StatusOK, &old)
				if old.State != plan.Canceled || old.ReservedCredits != 0 ||
					old.Items.Canceled+old.Items.Generated+old.Items.Failed != 10 {
					t.Errorf("%+v", old)
				}
				w.Call(http.MethodPost, w.topics()+"/approve?content_plan_id="+p.ID, object{}).Refused(t,
					http.StatusConflict, errs.InvalidState, "")
			}
		}
	}
}

// A plan for a single day takes that day alone from one whose items are written at their times.
func TestASingleDayIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	before := w.balance()
	old := w.propose("starts_on", "2026-05-10")
	w.approveTopics(1, 2, 3, 4, 5)
	price := old.CostEstimate / 10
	again := []any{"approve", "topics", "days", 1, "posts_per_day", 1, "content_types", []string{"post"},
		"starts_on", "2026-05-12"}
	w.Call(http.MethodPost, w.path(), body(again...)).Refused(t, http.StatusConflict, errs.InvalidState, "")
	day := w.create(append(again, "replace", true)...)
	w.until(plan.Proposed)
	w.within(time.Minute)
	at := "?content_plan_id=" + old.ID
	var one plan.Topic
	for number, want := range map[int]plan.TopicState{2: plan.TopicApproved, 3: plan.TopicDiscarded,
		6: plan.TopicProposed} {
		w.Call(http.MethodGet, w.topicPath(number)+at, nil).Into(t, http.StatusOK, &one)
		if one.State != want {
			t.Errorf("topic %d is %s, want %s", number, one.State, want)
		}
	}
	if w.balance() != before-4*price {
		t.Errorf("%d credits are held, and an item costs %d", before-w.balance(), price)
	}
	// The day has been given: a third plan may take it from the second one, as a whole.
	third := w.create(append(again, "replace", true)...)
	w.until(plan.Proposed)
	var p plan.Plan
	w.Call(http.MethodGet, w.path()+"?content_plan_id="+day.ID, nil).Into(t, http.StatusOK, &p)
	if p.State != plan.Canceled {
		t.Errorf("the second plan is %s", p.State)
	}
	w.Call(http.MethodPost, w.topics()+"/approve"+at, object{}).Into(t, http.StatusAccepted, &p)
	w.engine.Drain()
	w.Call(http.MethodGet, w.path()+at, nil).Into(t, http.StatusOK, &p)
	if p.State != plan.Completed || p.Items.Generated != 9 || p.Items.Canceled != 1 || len(w.items(third.ID)) != 0 {
		t.Errorf("%+v", p)
	}
	w.settled()
}

// Two changes of the same moment do not lose one of them, and lost answers do nothing twice.
func TestTopicsSurviveRacesAndLostAnswers(t *testing.T) {
	for _, call := range []string{"PutItem", "TransactWriteItems", "BatchGetItem"} {
		w := newWorld(t)
		w.live(100_000)
		before := w.balance()
		lost := func(until plan.State) {
			for n := 0; n < 4000; n++ {
				if w.Faults.Reset(); n%3 == 0 {
					w.Faults.Lose(call, 1)
				}
				if !w.engine.Step() || w.get().State == until {
					break
				}
			}
			w.Faults.Reset()
		}
		p := w.create("approve", "topics", "days", 26, "posts_per_day", 1, "content_types", []string{"post"})
		lost(plan.Proposed)
		raced := false
		w.Faults.Before("TransactWriteItems", func() {
			if !raced {
				raced = true
				w.Call(http.MethodPatch, w.topicPath(2), object{"topic": "Gleichzeitig geändert"})
			}
		})
		w.approveTopics()
		w.Faults.Reset()
		if at := w.topic(2); at.Topic != "Gleichzeitig geändert" || at.State != plan.TopicApproved {
			t.Errorf("%+v", at)
		}
		lost(plan.Completed)
		w.engine.Drain()
		got := w.get()
		if got.State != plan.Completed || got.Items.Generated != 26 || len(w.items(p.ID)) != 26 ||
			before-w.balance() != got.CostEstimate {
			t.Errorf("%s: %+v, %d items, %d credits", call, got, len(w.items(p.ID)), before-w.balance())
		}
		w.settled()
	}
}
