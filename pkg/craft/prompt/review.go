package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Second is the task of a second look at a text.
const Second Task = "review"

// ReviewTokens is the most that the answer of a second look takes.
const ReviewTokens = 700

// Rubric are the members of a second look, each with what it asks.
var Rubric = []struct{ Name, Asks string }{
	{"hook", "Would a reader of this channel stop at the first line? Is it concrete, and does the text keep its " +
		"promise?"},
	{"specific", "Could another channel publish the same words? Names, steps and reasons from the message count, " +
		"adjectives do not."},
	{"voice", "Does it sound like the channel, and like its examples if there are some? Are its rules kept?"},
	{"fit", "Does its form fit the platforms and the kind: first line, length, structure, one call to action? A " +
		"caption of a video does not repeat its first scene, and news are neutral and ask for nothing."},
	{"language", "Is it idiomatic and free of errors in its language, without phrases of machines?"},
	{"claims", "Does each fact stand in the message? 1 if one is invented."},
}

// Review is the request for a second look.
type Review struct {
	Writing
	Text provider.Text
}

// Criteria returns the rubric, for the template.
func (Review) Criteria() any { return Rubric }

// withDefaults returns the request with what it has by default.
func (r Review) withDefaults() Review {
	r.Language = cmp.Or(r.Language, "en")
	if r.Limits == (Limits{}) {
		r.Limits = Strictest(r.Targets, r.Language)
	}
	return r
}

// Judge returns the prompt of a second look at a text.
func Judge(r Review) Prompt {
	r = r.withDefaults()
	return Prompt{Version: Version(Second), System: render("review.tmpl", r), User: data(struct {
		Message message       `json:"message"`
		Text    provider.Text `json:"text"`
	}{r.message(), r.Text})}
}

// Compare is the task of choosing between two texts.
const Compare Task = "compare"

// CompareTokens is the most that the answer of a comparison takes.
const CompareTokens = 200

// Comparison is the request to choose between two texts for the same message. It is asked twice, with the texts in
// either order: a judge that prefers the place has no preference.
type Comparison struct {
	Writing
	A, B provider.Text
}

// Prompt returns the prompt that compares the texts.
func (c Comparison) Prompt() Prompt {
	r := Review{Writing: c.Writing}.withDefaults()
	return Prompt{Version: Version(Compare), System: render("compare.tmpl", r), User: data(struct {
		Message message       `json:"message"`
		A       provider.Text `json:"a"`
		B       provider.Text `json:"b"`
	}{r.message(), c.A, c.B})}
}

// Choice is the answer to a comparison: a or b.
type Choice struct {
	Better string `json:"better"`
}

// FirstIsBetter is the choice of the sandbox.
var FirstIsBetter = json.RawMessage(`{"better":"a"}`)

// ParseChoice reads the answer to a comparison.
func ParseChoice(raw json.RawMessage) (c Choice, err error) {
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, err
	}
	if c.Better != "a" && c.Better != "b" {
		return c, fmt.Errorf("prompt: the better text is %q", c.Better)
	}
	return c, nil
}

// Verdict is the result of a second look.
type Verdict struct {
	// Scores are from 1 to 5, by the names of the rubric.
	Scores map[string]int `json:"scores"`
	// Problems are for the writer.
	Problems []string `json:"problems"`
}

// Approval is the verdict of the sandbox.
var Approval = json.RawMessage(`{"scores":{"hook":4,"specific":4,"voice":4,"fit":4,"language":5,"claims":5},` +
	`"problems":[]}`)

// The bounds of the problems of a verdict.
const (
	maxProblems = 6
	maxProblem  = 300
)

// ParseVerdict reads the answer to Judge.
func ParseVerdict(raw json.RawMessage) (v Verdict, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, err
	}
	if len(v.Scores) != len(Rubric) {
		return v, fmt.Errorf("prompt: there are %d scores, not %d", len(v.Scores), len(Rubric))
	}
	for _, c := range Rubric {
		if s := v.Scores[c.Name]; s < 1 || s > 5 {
			return v, fmt.Errorf("prompt: the score of %s is %d", c.Name, s)
		}
	}
	for i, p := range v.Problems {
		v.Problems[i] = provider.Clip(provider.OneLine(p), maxProblem)
	}
	v.Problems = slices.DeleteFunc(v.Problems, func(p string) bool { return strings.TrimSpace(p) == "" })
	v.Problems = v.Problems[:min(len(v.Problems), maxProblems)]
	if len(v.Problems) == 0 && !v.Passes(false) {
		return v, errors.New("prompt: the verdict names no problem")
	}
	return v, nil
}

// The lines that a text has to pass: the least score of each criterion, and the least sum.
const (
	leastScore, leastSum         = 3, 20
	leastScoreBest, leastSumBest = 4, 25
)

// Passes reports whether a text stands as it is.
func (v Verdict) Passes(best bool) bool {
	least, sum := leastScore, leastSum
	if best {
		least, sum = leastScoreBest, leastSumBest
	}
	total := 0
	for _, s := range v.Scores {
		if total += s; s < least {
			return false
		}
	}
	return total >= sum || best && len(v.Problems) == 0
}
