package content_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/task"
)

func to[T any](v T) *T { return &v }

func TestCreateEachKind(t *testing.T) {
	w := newWorld(t)
	for kind, c := range map[item.Kind]struct {
		model  provider.Kind
		format *string
		slides int
		ratio  *string
		length *int
		voice  *string
		plays  *int
	}{
		item.Post:      {provider.KindImage, nil, 0, to("4:5"), nil, nil, nil},
		item.Video:     {provider.KindVideo, to("short"), 0, to("9:16"), to(5), to("JBFqnCBsd6RMkjVDRZzb"), to(20)},
		item.Carousel:  {provider.KindImage, nil, 5, to("4:5"), nil, nil, nil},
		item.Story:     {provider.KindImage, nil, 0, to("9:16"), nil, nil, nil},
		item.MusicClip: {provider.KindMusic, nil, 0, nil, to(30), nil, to(30)},
	} {
		made := w.Now()
		w.Faults.Reset()
		got := w.create("kind", kind)
		if ops := w.Faults.Operations(); ops != "BatchGetItem TransactWriteItems" {
			t.Errorf("%s took %s", kind, ops)
		}
		want := item.Item{
			Resource:  resource.New(got.ID, made, nil),
			FactoryID: w.factory, Kind: kind,
			Content: item.Content{Format: c.format, Prompt: "Ein neuer Laufschuh", Scenes: []item.Scene{},
				AspectRatio: c.ratio, Seconds: c.length, Voice: c.voice, DurationSeconds: c.plays},
			Texts: item.Texts{Hashtags: []string{}},
			Hooks: []string{}, Retold: item.Retold{FromParts: []int{}}, Quality: item.QualityDraft,
			Warnings: got.Warnings,
			Language: "de",
			Model:    resource.Text(catalog.Default(c.model).ID), Media: []media.View{},
			Slides: make([]item.Slide, c.slides),
			Outlook: item.Outlook{Outdated: item.Ways{}, SocialAccountIDs: []string{},
				OmittedAccounts: []item.OmittedAccount{},
				WaitsFor:        item.WaitsForSlot}, Sources: []item.Quoted{},
			Publications: []item.Publication{},
			State:        item.Queued, Attempt: 1, CancelCost: to(int64(0)), Source: "generated", AIGenerated: true,
			Variants: map[string]item.Variant{}, Previews: []item.Preview{}, Approval: item.ApprovalIn("none"),
			ExpiresAt: to(resource.Instant(made.AddDate(0, 0, 30))),
		}
		if kind == item.Video {
			want.Visuals, want.Music = to("clips"), to("none")
		}
		if kind == item.MusicClip {
			want.Cover = to("generated")
		}
		if !reflect.DeepEqual(got, want) || !id.Valid(id.ContentItem, got.ID) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
		if read := w.get(got.ID); !reflect.DeepEqual(read, want) {
			t.Errorf("read as %+v", read)
		}
		wanted := task.Message{ID: "task#generate#" + got.ID + "#1", Kind: generate.Generate,
			Queue: topology.GenerateText, Subject: got.ID, Owner: tenant.Of(w.Principal.Account, tenant.Test), Step: 1,
			Request: "req-1"}
		if j := w.message(generate.Generate, got.ID, 1); j != wanted {
			t.Errorf("the message is %+v", j)
		}
	}
}

func TestWhatTheCallerGivesIsKept(t *testing.T) {
	w := newWorld(t)
	got := w.create("kind", "carousel", "title", "Titel", "caption", "Zwei\nZeilen", "hashtags",
		[]string{"laufen", "schuhe"}, "language", "en_GB",
		"model", "nano-banana", "slides", []object{{"text": "Eins"}, {}, {"text": "Drei"}}, "metadata",
		object{"campaign": "spring"})
	if got.Title != "Titel" || got.Caption != "Zwei\nZeilen" ||
		!slices.Equal(got.Hashtags, []string{"laufen", "schuhe"}) || got.Language != "en-GB" ||
		got.Model != "nano-banana" ||
		!reflect.DeepEqual(got.Slides, []item.Slide{{Text: "Eins"}, {}, {Text: "Drei"}}) ||
		got.Metadata["campaign"] != "spring" {
		t.Errorf("%+v", got)
	}
	if long := w.create("kind", "video", "format", "long"); *long.Format != "long" {
		t.Errorf("%+v", long)
	}
}

