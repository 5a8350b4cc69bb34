package area_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

const draftsPath = "/v1/architect/drafts/"

// drafting is a world with an open draft of each kind, of a chat about a factory.
type drafting struct {
	*architectWorld
	path    string
	factory string
	of      map[architect.Subject]architect.Draft
}

func newDrafting(t *testing.T) *drafting {
	w := &drafting{architectWorld: newArchitectWorld(t), of: map[architect.Subject]architect.Draft{}}
	w.factory = w.architectWorld.factory(w.Caller).ID
	w.path = w.chat(w.Caller, "factory_id", w.factory)
	for _, text := range []string{"I want a new brand factory for boots", "Make a plan for 3 days",
		"Write a post about socks"} {
		d := w.drafted(w.path, text)
		w.of[d.Kind] = d
	}
	if len(w.of) != 3 {
		t.Fatalf("%+v", w.of)
	}
	return w
}

func TestDraftsAreListed(t *testing.T) {
	w := newDrafting(t)
	other := w.chat(w.Caller)
	elsewhere := w.drafted(other, "A news factory about trains")
	w.Call(http.MethodPatch, draftsPath+w.of[architect.ContentItem].ID, object{"state": "discarded"}).Into(t, http.StatusOK,
		new(architect.Draft))
	chatID := w.path[len(chats)+1:]
	for query, want := range map[string][]string{
		"": {w.of[architect.Factory].ID, w.of[architect.ContentPlan].ID,
			w.of[architect.ContentItem].ID, elsewhere.ID},
		"&chat_id=" + chatID: {w.of[architect.Factory].ID, w.of[architect.ContentPlan].ID,
			w.of[architect.ContentItem].ID},
		"&id=" + elsewhere.ID:                        {elsewhere.ID},
		"&id=" + elsewhere.ID + "&chat_id=" + chatID: nil,
		"&kind=factory":                              {w.of[architect.Factory].ID, elsewhere.ID},
		"&kind=content_plan,content_item":            {w.of[architect.ContentPlan].ID, w.of[architect.ContentItem].ID},
		"&state=discarded":                           {w.of[architect.ContentItem].ID},
		"&state=open,applied&chat_id=" + chatID:      {w.of[architect.Factory].ID, w.of[architect.ContentPlan].ID},
		"&state=open&kind=factory&chat_id=" + chatID: {w.of[architect.Factory].ID},
	} {
		var got []string
		for _, d := range w.drafts(w.Caller, query) {
			got = append(got, d.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %v, want %v", query, got, want)
		}
	}
	for name, c := range map[string]*apitest.Caller{"another account": w.Stranger(), "the other mode": w.Live()} {
		if all := append(w.drafts(c, ""), w.drafts(c, "&chat_id="+chatID)...); len(all) != 0 {
			t.Errorf("%s sees %v", name, all)
		}
		c.Call(http.MethodGet, w.path, nil).Refused(t, 404, errs.NotFound, "")
	}
	w.Call(http.MethodGet, "/v1/architect/drafts?id=acme", nil).Refused(t, 422, errs.ValidationFailed, "id")
	w.Call(http.MethodGet, "/v1/architect/drafts?chat_id=acme", nil).Refused(t, 422, errs.ValidationFailed, "chat_id")
	newest := w.Call(http.MethodGet, "/v1/architect/drafts?limit=1", nil)
	if !strings.Contains(newest.Raw, elsewhere.ID) {
		t.Errorf("the newest is %s", newest.Raw)
	}
}

// Whatever a caller does to a draft, its body stays one that the operation takes.
func TestDraftsAreChanged(t *testing.T) {
	w := newDrafting(t)
	d := w.of[architect.ContentItem]
	var got architect.Draft
	w.Faults.Reset()
	w.Call(http.MethodPatch, draftsPath+d.ID,
		object{"body": object{"prompt": "Wool socks", "kind": "carousel",
			"slides": []object{{"text": "Warm"}, {"text": "Dry"}}}, "metadata": object{"a": "b"}}, "If-Match",
		`"1"`).Into(t, http.StatusOK, &got)
	if ops := w.Faults.Operations(); ops != "GetItem BatchGetItem PutItem" {
		t.Errorf("it took %s", ops)
	}
	if got.Body["prompt"] != "Wool socks" || got.Body["factory_id"] != w.factory || got.Version != 2 ||
		got.Metadata["a"] != "b" || got.State != architect.Open {
		t.Errorf("%+v", got)
	}
	foreign, live := w.architectWorld.factory(w.Stranger()).ID, w.architectWorld.factory(w.Live()).ID
	before := storetest.Snapshot(t, w.DB)
	for name, c := range map[string]struct {
		kind  architect.Subject
		patch any
		code  errs.Code
		param string
	}{
		"a kind that there is not": {architect.ContentItem, object{"body": object{"kind": "painting"}},
			errs.ValidationFailed, "/body/kind"},
		"a member that there is not": {architect.ContentItem, object{"body": object{"promt": "A shoe"}},
			errs.ValidationFailed, "/body/promt"},
		"no prompt": {architect.ContentItem, object{"body": object{"prompt": nil}},
			errs.ValidationFailed, "/body/prompt"},
		"slides of a post": {architect.ContentItem, object{"body": object{"kind": "post"}},
			errs.ValidationFailed, "/body/slides"},
		"an unknown model": {architect.ContentItem, object{"body": object{"model": "paintbrush-1"}},
			errs.UnsupportedModel, "/body/model"},
		"a factory of another account": {architect.ContentItem, object{"body": object{"factory_id": foreign}},
			errs.NotFound, "/body/factory_id"},
		"a factory of the other mode": {architect.ContentItem, object{"body": object{"factory_id": live}},
			errs.NotFound, "/body/factory_id"},
		"a body that is none": {architect.ContentItem, object{"body": "a post"},
			errs.ValidationFailed, "/body"},
		"no body": {architect.ContentItem, object{"body": nil}, errs.ValidationFailed, "/body"},
		"another kind of draft": {architect.ContentItem, object{"kind": "factory"},
			errs.ValidationFailed, "/kind"},
		"a state that follows": {architect.ContentItem, object{"state": "applied"},
			errs.ValidationFailed, "/state"},
		"a plan of no days": {architect.ContentPlan, object{"body": object{"days": 0}},
			errs.ValidationFailed, "/body/days"},
		"a plan that has begun": {architect.ContentPlan, object{"body": object{"starts_on": "2026-04-30"}},
			errs.ValidationFailed, "/body/starts_on"},
		"a type that there is not": {architect.Factory, object{"body": object{"type": "bakery"}},
			errs.ValidationFailed, "/body/type"},
		"a type whose settings are others": {architect.Factory, object{"body": object{"type": "seller"}},
			errs.ValidationFailed, "/body/settings/currency"},
		"a language that there is not": {architect.Factory, object{"body": object{"language": "klingonisch"}},
			errs.ValidationFailed, "/body/language"},
		"metadata that are no pairs of texts": {architect.Factory, object{"metadata": object{"a": 1}},
			errs.ValidationFailed, "/metadata/a"},
		"a state beside a body that is broken": {architect.Factory, object{"state": "discarded", "body": object{"name": ""}},
			errs.ValidationFailed, "/body/name"},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.Call(http.MethodPatch, draftsPath+w.of[c.kind].ID, c.patch)
			if a.Error == nil || a.Error.Code != string(c.code) || !strings.HasPrefix(a.Error.Param, c.param) {
				t.Errorf("%d %s", a.Status, a.Raw)
			}
		})
	}
	w.Call(http.MethodPatch, draftsPath+d.ID, object{"body": object{"prompt": "A shoe"}}, "If-Match", `"1"`).Refused(t,
		412, errs.VersionMismatch, "If-Match")
	for name, c := range map[string]*apitest.Caller{"another account": w.Stranger(), "the other mode": w.Live()} {
		for _, a := range []apitest.Answer{c.Call(http.MethodPatch, draftsPath+d.ID, object{"state": "discarded"}),
			c.Call(http.MethodPost, draftsPath+d.ID+"/apply", nil, "If-Match", `"1"`)} {
			if a.Status != 404 || a.Error.Code != string(errs.NotFound) {
				t.Errorf("%s: %s", name, a.Raw)
			}
		}
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
}

