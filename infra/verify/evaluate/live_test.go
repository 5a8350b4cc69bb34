package main

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// model writes a caption, and judges by a rule.
type model struct {
	provider.Provider
	caption string
	better  func(first, second string) string
}

func (m model) Capabilities() provider.Capabilities { return provider.Capabilities{} }

func (m model) Submit(_ context.Context, req provider.Request) (provider.Submission, error) {
	if req.Form == nil {
		return provider.Submission{Result: &provider.Result{Text: &provider.Text{Title: "A title", Caption: m.caption}}}, nil
	}
	var pair struct{ First, Second string }
	if err := json.Unmarshal([]byte(req.Prompt), &pair); err != nil {
		return provider.Submission{}, err
	}
	object, err := json.Marshal(map[string]string{"better": m.better(pair.First, pair.Second)})
	return provider.Submission{Result: &provider.Result{Object: object}}, err
}

// A text wins if the judge prefers it in both orders. A judge that prefers a place sees no difference.
func TestAJudgeComparesInBothOrders(t *testing.T) {
	all, err := readAnswers(seen)
	if err != nil {
		t.Fatal(err)
	}
	text, ok := catalog.Find("nova-lite")
	if !ok {
		t.Fatal("the catalog has no nova-lite")
	}
	pairs := float64(len(briefs(all)))
	for name, c := range map[string]struct {
		better     func(first, second string) string
		wins, ties float64
	}{
		"the new one": {func(first, _ string) string {
			return map[bool]string{true: "first", false: "second"}[strings.Contains(first, "new")]
		}, pairs, 0},
		"the older one": {func(first, _ string) string {
			return map[bool]string{true: "second", false: "first"}[strings.Contains(first, "new")]
		}, 0, 0},
		"the first one": {func(string, string) string { return "first" }, 0, pairs},
		"neither":       {func(string, string) string { return "neither" }, 0, pairs},
	} {
		r := &run{provider: model{caption: "the new text for 5 €", better: c.better}, writer: text, judge: text,
			at: time.Now(), before: map[string]written{}}
		for _, a := range briefs(all) {
			r.before[a.name()] = written{Brief: a.name(), Version: "post.0", Text: provider.Text{Caption: "the old one"}}
		}
		if err := r.write(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if r.compared != pairs || r.wins != c.wins || r.ties != c.ties || r.credits < int64(3*pairs) {
			t.Errorf("%s: %v pairs, %v won, %v ties, %d credits", name, r.compared, r.wins, r.ties, r.credits)
		}
		if report := r.quality(); !strings.Contains(report, "`nova-lite`") || !strings.Contains(report, "post.0") ||
			!strings.Contains(report, "`unsupported_claim`") {
			t.Errorf("%s", report)
		}
	}
}

func TestIntervals(t *testing.T) {
	part, low, high := interval(15, 20)
	if part != 75 || low < 53 || low > 54 || high < 88 || high > 89 {
		t.Errorf("%.1f (%.1f to %.1f)", part, low, high)
	}
}

// The report in testdata is that of the answers.
func TestTheReportIsCurrent(t *testing.T) {
	all, err := readAnswers(seen)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("testdata/report.md")
	if err != nil || !strings.HasPrefix(string(got), offline(verdictsOf(all))) || !strings.Contains(string(got), "## Quality") {
		t.Errorf("run make evaluate: testdata/report.md is not current: %v", err)
	}
}
