package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/record/quota"
)

// The guide tells the bounds of what is free to make.
func TestTheGuideTellsTheBounds(t *testing.T) {
	text, err := os.ReadFile("guides/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{fmt.Sprintf("| Automations of the account, and of each profile | %d |", automation.MaxPerOwner)}
	for subject, b := range map[string]quota.Bound{
		"Profiles": quota.Profiles,
		"Factories, those of all profiles together":                             quota.Factories,
		"Review links that are made in a day (UTC)":                             quota.ReviewLinks,
		"Social accounts that are made in a day (UTC) and wait for their owner": quota.PendingAccounts,
		"Chats that are begun in a day (UTC)":                                   quota.Chats,
		"Imports of earlier posts that are begun in a day (UTC)":                quota.PostImports,
		"Exports that are begun in a day (UTC)":                                 quota.Exports,
		"Imports of exports that are begun in a day (UTC)":                      quota.Imports,
		"Experiments that are made in a day (UTC)":                              quota.Experiments,
	} {
		if b.Daily != strings.Contains(subject, "a day") {
			t.Errorf("%s: daily is %t", b.Name, b.Daily)
		}
		rows = append(rows, fmt.Sprintf("| %s | %s live, %s in the sandbox |", subject, thousands(b.Live), thousands(b.Test)))
	}
	for _, row := range rows {
		if !strings.Contains(string(text), row) {
			t.Errorf("the guide lacks %s", row)
		}
	}
}

// thousands writes a number with a comma between its thousands.
func thousands(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
