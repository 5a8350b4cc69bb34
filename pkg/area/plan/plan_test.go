package plan_test

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

func TestAPlanMakesItsItems(t *testing.T) {
	w := newWorld(t)
	w.Faults.Reset()
	a := w.Call(http.MethodPost, w.path(), body("content_types", []string{"short_video", "post", "carousel"},
		"posts_per_day", 3, "brief", "Vor dem Marathon", "metadata", object{"team": "sales"}))
	var made plan.Plan
	a.Into(t, http.StatusAccepted, &made)
	if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
		t.Errorf("it took %s", ops)
	}
	if a.Header.Get("Location") != w.path()+"?content_plan_id="+made.ID || a.Header.Get("Retry-After") == "" {
		t.Errorf("answered %v", a.Header)
	}
	want := plan.Plan{
		Resource: resource.New(made.ID, w.Now(), resource.Metadata{"team": "sales"}), FactoryID: w.factory,
		Days: 2, PostsPerDay: 3,
		ContentTypes: []string{"short_video", "post", "carousel"}, StartsOn: "2026-05-02", Timezone: "Europe/Berlin", Country: "DE",
		Brief: "Vor dem Marathon", ProductIDs: []string{},
		Pillars: []plan.Pillar{}, Campaigns: []plan.Campaign{}, Calendar: []plan.Topic{}, Quality: "draft", Approve: "none",
		Weekdays: calendar.Weekdays, SilentDays: []string{}, Visuals: "stills", Music: "none",
		Learned: []plan.Learned{}, State: plan.Queued, Items: plan.Items{Total: 6}, CostEstimate: made.CostEstimate,
	}
	if made.CostEstimate == 0 || !reflect.DeepEqual(made, want) {
		t.Errorf("made %+v", made)
	}
	w.Faults.Reset()
	if got := w.get(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	if ops := w.Faults.Operations(); ops != "Query BatchGetItem" {
		t.Errorf("reading took %s", ops)
	}

	w.engine.Drain()
	done := w.get()
	if done.State != plan.Completed || done.Items != (plan.Items{Total: 6, Generated: 6}) ||
		done.CompletedAt == nil || done.Failure != nil {
		t.Errorf("done %+v", done)
	}
	var got []string
	for _, it := range w.items(made.ID) {
		if it.State != item.Generated || it.FactoryID != w.factory || *it.ContentPlanID != made.ID ||
			it.Language != "de" || it.Kind == item.Video && *it.Format != item.FormatShort {
			t.Errorf("item %+v", it)
		}
		format := "01-02 15:04"
		if minute := it.PublishAt.Minute(); minute != 0 && minute != 30 {
			format = "01-02 15:xx"
		}
		got = append(got, fmt.Sprintf("%s %s", it.PublishAt.Format(format), it.Kind))
	}
	// The schedule has two times a day; the third one is in an hour of weekends in sports, at some minute.
	if want := []string{
		"05-02 07:00 carousel", "05-02 13:xx post", "05-02 16:30 video",
		"05-03 07:00 carousel", "05-03 08:xx video", "05-03 16:30 post",
	}; !slices.Equal(got, want) {
		t.Errorf("items %q", got)
	}
	if happened := w.events(made.ID); !reflect.DeepEqual(happened, map[event.Type]int{event.ContentPlanCompleted: 1}) {
		t.Errorf("happened %v", happened)
	}
	q := w.writer.asked[0]
	if !strings.Contains(q.Channel, "Laufblog") || q.Brief != "Vor dem Marathon" || len(q.Slots) != 6 ||
		q.Slots[0].Day != "Saturday, 2026-05-02" || q.Slots[2].Type != "short_video" ||
		!strings.Contains(q.System, `"de"`) || strings.Contains(q.System, "Marathon") {
		t.Errorf("asked %+v", q)
	}
	if len(done.Calendar) != 6 || done.Calendar[0].Angle == "" || done.Calendar[0].Hook == "" ||
		done.Calendar[0].Topic == "" || done.Calendar[0].ContentType != "carousel" || done.Calendar[5].Goal == "" ||
		done.Calendar[0].Angle == done.Calendar[1].Angle {
		t.Errorf("the calendar is %+v", done.Calendar)
	}
}

