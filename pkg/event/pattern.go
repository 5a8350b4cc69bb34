package event

import (
	"slices"
	"strings"
)

// everything is the pattern that every event matches.
const everything = "*"

// Pattern chooses events: by their type, by their area (content.*), or all (*).
type Pattern string

// Patterns returns all patterns: everything, the areas and the types.
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

// areaPattern returns the pattern of a type's area.
func areaPattern(t Type) string {
	area, _, _ := strings.Cut(string(t), ".")
	return area + ".*"
}

// Matches reports whether the pattern chooses events of the type.
func (p Pattern) Matches(t Type) bool {
	return p == everything || p == Pattern(t) || string(p) == areaPattern(t)
}

// Prefix returns what the types begin with that the pattern chooses. That of a type is
// the whole of it: no type begins with another.
func (p Pattern) Prefix() string { return strings.TrimSuffix(string(p), "*") }
