package area_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// factoryWorld is a table with a caller of the factories' operations.
type factoryWorld struct {
	*servicetest.World
}

func newFactoryWorld(t *testing.T) *factoryWorld {
	w := &factoryWorld{servicetest.New(t)}
	w.Serve(factory.NewService(w.DB, w.Now))
	return w
}

// view is a factory whose settings can be compared.
type view struct {
	factory.Factory
	Settings json.RawMessage `json:"settings"`
}

func (w *factoryWorld) get(factoryID string) (v view) {
	w.T.Helper()
	w.Call(http.MethodGet, "/v1/factories/"+factoryID, nil).Into(w.T, http.StatusOK, &v)
	return v
}

// create makes a blogger; members are pairs that change the body.
func (w *factoryWorld) create(members ...any) (v view) {
	w.T.Helper()
	w.Call(http.MethodPost, "/v1/factories", body(members...)).Into(w.T, http.StatusCreated, &v)
	w.Clock.Add(time.Second)
	return v
}

func body(members ...any) object {
	return servicetest.Body(object{"type": "blogger", "name": "Blog"}, members...)
}

func TestCreateAndGet(t *testing.T) {
	w := newFactoryWorld(t)
	made := w.Now()
	w.Faults.Reset()
	got := w.create("type", "brand", "name", "Ümläut & Söhne", "language", "DE_de", "description", "Two\nlines",
		"audience", "Runners",
		"tone", "warm", "topics", []string{"shoes", "training"}, "content_types", []string{"video", "post"},
		"models", object{"image": "nano-banana"}, "auto_publish", false, "settings", object{"brand_name": "Acme"},
		"metadata", object{"team": "sales"})
	if ops := w.Faults.Operations(); ops != "TransactWriteItems" { // the sandbox counts its factories
		t.Errorf("it took %s", ops)
	}
	want := view{Factory: factory.Factory{
		Resource: resource.New(got.ID, made, resource.Metadata{"team": "sales"}),
		Type:     factory.Brand, Name: "Ümläut & Söhne", Language: "de-DE", Description: "Two\nlines",
		Audience: "Runners", Tone: "warm",
		Topics: []factory.Topic{"shoes", "training"}, ContentTypes: []string{"video", "post"},
		Models:           map[string]string{"image": "nano-banana"},
		SocialAccountIDs: []string{}, State: "active", Quality: "standard", Approval: "none", PlanApprove: "none",
	}, Settings: json.RawMessage(`{"brand_name":"Acme"}`)}
	if !reflect.DeepEqual(got, want) || !id.Valid(id.Factory, got.ID) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	w.Faults.Reset()
	if read := w.get(got.ID); !reflect.DeepEqual(read, want) {
		t.Errorf("read as %+v", read)
	}
	if ops := w.Faults.Operations(); ops != "GetItem" {
		t.Errorf("it took %s", ops)
	}
}

func TestWhatIsLeftOutHasADefault(t *testing.T) {
	w := newFactoryWorld(t)
	a := w.Call(http.MethodPost, "/v1/factories", body())
	for _, member := range []string{
		`"language":"en"`, `"description":null`, `"topics":[]`,
		`"content_types":["post","video","carousel","story","music_clip"]`, `"models":{}`, `"schedule":null`,
		`"auto_publish":false`, `"social_account_ids":[]`, `"settings":{}`, `"state":"active"`, `"metadata":{}`,
		`"version":1`,
	} {
		if !strings.Contains(a.Raw, member) {
			t.Errorf("%s lacks %s", a.Raw, member)
		}
	}
	if a.Header.Get("ETag") != `"1"` {
		t.Errorf("ETag %s", a.Header.Get("ETag"))
	}
	f := w.create("schedule", nil, "content_types", []string{}, "topics", nil, "language", nil)
	if f.Language != "en" || f.Topics == nil || f.Schedule != nil || len(f.ContentTypes) != 5 {
		t.Errorf("%+v", f)
	}
}

