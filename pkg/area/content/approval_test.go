package content_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
)

// requireApproval makes the content of the factory wait for its approval.
func (w *world) requireApproval() {
	w.T.Helper()
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"approval": "required"}).Into(w.T, 200, new(object))
}

func approve(itemID string) string { return "/v1/approvals/" + itemID + "/approve" }

func TestSchedulingWaitsForTheApproval(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	w.attach(w.connect("telegram"))
	at := w.Now().Add(time.Hour)
	it := w.provide("caption", "Words", "publish_at", at)
	if it.Approval.State != "pending" {
		t.Fatalf("%+v", it.Approval)
	}
	w.work()
	if got := w.get(it.ID); got.State != item.Generated || !got.PublishAt.Equal(at) ||
		got.WaitsFor != item.WaitsForApproval {
		t.Fatalf("without an approval it is %s for %v, and waits for %s", got.State, got.PublishAt, got.WaitsFor)
	}
	w.Call(http.MethodPost, path(it.ID, "publish"), nil).Refused(t, http.StatusConflict, errs.InvalidState, "")
	var got item.Item
	w.Call(http.MethodPost, approve(it.ID), object{"note": "Fine"}).Into(t, 200, &got)
	if a := got.Approval; a.State != "approved" || *a.Note != "Fine" || *a.By != w.Principal.Actor.ID || a.At == nil {
		t.Errorf("%+v", a)
	}
	w.work()
	if got = w.get(it.ID); got.State != item.Scheduled {
		t.Fatalf("approved, it is %s", got.State)
	}
	// A change asks again, and holds the schedule.
	w.Call(http.MethodPatch, "/v1/content-items/"+it.ID, object{"caption": "Other words"}).Into(t, 200, &got)
	if got.Approval.State != "pending" || got.State != item.Generated || !got.PublishAt.Equal(at) || len(w.left()) != 0 {
		t.Errorf("changed: %s, %s, %v, %v", got.Approval.State, got.State, got.PublishAt, w.left())
	}
	w.Call(http.MethodPost, approve(it.ID), nil).Into(t, 200, &got)
	w.work()
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/request-changes", object{"note": "Shorter"}).Into(t, 200, &got)
	if got.State != item.Generated || got.Approval.State != "changes_requested" {
		t.Errorf("sent back: %+v", got)
	}
	w.Clock.Add(2 * time.Hour)
	w.work()
	if got = w.get(it.ID); got.State != item.Generated {
		t.Errorf("its time came without an approval, and it is %s", got.State)
	}
	w.Call(http.MethodPost, approve(it.ID), nil).Into(t, 200, &got)
	w.work()
	if got = w.get(it.ID); got.State != item.Published {
		t.Errorf("approved after its time, it is %s", got.State)
	}
	// Two approvals scheduled it, a change and a request of changes ended that, and the last approval published it
	// late.
	if n := w.events(it.ID); n[event.ContentApproved] != 3 || n[event.ContentChangesRequested] != 1 ||
		n[event.ContentUpdated] != 1 || n[event.ContentUnscheduled] != 2 || n[event.ContentPublished] != 1 {
		t.Errorf("%v", n)
	}
}

func TestAutomaticPublishingWaitsForTheApproval(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"approval": "required", "auto_publish": true}).
		Into(t, 200, new(object))
	w.attach(w.connect("telegram"))
	it := w.generated("caption", "Words")
	w.work()
	if got := w.get(it.ID); got.State != item.Generated {
		t.Fatalf("it is %s", got.State)
	}
	w.Call(http.MethodPost, approve(it.ID), nil).Into(t, 200, new(item.Item))
	w.work()
	if got := w.get(it.ID); got.State != item.Published {
		t.Errorf("it is %s", got.State)
	}
}

