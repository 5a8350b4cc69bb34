package content_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// times sets the schedule of the factory.
func (w *world) times(zone string, times ...string) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"schedule": object{"timezone": zone, "times": times}}).
		Into(w.T, 200, new(object))
}

func TestTenCallersGetTenSlots(t *testing.T) {
	w := newWorld(t)
	w.times("Europe/Berlin", "09:00", "18:30")
	channel := w.connect("telegram")
	w.attach(channel)
	var ids []string
	for range 10 {
		ids = append(ids, w.provide("caption", "Words").ID)
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	var got []time.Time
	for _, itemID := range ids {
		all.Go(func() {
			var it item.Item
			a := w.Call(http.MethodPost, path(itemID, "schedule"), object{"publish_at": "next_slot"})
			mu.Lock()
			defer mu.Unlock()
			if a.Error != nil {
				t.Errorf("%s", a.Raw)
				return
			}
			a.Into(t, 200, &it)
			got = append(got, it.PublishAt.Time)
		})
	}
	all.Wait()
	slices.SortFunc(got, time.Time.Compare)
	berlin, _ := time.LoadLocation("Europe/Berlin")
	for i, at := range got {
		if clock := at.In(berlin).Format("15:04"); clock != "09:00" && clock != "18:30" || i > 0 &&
			at.Equal(got[i-1]) ||
			i > 0 && at.Sub(got[i-1]) > 15*time.Hour {
			t.Errorf("slot %d is %v", i, at)
		}
	}
	if len(got) != 10 {
		t.Fatalf("%d slots", len(got))
	}
	var slots []publishing.Slot
	w.Call(http.MethodGet, "/v1/publishing/slots?factory_id="+w.factory+"&limit=100", nil).Into(t, 200, &slots)
	taken := 0
	for _, s := range slots {
		if !s.Free {
			taken++
			if s.Taken[0].SocialAccountID != channel || !slices.Contains(ids, s.Taken[0].ContentItemID) {
				t.Errorf("%+v", s)
			}
		}
	}
	if taken != 10 || len(slots) < 25 {
		t.Errorf("%d of %d slots are taken", taken, len(slots))
	}
	// A slot that is left is free again.
	w.Call(http.MethodPost, path(ids[0], "schedule"), object{"publish_at": nil}).Into(t, 200, new(item.Item))
	freed := w.provide("caption", "Words", "publish_at", "next_slot")
	if !slices.ContainsFunc(got, freed.PublishAt.Equal) {
		t.Errorf("%v is not the one that was left", freed.PublishAt)
	}
}

func TestNextSlotsOfABatchDiffer(t *testing.T) {
	w := newWorld(t)
	w.attach(w.connect("telegram"))
	body := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words",
		"publish_at": "next_slot"}
	w.Call(http.MethodPost, batchPath, object{"items": []object{body}}).
		Refused(t, 422, errs.ValidationFailed, "/items/0/publish_at")
	w.times("UTC", "12:00")
	var made []item.Item
	w.Call(http.MethodPost, batchPath, object{"items": []object{body, body, body}}).Into(t, http.StatusAccepted, &made)
	if made[1].PublishAt.Sub(made[0].PublishAt.Time) != 24*time.Hour ||
		made[2].PublishAt.Sub(made[1].PublishAt.Time) != 24*time.Hour {
		t.Errorf("%v, %v, %v", made[0].PublishAt, made[1].PublishAt, made[2].PublishAt)
	}
	w.work()
	if got := w.get(made[2].ID); got.State != item.Scheduled {
		t.Errorf("%+v", got)
	}
	var validated struct {
		Accounts []struct{ Problems []struct{ Code string } }
	}
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"item": object{"factory_id": w.factory, "kind": "post",
		"source": "provided", "caption": "Words"}, "publish_at": made[0].PublishAt}).Into(t, 200, &validated)
	if p := validated.Accounts[0].Problems; len(p) != 1 || p[0].Code != "slot_taken" {
		t.Errorf("%+v", validated)
	}
}

