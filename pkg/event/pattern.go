package event

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// everything is the pattern that every event matches.
const everything = "*"

// Pattern chooses events: by their type, by their area (content.*), or all (*).
type Pattern string

// Schema describes a pattern in the OpenAPI document, and lets requests name
// known ones only.
func (Pattern) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{
		Type: huma.TypeString, Examples: []any{string(ContentGenerated)},
		Description: "A type of event, an area such as content.*, or * for everything, also types and areas to come",
	}
	for _, p := range Patterns() {
		s.Enum = append(s.Enum, p)
	}
	s.PrecomputeMessages()
	return s
}

// Patterns gives all that there are.
func Patterns() []string {
	all := []string{everything}
	for _, t := range Types {
		if area := areaPattern(t.Type); !slices.Contains(all, area) {
			all = append(all, area)
		}
	}
	for _, t := range Types {
		all = append(all, string(t.Type))
	}
	return all
}

// areaPattern gives the pattern of a type's area.
func areaPattern(t Type) string {
	area, _, _ := strings.Cut(string(t), ".")
	return area + ".*"
}

// Matches tells whether the pattern chooses events of the type.
func (p Pattern) Matches(t Type) bool {
	return p == everything || p == Pattern(t) || string(p) == areaPattern(t)
}

// prefix gives what the types begin with that the pattern chooses. That of a type is
// the whole of it: no type begins with another.
func (p Pattern) prefix() string { return strings.TrimSuffix(string(p), "*") }
