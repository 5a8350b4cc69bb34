package content

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/factory"
	"github.com/content-automation/api/pkg/provider"
)

// Bounds of what models are told, in characters. A text model reads all of a
// factory's settings; those of pictures, clips and tracks are told far less by
// their providers' rules.
const (
	maxInstructions = 8000
	maxPrompt       = 1000
	maxManner       = 250
)

// brief is what an item's factory said when the item was accepted: in whose voice,
// for whom and of what. It is kept with the item, so that what is made does not
// depend on when its turn comes.
type brief struct {
	// Voice is for models that write.
	Voice string `json:"voice"`
	// Look is for models that draw and film, and Sound for those that play.
	Look  string `json:"look,omitempty"`
	Sound string `json:"sound,omitempty"`
	// Models are the factory's models by kind.
	Models map[string]string `json:"models,omitempty"`
}

// writers tell who speaks in a factory of each type.
var writers = map[factory.Type]string{
	factory.Blogger:       "a blog",
	factory.Seller:        "an online shop",
	factory.Expert:        "an expert who shares knowledge",
	factory.Brand:         "a brand",
	factory.News:          "a news channel; state nothing as a fact that you were not told",
	factory.Entertainment: "an entertainment channel",
	factory.Musician:      "a musician",
}

// newBrief reads a factory.
func newBrief(f factory.Factory) (brief, error) {
	var settings map[string]any
	raw, err := f.Settings.MarshalJSON()
	if err != nil {
		return brief{}, err
	}
	if err := json.Unmarshal(raw, &settings); err != nil {
		return brief{}, fmt.Errorf("content: settings of %s: %w", f.ID, err)
	}
	topics := make([]string, len(f.Topics))
	for i, t := range f.Topics {
		topics[i] = string(t)
	}
	voice := []string{fmt.Sprintf("You write for %q, %s.", f.Name, writers[f.Type])}
	voice = append(voice, told("What it is about", f.Description), told("Whom it speaks to", f.Audience), told("Its tone", f.Tone), told("Its topics", strings.Join(topics, ", ")))
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		voice = append(voice, told("Its "+strings.ReplaceAll(name, "_", " "), words(settings[name])))
	}
	look := []string{told("Mood", f.Tone), told("Colors", words(settings["colors"])), told("Style", words(settings["style"])), told("For", f.Audience)}
	sound := []string{told("Genres", words(settings["genres"])), told("Mood", words(settings["mood"]))}
	if settings["mood"] == nil {
		sound = append(sound, told("Mood", f.Tone))
	}
	return brief{
		Voice: provider.Clip(sentences("\n", voice...), maxInstructions),
		Look:  provider.Clip(sentences(" ", look...), maxManner), Sound: provider.Clip(sentences(" ", sound...), maxManner),
		Models: f.Models,
	}, nil
}

// told is a line that tells something; empty where there is nothing to tell.
func told(what, value string) string {
	if value = strings.TrimSpace(value); value == "" {
		return ""
	}
	return what + ": " + strings.TrimRight(value, ".") + "."
}

// words puts a setting into words.
func words(setting any) string {
	switch v := setting.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []any:
		all := make([]string, len(v))
		for i, one := range v {
			all[i] = words(one)
		}
		return strings.Join(all, ", ")
	default:
		return fmt.Sprint(v)
	}
}

// sentences joins those that are not empty.
func sentences(separator string, all ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" }), separator)
}

// promptOf puts a prompt for the picture, clip or track of a part together: what is
// wanted, its subject, and how it is to be. It is the subject that is cut where all is
// too long, but for half of what there is room for.
func promptOf(p part, wanted, subject string, manner ...string) string {
	rest := sentences(" ", manner...)
	const subjectOf = "Subject"
	limit := longestPrompt(p.Model)
	room := max(limit-utf8.RuneCountInString(wanted+rest+subjectOf+": . ")-1, limit/2)
	all := sentences(" ", wanted, told(subjectOf, provider.Clip(strings.Join(strings.Fields(subject), " "), room)), rest)
	return provider.Clip(all, limit)
}

// longestPrompt is how many characters a model is told at most.
func longestPrompt(model string) int {
	m, _ := catalog.Find(model) // what it does not know has no bounds
	if bounds := m.Capabilities.PromptCharacters; len(bounds) == 2 {
		return min(bounds[1], maxPrompt)
	}
	return maxPrompt
}