func TestPlansOfTheSandboxAreDeterministic(t *testing.T) {
	var prompts [2][]string
	for i := range prompts {
		w := newWorld(t)
		p := w.create("days", 20)
		w.until(plan.Generating)
		for _, it := range w.items(p.ID) {
			prompts[i] = append(prompts[i], it.Prompt)
		}
	}
	if len(prompts[0]) != 40 || !slices.Equal(prompts[0], prompts[1]) {
		t.Errorf("%d items: %q and %q", len(prompts[0]), prompts[0], prompts[1])
	}
}

func TestTheWholePriceIsReservedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	var estimated plan.Plan
	before := w.balance()
	p := w.create("days", 15, "content_types", []string{"post"})
	if p.ReservedCredits == 0 || p.ReservedCredits != p.CostEstimate || w.balance() != before-p.ReservedCredits {
		t.Errorf("%+v reserved, the balance went from %d to %d", p, before, w.balance())
	}
	for estimated = w.get(); estimated.State != plan.Generating; estimated = w.get() {
		if estimated.ReservedCredits != p.ReservedCredits || w.balance() != before-p.ReservedCredits {
			t.Fatalf("planning, %+v, the balance is %d", estimated, w.balance())
		}
		w.engine.Step()
	}
	w.engine.Drain()
	done := w.get()
	if done.Items.Generated != 30 || done.ReservedCredits != 0 || done.CostCredits != p.CostEstimate ||
		w.balance() != before-p.CostEstimate {
		t.Errorf("done %+v, the balance is %d", done, w.balance())
	}
	var sum int64
	for _, it := range w.items(p.ID) {
		sum += it.CostCredits
	}
	if sum != p.CostEstimate {
		t.Errorf("the items cost %d, the plan %d", sum, p.CostEstimate)
	}
	w.settled()
}