// What an item waits for follows it from its creation to its publication, in answers, lists and events.
func TestItemsSayWhatTheyWaitFor(t *testing.T) {
	w := newWorld(t)
	waits := func(when, itemID, want string) {
		t.Helper()
		var all []item.Item
		w.Call(http.MethodGet, "/v1/content-items?limit=100", nil).Into(t, 200, &all)
		listed := all[slices.IndexFunc(all, func(it item.Item) bool { return it.ID == itemID })].WaitsFor
		if got := w.get(itemID); got.WaitsFor != want || listed != want {
			t.Errorf("%s: it is %s and waits for %s, in the list %s, want %s", when, got.State, got.WaitsFor, listed,
				want)
		}
	}
	at := w.Now().Add(time.Hour)
	it := w.create("caption", "Words")
	waits("while it is made", it.ID, item.WaitsForSlot)
	if w.do(it.ID); w.told(it.ID, event.ContentGenerated).WaitsFor != item.WaitsForSlot {
		t.Error("the event says something else")
	}
	w.attach(w.connect("telegram"))
	ordered := w.create("publish_at", at)
	waits("ordered", ordered.ID, item.WaitsForTime)
	if w.do(ordered.ID); w.told(ordered.ID, event.ContentGenerated).WaitsFor != item.WaitsForTime {
		t.Error("the event says something else")
	}
	w.requireApproval()
	var got item.Item
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": at}).Into(t, 200, &got)
	if got.WaitsFor != item.WaitsForApproval || got.Approval.State != item.ApprovalPending {
		t.Errorf("scheduled in a factory that requires approvals since: %s, %+v", got.WaitsFor, got.Approval)
	}
	w.Call(http.MethodPost, approve(it.ID), nil).Into(t, 200, &got)
	waits("approved", it.ID, item.WaitsForTime)
	w.work()
	waits("scheduled", it.ID, item.WaitsForTime)
	w.Call(http.MethodPost, path(it.ID, "schedule"), object{"publish_at": nil}).Into(t, 200, &got)
	waits("unscheduled", it.ID, item.WaitsForSlot)
	w.Call(http.MethodPost, path(it.ID, "publish"), nil).Into(t, 202, &got)
	waits("under way", it.ID, item.WaitsForNothing)
	w.work()
	waits("published", it.ID, item.WaitsForNothing)
}

// An item that should go out, and whose factory has no account that takes it, says so.
func TestAnItemWithoutAnAccountSaysSo(t *testing.T) {
	w := newWorld(t)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"auto_publish": true}).Into(t, 200, new(object))
	it := w.generated("caption", "Words")
	w.work()
	if got := w.get(it.ID); got.WaitsFor != item.WaitsForAccount {
		t.Errorf("it waits for %s", got.WaitsFor)
	}
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"auto_publish": false}).Into(t, 200, new(object))
	w.attach(w.connect("telegram"))
	it = w.generated("caption", "Words")
	w.work()
	if got := w.get(it.ID); got.WaitsFor != item.WaitsForSlot {
		t.Errorf("without automatic publishing it waits for %s", got.WaitsFor)
	}
}

// told returns the item as the event of a type shows it.
func (w *world) told(itemID string, of event.Type) (it item.Item) {
	w.T.Helper()
	var all []struct{ Data struct{ Object item.Item } }
	w.Call(http.MethodGet, "/v1/events?type="+string(of)+"&object_id="+itemID, nil).Into(w.T, 200, &all)
	if len(all) != 1 {
		w.T.Fatalf("%d events", len(all))
	}
	return all[0].Data.Object
}

func TestOfTwoApprovalsOneIsMade(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	other := w.Only(auth.ContentPublish)
	codes := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 2 {
		caller := w.Caller
		if i == 1 {
			caller = other
		}
		all.Go(func() {
			a := caller.Call(http.MethodPost, approve(it.ID), nil)
			mu.Lock()
			defer mu.Unlock()
			if a.Error == nil {
				codes["ok"]++
			} else if strings.HasPrefix(a.Error.Message, "The content item was approved already, by key_") {
				codes[a.Error.Code]++
			}
		})
	}
	all.Wait()
	if codes["ok"] != 1 || codes["invalid_state"] != 1 {
		t.Errorf("%v", codes)
	}
	w.Without(auth.ContentPublish).Call(http.MethodPost, approve(it.ID), nil).
		Refused(t, 403, errs.InsufficientScope, "")
}

