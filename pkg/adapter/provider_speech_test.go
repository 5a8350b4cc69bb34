package adapter_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
)

// Samples take the time that their syllables, or words, take at the rates that the
// table of paces cites. The estimate is never below that, and at most 60% above.
func TestTextsAreEstimatedByTheirScript(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		spoken float64 // units
		rate   float64 // units a second
	}{
		"English, by words":       {"All human beings are born free and equal in dignity and rights.", 12, 2.5},
		"Russian":                 {"Все люди рождаются свободными и равными в своем достоинстве и правах.", 24, 6},
		"Chinese":                 {"人人生而自由，在尊严和权利上一律平等。", 17, 5.2},
		"Japanese, by morae":      {"すべての人間は、生まれながらにして自由であり", 24, 7.8},
		"Korean":                  {"모든 인간은 태어날 때부터 자유로우며", 16, 7},
		"Thai":                    {"มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาค", 14, 4.7},
		"Hindi":                   {"सभी मनुष्यों को गौरव और अधिकारों के मामले में", 18, 6},
		"Arabic":                  {"يولد جميع الناس أحرارا متساوين في الكرامة والحقوق", 24, 6},
		"digits, by words":        {"1 234 567 890", 10, 2.5},
		"Arabic digits":           {"١٢٣٤٥٦٧٨٩٠", 10, 2.5},
		"abbreviations":           {"FBI, CIA, NATO.", 10, 3.5},
		"signs":                   {"5 % + 5 €", 5, 2.5},
		"emoji, by their names":   {"❤️🔥👍🏽", 5, 2.5},
		"a word in capitals":      {"INTERNATIONALIZATION", 8, 6},
		"accents that are joined": {"e\u0301te\u0301 e\u0301te\u0301 e\u0301te\u0301", 6, 6.2},
	} {
		want := time.Duration(c.spoken / c.rate * float64(time.Second))
		if got := provider.SpokenLength(c.text); got < want || got > max(want*16/10, time.Second) {
			t.Errorf("%s: %v, want from %v to %v", name, got, want, want*16/10)
		}
	}
}
