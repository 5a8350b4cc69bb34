package item

import (
	"encoding/json"
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
	haiku, sonnet := "claude-haiku-4.5", "claude-sonnet-4.5"
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
		// A picture costs a few credits: a tenth of them is no better text.
		{Post, "", QualityStandard, nil, all, "text nova-lite"},
		{Post, "", QualityBest, nil, all, "text " + sonnet + " review " + sonnet + " rewrite " + sonnet},
		{Video, FormatShort, QualityDraft, nil, all, "script nova-lite"},
		{Video, FormatShort, QualityStandard, nil, all, "script " + haiku + " review " + haiku + " rewrite " + haiku},
		{Video, FormatShort, QualityBest, nil, all, "script " + sonnet + " review " + sonnet + " rewrite " + sonnet},
		// The factory's model writes in every quality.
		{Post, "", QualityBest, map[string]string{"text": "nova-pro"}, all, "text nova-pro review nova-pro rewrite nova-pro"},
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
		if c.quality == QualityStandard && credits > 1 && credits > (r.Credits-credits)/textShare {
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

func TestASecondLookHasATextWrittenAgain(t *testing.T) {
	r := recordOf(t, Post, "", "en", voiced())
	r.Quality = QualityBest
	if err := AttemptAt(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	w := &work{maker: AttemptAt(r).maker}
	first := provider.Text{Title: "Nets", Caption: "A generic caption.", Hooks: []string{"a", "b", "c"}, Hook: 1, Style: "x",
		Pictures: []provider.Picture{{Visual: "v", Alt: "w"}}}
	made := []generate.Made{{Text: &first}}
	look, err := AttemptAt(r).request(1, made, nil)
	if err != nil || look.Form == nil || !strings.Contains(look.Prompt, "A generic caption.") ||
		strings.Contains(look.Form.System, "generic caption") || w.Skips(1, made) || !w.Spares(1) || w.Spares(0) {
		t.Fatalf("%+v, %v", look, err)
	}
	weak := `{"scores":{"hook":2,"specific":4,"voice":4,"fit":4,"language":5,"claims":5},"problems":["Name the sea."]}`
	made = append(made, generate.Made{Object: json.RawMessage(weak)})
	again, err := AttemptAt(r).request(2, made, nil)
	if err != nil || again.Repair == nil || again.Repair.Problems[0] != "Name the sea." ||
		!strings.Contains(again.Repair.Answer, "A generic caption.") || again.System == "" || w.Skips(2, made) {
		t.Errorf("%+v, %v", again, err)
	}
	second := provider.Text{Title: "Sea", Caption: "Better.", Hooks: []string{"a", "b", "c"}, Hook: 2, Style: "y"}
	if got := AttemptAt(r).words(append(made, generate.Made{Text: &second})); got.Caption != "Better." {
		t.Errorf("the item has %+v", got)
	}
	// A text that passes, and a verdict that cannot be read, leave the text as it is.
	for _, verdict := range []string{string(prompt.Approval), `{"scores":{"hook":9}}`, `{}`} {
		made[1].Object = json.RawMessage(verdict)
		if !w.Skips(2, made) {
			t.Errorf("%s has the text written again", verdict)
		}
	}
}

func TestWritersLearnFromTheChannel(t *testing.T) {
	views := func(n int64) *int64 { return &n }
	of := func(id, caption, language string, shown, saved int64, draft string) *Record {
		r := &Record{Item: Item{Texts: Texts{Caption: caption, Title: "T"}, Language: language}, Draft: draft}
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