func TestEndingTheApprovalNeedsTheScope(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	w.Without(auth.ContentPublish).Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"approval": "none"}).
		Refused(t, 403, errs.InsufficientScope, "/approval")
}

// visit sends a request of a browser to the page of a review link.
func (w *world) visit(method, address string, form url.Values) (*httptest.ResponseRecorder, string) {
	w.T.Helper()
	req := httptest.NewRequest(method, address, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	rec := httptest.NewRecorder()
	w.publishing.With(http.NotFoundHandler()).ServeHTTP(rec, req)
	return rec, rec.Body.String()
}

func (w *world) link(members object) publishing.ReviewLink {
	w.T.Helper()
	var l publishing.ReviewLink
	w.Call(http.MethodPost, "/v1/review-links", members).Into(w.T, http.StatusCreated, &l)
	u, err := url.Parse(*l.URL)
	if err != nil {
		w.T.Fatal(err)
	}
	l.URL = &u.Path
	return l
}

func TestReviewLinksShowAndDecide(t *testing.T) {
	w := newWorld(t)
	w.requireApproval()
	w.attach(w.connect("telegram"), w.connect("vk"))
	it := w.provide("media", []string{w.own(w.Caller, picture(1080, 1350))}, "title", "Shoes", "caption",
		"<b>For all</b>", "variants", object{"telegram": object{"caption": "For Telegram"}})
	hidden := w.provide("caption", "Not to be seen")
	l := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide", "name": "Spring"})
	rec, body := w.visit(http.MethodGet, *l.URL, nil)
	h := rec.Header()
	if rec.Code != 200 || !strings.Contains(h.Get("Content-Security-Policy"), "default-src 'none'") ||
		strings.Contains(h.Get("Content-Security-Policy"), "script") || h.Get("X-Robots-Tag") != "noindex, nofollow" ||
		h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d %v", rec.Code, h)
	}
	for _, want := range []string{"Spring", "Shoes", "&lt;b&gt;For all", "For Telegram", "<bdi>Acme</bdi><small>Telegram</small>",
		"<bdi>Acme</bdi><small>VK</small>",
		"<img", "Request changes"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, body)
		}
	}
	if strings.Contains(body, "Not to be seen") || strings.Contains(body, "<script") {
		t.Errorf("%s", body)
	}
	form := url.Values(publishing.Form(it.ID, it.Version, "changes_requested", ""))
	if rec, _ := w.visit(http.MethodPost, *l.URL, form); rec.Code != http.StatusUnprocessableEntity {
		t.Errorf("a request for changes without a note: %d", rec.Code)
	}
	form = publishing.Form(it.ID, it.Version, "approved", "")
	if rec, _ = w.visit(http.MethodPost, *l.URL, form); rec.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	if got := w.get(it.ID); got.Approval.State != "approved" || *got.Approval.By != l.ID {
		t.Errorf("%+v", got.Approval)
	}
	if rec, body = w.visit(http.MethodPost, *l.URL, form); rec.Code != http.StatusSeeOther {
		t.Errorf("a form that is sent twice: %d %s", rec.Code, body)
	}
	rec, body = w.visit(http.MethodPost, *l.URL, publishing.Form(it.ID, w.get(it.ID).Version, "approved", ""))
	if rec.Code != http.StatusConflict || !strings.Contains(body, "The post was approved already.") ||
		strings.Contains(body, l.ID) {
		t.Errorf("a second approval: %d %s", rec.Code, body)
	}
	form = publishing.Form(hidden.ID, 1, "approved", "")
	if rec, _ = w.visit(http.MethodPost, *l.URL, form); rec.Code != http.StatusBadRequest {
		t.Errorf("another item: %d", rec.Code)
	}
	var decided int
	for _, c := range w.Log.Calls() {
		if c.OperationID == publishing.ReviewOperation && c.Principal.Actor == (auth.Actor{Kind: auth.ReviewLink,
			ID: l.ID}) && !strings.Contains(c.Path, strings.TrimPrefix(*l.URL, publishing.PagePath)) {
			decided++
		}
	}
	if decided != 3 {
		t.Errorf("%d decisions are in the audit log", decided)
	}
	w.Call(http.MethodDelete, "/v1/review-links/"+l.ID, nil).Into(t, 200, new(object))
	if rec, _ = w.visit(http.MethodGet, *l.URL, nil); rec.Code != http.StatusNotFound {
		t.Errorf("a deleted link: %d", rec.Code)
	}
}