func TestLanguages(t *testing.T) {
	w := newFactoryWorld(t)
	for tag, want := range map[string]string{
		"en": "en", "EN": "en", "de-de": "de-DE", "pt_BR": "pt-BR", "zh-hant-tw": "zh-Hant-TW", "sr-Latn": "sr-Latn",
		"iw": "he", "es-419": "es-419",
		"xx": "", "german": "", "e": "", "de--DE": "", "-": "", "en US": "", "日本": "",
	} {
		if want == "" {
			w.Call(http.MethodPost, "/v1/factories", body("language", tag)).Refused(t, 422,
				errs.ValidationFailed, "/language")
		} else if f := w.create("language", tag); f.Language != want {
			t.Errorf("%s is kept as %s, want %s", tag, f.Language, want)
		}
	}
	w.Call(http.MethodPost, "/v1/factories", body("language", strings.Repeat("a", 36))).Refused(t, 422,
		errs.ValidationFailed, "/language")
}

func TestCreateIsRefused(t *testing.T) {
	w := newFactoryWorld(t)
	times := func(all ...string) object { return object{"timezone": "Europe/Berlin", "times": all} }
	for _, c := range []struct {
		member string
		value  any
		code   errs.Code
		param  string
	}{
		{"name", "", errs.ValidationFailed, "/name"},
		{"name", strings.Repeat("n", 101), errs.ValidationFailed, "/name"},
		{"name", "a\u007f", errs.ValidationFailed, "/name"},
		{"tone", "a\nb", errs.ValidationFailed, "/tone"},
		{"topics", []string{"a", ""}, errs.ValidationFailed, "/topics/1"},
		{"topics", []string{"a\nb"}, errs.ValidationFailed, "/topics/0"},
		{"topics", []string{strings.Repeat("a", 101)}, errs.ValidationFailed, "/topics/0"},
		{"topics", strings.Split(strings.Repeat("a", 21), ""), errs.ValidationFailed, "/topics"},
		{"content_types", []string{"post", "podcast"}, errs.ValidationFailed, "/content_types/1"},
		{"content_types", []string{"post", "post"}, errs.ValidationFailed, "/content_types"},
		{"models", object{"image": "gpt-99"}, errs.UnsupportedModel, "/models/image"},
		{"models", object{"image": "veo-3.1"}, errs.UnsupportedModel, "/models/image"},
		{"models", object{"image": "nano-banana-2"}, errs.UnsupportedModel, "/models/image"},
		{"models", object{"sculpture": "nano-banana"}, errs.ValidationFailed, "/models/sculpture"},
		{"models", object{"image": ""}, errs.UnsupportedModel, "/models/image"},
		{"models", object{"image": nil}, errs.ValidationFailed, "/models/image"},
		{"schedule", object{"times": []string{}}, errs.ValidationFailed, "/schedule/timezone"},
		{"schedule", object{"timezone": "UTC"}, errs.ValidationFailed, "/schedule/times"},
		{"schedule", object{"timezone": "Mars/Base", "times": []string{}}, errs.ValidationFailed, "/schedule/timezone"},
		{"schedule", object{"timezone": "Local", "times": []string{}}, errs.ValidationFailed, "/schedule/timezone"},
		{"schedule", object{"timezone": "", "times": []string{}}, errs.ValidationFailed, "/schedule/timezone"},
		{"schedule", object{"timezone": "../etc/passwd", "times": []string{}}, errs.ValidationFailed,
			"/schedule/timezone"},
		{"schedule", object{"timezone": "UTC", "times": []string{}, "days": 7}, errs.ValidationFailed,
			"/schedule/days"},
		{"schedule", times("09:00", "9:30"), errs.ValidationFailed, "/schedule/times/1"},
		{"schedule", times("24:00"), errs.ValidationFailed, "/schedule/times/0"},
		{"schedule", times("12:60"), errs.ValidationFailed, "/schedule/times/0"},
		{"schedule", times("12:30:00"), errs.ValidationFailed, "/schedule/times/0"},
		{"schedule", times("noon"), errs.ValidationFailed, "/schedule/times/0"},
		{"schedule", times("09:00", "18:30", "09:00"), errs.ValidationFailed, "/schedule/times/2"},
		{"schedule", times(strings.Split(strings.Repeat("x", 25), "")...), errs.ValidationFailed, "/schedule/times"},
		{"auto_publish", "yes", errs.ValidationFailed, "/auto_publish"},
		// These have no effect yet.
		{"models", object{"avatar": "heygen-avatar-4"}, errs.ValidationFailed, "/models/avatar"},
		{"state", "paused", errs.ValidationFailed, "/state"},
		{"id", "fac_1", errs.ValidationFailed, "/id"},
		{"social_account_ids", []string{}, errs.ValidationFailed, "/social_account_ids"},
		{"metadata", object{"": "x"}, errs.ValidationFailed, "/metadata"},
		{"metadata", object{"k": 7}, errs.ValidationFailed, "/metadata/k"},
		{"metadata", object{strings.Repeat("k", 41): "x"}, errs.ValidationFailed, "/metadata"},
	} {
		before := storetest.Snapshot(t, w.DB)
		w.Call(http.MethodPost, "/v1/factories", body(c.member, c.value)).Refused(t, 422, c.code, c.param)
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s %v has made something", c.member, c.value)
		}
	}
}

