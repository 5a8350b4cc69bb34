package platform_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
)

var named = regexp.MustCompile("`([a-z_]+)`")

// The table of options in testdata has each option of each platform, and no other, with a test that the
// platform has.
func TestEachOptionHasATest(t *testing.T) {
	text, err := os.ReadFile("testdata/posts.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Options\n")
	section, _, _ = strings.Cut(section, "\n## ")
	told := map[string][]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "`") {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimSpace(cells[2]), ", ") {
			for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
				told[name] = append(told[name], m[1])
			}
			if !has(t, name, strings.TrimSpace(cells[3])) {
				t.Errorf("%s has no test %s", name, cells[3])
			}
		}
	}
	for _, p := range registry.Rows() {
		options := p.Capabilities.ShapeOptions()
		for _, o := range options {
			if !slices.Contains(told[p.Name], string(o)) {
				t.Errorf("%s of %s is not in the table", o, p.Name)
			}
		}
		if len(told[p.Name]) != len(options) {
			t.Errorf("%s has %v, the table %v", p.Name, options, told[p.Name])
		}
	}
}

// has reports whether a platform has a test, such as TestOptions, which is TestOptionsOnX for X.
func has(t *testing.T, name, test string) bool {
	t.Helper()
	files, err := filepath.Glob(name + "*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`func ` + test + `(On(?i:` + name + `))?\(t `)
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return declared.Match(text)
	})
}
