package webhook

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/event"
)

// everything is the pattern that every event matches.
const everything = "*"

// pattern chooses events: by their type, by their area (content.*), or all (*).
type pattern string

// Schema describes a pattern in the OpenAPI document, and lets requests name
// known ones only.
func (pattern) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeString, Examples: []any{string(event.ContentGenerated)},
		Description: "A type of event, an area such as content.*, or * for everything, also types and areas to come",
	}
	for _, p := range patterns() {
		s.Enum = append(s.Enum, p)
	}
	s.PrecomputeMessages()
	return s
}

// patterns gives all that there are.
func patterns() []string {
	all := []string{everything}
	for _, t := range event.Types {
		if area := areaPattern(t.Type); !slices.Contains(all, area) {
			all = append(all, area)
		}
	}
	for _, t := range event.Types {
		all = append(all, string(t.Type))
	}
	return all
}

// areaPattern gives the pattern of a type's area.
func areaPattern(t event.Type) string {
	area, _, _ := strings.Cut(string(t), ".")
	return area + ".*"
}

// wantsType tells whether the webhook asks for events of the type.
func (w *Webhook) wantsType(t event.Type) bool {
	return slices.ContainsFunc(w.EventTypes, func(p string) bool {
		return p == everything || p == string(t) || p == areaPattern(t)
	})
}
