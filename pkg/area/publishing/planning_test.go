package publishing_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/store"
)

// times gives the factory a schedule.
func (w *world) times(zone string, clock ...string) {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"schedule": object{"timezone": zone, "times": clock}}).
		Into(w.T, http.StatusOK, new(object))
}

func TestSlotsOfASchedule(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	w.times("Europe/Berlin", "09:00", "18:00")
	slots := func(query string) (all []publishing.Slot) {
		t.Helper()
		return apitest.All[publishing.Slot](w.Caller, "/v1/publishing/slots?factory_id="+w.factory+query, 100)
	}
	all := slots("")
	if len(all) != 28 || !all[0].Free || all[0].At.Sub(w.Now()) > 12*time.Hour {
		t.Fatalf("%d slots in two weeks: %+v", len(all), all[:min(len(all), 2)])
	}
	first := all[0].At.Time
	it := w.provide("publish_at", first, "social_account_ids", []string{telegram})
	w.work()
	all = slots("")
	if all[0].Free || len(all[0].Taken) != 1 || all[0].Taken[0] != (publishing.TakenSlot{SocialAccountID: telegram,
		ContentItemID: it.ID, Reason: "scheduled"}) || !all[1].Free {
		t.Errorf("after it was taken: %+v", all[:2])
	}
	if other := slots("&social_account_id=" + vk); !other[0].Free {
		t.Errorf("on the other account: %+v", other[0])
	}
	next := w.provide("publish_at", "next_slot", "social_account_ids", []string{vk})
	both := w.provide("publish_at", "next_slot", "social_account_ids", []string{telegram, vk})
	if !next.PublishAt.Equal(first) || !both.PublishAt.Equal(all[1].At.Time) {
		t.Errorf("the next slots are %v and %v", next.PublishAt, both.PublishAt)
	}
	at := func(d time.Duration) string { return url.QueryEscape(w.Now().Add(d).Format(time.RFC3339)) }
	for query, param := range map[string]string{
		"&from=" + at(time.Hour) + "&to=" + at(0):                        "to",
		"&from=" + at(0) + "&to=" + at(63*24*time.Hour):                  "to",
		"&social_account_id=soc_01h455vb4pex5vsknk084sn02q":              "social_account_id",
		"&social_account_id=else":                                        "social_account_id",
		"&social_account_id=" + strings.Replace(telegram, "soc", "x", 1): "social_account_id",
	} {
		w.Call(http.MethodGet, "/v1/publishing/slots?factory_id="+w.factory+query, nil).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, param)
	}
	w.Stranger().Call(http.MethodGet, "/v1/publishing/slots?factory_id="+w.factory, nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
}

// A validation needs one subject, and changes nothing.
func TestValidationsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	it := w.provide()
	own := object{"factory_id": w.factory, "kind": "post", "source": "provided", "caption": "Words"}
	for name, body := range map[string]object{
		"no subject": {}, "two subjects": {"content_item_id": it.ID, "item": own},
	} {
		if got := w.Call(http.MethodPost, "/v1/publishing/validate", body); got.Status != 422 ||
			got.Error.Param != "/content_item_id" {
			t.Errorf("%s: %d %s", name, got.Status, got.Raw)
		}
	}
	w.Call(http.MethodPost, "/v1/publishing/validate", object{"content_item_id": "cnt_01h455vb4pex5vsknk084sn02q"}).
		Refused(t, http.StatusNotFound, errs.NotFound, "/content_item_id")
}

// The list of publications filters and sorts, and refuses periods that it cannot.
func TestTheListOfPublications(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	done := w.published(telegram)
	planned := w.provide("publish_at", w.Now().Add(48*time.Hour), "social_account_ids", []string{vk})
	list := func(query string) (ids []string) {
		t.Helper()
		for _, e := range apitest.All[publishing.Entry](w.Caller, "/v1/publications?"+query, 1) {
			ids = append(ids, e.ContentItemID)
		}
		return ids
	}
	for query, want := range map[string][]string{
		"":                        {planned.ID, done.ContentItemID},
		"order=asc":               {done.ContentItemID, planned.ID},
		"state=published":         {done.ContentItemID},
		"state=planned,pending":   {planned.ID},
		"platform=telegram":       {done.ContentItemID},
		"social_account_id=" + vk: {planned.ID},
		"factory_id=" + w.factory: {planned.ID, done.ContentItemID},
		"factory_id=fac_01h455vb4pex5vsknk084sn02q": nil,
		"order_by=views": {planned.ID, done.ContentItemID},
		"to=" + w.Now().Add(time.Hour).Format(time.RFC3339): {done.ContentItemID},
	} {
		if got := list(query); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	w.Call(http.MethodGet, "/v1/publications?from=2026-05-03T00:00:00Z&to=2026-05-02T00:00:00Z", nil).
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "to")
	if got := apitest.All[publishing.Entry](w.Stranger(), "/v1/publications", 100); len(got) != 0 {
		t.Errorf("a stranger lists %+v", got)
	}
}