func TestAPlanWithoutMoneyMakesNothing(t *testing.T) {
	w := newWorld(t)
	w.live(20)
	before, rows := w.balance(), storetest.Snapshot(t, w.DB)
	w.Call(http.MethodPost, w.path(), body()).Refused(t, http.StatusPaymentRequired, errs.InsufficientBalance, "")
	if w.balance() != before || storetest.Snapshot(t, w.DB) != rows {
		t.Errorf("the balance is %d, and the table has changed", w.balance())
	}
	w.Call(http.MethodGet, w.path(), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
}

func TestBadInput(t *testing.T) {
	w := newWorld(t)
	posts := w.makeFactory("content_types", []string{"post", "story"})
	for _, c := range []struct {
		name, factory string
		body          object
		param         string
	}{
		{"no days", w.factory, body("days", 0), "/days"},
		{"91 days", w.factory, body("days", 91), "/days"},
		{"no posts", w.factory, body("posts_per_day", 0), "/posts_per_day"},
		{"11 posts", w.factory, body("posts_per_day", 11), "/posts_per_day"},
		{"no types", w.factory, body("content_types", []string{}), "/content_types"},
		{"an unknown type", w.factory, body("content_types", []string{"reel"}), "/content_types/0"},
		{"a type twice", w.factory, body("content_types", []string{"post", "post"}), "/content_types"},
		{"yesterday", w.factory, body("starts_on", "2026-04-30"), "/starts_on"},
		{"no date", w.factory, body("starts_on", "tomorrow"), "/starts_on"},
		{"a day that is none", w.factory, body("starts_on", "2026-02-30"), "/starts_on"},
		{"in two years", w.factory, body("starts_on", "2028-05-01"), "/starts_on"},
		{"a blank brief", w.factory, body("brief", " "), "/brief"},
		{"an unknown member", w.factory, body("topics", []string{"a"}), "/topics"},
		{"a type that it does not make", posts, body(), "/content_types"},
		{"a code without a failure", w.factory, body("sandbox", object{"failure_code": "timeout"}),
			"/sandbox/failure_code"},
	} {
		a := w.Call(http.MethodPost, plan.Path(c.factory), c.body)
		if a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, c.param); t.Failed() {
			t.Fatalf("%s: %s", c.name, a.Raw)
		}
	}
	w.Live().Call(http.MethodPost, w.path(), body()).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Stranger().Call(http.MethodPost, w.path(), body()).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.create("starts_on", "2026-05-01", "content_types", []string{"post"}) // today
	w.Stranger().Call(http.MethodGet, w.path(), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Live().Call(http.MethodGet, w.path(), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodGet, plan.Path("fac_1"), nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.live(1000)
	w.Call(http.MethodPost, w.path(), body("sandbox", object{"outcome": "failed"})).Refused(t,
		http.StatusUnprocessableEntity, errs.ValidationFailed, "/sandbox")
}

func TestWithoutTypesAPlanHasWhatTheFactoryMakes(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory("content_types", []string{"carousel", "story", "video"})
	var p plan.Plan
	w.Call(http.MethodPost, w.path(), object{"days": 1, "posts_per_day": 1}).Into(t, http.StatusAccepted, &p)
	if !slices.Equal(p.ContentTypes, []string{"short_video", "carousel"}) || p.Timezone != "Europe/Berlin" {
		t.Errorf("%+v", p)
	}
}

// A plan has the time zone and the country that it names, or else those of its factory.
func TestTheTimeZoneAndTheCountryOfAPlan(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		factory, plan object
		zone, country string
	}{
		{object{"language": "en"}, object{}, "UTC", ""}, {object{"language": "ja"}, object{}, "Asia/Tokyo", "JP"},
		{object{"language": "en", "region": "GB"}, object{}, "Europe/London", "GB"},
		{object{"language": "en"}, object{"timezone": "America/Chicago"}, "America/Chicago", "US"},
		{object{"language": "en"}, object{"country": "IN"}, "Asia/Kolkata", "IN"},
		{object{"language": "de", "schedule": object{"timezone": "Europe/Vienna", "times": []string{}}}, object{},
			"Europe/Vienna", "AT"},
		{object{"language": "de", "schedule": object{"timezone": "Europe/Vienna", "times": []string{}}},
			object{"timezone": "Asia/Tokyo", "country": "CH"}, "Asia/Tokyo", "CH"},
	} {
		var members []any
		for name, value := range c.factory {
			members = append(members, name, value)
		}
		w.factory = w.makeFactory(members...)
		var p plan.Plan
		sent := object{"days": 1, "posts_per_day": 1}
		maps.Copy(sent, c.plan)
		w.Call(http.MethodPost, w.path(), sent).Into(t, http.StatusAccepted, &p)
		if p.Timezone != c.zone || string(p.Country) != c.country {
			t.Errorf("%v of %v is in %s and %q, want %s and %q", c.plan, c.factory, p.Timezone, p.Country, c.zone, c.country)
		}
	}
	for param, member := range map[string]any{"/timezone": "Berlin", "/country": "Germany"} {
		w.Call(http.MethodPost, w.path(), body(strings.Trim(param, "/"), member)).Refused(t, 422, errs.ValidationFailed,
			param)
	}
}

// Stories and long videos are planned where they are asked for, and stories also where a factory makes nothing else.
func TestAPlanHasStoriesAndLongVideos(t *testing.T) {
	w := newWorld(t)
	p := w.create("days", 1, "content_types", []string{"story", "long_video"})
	w.engine.Drain()
	var got []string
	for _, it := range w.items(p.ID) {
		format := "-"
		if it.Format != nil {
			format = *it.Format
		}
		got = append(got, fmt.Sprint(it.Kind, " ", format, " ", it.State))
	}
	if slices.Sort(got); !slices.Equal(got, []string{"story - generated", "video long generated"}) {
		t.Errorf("items %q", got)
	}
	if asked := w.writer.asked[0].Slots; len(asked) != 2 || asked[0].Type == asked[1].Type {
		t.Errorf("asked for %+v", asked)
	}
	w.factory = w.makeFactory("content_types", []string{"story"})
	w.Call(http.MethodPost, w.path(), object{"days": 1, "posts_per_day": 1}).Into(t, http.StatusAccepted, &p)
	if !slices.Equal(p.ContentTypes, []string{"story"}) {
		t.Errorf("%+v", p)
	}
}

func TestTheOutcomeOfTheSandboxIsThatOfEachItem(t *testing.T) {
	w := newWorld(t)
	p := w.create("sandbox", object{"outcome": "failed", "failure_code": "content_policy"})
	w.engine.Drain()
	if got := w.get(); got.State != plan.Failed || got.Items != (plan.Items{Total: 4, Failed: 4}) {
		t.Errorf("failed: %+v", got)
	}
	if it := w.items(p.ID)[0]; it.Failure == nil || it.Failure.Code != "content_policy" {
		t.Errorf("%+v", it)
	}
	w.create("starts_on", "2026-06-01", "sandbox", object{"outcome": "published"})
	w.engine.Drain()
	if got := w.get(); got.Items != (plan.Items{Total: 4, Generated: 4, Published: 4}) {
		t.Errorf("published: %+v", got)
	}
	w.Call(http.MethodPost, w.path(), body("starts_on", "2026-07-01", "sandbox",
		object{"outcome": "insufficient_balance"})).Refused(t, http.StatusPaymentRequired, errs.InsufficientBalance, "")
}

func TestOverlappingPlansNeedReplace(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	before := w.balance()
	first := w.create("days", 20, "content_types", []string{"post"})
	a := w.Call(http.MethodPost, w.path(), body("starts_on", "2026-05-21"))
	a.Refused(t, http.StatusConflict, errs.InvalidState, "")
	a.Context(t, `{"state":"planned","allowed":["replace"]}`)
	w.create("starts_on", "2026-05-22") // other days need no leave
	for w.get(); len(w.items(first.ID)) == 0; {
		w.engine.Step()
	}
	second := w.create("days", 3, "starts_on", "2026-05-10", "replace", true, "content_types", []string{"post"})
	w.engine.Drain()
	var kept int64
	for _, it := range w.items(first.ID) {
		switch it.State {
		case item.Generated:
			kept++
		case item.Canceled:
			if w.events(it.ID)[event.ContentCanceled] != 1 {
				t.Errorf("%s was canceled without an event", it.ID)
			}
		default:
			t.Errorf("%s is %s", it.ID, it.State)
		}
	}
	if kept == 40 {
		t.Errorf("%d items of the first plan were generated", kept)
	}
	if w.events(first.ID)[event.ContentPlanCompleted] != 0 {
		t.Error("a replaced plan was completed")
	}
	if got := w.get(); got.ID != second.ID || got.State != plan.Completed || got.Items.Generated != 6 {
		t.Errorf("the second plan: %+v", got)
	}
	// The first plan can still be read by its id, as the answer that made it says.
	var replaced plan.Plan
	w.Call(http.MethodGet, w.path()+"?content_plan_id="+first.ID, nil).Into(t, http.StatusOK, &replaced)
	if replaced.ID != first.ID || replaced.State != plan.Canceled || replaced.Items.Generated != kept {
		t.Errorf("the first plan: %+v", replaced)
	}
	w.Call(http.MethodGet, w.path()+"?content_plan_id=pln_01h455vb4pex5vsknk084sn02q", nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodGet, w.path()+"?content_plan_id="+w.factory, nil).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "content_plan_id")
	w.Stranger().Call(http.MethodGet, w.path()+"?content_plan_id="+first.ID, nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	if w.balance() >= before || before-w.balance() > second.CostEstimate*(kept+4+6+40)/6 {
		t.Errorf("it all cost %d", before-w.balance())
	}
	w.settled()
	// A plan that has ended is replaced without a cancellation.
	w.create("days", 3, "starts_on", "2026-05-10", "replace", true, "content_types", []string{"post"})
	w.engine.Drain()
	if got := w.get(); got.State != plan.Completed || got.Items.Generated != 6 {
		t.Errorf("the third plan: %+v", got)
	}
}

// A plan whose items are all made has no reservation left to release when it ends.
func TestAPlanWhoseItemsAreMadeIsReplaced(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	first := w.create("days", 3, "content_types", []string{"post"})
	for len(w.items(first.ID)) == 0 {
		w.engine.Step()
	}
	w.create("days", 3, "replace", true, "content_types", []string{"post"})
	w.engine.Drain()
	var replaced plan.Plan
	w.Call(http.MethodGet, w.path()+"?content_plan_id="+first.ID, nil).Into(t, http.StatusOK, &replaced)
	if replaced.State != plan.Canceled || len(w.items(first.ID)) != 6 {
		t.Errorf("of %d items: %+v", len(w.items(first.ID)), replaced)
	}
	if got := w.get(); got.State != plan.Completed {
		t.Errorf("the second plan: %+v", got)
	}
	w.settled()
}

func TestNearDuplicatesAreAskedForAgain(t *testing.T) {
	w := newWorld(t)
	var it item.Item
	w.Call(http.MethodPost, "/v1/content-items", object{"factory_id": w.factory, "kind": "post",
		"prompt": "Zehn Tipps für besseren Schlaf"}).Into(t, http.StatusAccepted, &it)
	w.engine.Drain()
	answers := [][]string{
		{"10 Tipps für besseren Schlaf", "Warum Socken wichtig sind", "warum Socken wichtig sind!",
			"Frühstück vor dem Lauf"},
		{"Dehnen nach dem Training", "Warum sind Socken wichtig"},
		{"Laufen im Regen"},
	}
	w.writer.topics = func(question) ([]string, error) {
		next := answers[0]
		answers = answers[1:]
		return next, nil
	}
	p := w.create()
	w.engine.Drain()
	var topics []string
	for _, it := range w.items(p.ID) {
		topics = append(topics, it.Prompt)
	}
	if want := []string{"Dehnen nach dem Training", "Warum Socken wichtig sind", "Laufen im Regen",
		"Frühstück vor dem Lauf"}; !slices.Equal(topics, want) {
		t.Errorf("topics %q", topics)
	}
	asked := w.writer.asked
	if len(asked) != 3 || !slices.Contains(asked[0].Avoid, "Zehn Tipps für besseren Schlaf") ||
		!slices.Contains(asked[1].Avoid, "warum Socken wichtig sind!") ||
		!slices.Contains(asked[1].Avoid, "Frühstück vor dem Lauf") || asked[2].Slots[0].Slot != 3 {
		t.Errorf("asked %+v", asked)
	}
}

func TestSlotsWithoutANewTopicAreDropped(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	before := w.balance()
	w.writer.topics = func(q question) ([]string, error) { return []string{"Laufen im Regen"}, nil }
	p := w.create("content_types", []string{"post"})
	w.engine.Drain()
	got := w.get()
	if got.State != plan.Completed || got.Items != (plan.Items{Total: 4, Generated: 1, Failed: 3}) ||
		got.ReservedCredits != 0 || got.CostCredits != p.CostEstimate/4 {
		t.Errorf("%+v", got)
	}
	if len(w.items(p.ID)) != 1 || before-w.balance() != p.CostEstimate/4 {
		t.Errorf("%d items, %d credits", len(w.items(p.ID)), before-w.balance())
	}
	w.settled()
}

func TestAPlanOfAModelThatFailsReleasesItsMoney(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   *provider.Error
		code  provider.FailureCode
		tries int
	}{
		{"unreachable", &provider.Error{Kind: provider.Transient, Code: "unavailable", Message: "Later."},
			provider.FailedProviderUnavailable, 7},
		{"refused", &provider.Error{Kind: provider.BadInput, Code: "content_policy", Message: "No."},
			"content_policy", 1},
	} {
		w := newWorld(t)
		w.live(100_000)
		before, tries := w.balance(), 0
		w.writer.topics = func(question) ([]string, error) { tries++; return nil, c.err }
		p := w.create()
		w.engine.Drain()
		got := w.get()
		if got.State != plan.Failed || got.Failure == nil || got.Failure.Code != c.code ||
			got.Items != (plan.Items{Total: 4, Failed: 4}) || got.ReservedCredits != 0 || w.balance() != before ||
			tries != c.tries {
			t.Errorf("%s: after %d tries %+v, %+v", c.name, tries, got, got.Failure)
		}
		if w.events(p.ID)[event.ContentPlanFailed] != 1 {
			t.Errorf("%s: %v", c.name, w.events(p.ID))
		}
		w.settled()
	}
}

