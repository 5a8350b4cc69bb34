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