func TestTheFactoryDecidesWhatIsLeftOut(t *testing.T) {
	w := newWorld(t)
	w.factory = w.makeFactory(object{"type": "entertainment", "name": "News", "language": "pt-BR",
		"models": object{"image": "qwen-image", "music": "ace-step"}})
	if got := w.create(); got.Language != "pt-BR" || got.Model != "qwen-image" {
		t.Errorf("%+v", got)
	}
	if got := w.create("kind", "music_clip"); got.Model != "ace-step" {
		t.Errorf("%+v", got)
	}
	if got := w.create("model", "nano-banana", "language", "fr"); got.Language != "fr" || got.Model != "nano-banana" {
		t.Errorf("%+v", got)
	}
}

func TestTheAnswerHasEveryMember(t *testing.T) {
	w := newWorld(t)
	a := w.Call(http.MethodPost, "/v1/content-items", w.body())
	for _, member := range []string{
		`"format":null`, `"title":null`, `"caption":null`, `"hashtags":[]`, `"media":[]`, `"slides":[]`,
		`"product_id":null`, `"promotion_id":null`, `"content_plan_id":null`,
		`"publish_at":null`, `"social_account_ids":[]`, `"state":"queued"`, `"failure":null`, `"attempt":1`,
		`"cost_credits":0`, `"generated_at":null`, `"published_at":null`,
	} {
		if !strings.Contains(a.Raw, member) {
			t.Errorf("%s lacks %s", a.Raw, member)
		}
	}
	for _, hidden := range []string{`"files"`, `"parts"`, `"sandbox"`, `"accepted"`} {
		if strings.Contains(a.Raw, hidden) {
			t.Errorf("%s tells %s", a.Raw, hidden)
		}
	}
	if a.Status != http.StatusAccepted || a.Header.Get("ETag") != `"1"` {
		t.Errorf("%d, ETag %s", a.Status, a.Header.Get("ETag"))
	}
}

func TestCreateIsRefused(t *testing.T) {
	w := newWorld(t)
	const invalid = errs.ValidationFailed
	for name, c := range map[string]struct {
		body   any
		status int
		code   errs.Code
		param  string
	}{
		"no kind":            {object{"factory_id": w.factory, "prompt": "x"}, 422, invalid, "/kind"},
		"another kind":       {w.body("kind", "podcast"), 422, invalid, "/kind"},
		"no prompt":          {object{"factory_id": w.factory, "kind": "post"}, 422, invalid, "/prompt"},
		"an empty prompt":    {w.body("prompt", ""), 422, invalid, "/prompt"},
		"a blank prompt":     {w.body("prompt", " \n\t "), 422, invalid, "/prompt"},
		"a long prompt":      {w.body("prompt", strings.Repeat("x", 4001)), 422, invalid, "/prompt"},
		"a format of a post": {w.body("format", "short"), 422, invalid, "/format"},
		"another format":     {w.body("kind", "video", "format", "square"), 422, invalid, "/format"},
		"slides of a story":  {w.body("kind", "story", "slides", []object{{}, {}}), 422, invalid, "/slides"},
		"one slide":          {w.body("kind", "carousel", "slides", []object{{}}), 422, invalid, "/slides"},
		"eleven slides":      {w.body("kind", "carousel", "slides", make([]object, 11)), 422, invalid, "/slides"},
		"a heading of two lines": {w.body("kind", "carousel", "slides", []object{{"text": "a\nb"}, {}}), 422, invalid,
			"/slides/0/text"},
		"an unknown member below": {w.body("kind", "carousel", "slides", []object{{}, {"txt": "a"}}), 422, invalid,
			"/slides/1/txt"},
		"a title of two lines": {w.body("title", "a\nb"), 422, invalid, "/title"},
		"a blank title":        {w.body("title", " \u00a0"), 422, invalid, "/title"},
		"a blank caption":      {w.body("caption", "\n"), 422, invalid, "/caption"},
		"a blank heading": {w.body("kind", "carousel", "slides", []object{{}, {"text": "  "}}), 422, invalid,
			"/slides/1/text"},
		"a hashtag with #":        {w.body("hashtags", []string{"ok", "#no"}), 422, invalid, "/hashtags/1"},
		"a hashtag of two words":  {w.body("hashtags", []string{"a b"}), 422, invalid, "/hashtags/0"},
		"a hashtag twice":         {w.body("hashtags", []string{"a", "a"}), 422, invalid, "/hashtags"},
		"no language":             {w.body("language", "xx"), 422, invalid, "/language"},
		"an unknown model":        {w.body("model", "gpt-99"), 422, errs.UnsupportedModel, "/model"},
		"a retired model":         {w.body("model", "nano-banana-2"), 422, errs.UnsupportedModel, "/model"},
		"a model of another kind": {w.body("model", "veo-3.1"), 422, errs.UnsupportedModel, "/model"},
		"a model for its text":    {w.body("model", "nova-lite"), 422, errs.UnsupportedModel, "/model"},
		"another outcome":         {w.body("sandbox", object{"outcome": "maybe"}), 422, invalid, "/sandbox/outcome"},
		"a long delay": {w.body("sandbox", object{"delay_seconds": 61}), 422, invalid,
			"/sandbox/delay_seconds"},
		"a negative delay": {w.body("sandbox", object{"delay_seconds": -1}), 422, invalid,
			"/sandbox/delay_seconds"},
		"an unknown rehearsal":  {w.body("sandbox", object{"fail": true}), 422, invalid, "/sandbox/fail"},
		"an unknown member":     {w.body("state", "generated"), 422, invalid, "/state"},
		"a pair without a name": {w.body("metadata", object{"": "x"}), 422, invalid, "/metadata"},
		"no factory":            {object{"kind": "post", "prompt": "x"}, 422, invalid, "/factory_id"},
		"an unknown factory": {w.body("factory_id", id.New(id.Factory, w.Now())), 404, errs.NotFound,
			"/factory_id"},
		"a malformed id":     {w.body("factory_id", "fac_1"), 404, errs.NotFound, "/factory_id"},
		"another kind of id": {w.body("factory_id", w.Principal.Account), 404, errs.NotFound, "/factory_id"},
		"no body":            {nil, 400, errs.MalformedJSON, ""},
	} {
		before := storetest.Snapshot(t, w.DB)
		t.Run(name, func(t *testing.T) {
			w.Call(http.MethodPost, "/v1/content-items", c.body).Refused(t, c.status, c.code, c.param)
		})
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s: something was made", name)
		}
	}
	w.Stranger().Call(http.MethodPost, "/v1/content-items", w.body()).Refused(t, 404, errs.NotFound, "/factory_id")
}

