package area_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/calltest"
	"github.com/content-automation/api/pkg/area/template"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	templaterecord "github.com/content-automation/api/pkg/record/template"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/breadth"
)

// An export has all resources as their GET shows them, with their files, and no secret.
func TestAnExportHasEverything(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{})
	got := w.read(x)
	want := map[string]int{"profile": 1, "media": 1, "template": 1, "factory": 2, "product": 1, "feed": 1,
		"promotion": 1, "content_item": 8, "content_plan": 1, "generation": 1, "webhook": 1}
	if !maps.Equal(x.Resources, want) || x.MissingFiles != 0 || x.Files != len(got.files) || x.Files < 15 {
		t.Errorf("it has %v, %d files of which %d are missing; want %v", x.Resources, x.Files, x.MissingFiles, want)
	}
	for resourceID, path := range map[string]string{w.factory: "/v1/factories/", w.profile: "/v1/profiles/",
		w.media: "/v1/media/", w.template: "/v1/templates/"} {
		var shown object
		w.Call(http.MethodGet, path+resourceID, nil).Into(t, 200, &shown)
		is := maps.Clone(got.byID[resourceID])
		delete(shown, "url")
		delete(shown, "spending")
		delete(is, "url")
		delete(is, "used_by") // the lines of factories say it
		for name, value := range is {
			if shown[name] != nil && !reflect.DeepEqual(value, shown[name]) {
				t.Errorf("%s of %s is %v, and its GET shows %v", name, resourceID, value, shown[name])
			}
		}
	}
	for _, p := range x.Parts[:1] {
		first := got.lines[0]
		if p.Kind != transfer.KindLines || first["kind"] != "header" || first["export_id"] != x.ID ||
			first["account_id"] != string(w.Principal.Account) || first["format"] != transfer.Format {
			t.Errorf("it begins with %v", first)
		}
	}
	for _, l := range got.lines {
		for _, f := range listOf(l["files"]) {
			name := strings.TrimPrefix(f["url"].(string), transfer.FileScheme)
			if content, ok := got.files[name]; !ok || transferSum(content) != f["sha256"] || float64(len(content)) != f["bytes"] {
				t.Errorf("%v of %v is not in the parts", f, l["id"])
			}
		}
	}
	for _, secret := range []string{w.secret, "whsec_", "X-Amz-", "sealed", "secrets", "authority", "\"key\":"} {
		if strings.Contains(got.text, secret) {
			t.Errorf("the export has %q", secret)
		}
	}
	w.checkSchema(got)
	if last := got.lines[len(got.lines)-1]; last["kind"] != "end" || last["last"] != true {
		t.Errorf("it ends with %v", last)
	}
	if len(x.Parts) < 5 {
		t.Errorf("it has %d parts", len(x.Parts))
	}
}

func listOf(v any) (all []object) {
	list, _ := v.([]any)
	for _, one := range list {
		all = append(all, one.(object))
	}
	return all
}

// What is created after the start is left out, and what is changed later is named.
func TestAnExportIsOfItsStart(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	var x transfer.Export
	w.Call(http.MethodPost, "/v1/exports", object{}).Into(t, http.StatusAccepted, &x)
	w.Clock.Add(time.Second)
	var later object
	w.Call(http.MethodPost, "/v1/factories", object{"type": "blogger", "name": "Later"}).Into(t, 201, &later)
	w.Call(http.MethodPatch, "/v1/factories/"+w.factory, object{"name": "Changed"}).Into(t, 200, new(object))
	w.engine.Drain()
	w.Call(http.MethodGet, "/v1/exports/"+x.ID, nil).Into(t, 200, &x)
	got := w.read(x)
	if got.byID[later["id"].(string)] != nil || x.Resources["factory"] != 2 {
		t.Error("a later factory is in the export")
	}
	var changed []any
	for _, l := range got.lines {
		if l["kind"] == "end" {
			changed = append(changed, l["changed"].([]any)...)
		}
	}
	if !slices.Contains(changed, any(w.factory)) || len(changed) != 1 {
		t.Errorf("changed were %v", changed)
	}
}

// The export of a profile has what belongs to the profile alone.
func TestAnExportOfAProfile(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{"profile_id": w.profile})
	want := map[string]int{"profile": 1, "factory": 1, "product": 1, "feed": 1, "promotion": 1}
	if !maps.Equal(x.Resources, want) || x.ProfileID == nil || string(*x.ProfileID) != w.profile {
		t.Errorf("it has %v of %v", x.Resources, x.ProfileID)
	}
	w.Call(http.MethodPost, "/v1/exports", object{"profile_id": "prf_01h455vb4pex5vsknk084sn02q"}).Refused(t, 404,
		errs.NotFound, "/profile_id")
	w.Stranger().Call(http.MethodGet, "/v1/exports/"+x.ID, nil).Refused(t, 404, errs.NotFound, "")
	bound := w.As(func(p *auth.Principal) { p.Bind([]tenant.Profile{tenant.Profile(w.profile)}) })
	bound.Call(http.MethodPost, "/v1/exports", object{}).Refused(t, 403, errs.ProfileNotAllowed, "")
}

