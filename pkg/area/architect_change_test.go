package area_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

func TestAChangeOfAFactoryIsDrafted(t *testing.T) {
	w := newArchitectWorld(t)
	f := w.factory(w.Caller)
	path := w.chat(w.Caller, "factory_id", f.ID)
	d := w.drafted(path, "Смени тон на дружелюбный")
	if d.Kind != architect.FactoryChange || *d.FactoryID != f.ID || d.ContentItemID != nil || d.Body["tone"] != "дружелюбный" {
		t.Errorf("%+v", d)
	}
	at := draftsPath + d.ID
	before := storetest.Snapshot(t, w.DB)
	w.Call(http.MethodPatch, at, object{"body": object{"tone": 7}}).Refused(t, 422, errs.ValidationFailed, "/body/tone")
	w.Call(http.MethodPatch, at, object{"body": object{"sound": "x"}}).Refused(t, 422, errs.ValidationFailed,
		"/body/sound")
	w.Call(http.MethodPatch, at, object{"body": object{"tone": nil}}).Refused(t, 422,
		errs.ValidationFailed, "/body")
	reader := w.As(func(p *auth.Principal) {
		p.Scopes = slices.DeleteFunc(auth.AllScopes(), func(s auth.Scope) bool { return s == auth.FactoriesWrite })
	})
	reader.Call(http.MethodPost, at+"/apply", nil, "If-Match", `"1"`).Refused(t, 403, errs.InsufficientScope, "")
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
	w.Call(http.MethodPatch, at, object{"body": object{"audience": "Läufer"}}).Into(t, http.StatusOK, &d)
	w.Call(http.MethodPost, at+"/apply", nil, "If-Match", `"2"`).Into(t, http.StatusCreated, &d)
	w.Call(http.MethodGet, "/v1/factories/"+f.ID, nil).Into(t, http.StatusOK, &f)
	if d.State != architect.Applied || *d.ResultID != f.ID || f.Tone != "дружелюбный" || f.Audience != "Läufer" ||
		f.Version != 2 {
		t.Errorf("%+v, %+v", d, f)
	}
	if listed := w.drafts(w.Caller, "&kind=factory_change"); len(listed) != 1 {
		t.Errorf("%+v", listed)
	}
}

// A draft does not turn automatic publishing on for a key that may not.
func TestAChangeKeepsToTheRulesOfItsOperation(t *testing.T) {
	w := newArchitectWorld(t)
	f := w.factory(w.Caller)
	d := w.drafted(w.chat(w.Caller, "factory_id", f.ID), "Change the tone to warm")
	w.Call(http.MethodPatch, draftsPath+d.ID, object{"body": object{"auto_publish": true}}).Into(t, http.StatusOK, &d)
	narrow := w.As(func(p *auth.Principal) {
		p.Scopes = slices.DeleteFunc(auth.AllScopes(), func(s auth.Scope) bool { return s == auth.ContentPublish })
	})
	narrow.Call(http.MethodPost, draftsPath+d.ID+"/apply", nil, "If-Match", `"2"`).Refused(t, 403,
		errs.InsufficientScope, "/body/auto_publish")
	var now factory.Factory
	w.Call(http.MethodGet, "/v1/factories/"+f.ID, nil).Into(t, http.StatusOK, &now)
	if now.AutoPublish || now.Tone != f.Tone {
		t.Errorf("%+v", now)
	}
}

func TestAChangeOfAContentItemIsDrafted(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	f := w.factory(live)
	now := w.Now()
	made := resource.Instant(now)
	r := &item.Record{Item: item.Item{Resource: resource.New(id.New(id.ContentItem, now), now, nil), FactoryID: f.ID,
		Kind: item.Post, State: item.Generated, Texts: item.Texts{Title: "Shoes", Caption: "A shoe"}, GeneratedAt: &made}}
	it, err := r.Entry(live.Principal.Owner)
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	path := w.chat(live)
	w.model.say = says(
		architectCalls("draft_content_item_change", object{"content_item_id": "cnt_01h455vb4pex5vsknk084sn02q",
			"body": object{"caption": "Two shoes"}}),
		architectCalls("draft_content_item_change", object{"content_item_id": r.Item.ID, "body": object{"prompt": "Two shoes"}}),
		architectCalls("draft_content_item_change", object{"content_item_id": r.Item.ID,
			"body": object{"caption": "Two shoes"}}),
		architectText("Done"))
	reply := w.send(live, path, "Mend the caption")
	if len(reply.DraftIDs) != 1 || !slices.Contains(reply.Sources, r.Item.ID) {
		t.Fatalf("%+v", reply)
	}
	var d architect.Draft
	live.Call(http.MethodPost, draftsPath+reply.DraftIDs[0]+"/apply", nil, "If-Match", `"1"`).Into(t,
		http.StatusCreated, &d)
	var changed item.Item
	live.Call(http.MethodGet, "/v1/content-items/"+r.Item.ID, nil).Into(t, http.StatusOK, &changed)
	if d.Kind != architect.ContentItemChange || *d.ContentItemID != r.Item.ID || *d.FactoryID != f.ID ||
		*d.ResultID != r.Item.ID ||
		changed.Caption != "Two shoes" || changed.Title != "Shoes" || changed.Version != 2 {
		t.Errorf("%+v, %+v", d, changed)
	}
}