func TestADraftIsAppliedOnce(t *testing.T) {
	w := newDrafting(t)
	for kind, made := range map[architect.Subject]string{architect.Factory: "fac_", architect.ContentPlan: "pln_",
		architect.ContentItem: "cnt_"} {
		t.Run(string(kind), func(t *testing.T) {
			path := draftsPath + w.of[kind].ID + "/apply"
			var got architect.Draft
			first := w.Call(http.MethodPost, path, nil, "If-Match", `"1"`, "Idempotency-Key", "apply "+string(kind))
			first.Into(t, http.StatusCreated, &got)
			if got.State != architect.Applied || got.ResultID == nil || !strings.HasPrefix(*got.ResultID, made) ||
				got.Version != 2 {
				t.Errorf("%+v", got)
			}
			if again := w.Call(http.MethodPost, path, nil, "If-Match", `"1"`, "Idempotency-Key",
				"apply "+string(kind)); again.Raw != first.Raw {
				t.Errorf("the repeat answers %s", again.Raw)
			}
			again := w.Call(http.MethodPost, path, nil)
			again.Refused(t, 409, errs.InvalidState, "")
			again.Context(t, `{"state":"applied","allowed":[]}`)
			w.Call(http.MethodPatch, draftsPath+got.ID, object{"state": "discarded"}).Refused(t, 409,
				errs.InvalidState, "")
		})
	}
	var of item.Item
	id := *w.drafts(w.Caller, "&kind=content_item")[0].ResultID
	w.Call(http.MethodGet, "/v1/content-items/"+id, nil).Into(t, http.StatusOK, &of)
	if of.State != item.Queued || of.Prompt != "socks" || of.FactoryID != w.factory {
		t.Errorf("%+v", of)
	}
	// The chat was about a factory already.
	if now := w.get(w.Caller, w.path); *now.FactoryID != w.factory {
		t.Errorf("%+v", now)
	}
	d := w.drafted(w.path, "Write a post about laces")
	w.Call(http.MethodPatch, draftsPath+d.ID, object{"state": "discarded"}).Into(t, http.StatusOK, new(architect.Draft))
	gone := w.Call(http.MethodPost, draftsPath+d.ID+"/apply", nil, "If-Match", `"1"`)
	gone.Refused(t, 409, errs.InvalidState, "")
	gone.Context(t, `{"state":"discarded","allowed":[]}`)
}