// changing are the members that an import changes, besides ids and addresses.
var changing = map[string][]string{
	"media":        {"expires_at"},
	"factory":      {"auto_publish", "social_account_ids"},
	"content_item": {"expires_at", "publish_at", "omitted_accounts", "social_account_ids", "prompt_version"},
	"content_plan": {"cost_estimate", "completed_at", "calendar"},
	"generation":   {"expires_at"},
	"webhook":      {"state", "disabled_reason", "created_by"},
	"product":      {"price_history"},
}

// same compares two exports field by field, with the ids of the second by those of the first.
func same(t *testing.T, before, after exported, ids map[string]string) (compared int) {
	t.Helper()
	text, err := json.Marshal(before.byID)
	if err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for old, made := range ids {
		pairs = append(pairs, old, made)
	}
	var want map[string]object
	if err := json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(text))), &want); err != nil {
		t.Fatal(err)
	}
	kinds := map[string]string{}
	for _, l := range before.lines {
		if old, ok := l["id"].(string); ok {
			kinds[ids[old]] = l["kind"].(string)
		}
	}
	for resourceID, is := range after.byID {
		was := want[resourceID]
		if was == nil {
			t.Errorf("%s is new", resourceID)
			continue
		}
		for name := range was {
			if slices.Contains([]string{"metadata", "updated_at", "version"}, name) || slices.Contains(changing[kinds[resourceID]], name) {
				continue
			}
			if !reflect.DeepEqual(was[name], is[name]) {
				t.Errorf("%s of %s was %v, and is %v", name, resourceID, was[name], is[name])
			}
			compared++
		}
	}
	if len(after.byID) != len(want) {
		t.Errorf("%d of %d resources are there", len(after.byID), len(want))
	}
	return compared
}

// An import makes the same resources and files in another account, once, whatever dies in between.
func TestAnImportIsTheSameElsewhere(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	n := breadth.Of(60, 10_000)
	w.copies(n)
	if breadth.All() {
		w.out.LineBytes, w.in.Lines = 1<<20, 500
	}
	w.engine.Handle(transfer.ExportKind, transferDying{task.Func(w.out.Export), map[string]bool{}})
	w.engine.Handle(transfer.ImportKind, transferDying{task.Func(w.in.Import), map[string]bool{}})
	x := w.export(w.Caller, object{})
	before := w.read(x)
	for name, c := range map[string]*apitest.Caller{"account": w.Stranger(), "mode": w.Stranger().Live()} {
		first := w.take(c, x)
		if first.State != transfer.Completed || len(first.LeftOut) != 0 || first.MissingFiles != 0 ||
			first.Files != len(before.files) || first.Resources["content_item"].Imported != 8+n {
			t.Fatalf("%s: %+v, %+v", name, first, first.Failure)
		}
		ids := w.mapOf(first)
		after := w.read(w.export(c, object{}))
		if compared := same(t, before, after, ids); compared < 30*n {
			t.Errorf("%s: %d fields were compared", name, compared)
		}
		for at, content := range before.files {
			for old, made := range ids {
				at = strings.ReplaceAll(at, old, made)
			}
			if string(after.files[at]) != string(content) {
				t.Errorf("%s: %s has %d bytes, want %d", name, at, len(after.files[at]), len(content))
			}
		}
		again := w.take(c, x)
		if !maps.Equal(w.mapOf(again), ids) || !reflect.DeepEqual(again.Resources, first.Resources) {
			t.Errorf("%s: the second time it is %+v", name, again)
		}
		if got := w.read(w.export(c, object{})); len(got.byID) != len(after.byID) {
			t.Errorf("%s: after the second import there are %d resources", name, len(got.byID))
		}
	}
}

// mapOf returns the new ids by the old ones.
func (w *transferWorld) mapOf(i transfer.Import) map[string]string {
	w.T.Helper()
	if len(i.Map) > 0 {
		return i.Map
	}
	ids := map[string]string{}
	p := transfer.Part{URL: *i.MapURL}
	for line := range strings.Lines(string(w.fetch(p.URL))) {
		var m map[string]string
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			w.T.Fatal(err)
		}
		ids[m["old_id"]] = m["new_id"]
	}
	return ids
}

