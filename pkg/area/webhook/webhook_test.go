package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/record/event"
)

func TestPatternsMatchTypesAreasAndEverything(t *testing.T) {
	for _, known := range event.Types {
		area, _, _ := strings.Cut(string(known.Type), ".")
		for _, other := range event.Types {
			w := Webhook{EventTypes: []string{string(known.Type)}}
			if got := w.Wants(event.Ref{Type: other.Type}); got != (known.Type == other.Type) {
				t.Errorf("%s wants %s: %v", known.Type, other.Type, got)
			}
			w.EventTypes = []string{area + ".*"}
			if got := w.Wants(event.Ref{Type: other.Type}); got != strings.HasPrefix(string(other.Type), area+".") {
				t.Errorf("%s.* wants %s: %v", area, other.Type, got)
			}
			w.EventTypes = []string{"webdisabled", "*"}
			if !w.Wants(event.Ref{Type: other.Type}) {
				t.Errorf("* does not want %s", other.Type)
			}
		}
		// content.* is not content_plan.*.
		if !slices.Contains(event.Patterns(), area+".*") || !slices.Contains(event.Patterns(), string(known.Type)) {
			t.Errorf("%s is not among the patterns", known.Type)
		}
	}
	if got := len(event.Patterns()); got != 1+23+len(event.Types) {
		t.Errorf("%d patterns: %v", got, event.Patterns())
	}
}
