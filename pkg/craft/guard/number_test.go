package guard

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// Numbers in words to a million are read as another library writes them (testdata/numbers.py).
func TestNumbersInWords(t *testing.T) {
	raw, err := os.ReadFile("testdata/numbers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	languages := map[string]int{}
	for line := range strings.Lines(string(raw)) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		want, err := strconv.ParseFloat(field[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := lexiconOf(field[0]).numberOf(field[2]); !ok || got != want {
			t.Errorf("%s: %s is %s, not %g", field[0], field[2], field[1], got)
		}
		languages[field[0]]++
	}
	if len(languages) < 16 {
		t.Errorf("%d languages are compared", len(languages))
	}
}