func TestAFactoryMayPreferAPreview(t *testing.T) {
	// Live work with it is refused; a test key may rehearse with it.
	w := newFactoryWorld(t)
	if f := w.create("models", object{"music": "ace-step", "text": "nova-lite"}); len(f.Models) != 2 {
		t.Errorf("%+v", f)
	}
}

func TestPatch(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create("type", "brand", "language", "de", "description", "Old", "audience", "Runners", "tone", "warm",
		"topics", []string{"shoes"},
		"content_types", []string{"story"}, "models", object{"image": "nano-banana", "text": "nova-lite"}, "metadata",
		object{"team": "sales", "city": "Bonn"},
		"settings", object{"brand_name": "Acme", "slogan": "Run.", "colors": []string{"#000000"}})
	for _, c := range []struct {
		name   string
		patch  string
		change func(*view)
	}{
		{"nothing", `{}`, func(*view) {}},
		{"name", `{"name":"New"}`, func(v *view) { v.Name = "New" }},
		{"language", `{"language":"en_gb"}`, func(v *view) { v.Language = "en-GB" }},
		{"texts", `{"description":"New","audience":"Cyclists","tone":"dry"}`, func(v *view) {
			v.Description, v.Audience,
				v.Tone = "New", "Cyclists", "dry"
		}},
		{"no texts", `{"description":null,"audience":null,"tone":null}`, func(v *view) {
			v.Description, v.Audience,
				v.Tone = "", "", ""
		}},
		{"topics", `{"topics":["bikes","shoes"]}`, func(v *view) { v.Topics = []factory.Topic{"bikes", "shoes"} }},
		{"no topics", `{"topics":null}`, func(v *view) { v.Topics = []factory.Topic{} }},
		{"content types", `{"content_types":["post"]}`, func(v *view) { v.ContentTypes = []string{"post"} }},
		{"no content types", `{"content_types":null}`,
			func(v *view) { v.ContentTypes = []string{"post", "video", "carousel", "story", "music_clip"} }},
		{"a model", `{"models":{"video":"veo-3.1"}}`, func(v *view) { v.Models["video"] = "veo-3.1" }},
		{"a model less", `{"models":{"image":null}}`, func(v *view) { delete(v.Models, "image") }},
		{"no models", `{"models":null}`, func(v *view) { v.Models = map[string]string{} }},
		{"a schedule", `{"schedule":{"timezone":"Asia/Kolkata","times":["09:00","18:30"]}}`, func(v *view) {
			v.Schedule = &factory.Schedule{Timezone: "Asia/Kolkata", Times: []string{"09:00", "18:30"}}
		}},
		{"times of the schedule", `{"schedule":{"times":["10:15"]}}`, func(v *view) {
			v.Schedule = &factory.Schedule{Timezone: "Asia/Kolkata", Times: []string{"10:15"}}
		}},
		{"no schedule", `{"schedule":null}`, func(v *view) { v.Schedule = nil }},
		{"publishing", `{"auto_publish":false}`, func(v *view) { v.AutoPublish = false }},
		{"publishing, unset", `{"auto_publish":null}`, func(v *view) { v.AutoPublish = false }},
		{"a setting", `{"settings":{"slogan":"Walk."}}`, func(v *view) {
			v.Settings = json.RawMessage(`{"brand_name":"Acme","slogan":"Walk.","colors":["#000000"]}`)
		}},
		{"settings less", `{"settings":{"slogan":null,"colors":null}}`,
			func(v *view) { v.Settings = json.RawMessage(`{"brand_name":"Acme"}`) }},
		{"a font", `{"settings":{"font":"lora"}}`, func(v *view) {
			v.Settings = json.RawMessage(`{"brand_name":"Acme","font":"lora"}`)
		}},
		{"no font", `{"settings":{"font":null}}`,
			func(v *view) { v.Settings = json.RawMessage(`{"brand_name":"Acme"}`) }},
		{"places", `{"settings":{"logo_places":{"tiktok":"none","vk":"top_right"}}}`, func(v *view) {
			v.Settings = json.RawMessage(`{"brand_name":"Acme","logo_places":{"tiktok":"none","vk":"top_right"}}`)
		}},
		{"a place less", `{"settings":{"logo_places":{"tiktok":null}}}`, func(v *view) {
			v.Settings = json.RawMessage(`{"brand_name":"Acme","logo_places":{"vk":"top_right"}}`)
		}},
		{"no places", `{"settings":{"logo_places":null}}`,
			func(v *view) { v.Settings = json.RawMessage(`{"brand_name":"Acme"}`) }},
		{"paused", `{"state":"paused"}`, func(v *view) { v.State = "paused" }},
		{"active", `{"state":"active"}`, func(v *view) { v.State = "active" }},
		{"a pair", `{"metadata":{"team":"support","city":null}}`,
			func(v *view) { v.Metadata = resource.Metadata{"team": "support"} }},
		{"no pairs", `{"metadata":null}`, func(v *view) { v.Metadata = resource.Metadata{} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := w.get(f.ID)
			w.Clock.Add(time.Second)
			c.change(&want)
			want.Touch(w.Now())
			w.Faults.Reset()
			var got view
			w.Call(http.MethodPatch, "/v1/factories/"+f.ID, c.patch, "Content-Type",
				"application/merge-patch+json").Into(t, http.StatusOK, &got)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			// A change is written with its event.
			writes := "TransactWriteItems"
			if slices.Contains([]string{"nothing", "publishing", "publishing, unset"}, c.name) {
				writes = "PutItem"
			}
			if ops := w.Faults.Operations(); ops != "GetItem "+writes {
				t.Errorf("it took %s", ops)
			}
			if read := w.get(f.ID); !reflect.DeepEqual(read, want) {
				t.Errorf("read as %+v", read)
			}
		})
	}
}