// A period of any length, with any number of items, is listed page by page. Only what is sorted in memory is bounded.
func TestAPeriodOfManyItemsIsListedByPage(t *testing.T) {
	w := newWorld(t)
	first := w.provide("publish_at", w.Now().Add(24*time.Hour), "social_account_ids",
		[]string{w.connect("telegram"), w.connect("vk")})
	w.work()
	stored, err := w.DB.Get(t.Context(), store.IDKey(first.ID))
	if err != nil {
		t.Fatal(err)
	}
	const items = 1100
	for range items / 50 {
		tx := &store.Tx{}
		for range 50 {
			r, err := item.Decode(&stored)
			if err != nil {
				t.Fatal(err)
			}
			w.Clock.Add(time.Millisecond)
			r.Item.ID, r.Item.State = id.New(id.ContentItem, w.Now()), item.Generated
			it, err := r.Entry(w.Principal.Owner)
			if err != nil {
				t.Fatal(err)
			}
			tx.Create(it, nil)
		}
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	for query, want := range map[string]int{
		"":                            2*items + 2,
		"order=asc":                   2*items + 2,
		"state=planned":               2 * items,
		"state=pending":               2,
		"platform=vk":                 1,
		"content_item_id=" + first.ID: 2,
		"content_item_id=" + first.ID + "&to=" + w.Now().UTC().Format(time.RFC3339): 0,
		"from=2001-01-01T00:00:00Z&to=2041-01-01T00:00:00Z":                         2*items + 2,
		"to=" + first.PublishAt.Add(-time.Hour).Format(time.RFC3339):                0,
	} {
		all := apitest.All[publishing.Entry](w.Caller, "/v1/publications?"+query, 99)
		once := map[string]bool{}
		for _, e := range all {
			once[e.ContentItemID+*e.SocialAccountID] = true
		}
		if len(all) != want || len(once) != want {
			t.Errorf("%s: %d entries, %d of them different, want %d", query, len(all), len(once), want)
		}
	}
	for _, accept := range []string{"application/json", "text/csv"} {
		w.Call(http.MethodGet, "/v1/publications?order_by=views", nil, "Accept", accept).
			Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "to")
	}
	w.Call(http.MethodGet, "/v1/publications", nil, "Accept", "text/csv").
		Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "to")
}

// A filter that few pass finds them among 10,000 items, also in the order of a metric. Beyond, the refusal tells why.
func TestAnOrderByAMetricLooksThroughManyItems(t *testing.T) {
	w := newWorld(t)
	first := w.provide("publish_at", w.Now().Add(24*time.Hour), "social_account_ids", []string{w.connect("telegram")})
	w.work()
	stored, err := w.DB.Get(t.Context(), store.IDKey(first.ID))
	if err != nil {
		t.Fatal(err)
	}
	r, err := item.Decode(&stored)
	if err != nil {
		t.Fatal(err)
	}
	add := func(n int) {
		for made := 0; made < n; made += 50 {
			tx := &store.Tx{}
			for range 50 {
				w.Clock.Add(time.Millisecond)
				r.Item.ID, r.Item.State = id.New(id.ContentItem, w.Now()), item.Generated
				it, err := r.Entry(w.Principal.Owner)
				if err != nil {
					t.Fatal(err)
				}
				tx.Create(it, nil)
			}
			if err := w.DB.Commit(t.Context(), tx); err != nil {
				t.Fatal(err)
			}
		}
	}
	const sparse = "/v1/publications?order_by=views&state=pending"
	add(9_500)
	if all := apitest.All[publishing.Entry](w.Caller, sparse, 100); len(all) != 1 || all[0].ContentItemID != first.ID {
		t.Errorf("%d entries, want the one of %s", len(all), first.ID)
	}
	add(1_000)
	refused := w.Call(http.MethodGet, sparse, nil)
	refused.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "to")
	if text := refused.Raw; !strings.Contains(text, "10000 content items") || !strings.Contains(text, "shorter") {
		t.Errorf("the refusal is %s", text)
	}
}

// The filter of the state passes what the whole list has in it, whatever the state of the items.
func TestTheStatesOfPublications(t *testing.T) {
	w := newWorld(t)
	telegram, vk := w.connect("telegram"), w.connect("vk")
	w.published(telegram)
	gone := w.published(telegram)
	w.Call(http.MethodDelete, "/v1/publications/"+gone.ID, nil).Into(t, http.StatusOK, new(item.PublishedPost))
	w.work()
	w.provide("publish_at", w.Now().Add(48*time.Hour), "social_account_ids", []string{vk, telegram})
	all, states := apitest.All[publishing.Entry](w.Caller, "/v1/publications", 100), map[string]int{}
	for _, e := range all {
		states[e.State]++
	}
	if len(states) < 3 {
		t.Errorf("the states are %v", states)
	}
	for _, state := range []string{"planned", "pending", "publishing", "published", "failed", "deleted"} {
		got := apitest.All[publishing.Entry](w.Caller, "/v1/publications?state="+state, 1)
		if len(got) != states[state] {
			t.Errorf("%s: %d of %d", state, len(got), states[state])
		}
	}
}
