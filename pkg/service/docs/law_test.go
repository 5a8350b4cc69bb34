package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/law"
)

// The guide has each rule with its first day and its source.
func TestTheGuideListsAllRules(t *testing.T) {
	text := string(guideText("law-and-origin"))
	for _, r := range law.Rules {
		row := fmt.Sprintf("| `%s` | %s | %s |", r.ID, r.Jurisdiction, r.Since())
		if !strings.Contains(text, row) || !strings.Contains(text, "| "+r.Source+" |") {
			t.Errorf("the guide lacks %s with its source %s", row, r.Source)
		}
	}
	if rows := strings.Count(text, "\n| `"); rows != len(law.Rules) {
		t.Errorf("the guide has %d rules, the table %d", rows, len(law.Rules))
	}
}
