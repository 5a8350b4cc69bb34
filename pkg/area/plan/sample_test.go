package plan

import (
	"strings"
	"testing"
)

// The subject of a sample ends with a whole word that nothing has to follow.
func TestSubjectsAreWhole(t *testing.T) {
	for text, want := range map[string]string{
		"Advent und Winter im Kaffeehaus an der Donau":    "Advent und Winter im Kaffeehaus",
		"Winter in a coffee house by the harbour of Hull": "Winter in a coffee house",
		"Advent und Winter im Gewürzmuseum an der Donau":  "Advent und Winter",
		"Frühling, und was er in den Garten bringt":       "Frühling",
		"Новинки нашей пекарни для тех, кто встаёт рано":  "Новинки нашей пекарни",
		"冬の朝に港のそばの小さな喫茶店で飲む一杯のコーヒーの物語を毎日伝える":              "",
		"Short": "Short",
	} {
		if got := short(text); got != want {
			t.Errorf("%q is cut to %q, want %q", text, got, want)
		}
	}
}

// Goals are told in the language of the factory.
func TestGoalsSpeakTheLanguage(t *testing.T) {
	english := goalsIn("en")
	if goalsIn("xx") != english || goalsIn("de-AT") != goals["de"] ||
		goalsIn("zh-TW") != goals["zh-hant"] || goalsIn("zh-CN") != goals["zh"] {
		t.Error("a tag has the goals of another language")
	}
	for _, language := range strings.Fields("de fr es it pt pl ru uk he th ko ja vi ar hi tr nl zh zh-TW") {
		for i, goal := range goalsIn(language) {
			if goal == english[i] || goal == "" {
				t.Errorf("%s has the goal %q", language, goal)
			}
		}
	}
}
