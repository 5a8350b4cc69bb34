package event

import (
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
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

// Planned reports whether nothing sends yet what the pattern chooses.
func (p Pattern) Planned() bool {
	for _, known := range Types {
		if p.Matches(known.Type) && !known.Planned {
			return false
		}
	}
	return true
}

// Types returns the types that the pattern chooses and the scopes permit reading, and
// reports whether these are all that it chooses. The empty pattern chooses all types.
func (p Pattern) Types(scopes []auth.Scope) (readable []Type, all bool) {
	all = true
	for _, known := range Types {
		switch {
		case p != "" && !p.Matches(known.Type):
		case known.Type.Readable(scopes):
			readable = append(readable, known.Type)
		default:
			all = false
		}
	}
	return readable, all
}

// Prefix returns what the types begin with that the pattern chooses. That of a type is
// the whole of it: no type begins with another.
func (p Pattern) Prefix() string { return strings.TrimSuffix(string(p), "*") }
