package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/craft/guard"
)

// counts are the results of answers: how many faults there are and were caught, and how many good answers there are and
// were refused.
type counts struct{ faults, caught, good, refused int }

func (c *counts) add(v verdict) {
	switch {
	case v.good():
		c.good++
		if len(v.found) > 0 {
			c.refused++
		}
	default:
		c.faults++
		if v.caught() {
			c.caught++
		}
	}
}

// offline writes the part of the report that needs no model.
func offline(verdicts []verdict) string {
	all, byFile, byCode := counts{}, map[string]*counts{}, map[guard.Code]*counts{}
	for _, v := range verdicts {
		file := strings.TrimSuffix(v.file, ".txt")
		if byFile[file] == nil {
			byFile[file] = &counts{}
		}
		if byCode[v.code] == nil {
			byCode[v.code] = &counts{}
		}
		all.add(v)
		byFile[file].add(v)
		byCode[v.code].add(v)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Evaluation of texts

`+"`make evaluate`"+` writes this file.

## Guards

The answers in `+"`infra/verify/evaluate/testdata/answers`"+` were written by hand: %d with a planted fault, and %d good
ones. The guards caught %d of the faults (%s) and refused %d of the good answers (%s). `+"`make test`"+` fails below 100 %%
and above 0. The answers were also used to write the guards, so texts of real models will show other faults. No answer
can have the code flagged: the guard of a provider decides it.

| Language | Faults | Caught | Good | Refused |
|---|---|---|---|---|
`, all.faults, all.good, all.caught, share(all.caught, all.faults), all.refused, share(all.refused, all.good))
	for _, file := range slices.Sorted(maps.Keys(byFile)) {
		c := byFile[file]
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", file, c.faults, c.caught, c.good, c.refused)
	}
	b.WriteString("\n| Code | Faults | Caught |\n|---|---|---|\n")
	for _, code := range guard.Codes() {
		if c := byCode[code]; c != nil {
			fmt.Fprintf(&b, "| `%s` | %d | %d |\n", code, c.faults, c.caught)
		}
	}
	return b.String()
}

// unmeasured is the part about real models without credentials.
const unmeasured = `
## Quality

Nothing was recorded: no run with real models has been made. A dry run against a fake of Bedrock is a test (TestADryRunWritesAReport): it shows
that one command writes this chapter, and says nothing about quality. With a role that may invoke the models, in a region
that has them, run

    make evaluate WRITER=claude-haiku-5.5 JUDGE=nova-pro

It asks for one text for each of 40 briefs, and writes the answers into infra/verify/evaluate/testdata/recorded. From
then on, make evaluate replays them without a network, and this chapter has their figures. Until then it claims none.
`

// share returns a part in percent.
func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

// interval returns the share of successes with its 95 % interval by Wilson, in percent.
func interval(wins, of float64) (part, low, high float64) {
	if of == 0 {
		return 0, 0, 100
	}
	const z = 1.96
	p := wins / of
	middle, half := p+z*z/(2*of), z*math.Sqrt(p*(1-p)/of+z*z/(4*of*of))
	return 100 * p, 100 * (middle - half) / (1 + z*z/of), 100 * (middle + half) / (1 + z*z/of)
}

// quality writes the part about real models.
func (r *run) quality() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Quality\n\n%s. Writer: `%s`, prompts %s. %d briefs, one text each. Credits of the writer and the "+
		"judge: %d.\n\n", r.at.Format("2 January 2006"), r.writer.ID, strings.Join(r.versions(), ", "), len(r.texts), r.credits)
	if r.fake {
		b.WriteString("This was a dry run with a fake of Bedrock: it says that the way is clear, and nothing about quality.\n\n")
	}
	refused := map[guard.Code]int{}
	n := 0
	for _, t := range r.texts {
		if len(t.Found) > 0 {
			refused[t.Found[0].Code]++
			n++
		}
	}
	fmt.Fprintf(&b, "The guards refused %d of %d first answers (%s)", n, len(r.texts), share(n, len(r.texts)))
	for _, code := range slices.SortedFunc(maps.Keys(refused), func(x, y guard.Code) int { return cmp.Compare(x, y) }) {
		fmt.Fprintf(&b, ", `%s` %d", code, refused[code])
	}
	b.WriteString(".\n")
	if r.before == nil {
		b.WriteString("\nNo earlier texts were given, so no judge has compared them.\n")
		return b.String()
	}
	part, low, high := interval(r.wins+r.ties/2, r.compared)
	fmt.Fprintf(&b, "\nThe judge `%s` compared each text with the earlier one of its brief (%s) in both orders, without their "+
		"names. %d pairs: the new text won %.0f, the earlier one %.0f, and %.0f were ties: the judge saw no difference, or "+
		"changed its mind with the order. The new texts are preferred in %.0f %% (95 %% interval: %.0f to %.0f %%).\n",
		r.judge.ID, strings.Join(r.earlier(), ", "), int(r.compared), r.wins, r.compared-r.wins-r.ties, r.ties, part, low,
		high)
	return b.String()
}
