package area_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/architect"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// A draft is seen with the read scope of its operation, and changed with the write scope.
func TestDraftsNeedTheScopesOfTheirOperation(t *testing.T) {
	w := newDrafting(t)
	before := storetest.Snapshot(t, w.DB)
	for kind, c := range map[architect.Subject]struct{ read, write auth.Scope }{
		architect.Factory:     {auth.FactoriesRead, auth.FactoriesWrite},
		architect.ContentPlan: {auth.FactoriesRead, auth.FactoriesWrite},
		architect.ContentItem: {auth.ContentRead, auth.ContentWrite},
	} {
		at := draftsPath + w.of[kind].ID
		alone, blind, reader := w.Only(auth.ArchitectUse), w.Only(auth.ArchitectUse, c.write),
			w.Only(auth.ArchitectUse, c.read)
		if all := append(w.drafts(alone, ""), w.drafts(blind, "&kind="+string(kind))...); len(all) != 0 {
			t.Errorf("without %s, listed are %+v", c.read, all)
		}
		var listed []string
		for _, d := range w.drafts(reader, "&chat_id="+w.path[len(chats)+1:]) {
			listed = append(listed, d.ID)
			if needs := map[bool]auth.Scope{true: auth.ContentRead,
				false: auth.FactoriesRead}[d.Kind == architect.ContentItem]; needs != c.read {
				t.Errorf("with %s, listed is %+v", c.read, d)
			}
		}
		if !slices.Contains(listed, w.of[kind].ID) {
			t.Errorf("with %s, listed are %v", c.read, listed)
		}
		for _, caller := range []struct {
			*apitest.Caller
			status int
			code   errs.Code
		}{{alone, 404, errs.NotFound}, {blind, 404, errs.NotFound}, {reader, 403, errs.InsufficientScope}} {
			caller.Call(http.MethodPatch, at, object{"state": "discarded"}).Refused(t, caller.status, caller.code, "")
			caller.Call(http.MethodPost, at+"/apply", nil, "If-Match", `"1"`).Refused(t, caller.status, caller.code, "")
		}
	}
	if storetest.Snapshot(t, w.DB) != before {
		t.Error("something was changed")
	}
}

