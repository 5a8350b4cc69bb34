package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
)

// Avatar is a speaking person of a provider.
type Avatar struct {
	ID         string   `json:"id" doc:"Id of the avatar, to be sent as avatar" example:"emily_vertical_primary"`
	Name       string   `json:"name" doc:"Display name" example:"Emily vertical primary"`
	Provider   string   `json:"provider" doc:"Provider of the avatar" example:"fal"`
	Models     []string `json:"models" nullable:"false" doc:"Ids of the models that support the avatar" example:"[\"veed-avatars\"]"`
	Languages  []string `json:"languages" nullable:"false" doc:"Languages of the avatar (BCP 47). Empty if the provider publishes no list"`
	PreviewURL *string  `json:"preview_url" doc:"URL of a picture of the avatar. Null if the provider publishes none"`
	Default    []string `json:"default" nullable:"false" doc:"Ids of the models that use this avatar by default"`
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
