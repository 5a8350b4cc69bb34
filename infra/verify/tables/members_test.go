package main

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/transfer"
)

// The table has each member of each type with its rule.
func TestTheTableHasEachMember(t *testing.T) {
	var b strings.Builder
	members(&b)
	text := b.String()
	rows := 0
	for name, members := range transfer.Members() {
		_, section, found := strings.Cut(text, "\n## "+name+"\n")
		if section, _, _ = strings.Cut(section, "\n## "); !found {
			t.Errorf("there is no table of %s", name)
		}
		for _, m := range members {
			if rows++; m.Rule == "" || !strings.Contains(section, "| `"+m.Path+"` | "+string(m.Rule)+" |") {
				t.Errorf("%s of %s has no row", m.Path, name)
			}
		}
	}
	for _, row := range []string{"| `approval` | is computed anew |", "| `publications` | is reset |",
		"| `media.sha256` | is computed anew |", "| `created_by` | is computed anew |", "| `caption` | comes in |"} {
		if !strings.Contains(text, row) {
			t.Errorf("there is no row %s", row)
		}
	}
	if rows < 250 {
		t.Errorf("there are %d rows", rows)
	}
}
