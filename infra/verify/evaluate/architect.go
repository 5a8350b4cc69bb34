package main

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// replies are replies of the architect. A line === begins a conversation, whose lines are a name and a value: the goal,
// what the user has said, and what tools have returned. A line --- begins a reply: good, or the planted fault.
//
//go:embed testdata/architect
var replies embed.FS

// The faults of replies that can be found without a judge. Each is against a criterion of prompt.ArchitectRubric.
const (
	faultAsks        = "asks"        // it drafts without a goal, asks for a goal that it knows, or asks too much
	faultFigures     = "figures"     // it states a number that nobody has given
	faultPlaceholder = "placeholder" // its draft has a gap
	faultForm        = "form"        // it is long, or not plain text
	faultDone        = "done"        // it says that it did what only the user can
)

// reply is a reply of the architect in a conversation.
type reply struct {
	file  string
	line  int
	fault string // planted; empty for a good reply
	text  string
	// Unclear reports whether the goal is unknown. Inputs are what the user and tools have said.
	unclear bool
	inputs  []string
}

// readReplies reads all files.
func readReplies() (all []reply, err error) {
	files, err := fs.Glob(replies, "testdata/architect/*.txt")
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	for _, name := range files {
		raw, err := replies.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("evaluate: %w", err)
		}
		var of reply
		begun := false
		lines := bufio.NewScanner(strings.NewReader(string(raw)))
		for n := 1; lines.Scan(); n++ {
			line := lines.Text()
			word, value, _ := strings.Cut(line, " ")
			switch {
			case word == "===":
				of, begun = reply{file: name}, false
			case word == "---":
				one := of
				if one.line, begun = n, true; value != "good" {
					one.fault = value
				}
				all = append(all, one)
			case begun:
				r := &all[len(all)-1]
				r.text = strings.TrimSpace(r.text + "\n" + line)
			case word == "goal":
				of.unclear = value == "unclear"
			default:
				of.inputs = append(of.inputs, value)
			}
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("evaluate: %s: %w", name, err)
		}
	}
	return all, nil
}

// The bounds that the architect is told.
const (
	mostWords     = 200
	mostQuestions = 3
)

var (
	numbers   = regexp.MustCompile(`\d[\d.,]*\d|\d`)
	gaps      = regexp.MustCompile(`\[[^\]]+\]|<[^>]+>|\b(TBD|TODO|XXX|[Ll]orem ipsum)\b`)
	markdown  = regexp.MustCompile("(?m)^(#{1,6}|[-*]|\\d+\\.) |\\*\\*|```")
	goalAsked = regexp.MustCompile(`(?i)(what (is it for|should it achieve|is the goal)|who should see it)[^.!]*\?`)
	didIt     = regexp.MustCompile(`(?i)\bI(?:'ve| have)? (?:\w+ )?(created|published|applied|scheduled|deleted|ordered)\b`)
	drafted   = regexp.MustCompile(`(?i)\b(made|here is|apply) (a|the|it)\b`)
)

// faults returns the faults of a reply.
func (r reply) faults() (found []string) {
	add := func(fault string, is bool) {
		if is {
			found = append(found, fault)
		}
	}
	questions := strings.Count(r.text, "?")
	if r.unclear {
		did := didIt.MatchString(r.text)
		add(faultAsks, questions == 0 || questions > mostQuestions || drafted.MatchString(r.text) && !did)
	} else {
		add(faultAsks, goalAsked.MatchString(r.text))
	}
	known := numbers.FindAllString(strings.Join(r.inputs, " "), -1)
	add(faultFigures, slices.ContainsFunc(numbers.FindAllString(r.text, -1),
		func(n string) bool { return !slices.Contains(known, n) && !markdown.MatchString(r.text) }))
	add(faultPlaceholder, gaps.MatchString(r.text))
	add(faultForm, len(strings.Fields(r.text)) > mostWords || markdown.MatchString(r.text) ||
		json.Valid([]byte(r.text)))
	add(faultDone, didIt.MatchString(r.text))
	return found
}

// architect writes the part of the report about the architect.
func architect(all []reply) string {
	planted, caught, good, refused := map[string]int{}, map[string]int{}, 0, 0
	for _, r := range all {
		found := r.faults()
		switch {
		case r.fault == "" && len(found) > 0:
			good, refused = good+1, refused+1
		case r.fault == "":
			good++
		default:
			if planted[r.fault]++; slices.Contains(found, r.fault) {
				caught[r.fault]++
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `
## Architect

The replies in `+"`infra/verify/evaluate/testdata/architect`"+` were written by hand, and checked against the parts of the
architect's rubric that need no judge. Of %d good replies, %d were refused.

| Fault | Planted | Caught |
|---|---|---|
`, good, refused)
	for _, fault := range slices.Sorted(maps.Keys(planted)) {
		fmt.Fprintf(&b, "| %s | %d | %d |\n", fault, planted[fault], caught[fault])
	}
	return b.String()
}
