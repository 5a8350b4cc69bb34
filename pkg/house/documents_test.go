package house

import (
	"go/ast"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// namedTest is a test as the document names it: the folder of its package, and its name.
var namedTest = regexp.MustCompile("`((?:pkg|infra|functions)[a-z0-9/-]*) (Test[A-Za-z0-9_]+)`")

// The document on security names the tests that prove it.
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
	found := namedTest.FindAllStringSubmatch(security(t), -1)
	if len(found) == 0 {
		t.Error("security.md names no test")
	}
	for _, m := range found {
		if !slices.ContainsFunc(tests[m[2]], func(p listed) bool { return p.under(m[1]) }) {
			t.Errorf("security.md names %s of %s, which does not exist", m[2], m[1])
		}
	}
}

// security returns the document on security, with the table of the other requirements of the standard.
func security(t *testing.T) string {
	t.Helper()
	return document(t, "docs/security.md") + document(t, "pkg/house/testdata/asvs.md")
}

// Every requirement of the standard is in a cell of a table of the document on security,
// and once.
func TestEveryRequirementOfTheStandardIsAnswered(t *testing.T) {
	listed, err := os.ReadFile(filepath.Join("testdata", "asvs-5.0-level-2.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(listed))
	answers := map[string]int{}
	for line := range strings.Lines(security(t)) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			for entry := range strings.SplitSeq(cell, ",") {
				for _, id := range requirements(strings.TrimSpace(entry), all) {
					answers[id]++
				}
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
		return slices.DeleteFunc(slices.Clone(all),
			func(id string) bool { return id != entry && !strings.HasPrefix(id, entry+".") })
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

// link is a link of a document, and its target.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links lead to files of this repository and to headings in them.
func TestLinksOfDocuments(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	names := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	for _, p := range pages {
		names = append(names, "docs/"+filepath.Base(p))
	}
	for _, name := range names {
		for _, m := range link.FindAllStringSubmatch(document(t, name), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target, heading, _ := strings.Cut(m[1], "#")
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join("..", "..", to)); err != nil {
				t.Errorf("%s links to %s, which does not exist", name, m[1])
			} else if heading != "" && !slices.Contains(headings(document(t, to)), heading) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// headings returns the anchors of a document's headings.
func headings(text string) (all []string) {
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return all
}

// document returns the text of a document, whose path begins at the root of the repository.
func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