func TestTheCalendarListsWhatIsPlannedAndPublished(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	w.attach(telegram, vk)
	first := w.provide("caption", "First")
	w.publish(first.ID)
	w.work()
	planned := w.create("publish_at", w.Now().Add(time.Hour), "social_account_ids", []string{vk})
	w.provide("caption", "Not planned")
	list := func(query string) (keys []string) {
		var all []publishing.Entry
		w.Call(http.MethodGet, "/v1/publications"+query, nil).Into(t, 200, &all)
		for _, e := range all {
			keys = append(keys, e.ContentItemID+" "+e.State)
		}
		return keys
	}
	if got := list("?order=asc"); !slices.Equal(got, []string{first.ID + " published", first.ID + " published",
		planned.ID + " planned"}) {
		t.Errorf("%v", got)
	}
	if got := list("?platform=vk&state=published"); !slices.Equal(got, []string{first.ID + " published"}) {
		t.Errorf("%v", got)
	}
	if got := list("?social_account_id=" + vk + "&state=planned"); !slices.Equal(got, []string{planned.ID +
		" planned"}) {
		t.Errorf("%v", got)
	}
	if got := list("?to=" + w.Now().Add(time.Minute).Format(time.RFC3339) + "&order_by=views"); len(got) != 2 {
		t.Errorf("%v", got)
	}
	var page []publishing.Entry
	a := w.Call(http.MethodGet, "/v1/publications?limit=2", nil)
	a.Into(t, 200, &page)
	if a.NextCursor == nil || len(page) != 2 {
		t.Fatalf("%s", a.Raw)
	}
	w.Call(http.MethodGet, "/v1/publications?limit=2&cursor="+*a.NextCursor, nil).Into(t, 200, &page)
	if len(page) != 1 {
		t.Errorf("%+v", page)
	}
	w.Call(http.MethodGet, "/v1/publications?from=2028-01-01T00:00:00Z&to=2026-01-01T00:00:00Z", nil).
		Refused(t, 422, errs.ValidationFailed, "to")
	if got := w.Stranger().Call(http.MethodGet, "/v1/publications", nil); string(got.Data) != "[]" {
		t.Errorf("a stranger sees %s", got.Raw)
	}
}

func TestPostsAreChangedAndDeleted(t *testing.T) {
	w := newWorld(t)
	telegram, threads := w.connect("telegram"), w.connect("threads")
	it := w.provide("caption", "First")
	w.publish(it.ID, "social_account_ids", []string{telegram, threads})
	w.work()
	got := w.get(it.ID)
	at := func(i int) string { return "/v1/publications/" + got.Publications[i].ID }
	var pub item.PublishedPost
	w.Call(http.MethodPatch, at(0), object{"caption": "Second"}).Into(t, 200, &pub)
	if pub.Change == nil || pub.Change.State != "pending" || !pub.Editable || !pub.Deletable {
		t.Fatalf("%+v", pub)
	}
	w.Call(http.MethodDelete, at(0), nil).Refused(t, http.StatusConflict, errs.InvalidState, "")
	w.work()
	w.Call(http.MethodGet, at(0), nil).Into(t, 200, &pub)
	if pub.Change.State != "completed" || pub.Posted.Text != "Second" || pub.State != "published" {
		t.Errorf("%+v", pub)
	}
	w.Call(http.MethodPatch, at(1), object{"caption": "Second"}).Refused(t, http.StatusConflict, errs.InvalidState, "")
	long := make([]byte, 4097)
	for i := range long {
		long[i] = 'x'
	}
	w.Call(http.MethodPatch, at(0), object{"caption": string(long)}).Refused(t, 422, errs.ValidationFailed, "/caption")
	w.Call(http.MethodDelete, at(0), nil).Into(t, 200, &pub)
	w.work()
	w.Call(http.MethodGet, at(0), nil).Into(t, 200, &pub)
	if pub.State != "deleted" || pub.PublishedAt == nil {
		t.Errorf("%+v", pub)
	}
	if n := w.events(got.Publications[0].ID); n[event.PublicationDeleted] != 1 {
		t.Errorf("%v", n)
	}
	if now := w.get(it.ID); now.State != item.Published {
		t.Errorf("the item is %s", now.State)
	}
	w.Stranger().Call(http.MethodGet, at(0), nil).Refused(t, 404, errs.NotFound, "")
}
