package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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