func TestApplyingADraftSideBySideMakesOneThing(t *testing.T) {
	w := newDrafting(t)
	path := draftsPath + w.of[architect.ContentItem].ID + "/apply"
	var all sync.WaitGroup
	answers := make([]apitest.Answer, 6)
	for i := range answers {
		all.Go(func() { answers[i] = w.Call(http.MethodPost, path, nil, "If-Match", `"1"`) })
	}
	all.Wait()
	made := 0
	for _, a := range answers {
		switch a.Status {
		case http.StatusCreated:
			made++
		default:
			a.Refused(t, 409, errs.InvalidState, "")
		}
	}
	items := apitest.All[item.Item](w.Caller, "/v1/content-items", 10)
	if made != 1 || len(items) != 1 {
		t.Errorf("%d calls have succeeded, there are %d items", made, len(items))
	}
}

// Applying needs the scope of the operation, and its money.
func TestWhatApplyingNeeds(t *testing.T) {
	w := newDrafting(t)
	for kind, lacks := range map[architect.Subject]auth.Scope{architect.Factory: auth.FactoriesWrite,
		architect.ContentPlan: auth.FactoriesWrite, architect.ContentItem: auth.ContentWrite} {
		narrow := w.As(func(p *auth.Principal) {
			p.Scopes = slices.DeleteFunc(auth.AllScopes(), func(s auth.Scope) bool { return s == lacks })
		})
		narrow.Call(http.MethodPost, draftsPath+w.of[kind].ID+"/apply", nil, "If-Match", `"1"`).Refused(t, 403,
			errs.InsufficientScope, "")
	}
	for _, other := range []auth.Scope{auth.FactoriesWrite, auth.ContentWrite} {
		w.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{other} }).Call(http.MethodPost,
			draftsPath+w.of[architect.Factory].ID+"/apply", nil, "If-Match", `"1"`).Refused(t, 403,
			errs.InsufficientScope, "")
	}
	live := w.Live()
	f := w.architectWorld.factory(live)
	path := w.chat(live, "factory_id", f.ID)
	w.model.say = says(architectCalls("draft_content_item", object{"body": object{"kind": "post", "prompt": "A shoe"}}),
		architectText("Done"))
	id := w.send(live, path, "A post").DraftIDs[0]
	before, _ := w.spent()
	poor := live.As(func(p *auth.Principal) { limit := int64(0); p.SpendLimit = &limit })
	poor.Call(http.MethodPost, draftsPath+id+"/apply", nil, "If-Match", `"1"`).Refused(t, 402,
		errs.SpendLimitReached, "")
	live.Call(http.MethodPost, draftsPath+id+"/apply", nil, "If-Match", `"1"`).Into(t, http.StatusCreated,
		new(architect.Draft))
	if spent, held := w.spent(); spent <= before || held != 1 {
		t.Errorf("%d credits are spent, %d before; %d are held", spent, before, held)
	}
}

