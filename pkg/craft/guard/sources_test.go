package guard

import (
	"strings"
	"testing"
)

// Each rule for finance and for health has phrases in 18 languages, and the law that it follows.
func TestRulesHaveTheirSources(t *testing.T) {
	raw, err := wordLists.ReadFile("words/sources.tsv")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string]bool{}
	for line := range strings.Lines(string(raw)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		if len(cells) != 4 || !strings.HasPrefix(cells[3], "http") {
			t.Fatalf("%q has no source", line)
		}
		for kind := range strings.FieldsSeq(cells[0]) {
			for code := range strings.FieldsSeq(cells[1]) {
				sources[kind+code] = true
			}
		}
	}
	for kind := range strings.FieldsSeq("profit norisk cure effects safe") {
		for code := range strings.FieldsSeq(product) {
			if l := lexiconOf(code); !sources[kind+code] || len(l.patterns[kind]) == 0 || len(l.patterns["not"]) == 0 {
				t.Errorf("the rule %s lacks phrases or a source in %s", kind, code)
			}
		}
	}
}
