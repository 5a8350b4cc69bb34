package guard

import (
	"fmt"
	"strings"
	"testing"
)

// A text that is too long to be kept leaves the scans that are kept in their place.
func TestALongInputLeavesTheKeptScans(t *testing.T) {
	for n := 0; len(scans.of) < maxScans; n++ {
		scanOfInput(fmt.Sprint("text ", n), "en")
	}
	long := strings.Repeat("word ", maxScanned)
	if scanOfInput(long, "en"); len(scans.of) != maxScans || scans.of[[2]string{long, "en"}] != nil {
		t.Errorf("%d scans are kept, want %d", len(scans.of), maxScans)
	}
	scanOfInput("one more text", "en")
	if len(scans.of) != 1 {
		t.Errorf("%d scans are kept after one more, want 1", len(scans.of))
	}
}
