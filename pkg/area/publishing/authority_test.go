package publishing_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/authority"
)

// A review link ends with the key that made it, and with the scopes that it needs.
func TestAReviewLinkEndsWithItsAuthority(t *testing.T) {
	for name, change := range map[string]func(*keyrecord.Record){
		"a revoked key":              func(k *keyrecord.Record) { k.State = keyrecord.Revoked },
		"a key that may not publish": func(k *keyrecord.Record) { k.Scopes = []auth.Scope{auth.ContentRead} },
		"a key that may not read":    func(k *keyrecord.Record) { k.Scopes = []auth.Scope{auth.ContentPublish} },
	} {
		w := newWorld(t)
		it := w.provide("caption", "Words")
		maker := w.Only(auth.AllScopes()...)
		var l publishing.ReviewLink
		maker.Call(http.MethodPost, "/v1/review-links", object{"content_item_ids": []string{it.ID}, "may": "decide"}).
			Into(t, http.StatusCreated, &l)
		u, err := url.Parse(*l.URL)
		if err != nil || l.CreatedBy != maker.Principal.Actor.ID {
			t.Fatal(err, l.CreatedBy)
		}
		if status, _, _ := w.visit(http.MethodGet, u.Path, nil); status != http.StatusOK {
			t.Errorf("%s: before: %d", name, status)
		}
		maker.ChangeKey(change)
		form := publishing.Form(it.ID, it.Version, item.Approved, "")
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			if status, _, _ := w.visit(method, u.Path, form); status != http.StatusNotFound {
				t.Errorf("%s: %s: %d", name, method, status)
			}
		}
		if got := apitest.All[publishing.ReviewLink](w.Caller, "/v1/review-links", 10); got[0].State != "expired" {
			t.Errorf("%s: it is %s", name, got[0].State)
		}
	}
}

// A decision is about the version that the page has shown.
func TestADecisionIsAboutWhatWasShown(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words that were shown")
	_, at := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide"})
	_, _, body := w.visit(http.MethodGet, at, nil)
	field := `value="approved ` + it.ID + " " + strconv.FormatInt(it.Version, 10) + `"`
	if !strings.Contains(body, field) {
		t.Fatalf("the form lacks %s: %s", field, body)
	}
	w.Call(http.MethodPatch, "/v1/content-items/"+it.ID, object{"caption": "Other words"}).
		Into(t, http.StatusOK, new(object))
	form := publishing.Form(it.ID, it.Version, item.Approved, "")
	status, _, body := w.visit(http.MethodPost, at, form)
	var got item.Item
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &got)
	if status != http.StatusConflict || !strings.Contains(body, "Other words") || got.Approval.State == item.Approved {
		t.Errorf("%d, %+v: %s", status, got.Approval, body)
	}
	form = url.Values{"decision": {item.Approved + " " + it.ID}}
	if status, _, _ := w.visit(http.MethodPost, at, form); status != http.StatusBadRequest {
		t.Errorf("without a version: %d", status)
	}
	form = publishing.Form(it.ID, got.Version, item.Approved, "")
	if status, _, _ := w.visit(http.MethodPost, at, form); status != http.StatusSeeOther {
		t.Errorf("the version that is shown: %d", status)
	}
}

// A link shows texts and media, so that who may not read them makes none.
func TestALinkNeedsTheScopeToRead(t *testing.T) {
	w := newWorld(t)
	it := w.provide("caption", "Words")
	for _, body := range []object{{"content_item_ids": []string{it.ID}}, {"factory_id": w.factory}} {
		w.Only(auth.ContentPublish).Call(http.MethodPost, "/v1/review-links", body).
			Refused(t, http.StatusForbidden, errs.InsufficientScope, "")
	}
}

// What a key has scheduled or published is not posted after the key has ended, and the item says why.
func TestAPublicationEndsWithItsAuthority(t *testing.T) {
	for name, change := range map[string]func(*keyrecord.Record){
		"a revoked key":              func(k *keyrecord.Record) { k.State = keyrecord.Revoked },
		"a key that may not publish": func(k *keyrecord.Record) { k.Scopes = []auth.Scope{auth.ContentRead} },
	} {
		w := newWorld(t)
		it, channel := w.provide("caption", "Words"), w.connect("telegram")
		path := "/v1/content-items/" + it.ID
		maker := w.Only(auth.ContentPublish, auth.ContentRead)
		maker.Call(http.MethodPost, path+"/publish", object{"social_account_ids": []string{channel}}).
			Into(t, http.StatusAccepted, new(object))
		maker.ChangeKey(change)
		w.work()
		var got item.Item
		w.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &got)
		if got.State != item.Failed || got.Publications[0].Failure == nil ||
			got.Publications[0].PlatformPostID != nil ||
			got.Publications[0].Failure.Code != authority.Code || !got.Publications[0].Failure.Retryable ||
			!strings.Contains(got.Failure.Message, maker.Principal.Actor.ID) {
			t.Errorf("%s: %s, %+v", name, got.State, got.Publications)
		}
		w.Call(http.MethodPost, path+"/publish", nil).Into(t, http.StatusAccepted, new(object))
		w.work()
		w.Call(http.MethodGet, path, nil).Into(t, http.StatusOK, &got)
		if got.State != item.Published {
			t.Errorf("%s: published by another key: %s, %+v", name, got.State, got.Publications)
		}
	}
}