// A change sends an event with the factory as its GET shows it; a patch that changes nothing sends none.
func TestAChangedFactoryIsToldOf(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create()
	told := func() (all []view) {
		for _, row := range storetest.Rows(t, w.DB) {
			var e struct {
				Type event.Type
				Data struct{ Object view }
			}
			if row["kind"] != event.Kind {
				continue
			}
			if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
				t.Fatal(err)
			}
			if e.Type == event.FactoryCreated {
				continue
			}
			if e.Type != event.FactoryUpdated || row["f_factory"] != f.ID {
				t.Errorf("the event %s of the factory %q", e.Type, row["f_factory"])
			}
			all = append(all, e.Data.Object)
		}
		return all
	}
	for _, name := range []string{"New", "New"} {
		w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"name": name}).Into(t, http.StatusOK, &f)
	}
	if all := told(); len(all) != 1 || all[0].Name != "New" || all[0].Version != 2 || all[0].Approval != "none" {
		t.Errorf("%+v", all)
	}
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, object{"name": ""}).Refused(t, 422, errs.ValidationFailed, "/name")
	w.Call(http.MethodDelete, "/v1/factories/"+f.ID, nil).Into(t, http.StatusOK, &f)
	if all := told(); len(all) != 2 || !slices.ContainsFunc(all, func(v view) bool { return v.State == "deleted" }) {
		t.Errorf("%+v", all)
	}
}