// A factory comes in with its template: the preview and the media of its items are of the same design, and the template
// cannot be deleted while the factory uses it.
func TestAnImportedFactoryHasItsTemplate(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	c := w.Stranger()
	ids := w.mapOf(w.take(c, w.export(w.Caller, object{})))
	drawn := func(c *apitest.Caller, templateID, factoryID string) (all []generate.Composition) {
		for _, kind := range []string{"post", "carousel", "story", "product", "video"} {
			c.Call(http.MethodPost, "/v1/templates/"+templateID+"/preview", object{"factory_id": factoryID,
				"kind": kind}).Into(t, http.StatusAccepted, new(object))
			beside, err := w.DB.Lookup(t.Context(), templaterecord.NotesKey(templateID))
			notes, broken := templaterecord.NotesOf(beside)
			it, gone := w.DB.Lookup(t.Context(), store.IDKey(notes.Preview))
			work, failed := template.Loader{}.Open(it)
			if err := errors.Join(err, broken, gone, failed); err != nil {
				t.Fatal(err)
			}
			one, err := work.(generate.Composing).Composition(1, nil)
			if err != nil {
				t.Fatal(err)
			}
			one.Files(func(f *media.File) { f.ID, f.Key = "", path.Base(f.Key) })
			all = append(all, one)
			w.engine.Drain()
		}
		return all
	}
	before, after := drawn(w.Caller, w.template, w.factory), drawn(c, ids[w.template], ids[w.factory])
	if !reflect.DeepEqual(before, after) {
		t.Errorf("the previews were %+v, and are %+v", before, after)
	}
	c.Call(http.MethodDelete, "/v1/templates/"+ids[w.template], nil).RefusedAs(t, errs.InvalidState, "")
}

// Imported resources work: a webhook once it has a secret, an item by another attempt, a factory by a new item.
func TestImportedResourcesWork(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{})
	c := w.Stranger()
	i := w.take(c, x)
	var hooks []object
	c.Call(http.MethodGet, "/v1/webhooks", nil).Into(t, 200, &hooks)
	hook := "/v1/webhooks/" + hooks[0]["id"].(string)
	if hooks[0]["state"] != "disabled" || hooks[0]["created_by"] != c.Principal.Actor.ID {
		t.Errorf("the webhook is %v", hooks[0])
	}
	var made object
	c.Call(http.MethodPost, hook+"/rotate-secret", object{}).Into(t, 200, &made)
	if made["secret"] == "" || made["secret"] == w.secret {
		t.Errorf("the secret is %v", made["secret"])
	}
	c.Call(http.MethodPatch, hook, object{"state": "enabled"}).Into(t, 200, new(object))
	var of struct {
		FactoryID string `json:"factory_id"`
		Source    struct{ URL string }
		Mapping   map[string]string
		OnRemoved string `json:"on_removed"`
		Schedule  string
		LastRun   *object `json:"last_run"`
	}
	path := "/v1/factories/" + i.Map[w.seller] + "/feed"
	c.Call(http.MethodGet, path, nil).Into(t, 200, &of)
	if of.FactoryID != i.Map[w.seller] || of.Source.URL != "https://93.184.215.14/feed.csv" ||
		of.OnRemoved != "withdraw" || of.Mapping["sku"] != "Artikel" || of.Schedule != "manual" || of.LastRun != nil {
		t.Errorf("the feed is %+v", of)
	}
	c.Call(http.MethodPost, path+"/sync", nil).Into(t, 202, new(object))
	made = nil
	c.Call(http.MethodPost, "/v1/content-items", object{"factory_id": i.Map[w.factory], "kind": "post",
		"prompt": "Another shoe"}).Into(t, 202, &made)
	var items []object
	c.Call(http.MethodGet, "/v1/content-items?state=generated&kind=story", nil).Into(t, 200, &items)
	story := "/v1/content-items/" + items[0]["id"].(string)
	c.Call(http.MethodPost, story+"/regenerate", object{}).Into(t, 202, new(object))
	w.engine.Drain()
	for _, path = range []string{"/v1/content-items/" + made["id"].(string), story} {
		c.Call(http.MethodGet, path, nil).Into(t, 200, &made)
		if made["state"] != "generated" {
			t.Errorf("%s is %v: %v", path, made["state"], made["failure"])
		}
	}
	c.Call(http.MethodDelete, story, nil).Into(t, 200, new(object))
	c.Call(http.MethodDelete, "/v1/media/"+i.Map[w.media], nil).Refused(t, 409, errs.InvalidState, "")
}