// The subject of a draft may have changed before it is applied.
func TestADraftThatNoLongerFits(t *testing.T) {
	w := newDrafting(t)
	w.Call(http.MethodPatch, draftsPath+w.of[architect.ContentPlan].ID,
		object{"body": object{"starts_on": "2026-05-03"}}).Into(t, http.StatusOK, new(architect.Draft))
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"state": "paused"}).Into(t, http.StatusOK, new(object))
	apply := func(kind architect.Subject) apitest.Answer {
		version := map[architect.Subject]string{architect.ContentPlan: `"2"`, architect.ContentItem: `"1"`}[kind]
		return w.Call(http.MethodPost, draftsPath+w.of[kind].ID+"/apply", nil, "If-Match", version)
	}
	apply(architect.ContentItem).Refused(t, 409, errs.InvalidState, "/body/factory_id")
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory,
		object{"state": "active", "content_types": []string{"video"}}).Into(t, http.StatusOK, new(object))
	apply(architect.ContentItem).Refused(t, 422, errs.ValidationFailed, "/body/kind")
	w.Clock.Add(7 * 24 * time.Hour)
	apply(architect.ContentPlan).Refused(t, 422, errs.ValidationFailed, "/body/starts_on")
	w.Call(http.MethodDelete, "/v1/factories/"+w.factory, nil).Into(t, http.StatusOK, new(object))
	apply(architect.ContentItem).Refused(t, 404, errs.NotFound, "/body/factory_id")
	if all := w.drafts(w.Caller, "&state=open"); len(all) != 3 {
		t.Errorf("%+v", all)
	}
	cleaner := architect.Cleaner{DB: w.DB, Now: w.Clock.Now}
	for range 2 {
		if _, err := cleaner.Clean(t.Context(), w.Principal.Owner, w.factory); err != nil {
			t.Fatal(err)
		}
	}
	if more, err := cleaner.Clean(t.Context(), w.Principal.Owner, w.factory); more || err != nil {
		t.Errorf("%v, %v", more, err)
	}
	if all := w.drafts(w.Caller, "&state=open"); len(all) != 1 || all[0].Kind != architect.Factory {
		t.Errorf("%+v", all)
	}
}

// A chat that a reset has removed meanwhile does not keep its drafts from being applied.
func TestADraftOfAChatThatIsGone(t *testing.T) {
	w := newDrafting(t)
	it, err := w.DB.Get(t.Context(), store.IDKey(w.path[len(chats)+1:]))
	if err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Delete(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Call(http.MethodPost, draftsPath+w.of[architect.Factory].ID+"/apply", nil, "If-Match", `"1"`).Into(t,
		http.StatusCreated, new(architect.Draft))
}