func TestPatchIsRefused(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create("type", "brand", "settings", object{"brand_name": "Acme"})
	for _, c := range []struct {
		patch  string
		status int
		code   errs.Code
		param  string
	}{
		{`{"name":null}`, 422, errs.ValidationFailed, "/name"},
		{`{"name":""}`, 422, errs.ValidationFailed, "/name"},
		{`{"type":"seller"}`, 422, errs.ValidationFailed, "/type"},
		{`{"id":"fac_1"}`, 422, errs.ValidationFailed, "/id"},
		{`{"language":null}`, 422, errs.ValidationFailed, "/language"},
		{`{"language":"xx"}`, 422, errs.ValidationFailed, "/language"},
		{`{"state":null}`, 422, errs.ValidationFailed, "/state"},
		{`{"state":"deleted"}`, 422, errs.ValidationFailed, "/state"},
		{`{"topics":[7]}`, 422, errs.ValidationFailed, "/topics/0"},
		{`{"settings":{"font":"comic_sans"}}`, 422, errs.ValidationFailed, "/settings/font"},
		{`{"settings":{"logo_places":{"tiktok":"bottom"}}}`, 422, errs.ValidationFailed, "/settings/logo_places/tiktok"},
		{`{"settings":{"logo_places":{"myspace":"none"}}}`, 422, errs.ValidationFailed, "/settings/logo_places/myspace"},
		{`{"content_types":["podcast"]}`, 422, errs.ValidationFailed, "/content_types/0"},
		{`{"models":{"image":"veo-3.1"}}`, 422, errs.UnsupportedModel, "/models/image"},
		{`{"models":{"image":7}}`, 422, errs.ValidationFailed, "/models/image"},
		{`{"schedule":{"times":["10:00"]}}`, 422, errs.ValidationFailed, "/schedule/timezone"},
		{`{"schedule":{"timezone":"Mars/Base"}}`, 422, errs.ValidationFailed, "/schedule/timezone"},
		{`{"schedule":7}`, 422, errs.ValidationFailed, "/schedule"},
		{`{"settings":null}`, 422, errs.ValidationFailed, "/settings/brand_name"},
		{`{"settings":{"brand_name":null}}`, 422, errs.ValidationFailed, "/settings/brand_name"},
		{`{"settings":{"currency":"EUR"}}`, 422, errs.ValidationFailed, "/settings/currency"},
		{`{"settings":{"colors":["red"]}}`, 422, errs.ValidationFailed, "/settings/colors/0"},
		{`{"settings":[]}`, 422, errs.ValidationFailed, "/settings"},
		{`{"metadata":{"k":7}}`, 422, errs.ValidationFailed, "/metadata/k"},
		{`[]`, 422, errs.ValidationFailed, ""},
		{`null`, 422, errs.ValidationFailed, ""},
		{`{`, 400, errs.MalformedJSON, ""},
		{``, 400, errs.MalformedJSON, ""},
	} {
		before := storetest.Snapshot(t, w.DB)
		t.Run(c.patch, func(t *testing.T) {
			w.Call(http.MethodPatch, "/v1/factories/"+f.ID, c.patch).Refused(t, c.status, c.code, c.param)
		})
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s has changed something", c.patch)
		}
	}
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, `{"name":"x"}`, "If-Match", `"2"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	var v view
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, `{"name":"x"}`, "If-Match", `"1"`).Into(t, http.StatusOK, &v)
	if v.Version != 2 {
		t.Errorf("%+v", v)
	}
}

func TestListFilters(t *testing.T) {
	w := newFactoryWorld(t)
	var all []view
	for _, kind := range []string{"blogger", "news", "blogger", "entertainment", "blogger"} {
		all = append(all, w.create("type", kind))
	}
	var v view
	for _, i := range []int{2, 3} {
		w.Call(http.MethodPatch, "/v1/factories/"+all[i].ID, `{"state":"paused"}`).Into(t, http.StatusOK, &v)
	}
	for query, want := range map[string][]int{
		"":                           {4, 3, 2, 1, 0},
		"?type=blogger":              {4, 2, 0},
		"?state=paused":              {3, 2},
		"?state=active":              {4, 1, 0},
		"?type=blogger&state=paused": {2},
		"?type=musician":             nil,
		"?type=news,entertainment":   {3, 1},
		"?order=asc&type=blogger,musician&state=active,paused": {0, 2, 4},
	} {
		for limit := 1; limit <= 3; limit++ {
			var got []int
			for _, f := range apitest.All[view](w.Caller, "/v1/factories"+query, limit) {
				got = append(got, slices.IndexFunc(all, func(v view) bool { return v.ID == f.ID }))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: got %v, want %v", query, limit, got, want)
			}
		}
	}
	for _, query := range []string{"type=shop", "type=news,shop", "state=deleted", "name=x"} {
		param, _, _ := strings.Cut(query, "=")
		w.Call(http.MethodGet, "/v1/factories?"+query, nil).Refused(t, 422, errs.ValidationFailed, param)
	}
	first := w.Call(http.MethodGet, "/v1/factories?limit=1", nil)
	w.Call(http.MethodGet, "/v1/factories?type=blogger&limit=1&cursor="+*first.NextCursor, nil).Refused(t, 400,
		errs.InvalidCursor, "cursor")
}

func TestNothingOfOthersIsFound(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create()
	for name, c := range map[string]*apitest.Caller{"another account": w.Stranger(), "the other mode": w.Live()} {
		c.Call(http.MethodGet, "/v1/factories/"+f.ID, nil).Refused(t, 404, errs.NotFound, "")
		c.Call(http.MethodPatch, "/v1/factories/"+f.ID, `{"name":"mine"}`).Refused(t, 404, errs.NotFound, "")
		if got := apitest.All[view](c, "/v1/factories", 10); len(got) != 0 {
			t.Errorf("%s lists %v", name, got)
		}
	}
	for _, unknown := range []string{id.New(id.Factory, w.Now()), "fac_1", id.New(id.Account, w.Now())} {
		w.Call(http.MethodGet, "/v1/factories/"+unknown, nil).Refused(t, 404, errs.NotFound, "")
	}
}

func TestADeletedFactoryIsNotFound(t *testing.T) {
	w := newFactoryWorld(t)
	f := w.create()
	it, err := w.DB.Get(t.Context(), store.IDKey(f.ID))
	if err != nil {
		t.Fatal(err)
	}
	f.State = factory.StateDeleted
	if err := it.Encode(f); err != nil {
		t.Fatal(err)
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.Call(http.MethodGet, "/v1/factories/"+f.ID, nil).Refused(t, 404, errs.NotFound, "")
	w.Call(http.MethodPatch, "/v1/factories/"+f.ID, `{"name":"mine"}`).Refused(t, 404, errs.NotFound, "")
}

func TestARepeatedCreateMakesOneFactory(t *testing.T) {
	w := newFactoryWorld(t)
	first := w.Call(http.MethodPost, "/v1/factories", body(), "Idempotency-Key", "order-17")
	again := w.Call(http.MethodPost, "/v1/factories", body(), "Idempotency-Key", "order-17")
	if first.Raw != again.Raw || len(apitest.All[view](w.Caller, "/v1/factories", 10)) != 1 {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
}
