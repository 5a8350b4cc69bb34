package plan_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/plan"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// connect attaches a connected account to the factory.
func (w *world) connect(name string) string {
	w.T.Helper()
	now := w.Now()
	r := &social.Record{Account: social.Account{Resource: resource.New(social.NewID(now), now, nil), Platform: name,
		FactoryIDs: []string{w.factory}}, PlatformID: "sandbox-" + name}
	it, err := r.Item(w.Principal.Owner)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	if err := r.Connect(tx, now, it, platform.Token{}); err != nil {
		w.T.Fatal(err)
	}
	f, err := w.DB.Get(w.T.Context(), factoryrecord.Key(w.factory))
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err := factoryrecord.Attach(&f, r.ID, now); err != nil {
		w.T.Fatal(err)
	}
	tx.Replace(f)
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	return r.ID
}

// states counts the items of a plan by their states.
func (w *world) states(planID string) map[item.State]int {
	w.T.Helper()
	found := map[item.State]int{}
	for _, it := range w.items(planID) {
		found[it.State]++
	}
	return found
}

func (w *world) change(body object) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, body).Into(w.T, http.StatusOK, new(object))
}

// A factory that publishes automatically from some time on schedules the items that its plan holds, generated or not.
func TestAutoPublishTurnedOnLaterSchedulesThePlan(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	p := w.create("days", 10, "posts_per_day", 6, "content_types", []string{"post"})
	for w.states(p.ID)[item.Generated] < 20 {
		if !w.engine.Step() {
			t.Fatal("nothing is generated")
		}
	}
	if got := w.states(p.ID); got[item.Scheduled] > 0 || got[item.Queued]+got[item.Generating] == 0 &&
		w.get().State == plan.Generating {
		t.Fatalf("before, the items are %v", got)
	}
	all := w.items(p.ID)
	var held item.Item
	for _, it := range all {
		if it.State == item.Generated {
			held = it
		}
	}
	// The caller has taken one out of the plan's times.
	w.Call(http.MethodPost, "/v1/content-items/"+held.ID+"/schedule", object{"publish_at": nil}).Into(t,
		http.StatusOK, &held)
	w.change(object{"auto_publish": true})
	for range 20_000 {
		if w.get().State == plan.Completed || !w.engine.Step() {
			break
		}
	}
	// The last step begins to publish the first one.
	for first := *all[0].PublishAt; w.Now().Before(first.Time) && w.engine.Step(); {
	}
	got := w.states(p.ID)
	if got[item.Generated] != 1 || got[item.Scheduled]+got[item.Publishing] != 59 {
		t.Errorf("the items are %v", got)
	}
	for _, it := range w.items(p.ID) {
		if it.State == item.Scheduled && (len(it.Publications) != 1 || it.PublishAt == nil) {
			t.Fatalf("%+v", it)
		}
	}
}

// Items that a key without content:publish ordered stay generated, and so do those whose time is past.
func TestAutoPublishLeavesWhatItMayNotPublish(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	all := w.Principal.Scopes
	w.Principal.Scopes = []auth.Scope{auth.FactoriesRead, auth.FactoriesWrite, auth.ContentRead, auth.ContentWrite,
		auth.AccountRead}
	ordered := w.create("content_types", []string{"post"})
	w.engine.Drain()
	w.Principal.Scopes = all
	past := w.create("content_types", []string{"post"}, "starts_on", "2026-05-10")
	w.engine.Drain()
	w.Clock.Add(time.Date(2026, 5, 10, 14, 0, 0, 0, time.UTC).Sub(w.Now()))
	w.change(object{"auto_publish": true})
	for range 50 {
		if !w.engine.Step() {
			break
		}
	}
	if got := w.states(ordered.ID); got[item.Generated] != 4 {
		t.Errorf("without the scope the items are %v", got)
	}
	// Of four items, that of 09:00 in Berlin is past.
	if got := w.states(past.ID); got[item.Generated] != 1 {
		t.Errorf("the items are %v", got)
	}
}

