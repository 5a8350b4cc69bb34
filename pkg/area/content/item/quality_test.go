package item

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// texts describes how the texts of a record are written, and their price.
func texts(r *Record) (way string, credits int64) {
	for _, p := range r.Attempt.Parts {
		if p.Kind != provider.KindText {
			continue
		}
		for _, c := range p.Calls() {
			way += " " + strings.Replace(c.Name, generate.First, string(p.Role), 1) + " " + c.Model
			credits += c.Credits
		}
	}
	return strings.TrimSpace(way), credits
}

func TestTheQualityChoosesModelsAndPasses(t *testing.T) {
	look := func(editor string) string {
		return "review nova-pro rewrite " + editor + " compare nova-pro compare_back nova-pro"
	}
	standard := "claude-haiku-5.5 " + look("gpt-oss-120b")
	best := "claude-sonnet-5.5 second claude-sonnet-5.5 choose nova-pro choose_back nova-pro " +
		look("claude-haiku-5.5")
	for _, c := range []struct {
		kind    Kind
		format  string
		quality string
		models  map[string]string
		offer   catalog.Offer
		want    string
	}{
		{Post, "", "", nil, all, "text nova-lite"},
		{Post, "", QualityDraft, nil, all, "text nova-lite"},
		// A picture costs a few credits, but its text is what is published.
		{Post, "", QualityStandard, nil, all, "text " + standard},
		{Story, "", QualityStandard, nil, all, "text " + standard},
		{Post, "", QualityBest, nil, all, "text " + best},
		{Video, FormatShort, QualityDraft, nil, all, "script nova-lite"},
		{Video, FormatShort, QualityStandard, nil, all, "script " + standard},
		{Video, FormatShort, QualityBest, nil, all, "script " + best},
		// The factory's model writes in every quality, and another one judges.
		{Post, "", QualityStandard, map[string]string{"text": "nova-pro"}, all,
			"text nova-pro review gpt-oss-120b rewrite nova-pro compare gpt-oss-120b compare_back gpt-oss-120b"},
		{Post, "", QualityDraft, map[string]string{"text": "nova-pro"}, all, "text nova-pro"},
	} {
		r := recordOf(t, c.kind, c.format, "en", voiced())
		r.Item.Quality = resource.Text(c.quality)
		if c.models != nil {
			r.Brief.Models = c.models
		}
		if err := PlannerOf(r).Plan(c.offer, Options{}, true); err != nil {
			t.Errorf("%s of %s: %v", c.kind, c.quality, err)
			continue
		}
		way, credits := texts(r)
		if way != c.want {
			t.Errorf("a %s %s is written by %q, want %q", c.quality, c.kind, way, c.want)
		}
		if c.quality == QualityStandard && credits > max((r.Attempt.Credits-credits)/textShare, textFloor) {
			t.Errorf("the texts of a %s cost %d of %d", c.kind, credits, r.Attempt.Credits)
		}
		var sum int64
		for _, p := range r.Attempt.Parts {
			sum += p.Price()
		}
		if sum != r.Attempt.Credits || PlannerOf(r).LivePrice() != r.Attempt.Credits {
			t.Errorf("a %s %s costs %d, its parts %d, in the sandbox %d", c.quality, c.kind, r.Attempt.Credits, sum,
				PlannerOf(r).LivePrice())
		}
		before := r.Attempt.Credits
		if err := PlannerOf(r).Plan(c.offer, Options{Model: string(r.Item.Model)}, false); err != nil ||
			r.Attempt.Credits != 0 ||
			PlannerOf(r).LivePrice() != before {
			t.Errorf("a %s %s of the sandbox costs %d, %d: %v", c.quality, c.kind, r.Attempt.Credits,
				PlannerOf(r).LivePrice(), err)
		}
	}
}

// memorized is an Asker that knows answers by name, and notes the first question that has none.
type memorized struct {
	answers map[string]generate.PartResult
	name    string
	q       generate.Question
}

var errNext = errors.New("the next step goes on")

// Ask implements generate.Asker.
func (a *memorized) Ask(_ context.Context, name string, q generate.Question) (generate.PartResult, error) {
	if made, ok := a.answers[name]; ok || a.name != "" {
		return made, map[bool]error{false: errNext}[ok]
	}
	a.name, a.q = name, q
	return generate.PartResult{}, errNext
}

// Read implements generate.Asker.
func (a *memorized) Read(context.Context, bool,
	func(context.Context, *store.DB, time.Time) (func(generate.Work), error)) error {
	return errNext
}

