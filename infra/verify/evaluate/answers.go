// Command evaluate measures the guards of answers with answers that were written by hand: what they catch of planted
// faults, and what they refuse wrongly. With credentials of a provider it also compares the texts of real models.
package main

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
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
	for _, f := range v.found {
		if f.Code == v.code && (v.part == "" || strings.EqualFold(f.Text, v.part)) {
			return true
		}
	}
	return false
}

// verdictsOf checks all answers.
func verdictsOf(all []answer) (verdicts []verdict) {
	for _, a := range all {
		verdicts = append(verdicts, verdict{a, guard.Check(a.fields(), a.Rules)})
	}
	return verdicts
}