func TestAPlanWaitsForRoom(t *testing.T) {
	w := newWorld(t)
	tx := &store.Tx{}
	key := store.IDKey("waiting#" + w.Principal.Owner.String())
	tx.Count(key, 990, 1000, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	p := w.create()
	for range 20 {
		w.engine.Step()
	}
	if len(w.writer.asked) > 0 || len(w.items(p.ID)) > 0 {
		t.Fatalf("asked %d times without room", len(w.writer.asked))
	}
	tx = &store.Tx{}
	tx.Count(key, -990, 1000, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.engine.Drain()
	if got := w.get(); got.State != plan.Completed {
		t.Errorf("%+v", got)
	}
}

func TestCountsFollowTheItems(t *testing.T) {
	w := newWorld(t)
	w.live(100_000)
	p := w.create("content_types", []string{"post"})
	price := p.CostEstimate / 4
	w.until(plan.Generating)
	items := w.items(p.ID)
	change := func(method, itemID, action string, status int) {
		t.Helper()
		var changed item.Item
		w.Call(method, "/v1/content-items/"+itemID+action, nil).Into(t, status, &changed)
	}
	change(http.MethodPost, items[0].ID, "/cancel", http.StatusOK)
	change(http.MethodDelete, items[1].ID, "", http.StatusOK)
	if got := w.get(); got.Items != (plan.Items{Total: 4, Canceled: 2}) || got.ReservedCredits != 2*price {
		t.Errorf("canceled: %+v", got)
	}
	change(http.MethodPost, items[0].ID, "/regenerate", http.StatusAccepted)
	if got := w.get(); got.Items != (plan.Items{Total: 4, Canceled: 1}) || got.ReservedCredits != 3*price {
		t.Errorf("regenerated: %+v", got)
	}
	w.engine.Drain()
	if got := w.get(); got.State != plan.Completed ||
		got.Items != (plan.Items{Total: 4, Canceled: 1, Generated: 3}) || got.CostCredits != 3*price {
		t.Errorf("completed: %+v", got)
	}
	// After the end the counts go on, and the event is not repeated.
	change(http.MethodPost, items[2].ID, "/regenerate", http.StatusAccepted)
	w.engine.Drain()
	change(http.MethodDelete, items[3].ID, "", http.StatusOK)
	if got := w.get(); got.State != plan.Completed ||
		got.Items != (plan.Items{Total: 4, Canceled: 1, Generated: 3}) || got.CostCredits != 4*price {
		t.Errorf("later: %+v", got)
	}
	if w.events(p.ID)[event.ContentPlanCompleted] != 1 {
		t.Errorf("%v", w.events(p.ID))
	}
	w.settled()
}

// A step that is repeated, because its answer was lost, makes nothing twice.
func TestAPlanSurvivesLostAnswers(t *testing.T) {
	for _, call := range []string{"PutItem", "TransactWriteItems", "BatchGetItem"} {
		w := newWorld(t)
		w.live(100_000)
		before := w.balance()
		p := w.create("days", 13, "content_types", []string{"post"})
		for n := 0; ; n++ {
			if w.Faults.Reset(); n%3 == 0 {
				w.Faults.Lose(call, 1)
			}
			if !w.engine.Step() {
				break
			}
		}
		w.Faults.Reset()
		got := w.get()
		if got.State != plan.Completed || got.Items != (plan.Items{Total: 26, Generated: 26}) ||
			len(w.items(p.ID)) != 26 || before-w.balance() != p.CostEstimate {
			t.Errorf("%s: %+v, %d items, %d credits", call, got, len(w.items(p.ID)), before-w.balance())
		}
		w.settled()
	}
}