func TestARepeatedCreateMakesOneItem(t *testing.T) {
	w := newWorld(t)
	first := w.Call(http.MethodPost, "/v1/content-items", w.body(), "Idempotency-Key", "order-17")
	again := w.Call(http.MethodPost, "/v1/content-items", w.body(), "Idempotency-Key", "order-17")
	if first.Raw != again.Raw || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("first %s\nagain %s", first.Raw, again.Raw)
	}
	kinds := map[string]int{}
	for _, row := range storetest.Rows(t, w.DB) {
		kinds[row["kind"]]++
	}
	if kinds["content_item"] != 1 || kinds["task"] != 2 {
		t.Errorf("the table has %v", kinds)
	}
}

func TestListFiltersAndPeriod(t *testing.T) {
	w := newWorld(t)
	first := w.factory
	var all []item.Item
	for i := range 6 {
		if i == 3 {
			w.factory = w.makeFactory(object{"type": "news", "name": "News"})
		}
		all = append(all, w.create("kind", []string{"post", "story"}[i%2]))
		w.Clock.Add(time.Minute)
	}
	w.do(all[1].ID)
	w.do(all[4].ID)
	at := func(i int) string { return url.QueryEscape(all[i].CreatedAt.Format(time.RFC3339Nano)) }
	for query, want := range map[string][]int{
		"":                                          {5, 4, 3, 2, 1, 0},
		"kind=story":                                {5, 3, 1},
		"state=generated":                           {4, 1},
		"state=queued":                              {5, 3, 2, 0},
		"state=queued&kind=post":                    {2, 0},
		"state=failed":                              nil,
		"state=generated,queued":                    {5, 4, 3, 2, 1, 0},
		"state=queued,queued,failed&kind=post":      {2, 0},
		"order=asc&state=queued":                    {0, 2, 3, 5},
		"factory_id=" + first:                       {2, 1, 0},
		"factory_id=" + w.factory:                   {5, 4, 3},
		"factory_id=" + first + "&kind=post":        {2, 0},
		"factory_id=" + first + "&from=" + at(1):    {2, 1},
		"factory_id=" + id.New(id.Factory, w.Now()): nil,
		"content_plan_id=" + id.New(id.ContentPlan, w.Now()): nil,
		"from=" + at(2):                  {5, 4, 3, 2},
		"to=" + at(2):                    {1, 0},
		"from=" + at(1) + "&to=" + at(4): {3, 2, 1},
		"from=" + at(1) + "&to=" + at(4) + "&kind=post": {2},
		"from=2020-01-01T00:00:00Z":                     {5, 4, 3, 2, 1, 0},
		"to=2020-01-01T00:00:00Z":                       nil,
		"from=2026-05-01T14:00:00%2B02:00":              {5, 4, 3, 2, 1, 0},
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []int
			for _, it := range apitest.All[item.Item](w.Caller, "/v1/content-items?"+query, limit) {
				got = append(got, slices.IndexFunc(all, func(other item.Item) bool { return other.ID == it.ID }))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: got %v, want %v", query, limit, got, want)
			}
		}
	}
	for query, param := range map[string]string{
		"kind=podcast": "kind", "state=done": "state", "state=queued,done": "state", "state=queued,": "state",
		"from=yesterday": "from", "from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z": "from",
		"factory_id=7": "factory_id", "factory_id=" + strings.Repeat("x", 3000): "factory_id",
		"content_plan_id=pln_1": "content_plan_id", "limit=0": "limit", "product_id=x": "product_id",
	} {
		w.Call(http.MethodGet, "/v1/content-items?"+query, nil).Refused(t, 422, errs.ValidationFailed, param)
	}
}

