package house

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// namedTest is a test as the documents name it: the folder of its package, and its name.
var namedTest = regexp.MustCompile("`((?:pkg|infra|functions)[a-z0-9/-]*) (Test[A-Za-z0-9_]+)`")

// The documents on security name the tests that prove what they say.
func TestTestsThatDocumentsNameExist(t *testing.T) {
	tests := map[string][]listed{}
	for _, p := range packages(t) {
		for _, f := range files(t, p) {
			for _, d := range f.tree.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && f.test && fn.Recv == nil {
					tests[fn.Name.Name] = append(tests[fn.Name.Name], p)
				}
			}
		}
	}
	for _, name := range []string{"security.md", "asvs.md"} {
		found := namedTest.FindAllStringSubmatch(document(t, name), -1)
		if len(found) == 0 {
			t.Errorf("%s names no test", name)
		}
		for _, m := range found {
			if !slices.ContainsFunc(tests[m[2]], func(p listed) bool { return p.under(m[1]) }) {
				t.Errorf("%s names %s of %s, which does not exist", name, m[2], m[1])
			}
		}
	}
}

// Every requirement of the standard is in the document on it, and once.
func TestEveryRequirementOfTheStandardIsAnswered(t *testing.T) {
	listed, err := os.ReadFile(filepath.Join("testdata", "asvs-5.0-level-2.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(listed))
	answers := map[string]int{}
	for line := range strings.Lines(document(t, "asvs.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for entry := range strings.SplitSeq(cells[1], ",") {
			for _, id := range requirements(strings.TrimSpace(entry), all) {
				answers[id]++
			}
		}
	}
	for _, id := range all {
		if answers[id] != 1 {
			t.Errorf("requirement %s has %d answers", id, answers[id])
		}
	}
}

// requirements returns those that an entry stands for: one, a section, a chapter, or a
// range of requirements or sections.
func requirements(entry string, all []string) []string {
	first, last, isRange := strings.Cut(entry, "–")
	if entry == "" || strings.Trim(first+last, "0123456789.") != "" {
		return nil
	}
	if !isRange {
		return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return id != entry && !strings.HasPrefix(id, entry+".") })
	}
	at := strings.LastIndex(first, ".") + 1
	from, _ := strconv.Atoi(first[at:])
	to, _ := strconv.Atoi(last[at:])
	var found []string
	for n := from; n <= to; n++ {
		found = append(found, requirements(first[:at]+strconv.Itoa(n), all)...)
	}
	return found
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