// writes returns what is asked of a post of a quality after some answers, the request for it, and the best text until
// then. Nothing is asked once the text is there.
func writes(t *testing.T, quality string, answers map[string]generate.PartResult) (*memorized, provider.Request,
	string) {
	t.Helper()
	db := storetest.Open(t, time.Now)
	r := recordOf(t, Post, "", "en", voiced())
	r.Item.ID, r.Item.FactoryID, r.Item.Quality = "cnt_1", "fac_1", resource.Text(quality)
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	a := &memorized{answers: answers}
	w := &work{record: r, writer: writerOf(r), maker: makerOf(r), item: store.Item{Owner: tenant.Of("acc_1",
		tenant.Live)}}
	made, err := w.Write(t.Context(), 0, nil, a)
	if (err == nil) != (a.name == "") {
		t.Fatal(a.name, err)
	}
	text := ""
	if made.Text != nil {
		text = made.Text.Caption
	}
	var req provider.Request
	if a.name != "" {
		if req, err = a.q.Request(t.Context(), db); err != nil {
			t.Fatal(err)
		}
	}
	return a, req, text
}

func drafted(caption string) generate.PartResult {
	return generate.PartResult{Text: &provider.Text{Title: "Nets", Caption: caption, Hooks: []string{"a", "b", "c"}, Hook: 1,
		Style: "x", Pictures: []provider.Picture{{Visual: "v", Alt: "w"}}}}
}

func object(text string) generate.PartResult {
	return generate.PartResult{Object: json.RawMessage(text)}
}

// The verdicts of a second look.
const weak = `{"scores":{"hook":2,"specific":4,"voice":4,"fit":4,"language":5,"claims":5},"problems":["Name the sea."]}`

func TestASecondLookHasATextWrittenAgain(t *testing.T) {
	made := map[string]generate.PartResult{}
	if first, _, text := writes(t, QualityStandard, made); first.q.Optional || text != "" {
		t.Errorf("%+v, %q", first.q, text)
	}
	made[generate.First], made[askSecond] = drafted("A generic caption."), generate.PartResult{}
	a, look, text := writes(t, QualityStandard, made)
	if a.name != askReview || look.Form == nil || !strings.Contains(look.Prompt, "A generic caption.") ||
		strings.Contains(look.Form.System, "generic caption") || !a.q.Optional || text != "A generic caption." {
		t.Fatalf("%s: %+v, %q", a.name, look, text)
	}
	made[askReview] = object(weak)
	a, again, _ := writes(t, QualityStandard, made)
	if a.name != askRewrite || again.Repair == nil || again.Repair.Problems[0] != "Name the sea." ||
		!strings.Contains(again.Repair.Answer, "A generic caption.") || again.System == "" || !a.q.Optional {
		t.Errorf("%s: %+v", a.name, again)
	}
	// A text that passes, and a verdict that cannot be read, leave the text as it is, and nothing is compared.
	for _, verdict := range []string{string(prompt.Approval), `{"scores":{"hook":9}}`, `{}`} {
		made[askReview] = object(verdict)
		if a, _, text := writes(t, QualityStandard, made); a.name != "" || text != "A generic caption." {
			t.Errorf("%s has %s asked, and %q", verdict, a.name, text)
		}
	}
}

// What was rewritten is compared with the draft in both orders: the draft is kept only if both say that it is better.
func TestTheBetterOfDraftAndRewriteIsKept(t *testing.T) {
	made := map[string]generate.PartResult{generate.First: drafted("The draft."), askSecond: {}, askReview: object(weak),
		askRewrite: drafted("Better.")}
	for _, c := range []struct{ name, first string }{{askCompare, "The draft."}, {askCompareBack, "Better."}} {
		a, req, text := writes(t, QualityStandard, made)
		var shown struct{ A, B struct{ Caption string } }
		if err := json.Unmarshal([]byte(req.Prompt), &shown); err != nil || a.name != c.name || !a.q.Optional {
			t.Fatalf("%s: %+v, %v", a.name, req, err)
		}
		if shown.A.Caption != c.first || shown.B.Caption == c.first || text != "Better." {
			t.Errorf("%s shows %+v, not %s first, and %q is the best", c.name, shown, c.first, text)
		}
		made[c.name] = generate.PartResult{}
	}
	for _, c := range []struct{ order, back, want string }{
		{"a", "b", "The draft."}, {"b", "a", "Better."}, {"a", "a", "Better."}, {"b", "b", "Better."},
		{"a", "?", "Better."}, {"?", "?", "Better."},
	} {
		made[askCompare], made[askCompareBack] = object(`{"better":"`+c.order+`"}`), object(`{"better":"`+c.back+`"}`)
		if a, _, got := writes(t, QualityStandard, made); got != c.want || a.name != "" {
			t.Errorf("%s and %s keep %q", c.order, c.back, got)
		}
	}
}