// Whoever applies a draft names the version that it has seen: another key may have changed
// it since.
func TestApplyingNeedsTheVersion(t *testing.T) {
	w := newDrafting(t)
	path := draftsPath + w.of[architect.ContentItem].ID
	for _, header := range [][]string{nil, {"If-Match", "*"}} {
		w.Call(http.MethodPost, path+"/apply", nil, header...).Refused(t, 400, errs.InvalidHeader, "If-Match")
	}
	w.Call(http.MethodPatch, path, object{"body": object{"prompt": "Something else"}}).Into(t, http.StatusOK,
		new(architect.Draft))
	w.Call(http.MethodPost, path+"/apply", nil, "If-Match", `"1"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
	w.Call(http.MethodPost, path+"/apply", nil, "If-Match", `"2"`).Into(t, http.StatusCreated, new(architect.Draft))
}

func TestApplyingADraftWithAutoPublishNeedsTheScopeToPublish(t *testing.T) {
	w := newDrafting(t)
	path, weak := draftsPath+w.of[architect.Factory].ID, w.Without(auth.ContentPublish)
	patch := object{"body": object{"auto_publish": true}}
	weak.Call(http.MethodPatch, path, patch).Refused(t, 403, errs.InsufficientScope, "/body/auto_publish")
	w.Call(http.MethodPatch, path, patch).Into(t, http.StatusOK, new(architect.Draft))
	weak.Call(http.MethodPost, path+"/apply", nil, "If-Match", `"2"`).Refused(t, 403, errs.InsufficientScope,
		"/body/auto_publish")
	w.Call(http.MethodPost, path+"/apply", nil, "If-Match", `"2"`).Into(t, http.StatusCreated, new(architect.Draft))
}

// A chat says nothing of a factory to a key that may not read it.
func TestAChatOfAFactoryNeedsTheScopeToReadIt(t *testing.T) {
	w := newArchitectWorld(t)
	own := w.factory(w.Caller)
	narrow := w.Only(auth.ArchitectUse)
	var messages []string
	for _, id := range []string{own.ID, "fac_01h455vb4pex5vsknk084sn02q", "acme"} {
		a := narrow.Call(http.MethodPost, chats, object{"factory_id": id})
		a.Refused(t, 403, errs.InsufficientScope, "/factory_id")
		messages = append(messages, a.Error.Message)
	}
	if messages[0] != messages[1] || messages[1] != messages[2] {
		t.Errorf("%v", messages)
	}
	path := w.chat(w.Caller, "factory_id", own.ID)
	if got := w.get(narrow, path); got.FactoryID != nil {
		t.Errorf("%+v", got)
	}
}

// A reply is read with the scopes that it was made with, and a model that answers another
// key does not see it either.
func TestARepliesScopesAreNeededToReadIt(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	f := w.factory(live, "name", "Secret launch")
	path := w.chat(live, "factory_id", f.ID)
	w.model.say = says(architectCalls("read_factory", object{}), architectText("It is called Secret launch."))
	first := w.send(live, path, "What is it called?")
	narrow := live.Only(auth.ArchitectUse)
	w.model.say = says(architectText("I do not know."))
	second := w.send(narrow, path, "And what is it called?")
	for _, turn := range w.model.asked[len(w.model.asked)-1].Turns {
		if strings.Contains(turn.Text, "Secret launch") {
			t.Errorf("the model sees %q", turn.Text)
		}
	}
	// A reply that follows one that needs a scope may repeat it.
	w.model.say = says(architectText("As I said: Secret launch."))
	third := w.send(live, path, "Once more?")
	for name, c := range map[string]struct {
		caller *apitest.Caller
		hidden []string
	}{
		"architect:use": {narrow, []string{first.ID, third.ID}},
		"another scope": {live.Only(auth.ArchitectUse, auth.ContentRead),
			[]string{first.ID, third.ID}},
		"architect:use and factories:read": {live.Only(auth.ArchitectUse, auth.FactoriesRead), nil},
	} {
		a := c.caller.Call(http.MethodGet, path, nil)
		if strings.Contains(a.Raw, "Secret launch") != (c.hidden == nil) {
			t.Errorf("%s reads %s", name, a.Raw)
		}
		for _, m := range w.get(c.caller, path).Messages {
			hidden := slices.Contains(c.hidden, m.ID)
			if hidden != (m.Text == "") || hidden != (len(m.LackingScopes) > 0) || hidden &&
				(len(m.Sources) > 0 || !slices.Equal(m.LackingScopes, []auth.Scope{auth.FactoriesRead})) {
				t.Errorf("%s reads %+v", name, m)
			}
		}
	}
	if second.Text != "I do not know." {
		t.Errorf("%+v", second)
	}
}

// A model makes drafts only of resources that its caller may see.
func TestDraftsAreMadeForWhoMaySeeThem(t *testing.T) {
	w := newArchitectWorld(t)
	live := w.Live()
	f := w.factory(live)
	path := w.chat(live, "factory_id", f.ID)
	for tool, body := range map[string]object{
		"draft_factory": {"type": "brand", "name": "Mine", "language": "de",
			"settings": object{"brand_name": "Mine"}},
		"draft_content_plan":   {"days": 1, "posts_per_day": 1},
		"draft_content_item":   {"kind": "post", "prompt": "A shoe"},
		"draft_factory_change": {"tone": "dry"},
	} {
		input := object{"body": body}
		if tool != "draft_factory" {
			input["factory_id"] = f.ID
		}
		w.model.say = says(architectCalls(tool, input), architectText("No."))
		if reply := w.send(live.Only(auth.ArchitectUse), path, "Draft"); len(reply.DraftIDs) != 0 {
			t.Errorf("%s has made %v", tool, reply.DraftIDs)
		}
		w.model.say = says(architectCalls(tool, input), architectText("Yes."))
		if reply := w.send(live.Only(auth.ArchitectUse, auth.FactoriesRead, auth.ContentRead), path,
			"Draft"); len(reply.DraftIDs) != 1 {
			turns := w.model.asked[len(w.model.asked)-1].Turns
			t.Errorf("%s has made %v: %s", tool, reply.DraftIDs, turns[len(turns)-1].Results[0].Content)
		}
	}
}
