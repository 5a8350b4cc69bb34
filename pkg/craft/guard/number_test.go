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

// numberOf returns the value of a text that is one number in words.
func (l *lexicon) numberOf(text string) (v float64, ok bool) {
	text = l.fold(normal(text))
	switch l.base {
	case "th":
		return thaiValue(text), thaiPart().ReplaceAllString(text, "") == ""
	case "ja", "zh":
		return hanValue(text), strings.Trim(text, hanDigits) == ""
	case "ko":
		return koreanValue(text), true
	}
	text = strings.ReplaceAll(text, ",", "")
	words := wordText().FindAllStringIndex(text, -1)
	v, n := l.number(text, words, 0, false)
	return v, n == len(words)
}
