package item

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

// texts describes how the texts of a record are written, and their price.
func texts(r *Record) (way string, credits int64) {
	for _, p := range r.Parts {
		if p.Kind == provider.KindText {
			way += " " + string(p.Role) + " " + p.Model
			credits += p.Credits
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
		r.Quality = resource.Text(c.quality)
		if c.models != nil {
			r.Brief.Models = c.models
		}
		if err := AttemptAt(r).Plan(c.offer, Options{}, true); err != nil {
			t.Errorf("%s of %s: %v", c.kind, c.quality, err)
			continue
		}
		way, credits := texts(r)
		if way != c.want {
			t.Errorf("a %s %s is written by %q, want %q", c.quality, c.kind, way, c.want)
		}
		if c.quality == QualityStandard && credits > max((r.Credits-credits)/textShare, textFloor) {
			t.Errorf("the texts of a %s cost %d of %d", c.kind, credits, r.Credits)
		}
		var sum int64
		for _, p := range r.Parts {
			sum += p.Credits
		}
		if sum != r.Credits || AttemptAt(r).LivePrice() != r.Credits {
			t.Errorf("a %s %s costs %d, its parts %d, in the sandbox %d", c.quality, c.kind, r.Credits, sum, AttemptAt(r).LivePrice())
		}
		before := r.Credits
		if err := AttemptAt(r).Plan(c.offer, Options{Model: string(r.Model)}, false); err != nil || r.Credits != 0 ||
			AttemptAt(r).LivePrice() != before {
			t.Errorf("a %s %s of the sandbox costs %d, %d: %v", c.quality, c.kind, r.Credits, AttemptAt(r).LivePrice(), err)
		}
	}
}

// planned returns a post of a quality, and its work.
func planned(t *testing.T, quality string) (*Record, *work) {
	t.Helper()
	r := recordOf(t, Post, "", "en", voiced())
	r.Quality = resource.Text(quality)
	if err := AttemptAt(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	return r, &work{maker: AttemptAt(r).maker}
}

func drafted(caption string) *provider.Text {
	return &provider.Text{Title: "Nets", Caption: caption, Hooks: []string{"a", "b", "c"}, Hook: 1, Style: "x",
		Pictures: []provider.Picture{{Visual: "v", Alt: "w"}}}
}

// The verdicts of a second look.
const weak = `{"scores":{"hook":2,"specific":4,"voice":4,"fit":4,"language":5,"claims":5},"problems":["Name the sea."]}`

func TestASecondLookHasATextWrittenAgain(t *testing.T) {
	r, w := planned(t, QualityStandard)
	made := []generate.Made{{Text: drafted("A generic caption.")}}
	look, err := AttemptAt(r).request(1, made, nil)
	if err != nil || look.Form == nil || !strings.Contains(look.Prompt, "A generic caption.") ||
		strings.Contains(look.Form.System, "generic caption") || w.Skips(1, made) || !w.Spares(1) || w.Spares(0) {
		t.Fatalf("%+v, %v", look, err)
	}
	made = append(made, generate.Made{Object: json.RawMessage(weak)})
	again, err := AttemptAt(r).request(2, made, nil)
	if err != nil || again.Repair == nil || again.Repair.Problems[0] != "Name the sea." ||
		!strings.Contains(again.Repair.Answer, "A generic caption.") || again.System == "" || w.Skips(2, made) {
		t.Errorf("%+v, %v", again, err)
	}
	// A text that passes, and a verdict that cannot be read, leave the text as it is, and nothing is compared.
	for _, verdict := range []string{string(prompt.Approval), `{"scores":{"hook":9}}`, `{}`} {
		passed := []generate.Made{made[0], {Object: json.RawMessage(verdict)}}
		if !w.Skips(2, passed) || !w.Skips(3, append(passed, generate.Made{})) {
			t.Errorf("%s has the text written again", verdict)
		}
	}
}

// What was rewritten is compared with the draft in both orders: the draft is kept only if both say that it is better.
func TestTheBetterOfDraftAndRewriteIsKept(t *testing.T) {
	r, w := planned(t, QualityStandard)
	made := []generate.Made{{Text: drafted("The draft.")}, {Object: json.RawMessage(weak)}, {Text: drafted("Better.")}}
	for n, first := range []string{"The draft.", "Better."} {
		req, err := AttemptAt(r).request(3+n, append(made, make([]generate.Made, n)...), nil)
		var shown struct{ A, B struct{ Caption string } }
		if err != nil || w.Skips(3+n, made) || !w.Spares(3+n) || json.Unmarshal([]byte(req.Prompt), &shown) != nil {
			t.Fatalf("%+v, %v", req, err)
		}
		if shown.A.Caption != first || shown.B.Caption == first {
			t.Errorf("comparison %d shows %+v, not %s first", n, shown, first)
		}
	}
	for _, c := range []struct{ order, back, want string }{
		{"a", "b", "The draft."}, {"b", "a", "Better."}, {"a", "a", "Better."}, {"b", "b", "Better."},
		{"a", "?", "Better."}, {"?", "?", "Better."},
	} {
		compared := append(slices.Clone(made), generate.Made{Object: json.RawMessage(`{"better":"` + c.order + `"}`)},
			generate.Made{Object: json.RawMessage(`{"better":"` + c.back + `"}`)})
		if got := AttemptAt(r).words(compared).Caption; got != c.want {
			t.Errorf("%s and %s keep %q", c.order, c.back, got)
		}
	}
}

// The best quality writes two drafts from two first lines, and the look is at the better one.
func TestTheBestQualityHasTwoDrafts(t *testing.T) {
	r, w := planned(t, QualityBest)
	made := []generate.Made{{Text: drafted("First.")}}
	second, err := AttemptAt(r).request(1, made, nil)
	if err != nil || !strings.Contains(second.User, `"other":"a"`) || !strings.Contains(second.System, `in "other"`) ||
		!w.Spares(1) {
		t.Fatalf("%s\n%s, %v", second.System, second.User, err)
	}
	if first, err := AttemptAt(r).request(0, nil, nil); err != nil || strings.Contains(first.System, `"other"`) {
		t.Errorf("%s, %v", first.System, err)
	}
	made = append(made, generate.Made{Text: drafted("Second.")})
	for _, c := range []struct{ order, back, want string }{
		{"b", "a", "Second."}, {"a", "a", "First."}, {"a", "b", "First."}, {"", "a", "First."},
	} {
		chosen := append(slices.Clone(made), generate.Made{Object: json.RawMessage(`{"better":"` + c.order + `"}`)},
			generate.Made{Object: json.RawMessage(`{"better":"` + c.back + `"}`)})
		if look, err := AttemptAt(r).request(4, chosen, nil); err != nil || !strings.Contains(look.Prompt, c.want) {
			t.Errorf("%s and %s have %s looked at, %v", c.order, c.back, look.Prompt, err)
		}
	}
	// Without another draft, nothing is chosen.
	if alone := []generate.Made{made[0], {}}; !w.Skips(2, alone) || AttemptAt(r).words(alone).Caption != "First." {
		t.Error("a draft that is alone is compared")
	}
}

func TestWritersLearnFromTheChannel(t *testing.T) {
	views := func(n int64) *int64 { return &n }
	of := func(id, caption, language string, shown, saved int64, draft string) *Record {
		r := &Record{Item: Item{Texts: Texts{Caption: resource.Text(caption), Title: "T"},
			Language: language}, Draft: draft}
		if r.ID = id; shown > 0 {
			r.Publications = []Publication{{Metrics: &Metrics{
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
	if err := AttemptAt(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	a := AttemptAt(r)
	foreseen := provider.TextTokens(a.foreseen(r.Parts[0]))
	a.memory = longestMemory()
	a.memory.platforms = []string{"instagram", "telegram", "vk"}
	if got := provider.TextTokens(a.foreseen(r.Parts[0])); got.Input > foreseen.Input || got.Output > foreseen.Output {
		t.Errorf("%+v, foreseen %+v", got, foreseen)
	}
	req := a.foreseen(r.Parts[0])
	if !strings.Contains(req.System, "Telegram") || strings.Contains(req.System, "YouTube") ||
		!strings.Contains(req.System, "at most 978 characters") {
		t.Errorf("the writer is told:\n%s", req.System)
	}
}