// approve approves an item, and returns the answer.
func (w *world) approve(it item.Item) (out item.Item) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/approve", nil).Into(w.T, http.StatusOK, &out)
	return out
}

// settle takes steps until an item is scheduled, or ten steps have been taken.
func (w *world) settle(it item.Item) (out item.Item) {
	w.T.Helper()
	for range 10 {
		w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(w.T, http.StatusOK, &out)
		if out.State != item.Generated || !w.engine.Step() {
			break
		}
	}
	return out
}

// An item of a plan that waits for its approval is scheduled for its time once it is approved, whatever auto_publish
// is. What is only planned waits for a slot, and says so.
func TestApprovedItemsOfAPlanAreScheduled(t *testing.T) {
	w := newWorld(t)
	w.change(object{"approval": "required"})
	first := w.create("content_types", []string{"post"}, "days", 1)
	w.until(plan.Completed)
	all := w.items(first.ID)
	for _, it := range all {
		if it.State != item.Generated || it.WaitsFor != item.WaitsForApproval {
			t.Fatalf("before: %s, waits for %s", it.State, it.WaitsFor)
		}
	}
	if got := w.approve(all[0]); got.WaitsFor != item.WaitsForAccount {
		t.Errorf("without an account it waits for %s", got.WaitsFor)
	}
	w.connect("vk")
	if got := w.approve(all[1]); got.WaitsFor != item.WaitsForTime || got.State != item.Generated {
		t.Errorf("approved, it is %s and waits for %s", got.State, got.WaitsFor)
	}
	got := w.settle(all[1])
	if got.State != item.Scheduled || got.WaitsFor != item.WaitsForTime || len(got.Publications) != 1 ||
		!got.PublishAt.Equal(all[1].PublishAt.Time) {
		t.Errorf("afterwards it is %s for %v, waits for %s, with %d publications", got.State, got.PublishAt,
			got.WaitsFor, len(got.Publications))
	}
	w.change(object{"approval": "none"})
	second := w.create("content_types", []string{"post"}, "days", 1, "starts_on", "2026-06-20")
	w.until(plan.Completed)
	planned := w.items(second.ID)[0]
	if planned.WaitsFor != item.WaitsForSlot || planned.PublishAt == nil {
		t.Fatalf("what is planned waits for %s", planned.WaitsFor)
	}
	w.approve(planned)
	if got := w.settle(planned); got.State != item.Generated || got.WaitsFor != item.WaitsForSlot {
		t.Errorf("an approval that nothing waited for: it is %s and waits for %s", got.State, got.WaitsFor)
	}
}

// An item of a plan that is approved after its time stays where it is.
func TestALateApprovalSchedulesNothing(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	w.change(object{"approval": "required"})
	p := w.create("content_types", []string{"post"}, "days", 1)
	w.until(plan.Completed)
	it := w.items(p.ID)[0]
	w.Clock.Add(it.PublishAt.Sub(w.Now()) + time.Minute)
	if got := w.approve(it); got.WaitsFor != item.WaitsForSlot {
		t.Errorf("it waits for %s", got.WaitsFor)
	}
	if got := w.settle(it); got.State != item.Generated {
		t.Errorf("it is %s", got.State)
	}
}

// bulk changes the publication of the items of a plan.
func (w *world) bulk(body object) (out content.BulkAnswer) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/publishing/bulk", body).Into(w.T, http.StatusOK, &out)
	return out
}

