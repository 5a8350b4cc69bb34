package docs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/record/event"
)

// The guide to webhooks says for every family of events which scope may read it, and for no other one.
func TestTheGuideHasTheScopeOfEveryEvent(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| ((?:`[a-z_]+\\.\\*`(?:, )?)+) \\| `([a-z:]+)` \\|$")
	const name = "guides/webhooks.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		for family := range strings.SplitSeq(found[1], ", ") {
			told[strings.Trim(family, "`")] = found[2]
		}
	}
	families := map[string]bool{}
	for _, known := range event.Types {
		area, _, _ := strings.Cut(string(known.Type), ".")
		families[area+".*"] = true
		if got := told[area+".*"]; got != string(known.Scope) {
			t.Errorf("%s says %q for %s, which needs %s", name, got, known.Type, known.Scope)
		}
	}
	if len(told) != len(families) {
		t.Errorf("%s has %d families, want %d", name, len(told), len(families))
	}
}