func TestReviewLinksEnd(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	viewing := w.link(object{"factory_id": w.factory})
	if rec, body := w.visit(http.MethodGet, *viewing.URL, nil); rec.Code != 200 ||
		strings.Contains(body, `method="post"`) ||
		!strings.Contains(body, "Words") {
		t.Errorf("%d %s", rec.Code, body)
	}
	form := publishing.Form(it.ID, 1, "approved", "")
	if rec, _ := w.visit(http.MethodPost, *viewing.URL, form); rec.Code != http.StatusForbidden {
		t.Errorf("a decision by a link to view: %d", rec.Code)
	}
	if got := w.get(it.ID); got.Approval.State != "none" {
		t.Errorf("%+v", got.Approval)
	}
	for _, token := range []string{"", "x", *viewing.URL + "x", strings.ToUpper(*viewing.URL)} {
		if rec, _ := w.visit(http.MethodGet, "/review/"+strings.TrimPrefix(token, "/review/"), nil); rec.Code != 404 {
			t.Errorf("%q: %d", token, rec.Code)
		}
	}
	w.Clock.Add(7*24*time.Hour + time.Second)
	if rec, _ := w.visit(http.MethodGet, *viewing.URL, nil); rec.Code != http.StatusNotFound {
		t.Errorf("after its end: %d", rec.Code)
	}
	late := w.Now().Add(31 * 24 * time.Hour)
	for name, c := range map[string]struct {
		body  object
		param string
	}{
		"too long":    {object{"factory_id": w.factory, "expires_at": late}, "/expires_at"},
		"no subject":  {object{"may": "view"}, "/content_item_ids"},
		"two":         {object{"factory_id": w.factory, "content_item_ids": []string{it.ID}}, "/content_item_ids"},
		"no item":     {object{"content_item_ids": []string{"cnt_01h455vb4pex5vsknk084sn02q"}}, "/content_item_ids/0"},
		"may publish": {object{"factory_id": w.factory, "may": "publish"}, "/may"},
	} {
		w.Call(http.MethodPost, "/v1/review-links", c.body).Unusable(t, c.param)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	if raw := fmt.Sprint(w.Call(http.MethodGet, "/v1/review-links", nil).Raw); strings.Contains(raw, "/review/") ||
		strings.Contains(raw, "hash") {
		t.Errorf("the list shows %s", raw)
	}
}

func TestListsFilterByTheApproval(t *testing.T) {
	w := newWorld(t)
	none := w.provide("caption", "None")
	w.requireApproval()
	pending, changes, approved := w.provide("caption", "One"), w.provide("caption", "Two"), w.provide("caption", "Three")
	w.Call(http.MethodPost, "/v1/approvals/"+changes.ID+"/request-changes", object{"note": "Shorter"}).
		Into(t, 200, new(object))
	w.Call(http.MethodPost, approve(approved.ID), nil).Into(t, 200, new(object))
	for query, want := range map[string][]string{
		"none": {none.ID}, "pending": {pending.ID}, "approved": {approved.ID},
		"pending,changes_requested": {changes.ID, pending.ID}, "changes_requested&kind=story": nil,
		"pending&factory_id=" + w.factory: {pending.ID},
	} {
		var got []item.Item
		var ids []string
		w.Call(http.MethodGet, "/v1/content-items?approval="+query, nil).Into(t, 200, &got)
		for _, it := range got {
			ids = append(ids, it.ID)
		}
		if !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", query, ids, want)
		}
	}
	w.Call(http.MethodGet, "/v1/content-items?approval=maybe", nil).Refused(t, 422, errs.ValidationFailed, "approval")
}
