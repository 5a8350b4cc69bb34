package metered

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/errs"
)

// docs/contract.md has the rubric in words. These are its parts that a program can judge.
var (
	// foreign are words of libraries, which say nothing to a caller.
	foreign = regexp.MustCompile(`(?i)strconv|json:|unmarshal|unexpected end of JSON|invalid character '|parsing "|` +
		`context canceled|context deadline|net/url|net/http|x509|tls:|dial tcp|EOF\b|<nil>|%!|0x[0-9a-f]{6}|` +
		`goroutine|huma|validation failed$|Go struct|reflect\.|DynamoDB|operation error|unexpected property`)
	// remedy is what a text of the best grade has: what to do, the values, an example, or the path to call instead.
	remedy = regexp.MustCompile(`(?i)did you mean|\b(send|leave|write|use|call|read|wait|repeat|create|choose|take|` +
		`remove|close|set|compare|start|diagnose|generate|ask|top up|spread|name|add|attach|divide|shorten|drop|plan|` +
		`give|delete|end|get|post|change|connect|approve|check|bring|escape|cancel|keep)\b|The values are|The members are|` +
		`It takes|It supports|one of|such as|(GET|POST|PATCH|PUT) /|for [a-z ]+ only|alone`)
	// needed is what a text of the second grade has: what the service wants.
	needed = regexp.MustCompile(`(?i)must|is required|needs|takes|is for|may|cannot be changed|expected|is (above|below|` +
		`after|before|too)|is not the (id|number) of|is not on a day|is sent more than once|at (most|least)|there is no|` +
		`has no|already|is in the past|lacks|not valid|the (fewest|most|shortest|longest)|only|there are|` +
		`for this key's account and mode`)
	// listed are the parts of a text that repeat values, which are not counted.
	listed = regexp.MustCompile(`(The values are|The members are|It takes|one of|a list of|which is one of) .*`)
)

// longestText is the most characters of a text, without the values that it lists.
const longestText = 300

// grade judges the answer to a mistake by the rubric: A, B, C or D, and why.
func grade(e *errs.Detail, needsPlace bool) (grade, why string) {
	text := e.Message
	switch rest := listed.ReplaceAllString(text, ""); {
	case text == "" || foreign.MatchString(text):
		return "D", "it has words of a library"
	case utf8.RuneCountInString(rest) > longestText:
		return "C", "it is too long"
	case strings.Contains(text, "is not a known value") && !strings.Contains(text, "The values are "):
		return "C", "it does not show the values of a closed list"
	case needsPlace && e.Param == "" && !strings.Contains(text, "body") && !strings.HasSuffix(text, "."):
		return "C", "it names no member"
	case strings.HasSuffix(text, ":") || strings.HasSuffix(text, " ") || strings.Contains(text, "  "):
		return "C", "it is no sentence"
	case strings.HasPrefix(text, "or "):
		return "C", "it begins in the middle of a sentence"
	case remedy.MatchString(text):
		return "A", ""
	case needed.MatchString(text):
		return "B", ""
	}
	return "C", "it does not say what to do"
}

// judge reports the answers below B.
func judge(t *testing.T, m mistake, details []errs.Detail, grades map[string]int) {
	t.Helper()
	for _, d := range details {
		g, why := grade(&d, len(details) > 1)
		if grades[g]++; g > "B" {
			t.Errorf("%s: %s is %s: %s", m.what, d, g, why)
		}
	}
}

// mend sends the request of a mistake as the answer says, and expects that it is taken at once.
func (w *World) mend(t *testing.T, m mistake, names map[string]string) {
	t.Helper()
	body, ok := mended[m.what]
	if !ok {
		return
	}
	m.body, m.header = body, nil
	a, err := w.Send(t.Context(), w.requestOf(m, names))
	if err != nil || a.Status >= 300 {
		t.Errorf("%s, mended as its answer says: %d %s, %v", m.what, a.Status, a.Body, err)
	}
}