func TestNothingOfOthersIsFound(t *testing.T) {
	w := newWorld(t)
	it := w.create()
	for name, c := range map[string]*apitest.Caller{"another account": w.Stranger(), "the other mode": w.Live()} {
		c.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Refused(t, 404, errs.NotFound, "")
		for _, query := range []string{"", "?factory_id=" + w.factory} {
			if got := apitest.All[item.Item](c, "/v1/content-items"+query, 10); len(got) != 0 {
				t.Errorf("%s lists %v", name, got)
			}
		}
	}
	for _, unknown := range []string{id.New(id.ContentItem, w.Now()), "cnt_1", w.factory} {
		w.Call(http.MethodGet, "/v1/content-items/"+unknown, nil).Refused(t, 404, errs.NotFound, "")
	}
}

func TestMediaAreSignedForEachReading(t *testing.T) {
	w := newWorld(t)
	it := w.generated()
	first := it.Media[0].URL
	u, err := url.Parse(first)
	if err != nil || u.Query().Get("X-Amz-Expires") != "3600" ||
		!strings.HasPrefix(u.Path, fmt.Sprintf("/media/%s/test/%s/1/", w.Principal.Account, it.ID)) {
		t.Errorf("%s, %v", first, err)
	}
	w.Clock.Add(time.Minute)
	second := w.get(it.ID).Media[0].URL
	if second == first {
		t.Error("a later reading gives the old address")
	}
	listed := apitest.All[item.Item](w.Caller, "/v1/content-items", 10)
	if len(listed) != 1 || listed[0].Media[0].URL != second {
		t.Errorf("listed as %+v", listed)
	}
	// The table keeps no address.
	if table := storetest.Snapshot(t, w.DB); strings.Contains(table, "X-Amz-Signature") {
		t.Error("the table has signed addresses")
	}
	var row struct{ Files []media.File }
	for _, r := range storetest.Rows(t, w.DB) {
		if r["pk"] == it.ID {
			if err := json.Unmarshal([]byte(r["doc"]), &row); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(row.Files) != 2 || row.Files[0].Key == "" {
		t.Errorf("the table has the files %+v", row.Files)
	}
}

// An id of the other mode is not found, and the message names the mode. It tells strangers nothing.
func TestAnIDOfTheOtherModeSaysSo(t *testing.T) {
	w := newWorld(t)
	it := w.create()
	const says = "It exists in test mode: use a test key."
	a := w.Live().Call(http.MethodGet, "/v1/content-items/"+it.ID, nil)
	if a.Refused(t, 404, errs.NotFound, ""); !strings.Contains(a.Raw, says) {
		t.Errorf("it says %s", a.Raw)
	}
	a = w.Live().Call(http.MethodPost, "/v1/content-items", w.body())
	if a.Refused(t, 404, errs.NotFound, "/factory_id"); !strings.Contains(a.Raw, says) {
		t.Errorf("it says %s", a.Raw)
	}
	a = w.Stranger().Call(http.MethodGet, "/v1/content-items/"+it.ID, nil)
	if a.Refused(t, 404, errs.NotFound, ""); strings.Contains(a.Raw, "mode:") {
		t.Errorf("a stranger is told %s", a.Raw)
	}
}
