// Command evaluate measures the guards of answers with answers that were written by hand: what they catch of planted
// faults, and what they refuse wrongly. With credentials of a provider it also compares the texts of real models.
package main

import (
	"bufio"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/craft/guard"
)

// answers has one file for each language. A line === begins a brief, whose lines are a name and a value. A line ---
// begins an answer: good, or the code of the planted fault and the part of the answer that has it.
//
//go:embed testdata/answers testdata/unseen testdata/kinds testdata/translated
var answers embed.FS

// The directories: the answers that the guards were written with, and those that they were not, whose faults have the
// names of their kinds. kinds has the faults that rules and tables tell, by different authors, and translated has clean
// texts in another language than their inputs.
const (
	seen       = "answers"
	unseen     = "unseen"
	kinds      = "kinds"
	translated = "translated"
)

// tables are the directories with a table of what the guards catch.
var tables = []string{unseen, kinds, translated}

// answer is an answer to a brief.
type answer struct {
	file, brief string
	line        int
	text        string
	// code is the code of the planted fault, empty for a good answer, and part what the finding must quote.
	code guard.Code
	part string
	guard.Rules
}

// good reports whether the answer must pass.
func (a answer) good() bool { return a.code == "" }

// fields returns the answer as the guards read it.
func (a answer) fields() []guard.Field { return []guard.Field{{Path: "/caption", Text: a.text}} }

// today is the day of the answers.
var today = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// readAnswers reads all files of a directory.
func readAnswers(directory string) (all []answer, err error) {
	files, err := fs.Glob(answers, "testdata/"+directory+"/*.txt")
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	for _, name := range files {
		raw, err := answers.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("evaluate: %w", err)
		}
		of, err := parse(path.Base(name), string(raw))
		if err != nil {
			return nil, fmt.Errorf("evaluate: %s: %w", name, err)
		}
		all = append(all, of...)
	}
	return all, nil
}

func parse(file, raw string) (all []answer, err error) {
	brief, begun := answer{}, false
	lines := bufio.NewScanner(strings.NewReader(raw))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		name, value, _ := strings.Cut(line, " ")
		switch {
		case name == "===":
			brief, begun = answer{file: file, brief: value, Rules: guard.Rules{Now: today}}, false
		case name == "---":
			code, part, _ := strings.Cut(value, " ")
			one := brief
			if one.line, begun = n, true; code != "good" {
				one.code, one.part = guard.Code(code), part
			}
			all = append(all, one)
		case begun:
			a := &all[len(all)-1]
			a.text = strings.TrimSpace(a.text + "\n" + line)
		case line != "":
			if err := brief.rule(name, value); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
	}
	return all, lines.Err()
}

// rule reads one line of a brief.
func (a *answer) rule(name, value string) error {
	switch words := strings.Fields(value); {
	case name == "language":
		a.Language = value
	case name == "fact":
		a.Facts = append(a.Facts, value)
	case name == "brand":
		a.Facts, a.Names = append(a.Facts, value), append(a.Names, value)
	case name == "forbidden":
		a.Forbidden = append(a.Forbidden, value)
	case name == "source":
		a.QuotedInputs = append(a.QuotedInputs, value)
	case name == "competitor":
		a.Competitors = append(a.Competitors, value)
	case name == "price" && len(words) == 2:
		amount, err := strconv.ParseInt(words[0], 10, 64)
		if err != nil {
			return err
		}
		a.Prices = append(a.Prices, money.Price{Amount: amount, Currency: words[1]})
	case name == "limit" && len(words) == 3:
		most, err := strconv.Atoi(words[1])
		if err != nil {
			return err
		}
		a.Limits = append(a.Limits, guard.Limit{Path: words[0], Text: platform.Text{Max: most}, Target: words[2]})
	case name == "past":
		id, text, _ := strings.Cut(value, " ")
		a.Past = append(a.Past, guard.Past{ID: id, Signature: guard.Sign([]guard.Field{{Text: text}})})
	default:
		return fmt.Errorf("%q is no rule", name)
	}
	return nil
}

// verdict is the result of an answer.
type verdict struct {
	answer
	found []guard.Finding
}

// caught reports whether the guards have found the planted fault.
func (v verdict) caught() bool {
	return slices.ContainsFunc(v.found, func(f guard.Finding) bool {
		return f.Code == v.code && (v.part == "" || strings.EqualFold(f.Text, v.part))
	})
}

// verdictsOf checks all answers.
func verdictsOf(all []answer) (verdicts []verdict) {
	for _, a := range all {
		verdicts = append(verdicts, verdict{a, guard.Check(a.fields(), a.Rules)})
	}
	return verdicts
}

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

// The table of the answers that the guards were not written with, between these lines of testdata/unseen.md and of the
// others.
const (
	tableBegins = "<!-- make evaluate writes this table. -->\n"
	tableEnds   = "<!-- End of the table. -->\n"
)

// refused reports whether the guards have refused an answer of the unseen ones, whose faults have kinds and not codes.
func (v verdict) refused() bool { return len(v.found) > 0 }

// tableOf returns the table of the answers of a directory.
func tableOf(directory string) (string, error) {
	all, err := readAnswers(directory)
	if err != nil {
		return "", err
	}
	return unseenTable(verdictsOf(all)), nil
}

// unseenTable writes what the guards catch of each kind in each language, and what they refuse wrongly.
func unseenTable(verdicts []verdict) string {
	caught, faults := map[string]int{}, map[string]int{}
	languages, kinds := map[string]bool{}, map[string]bool{}
	for _, v := range verdicts {
		file := strings.TrimSuffix(v.file, ".txt")
		kind := string(v.code)
		languages[file] = true
		if !v.good() {
			kinds[kind] = true
		}
		for _, key := range []string{file + kind, file + "*" + fault(v), "*" + kind, "*" + fault(v)} {
			faults[key]++
			if v.refused() {
				caught[key]++
			}
		}
	}
	order := slices.Sorted(maps.Keys(languages))
	var b strings.Builder
	fmt.Fprintf(&b, "| Kind | %s | All |\n|---|%s\n", strings.Join(order, " | "), strings.Repeat("--:|", len(order)+1))
	cell := func(key string) string {
		if faults[key] == 0 {
			return ""
		}
		return fmt.Sprintf("%d/%d", caught[key], faults[key])
	}
	row := func(name, key string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, file := range order {
			fmt.Fprintf(&b, " %s |", cmp.Or(cell(file+key), "-"))
		}
		fmt.Fprintf(&b, " %s |\n", cell("*"+strings.TrimPrefix(key, "*")))
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		row(kind, kind)
	}
	row("**Faults caught**", "*fault")
	row("**Clean texts refused**", "*good")
	return b.String()
}

// fault returns good for a clean text, and fault for one with a planted fault.
func fault(v verdict) string {
	if v.good() {
		return "good"
	}
	return "fault"
}