// The best quality writes two drafts from two first lines, and the look is at the better one.
func TestTheBestQualityHasTwoDrafts(t *testing.T) {
	made := map[string]generate.PartResult{generate.First: drafted("First.")}
	a, second, _ := writes(t, QualityBest, made)
	if !strings.Contains(second.User, `"other":"a"`) || !strings.Contains(second.System, `in "other"`) ||
		!a.q.Optional || a.name != askSecond {
		t.Fatalf("%s\n%s, %s", second.System, second.User, a.name)
	}
	if _, first, _ := writes(t, QualityBest, nil); strings.Contains(first.System, `"other"`) {
		t.Error(first.System)
	}
	made[askSecond] = drafted("Second.")
	for _, c := range []struct{ order, back, want string }{
		{"b", "a", "Second."}, {"a", "a", "First."}, {"a", "b", "First."}, {"", "a", "First."},
	} {
		made[askChoose], made[askChooseBack] = object(`{"better":"`+c.order+`"}`), object(`{"better":"`+c.back+`"}`)
		if a, look, text := writes(t, QualityBest, made); a.name != askReview || text != c.want ||
			!strings.Contains(look.Prompt, c.want) {
			t.Errorf("%s and %s have %s looked at, %s", c.order, c.back, look.Prompt, a.name)
		}
	}
	// Without another draft, nothing is chosen.
	alone := map[string]generate.PartResult{generate.First: drafted("First."), askSecond: {}}
	if a, _, text := writes(t, QualityBest, alone); a.name != askReview || text != "First." {
		t.Errorf("a draft that is alone is followed by %s", a.name)
	}
}

func TestWritersLearnFromTheChannel(t *testing.T) {
	views := func(n int64) *int64 { return &n }
	of := func(id, caption, language string, shown, saved int64, draft string) *Record {
		r := &Record{Item: Item{Texts: Texts{Caption: resource.Text(caption), Title: "T"},
			Language: language}, Draft: draft}
		if r.Item.ID = id; shown > 0 {
			r.Item.Publications = []Publication{{Metrics: &Metrics{
				Counts: Counts{Views: views(shown), Saves: views(saved)}}}}
		}
		return r
	}
	m := &memory{}
	m.learn(of("1", "", "de-DE", 0, 0, ""), []*Record{
		of("2", "Plain.", "de", 0, 0, ""), of("3", "Seen by few.", "de", 10, 9, ""),
		of("4", "Liked.", "de", 1000, 100, ""), of("5", "Loved.\nMore.", "de", 1000, 300, ""),
		of("6", "English.", "en", 1000, 900, ""), of("7", "By hand.", "de", 0, 0, "By a model."),
		of("8", "Ignored.", "de", 1000, 0, ""),
	})
	if strings.Join(m.examples, "|") != "Loved.\nMore.|Liked.|Ignored." || len(m.recent) != 7 || m.recent[3] != "T: Loved." {
		t.Errorf("%+v", m)
	}
	m = &memory{}
	m.learn(of("1", "", "de", 0, 0, ""), []*Record{of("7", strings.Repeat("д", 3000), "de", 0, 0, "By a model.")})
	if len(m.examples) != 1 || len(m.examples[0]) > exampleSize || len(m.examples[0]) < exampleSize/2 ||
		len(m.recent[0]) > recentSize {
		t.Errorf("%d %d", len(m.examples[0]), len(m.recent[0]))
	}
	// What is read costs no more than what was foreseen.
	r := recordOf(t, Post, "", "de", voiced())
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	a := writerOf(r)
	foreseen := provider.TextTokens(a.foreseen(r.Attempt.Parts[0]))
	a.memory = longestMemory()
	a.memory.platforms = []string{"instagram", "telegram", "vk"}
	if got := provider.TextTokens(a.foreseen(r.Attempt.Parts[0])); got.Input > foreseen.Input ||
		got.Output > foreseen.Output {
		t.Errorf("%+v, foreseen %+v", got, foreseen)
	}
	req := a.foreseen(r.Attempt.Parts[0])
	if !strings.Contains(req.System, "Telegram") || strings.Contains(req.System, "YouTube") ||
		!strings.Contains(req.System, "at most 978 characters") {
		t.Errorf("the writer is told:\n%s", req.System)
	}
}
