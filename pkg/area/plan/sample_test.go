package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider/samples"
)

// A brief that is too long for a topic is cut before the phrase whose end is missing.
func TestTheSubjectOfASampleIsNotCutInAPhrase(t *testing.T) {
	for text, want := range map[string]string{
		"Advent und Winter im ersten": "Advent und Winter",
		"Advent und Winter im":        "Advent und Winter",
		"Coffee from small farms":     "Coffee from small farms",
		"Zimowe buty":                 "Zimowe buty",
		"осень в новой":               "осень",
		"Im":                          "Im",
	} {
		if got := withoutRest(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// The goal of an item is in the language of its factory.
func TestGoalsAreInTheLanguageOfTheFactory(t *testing.T) {
	for _, language := range []string{"de-AT", "en", "es-MX", "fr", "it", "pt-BR", "ru"} {
		p := Plan{Timezone: "UTC", Days: 1, PostsPerDay: 1}
		places, err := p.thread([]Slot{{At: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), cell: cell{goal: 2}}},
			Recipe{Language: language})
		if err != nil {
			t.Fatal(err)
		}
		goals := samples.Of(language).Goals
		if len(goals) != goalCount || places[0].Goal != goals[2] {
			t.Errorf("%s: %q of %q", language, places[0].Goal, goals)
		}
		if english := samples.Of("en").Goals; language != "en" && slices.Contains(english, places[0].Goal) {
			t.Errorf("%s: the goal is English: %s", language, places[0].Goal)
		}
	}
}
