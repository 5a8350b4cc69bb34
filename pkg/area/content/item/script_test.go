package item

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

func TestScriptsAreDivided(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		want   []string
	}{
		"sentences":         {"One two three four. Five six seven eight nine! Ten?", nil},
		"short sentences":   {"Go. Run. Fly.", []string{"Go. Run. Fly."}},
		"numbers":           {"It takes 3.5 hours to walk there. It takes 1.2 to run.", nil},
		"Chinese":           {"这双鞋由回收的渔网制成。它很轻也很快。现在就来试试这双新鞋吧！", nil},
		"one long sentence": {strings.TrimSpace(strings.Repeat("and on we run over the hills ", 9)), nil},
		"no spaces":         {strings.Repeat("网", 90), nil},
	} {
		got := divide(c.script, 3*time.Second, 6*time.Second)
		var texts []string
		for _, s := range got {
			texts = append(texts, s.Text)
			if length := provider.SpokenLength(s.Text); s.Text == "" || length > 6*time.Second {
				t.Errorf("%s: the scene %q takes %v", name, s.Text, length)
			}
		}
		bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if bare(strings.Join(texts, "")) != bare(c.script) || c.want != nil && !slices.Equal(texts, c.want) ||
			c.want == nil && len(texts) < 2 {
			t.Errorf("%s: %q", name, texts)
		}
	}
	if got := divide("It takes 3.5 hours to walk there. It takes 1.2 to run.", 3*time.Second,
		6*time.Second); got[len(got)-1].Text != "It takes 1.2 to run." {
		t.Errorf("%q", got)
	}
}

// A correction moves no other words to other scenes.
func TestCorrectedScriptsAreDividedAsBefore(t *testing.T) {
	before := []Scene{{"We pulled these nets.", "a", ""}, {"They carry you up.", "b", ""}, {"Try them now.", "c", ""}}
	for script, want := range map[string][]string{
		"We pulled these nets. They carry you up. Try them now.": {before[0].Text, before[1].Text, before[2].Text},
		"We pulled these huge nets out of the sea. They carry you up. Try them now.": {
			"We pulled these huge nets out of the sea.", before[1].Text, before[2].Text},
		"We pulled these nets. They lift you. Try them now.": {before[0].Text, "They lift you.", before[2].Text},
		"We pulled these nets. They carry you up. Buy.":      {before[0].Text, before[1].Text, "Buy."},
		"Go on now": {"Go", "on", "now"},
	} {
		var texts []string
		for i, s := range redivide(before, script) {
			if texts = append(texts, s.Text); s.Visual != before[i].Visual {
				t.Errorf("%q shows %q", s.Text, s.Visual)
			}
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%q: %q", script, texts)
		}
	}
	if got := redivide(before, "Two words"); got != nil {
		t.Errorf("%q", got)
	}
}

// The samples of a training ask for what was written only: not for a script of the caller.
func TestSamplesLeaveAGivenScriptOut(t *testing.T) {
	r := recordOf(t, Video, FormatShort, "en", voiced())
	if err := PlannerOf(r).Plan(all, Options{Script: strings.Repeat("We run up the hill. ", 8)}, true); err != nil {
		t.Fatal(err)
	}
	r.Item.State, r.Item.Title, r.Item.Caption = Generated, "Title", "Caption"
	asked, text, ok := r.WrittenTexts()
	if !ok || asked.Scenes != 0 || len(text.Scenes) != 0 || len(r.Item.Scenes) < 2 {
		t.Errorf("%+v, %+v, %v", asked, text, ok)
	}
}