// A part that is no export, or another one, ends an import with the reason. Lines that are wrong are left out.
func TestAnImportRefuses(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{})
	c := w.Stranger()
	for name, parts := range map[string][]transfer.Part{
		"wrong sum": {{Kind: "lines", URL: x.Parts[0].URL, Bytes: x.Parts[0].Bytes, SHA256: strings.Repeat("0", 64)}},
		"gone":      {{Kind: "lines", URL: "https://93.184.215.14/none", Bytes: 1, SHA256: x.Parts[0].SHA256}},
		"no header": {w.keep("no-header", `{"kind":"factory","id":"fac_1","data":{}}`)},
		"no export": {w.keep("no-export", `{"kind":"header","format":"other","version":1}`)},
		"no json":   {w.keep("no-json", "{nonsense\n")},
		"newer": {w.keep("newer", `{"kind":"header","format":"content-automation-export","version":2,`+
			`"export_id":"`+x.ID+`"}`)},
		"another one": {x.Parts[0], w.keep("another", strings.ReplaceAll(w.text(x.Parts[0]), x.ID,
			"xpt_01h455vb4pex5vsknk084sn02q"))},
		"no archive": {x.Parts[0], w.keep("no-archive", strings.Repeat("no tar", 200))},
	} {
		i := w.takeParts(c, parts)
		if i.State != transfer.Failed || i.Failure == nil || i.Failure.Code == "internal" || i.Failure.Message == "" {
			t.Errorf("%s: %+v, %+v", name, i.State, i.Failure)
		}
	}
	header := strings.SplitAfter(w.text(x.Parts[0]), "\n")[0]
	const suffix = "_01h455vb4pex5vsknk084sn02q"
	odd := header
	for _, l := range []struct{ kind, id, members string }{
		{"factory", "fac" + suffix, `"type":"bakery"`},
		{"content_item", "cnt" + suffix, `"kind":"post","factory_id":"fac` + suffix + `"`},
		{"social_account", "soc" + suffix, `"platform":"telegram"`},
		{"hologram", "hol" + suffix, `"name":"Acme"`},
		{"webhook", "whk" + suffix, `"event_types":["*"],"destination":{"kind":"sqs","arn":"arn:aws:sqs:eu:1:q"}`},
		{"media", "med" + suffix, `"state":"ready","url":"export://media/../../acc_2/live/x/1/1.png"`},
	} {
		odd += fmt.Sprintf(`{"kind":%q,"id":%q,"data":{"id":%q,%s}}`+"\n", l.kind, l.id, l.id, l.members)
	}
	i := w.takeParts(c, []transfer.Part{w.keep("odd", odd)})
	codes := map[string]string{}
	for _, why := range i.LeftOut {
		codes[why.Kind] = why.Code
	}
	if want := map[string]string{"factory": "invalid", "content_item": "missing", "social_account": "needs_consent",
		"hologram": "of_elsewhere", "webhook": "refused", "media": "refused"}; i.State != transfer.Completed ||
		!maps.Equal(codes, want) {
		t.Errorf("%v, %+v", i.State, i.LeftOut)
	}
	c.Without(auth.ContentPublish).Call(http.MethodPost, "/v1/imports", object{"parts": x.Parts}).Refused(t, 403,
		errs.InsufficientScope, "")
	c.Call(http.MethodPost, "/v1/imports", object{"parts": []object{}}).Refused(t, 422, errs.ValidationFailed, "/parts")
}

// A server that asks to wait is asked again no earlier.
func TestAServerOfPartsThatAsksToWait(t *testing.T) {
	w := newTransferWorld(t)
	x := w.export(w.Caller, object{})
	server := &calltest.Busy{Status: 429, RetryAfter: "600", Next: w.in.URLs.Do, Now: w.Now}
	w.in.URLs = server
	i := w.take(w.Stranger(), x)
	if i.State != transfer.Completed || server.Asked[1].Sub(server.Asked[0]) < 10*time.Minute {
		t.Errorf("it is %+v, asked at %v", i, server.Asked)
	}
}

// An import ends with the rights of its key.
func TestAnImportEndsWithItsKey(t *testing.T) {
	w := newTransferWorld(t)
	w.fill()
	x := w.export(w.Caller, object{})
	c := w.Stranger()
	var i transfer.Import
	c.Call(http.MethodPost, "/v1/imports", object{"parts": x.Parts}).Into(t, 202, &i)
	for range 20 {
		w.engine.Step()
	}
	c.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
	w.engine.Drain()
	other := c.As(func(p *auth.Principal) { p.Actor = auth.Key("key_01h455vb4pex5vsknk084sn02q") })
	other.Call(http.MethodGet, "/v1/imports/"+i.ID, nil).Into(t, 200, &i)
	if i.State != transfer.Failed || i.Failure.Code != "authority_ended" {
		t.Errorf("%v, %+v", i.State, i.Failure)
	}
}
