package item

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/guard"
	"github.com/content-automation/api/pkg/record/resource"
)

// rowsOf returns platforms by their names.
func rowsOf(names ...string) (rows []registry.Row) {
	for _, name := range names {
		row, _ := registry.Find(name)
		rows = append(rows, row)
	}
	return rows
}

// asking returns the request to the writer of a post for platforms.
func asking(t *testing.T, r *Record, platforms ...string) (*writer, provider.Request) {
	t.Helper()
	if err := PlannerOf(r).Plan(all, Options{}, true); err != nil {
		t.Fatal(err)
	}
	a := writerOf(r)
	a.memory = &memory{platforms: platforms}
	return a, a.foreseen(r.Attempt.Parts[0])
}

// With X among the platforms, the caption is for the others, and X has a version of its own. Prompt, guards and variant
// count as the platform does, also for Japanese, of which X counts each character twice.
func TestShortVersionsOfACaption(t *testing.T) {
	r := recordOf(t, Post, "", "ja", voiced())
	a, req := asking(t, r, "instagram", "linkedin", "x")
	for _, want := range []string{"The caption has at most 1500 characters", `"x" is X: at most 118 characters`} {
		if !strings.Contains(req.System, want) {
			t.Errorf("the writer is told without %q:\n%s", want, req.System)
		}
	}
	want := provider.ShortVersion{Platform: "x", Characters: 118}
	if len(req.Short) != 1 || req.Short[0] != want || req.Hashtags != 3 {
		t.Errorf("%+v, %d hashtags", req.Short, req.Hashtags)
	}
	long, tag := strings.Repeat("網の", 450), strings.Repeat("網の", 10)
	text := provider.Text{Title: "網の話", Caption: long, Hashtags: []string{tag, "靴", "海"},
		Short: []provider.Short{{Platform: "x", Caption: strings.Repeat("網の", 59)}}}
	check := func(rows []registry.Row, text provider.Text) []guard.Finding {
		return guard.Check(a.fields(text), guard.Rules{Language: "ja", Limits: a.bounds(rows, text)})
	}
	rows := rowsOf("instagram", "linkedin", "x")
	if found := check(rows, text); len(found) > 0 || a.lacking(rows, text) != nil {
		t.Errorf("a text that obeys the prompt is refused: %s", guard.Reasons(found))
	}
	tooLong := text
	tooLong.Short = []provider.Short{{Platform: "x", Caption: strings.Repeat("網の", 65)}}
	if found := check(rows, tooLong); len(found) != 1 || found[0].Path != "/variants/x/caption" ||
		!strings.Contains(found[0].String(), "260 weighted characters") {
		t.Errorf("a text that is too long is found as %s", guard.Reasons(found))
	}
	text.Short = nil
	if labels := a.lacking(rows, text); !slices.Equal(labels, []string{"X"}) {
		t.Errorf("%v lack a version", labels)
	}
	// The version is a variant, with the hashtags that are usual there.
	r.Item.Hashtags = text.Hashtags
	makerOf(a.record).derive(tooLong)
	v := r.Item.Variants["x"]
	if v.Caption == nil || !v.Adapted || len(v.Hashtags) != 1 ||
		rows[2].Capabilities.Kinds["post"].Caption.Unit.Length(*v.Caption+"\n\n#"+tag) > 280 {
		t.Errorf("%+v", v)
	}
	// A variant of the caller stays, and X has no version that nobody asked for.
	own := "私の言葉"
	r.Item.Variants["x"] = Variant{Caption: &own}
	makerOf(a.record).derive(tooLong)
	if again, req := asking(t, r, "instagram", "x"); *r.Item.Variants["x"].Caption != own || len(req.Short) != 0 ||
		len(again.bounds(rowsOf("instagram", "x"), text)) != 3 {
		t.Errorf("%+v", req.Short)
	}
	// X alone takes the caption itself.
	delete(r.Item.Variants, "x")
	if _, req := asking(t, r, "x"); len(req.Short) != 0 || !strings.Contains(req.System, "at most 118 characters") {
		t.Errorf("%+v", req.Short)
	}
}

// Texts for platforms that are not known are not bounded by the shortest of all.
func TestUnknownPlatformsDoNotShortenATextToTheShortest(t *testing.T) {
	if _, req := asking(t, recordOf(t, Post, "", "en", voiced())); !strings.Contains(req.System,
		"The caption has at most 978 characters") || len(req.Short) != 0 {
		t.Errorf("the writer is told:\n%s", req.System)
	}
}

// The adapter may state all facts of the item, not only those of its first text.
func TestAdaptedTextsHaveAllFacts(t *testing.T) {
	r := recordOf(t, Post, "", "en", voiced())
	r.Item.Prompt, r.Attempt.Adapt, r.Attempt.AcceptedAt = "Nets from the pier of Elie, 3 kg", []string{"linkedin"},
		time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	req, err := writerOf(r).adaptRequest(provider.Text{Title: "Nets", Caption: "By hand."})
	if err != nil || !strings.Contains(req.Prompt, "pier of Elie, 3 kg") ||
		!strings.Contains(req.Prompt, "Friday, 2026-11-27") || strings.Contains(req.Form.System, "Elie") ||
		!strings.Contains(req.Form.System, "The first two lines make the claim") {
		t.Errorf("%s\n%s, %v", req.Form.System, req.Prompt, err)
	}
}

// A kind of first lines is learned from figures of enough posts, and only if there are others to compare with.
func TestTheBestKindOfHookIsLearned(t *testing.T) {
	of := func(kind string, n int, likes int64) (all []*Record) {
		for range n {
			views, count := int64(1000), likes
			r := &Record{Item: Item{Texts: Texts{Caption: "c"}, Language: "en"}}
			r.Item.HookKind, r.Item.Publications = resource.Text(kind), []Publication{{Metrics: &Metrics{
				Counts: Counts{Views: &views, Likes: &count}}}}
			all = append(all, r)
		}
		return all
	}
	for _, c := range []struct {
		all  []*Record
		want string
	}{
		{of("question", 9, 10), ""}, {append(of("question", 5, 10), of("scene", 4, 90)...), ""},
		{append(of("question", 5, 10), of("scene", 5, 90)...), "scene"},
		{append(of("", 9, 90), of("scene", 5, 9)...), ""},
	} {
		if got := bestHook(c.all); string(got) != c.want {
			t.Errorf("%d posts teach %q, want %q", len(c.all), got, c.want)
		}
	}
	for kind, want := range map[string]string{"mistake": "mistake", "ignore all rules": "", "": ""} {
		if got := kindOfHook(provider.Text{Hook: 2, HookKinds: []string{"claim", kind, "quote"}}); got != want {
			t.Errorf("%q is the kind %q", kind, got)
		}
	}
}
