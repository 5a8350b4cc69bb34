package console

import (
	"strings"
	"testing"
	"time"
)

// An experiment is drawn as the interval of each arm at each look, and told as a table. The first arm has none.
func TestExperimentsAreDrawnAsIntervals(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	look := func(day int, estimate, lower, upper float64, n int64) experimentLook {
		return experimentLook{At: at.AddDate(0, 0, day), Results: []armResult{{Factor: "hook", Arm: "claim", N: n},
			{Factor: "hook", Arm: `a "<b>`, N: n, Estimate: &estimate, Lower: &lower, Upper: &upper}}}
	}
	e := experimentOfAPI{History: []experimentLook{{At: at, Results: []armResult{{Factor: "hook", Arm: `a "<b>`}}},
		look(1, 0.1, -0.3, 0.4, 9), look(2, 0.2, 0.05, 0.35, 30)}}
	e.Results = e.History[2].Results
	all := intervalsOf(e, &view{Language: "en"})
	if len(all) != 1 || all[0].Arm != `a "<b>` || len(all[0].Rows) != 2 {
		t.Fatalf("%+v", all)
	}
	if got := all[0].Rows[1]; got != (intervalRow{"22 Nov", 30, "70 %", "55 %", "85 %"}) {
		t.Errorf("%+v", got)
	}
	svg := string(all[0].SVG)
	if strings.Count(svg, "<rect") != 4 || !strings.Contains(svg, "22 Nov: 70 % (55 %–85 %)") ||
		strings.Contains(svg, `"<b>`) {
		t.Errorf("%s", svg)
	}
}

// Posts that were rejected are told, because an arm may lose by them.
func TestAnExperimentTellsItsRejectedPosts(t *testing.T) {
	e := experimentOfAPI{Question: "Do questions help?", State: "running",
		Results: []armResult{{Factor: "hook", Arm: "claim"}, {Factor: "hook", Arm: "question", Rejected: 3}}}
	for language, want := range map[string]string{"en": "Rejected posts of question, which count as the lowest: 3",
		"ru": "Отклонённые публикации варианта question, которые считаются худшими: 3"} {
		var out strings.Builder
		err := screens()["experiment"].render(&out, &view{Language: language, Dialog: true,
			Data: map[string]any{"One": e, "Names": names{}, "Intervals": intervalsOf(e, &view{Language: language})}})
		if got := out.String(); err != nil || !strings.Contains(got, want) || strings.Contains(got, "of claim") {
			t.Errorf("%v: %s", err, got)
		}
	}
}