// One call approves the items of a plan that wait, another one takes them out of the schedule, and a third one
// schedules those that are planned for a time ahead.
func TestAPlanIsApprovedAndScheduledAtOnce(t *testing.T) {
	w := newWorld(t)
	w.connect("vk")
	w.change(object{"approval": "required"})
	p := w.create("content_types", []string{"post"}, "days", 3)
	w.until(plan.Completed)
	other := w.create("content_types", []string{"post"}, "days", 1, "starts_on", "2026-07-01")
	w.until(plan.Completed)
	all := w.items(p.ID)
	w.Call(http.MethodPost, "/v1/approvals/"+all[0].ID+"/request-changes", object{"note": "Shorter"}).
		Into(t, http.StatusOK, new(object))
	a := w.bulk(object{"action": "approve", "content_plan_id": p.ID})
	if a.Succeeded != 5 || a.Failed != 0 || a.More || a.Results[0].ID != all[1].ID {
		t.Fatalf("%+v", a)
	}
	for range 50 {
		if w.states(p.ID)[item.Scheduled] == 5 || !w.engine.Step() {
			break
		}
	}
	if got := w.states(p.ID); got[item.Scheduled] != 5 || got[item.Generated] != 1 {
		t.Fatalf("%v", got)
	}
	if a = w.bulk(object{"action": "approve", "content_plan_id": p.ID}); len(a.Results) != 0 {
		t.Errorf("again: %+v", a)
	}
	if a = w.bulk(object{"action": "unschedule", "content_plan_id": p.ID}); a.Succeeded != 5 {
		t.Errorf("unscheduled: %+v", a)
	}
	w.change(object{"approval": "none"})
	a = w.bulk(object{"action": "schedule", "content_plan_id": other.ID})
	if got := w.states(other.ID); a.Succeeded != 2 || got[item.Scheduled] != 2 {
		t.Errorf("scheduled: %+v, %v", a, got)
	}
}

// The items of a plan hold their times before they are scheduled: slots show them, and next_slot takes others. An item
// that is scheduled for the minute of another one is warned about.
func TestPlannedItemsHoldTheirSlots(t *testing.T) {
	w := newWorld(t)
	channel := w.connect("vk")
	p := w.create("content_types", []string{"post"}, "days", 2)
	w.until(plan.Completed)
	all := w.items(p.ID)
	held := map[string]string{}
	for _, it := range all {
		held[it.PublishAt.Format(time.RFC3339)] = it.ID
	}
	var slots []publishing.Slot
	w.Call(http.MethodGet, "/v1/publishing/slots?limit=100&factory_id="+w.factory, nil).Into(t, http.StatusOK, &slots)
	for _, s := range slots {
		itemID := held[s.At.Format(time.RFC3339)]
		if s.Free != (itemID == "") {
			t.Errorf("%v: free %v", s.At, s.Free)
		}
		if !s.Free && (len(s.Taken) != 1 || s.Taken[0] != publishing.TakenSlot{SocialAccountID: channel,
			ContentItemID: itemID, Reason: "planned"}) {
			t.Errorf("%v: %+v", s.At, s.Taken)
		}
	}
	own := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words"}
	var it item.Item
	w.Call(http.MethodPost, "/v1/content-items", with(own, "publish_at", "next_slot")).Into(t, http.StatusAccepted, &it)
	if held[it.PublishAt.Format(time.RFC3339)] != "" {
		t.Errorf("next_slot took %v, which is planned", it.PublishAt)
	}
	w.Call(http.MethodPost, "/v1/content-items", own).Into(t, http.StatusAccepted, &it)
	schedule := func(itemID string, body any) (warnings int) {
		w.Call(http.MethodPost, "/v1/content-items/"+itemID+"/schedule", body).Into(t, http.StatusOK, &it)
		for _, warning := range it.Publications[0].Warnings {
			if warning.Code == item.SameMinute {
				warnings++
			}
		}
		return warnings
	}
	if got := schedule(it.ID, object{"publish_at": all[0].PublishAt.Add(20 * time.Second)}); got != 0 {
		t.Errorf("the first of the minute has %d warnings", got)
	}
	if got := schedule(all[0].ID, nil); got != 1 {
		t.Errorf("the second of the minute has %d warnings", got)
	}
	if got := schedule(all[1].ID, nil); got != 0 {
		t.Errorf("one by itself has %d warnings", got)
	}
}
