package prompt

import (
	"encoding/json"
	"fmt"
	"sync"
)

// news is the type of channels that inform: its texts have no hooks and calls to action that fight neutrality.
const news = "news"

// beats are the steps of a text, by the type of its channel and its task. A pair without beats makes no sense: see
// Makes.
var beats = sync.OnceValue(func() (all map[string]map[Task]string) {
	raw, err := files.ReadFile("templates/beats.json")
	if err == nil {
		err = json.Unmarshal(raw, &all)
	}
	if err != nil {
		panic(fmt.Sprintf("prompt: beats: %v", err)) // the file is part of the program
	}
	return all
})

// Makes reports whether texts of a task make sense for a type of channel. An unknown type takes all.
func Makes(of string, t Task) bool {
	rows, known := beats()[of]
	return !known || rows[t] != ""
}

// Beats returns the steps of the text, for the template.
func (w Writing) Beats() string { return beats()[w.Type][w.Task] }

// Neutral reports whether the channel informs: its text has neither hooks that tease nor calls to action.
func (w Writing) Neutral() bool { return w.Type == news }

// HookKind is the kind of a first line.
type HookKind string

// HookKinds are the kinds of first lines that a writer names.
var HookKinds = []HookKind{"number", "question", "contradiction", "scene", "mistake", "claim", "quote", "news"}
