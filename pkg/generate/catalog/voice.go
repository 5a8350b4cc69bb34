package catalog

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Voice is a voice of a provider.
type Voice struct {
	// Id of the voice, to be sent as voice.
	ID string `json:"id" example:"Joanna"`
	// Display name.
	Name string `json:"name" example:"Joanna"`
	// Provider of the voice.
	Provider string `json:"provider" example:"polly"`
	// Ids of the models that support the voice.
	Models []string `json:"models" nullable:"false" example:"[\"polly-neural\"]"`
	// Languages of the voice (BCP 47).
	Languages []string `json:"languages" nullable:"false" example:"[\"en-US\"]"`
	// URL of a recording of the voice. Null if the provider publishes none.
	SampleURL *string `json:"sample_url"`
	// Ids of the models that use this voice for its languages by default.
	Default []string `json:"default" nullable:"false" example:"[\"polly-neural\"]"`
}

//go:embed voices.json
var voicesJSON []byte

var voices = sync.OnceValue(func() []Voice {
	var all []Voice
	if err := json.Unmarshal(voicesJSON, &all); err != nil {
		panic(fmt.Sprintf("catalog: voices.json: %v", err)) // a test reads it
	}
	return all
})

// Voices returns the voices of a model that speak a language, in a fixed order. An empty argument has no effect.
func Voices(model, tag string) []Voice {
	var chosen []Voice
	for _, v := range voices() {
		speaks := slices.ContainsFunc(v.Languages, func(spoken string) bool {
			return covers(spoken, tag) ||
				covers(tag, spoken)
		})
		if (model == "" || slices.Contains(v.Models, model)) && (tag == "" || speaks) {
			chosen = append(chosen, v)
		}
	}
	return chosen
}

// covers reports whether a language tag equals another or is its beginning, as en is of en-GB.
func covers(tag, other string) bool {
	return len(other) >= len(tag) && strings.EqualFold(other[:len(tag)], tag) &&
		(len(other) == len(tag) || other[len(tag)] == '-')
}

// optionVoice is the option of models that have a voice of their own.
const optionVoice = "voice"

// usualLanguage is the language of a text whose language is not named.
const usualLanguage = "en"

// DefaultVoice returns the id of the voice that the model uses for a language (BCP 47) if none is named, or an empty id
// if it is not known.
func (m Model) DefaultVoice(tag string) string {
	if id := m.ProviderOptions[optionVoice]; id != "" {
		return id
	}
	parsed, err := language.Parse(cmp.Or(tag, usualLanguage))
	if err != nil {
		return ""
	}
	base, _ := parsed.Base()
	name := base.String()
	name = cmp.Or(alike[name], name)
	asked, exact := parsed.Region()
	likely, _ := language.Make(name).Region()
	regions := []string{"-" + likely.String(), ""}
	if exact == language.Exact {
		regions = append([]string{"-" + asked.String()}, regions...)
	}
	usual := Voices(m.ID, name)
	usual = slices.DeleteFunc(usual, func(v Voice) bool { return !slices.Contains(v.Default, m.ID) })
	for _, region := range regions {
		for _, v := range usual {
			if slices.Contains(v.Languages, name+region) {
				return v.ID
			}
		}
	}
	if len(usual) == 0 {
		return ""
	}
	return usual[0].ID
}

// Avatar is a speaking person of a provider.
type Avatar struct {
	// Id of the avatar, to be sent as avatar.
	ID string `json:"id" example:"emily_vertical_primary"`
	// Display name.
	Name string `json:"name" example:"Emily vertical primary"`
	// Provider of the avatar.
	Provider string `json:"provider" example:"fal"`
	// Ids of the models that support the avatar.
	Models []string `json:"models" nullable:"false" example:"[\"veed-avatars\"]"`
	// Languages of the avatar (BCP 47). Empty if the provider publishes no list.
	Languages []string `json:"languages" nullable:"false"`
	// URL of a picture of the avatar. Null if the provider publishes none.
	PreviewURL *string `json:"preview_url"`
	// Ids of the models that use this avatar by default.
	Default []string `json:"default" nullable:"false"`
}

//go:embed avatars.json
var avatarsJSON []byte

var avatars = sync.OnceValue(func() []Avatar {
	var all []Avatar
	if err := json.Unmarshal(avatarsJSON, &all); err != nil {
		panic(fmt.Sprintf("catalog: avatars.json: %v", err)) // a test reads it
	}
	return all
})

// Avatars returns the avatars of a model, in a fixed order. An empty model chooses all.
func Avatars(model string) []Avatar {
	var chosen []Avatar
	for _, a := range avatars() {
		if model == "" || slices.Contains(a.Models, model) {
			chosen = append(chosen, a)
		}
	}
	return chosen
}

// DefaultAvatar returns the id of the avatar that the model uses if none is named, or an empty id if it has none.
func (m Model) DefaultAvatar() string {
	for _, a := range Avatars(m.ID) {
		if slices.Contains(a.Default, m.ID) {
			return a.ID
		}
	}
	return ""
}
