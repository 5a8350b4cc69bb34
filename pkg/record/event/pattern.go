package event

import (
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
)

// everything is the pattern that matches every event.
const everything = "*"

// Pattern chooses events: by type, by area (content.*), or all (*).
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

// Readable returns the types that the patterns choose and the scopes permit reading. It reports whether these are all
// that the patterns choose. An empty list of patterns chooses all types.
func Readable(patterns []Pattern, scopes []auth.Scope) (readable []Type, all bool) {
	all = true
	for _, known := range Types {
		chosen := len(patterns) == 0 ||
			slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Matches(known.Type) })
		switch {
		case !chosen:
		case known.Type.Readable(scopes):
			readable = append(readable, known.Type)
		default:
			all = false
		}
	}
	return readable, all
}

// Prefixes returns prefixes of the types that the patterns choose, in alphabetical order, or nil if they choose all.
// The prefix of a single type is the type itself: no type begins with another.
func Prefixes(patterns []Pattern) []string {
	if slices.Contains(patterns, everything) {
		return nil
	}
	var all []string
	for _, p := range patterns {
		all = append(all, strings.TrimSuffix(string(p), "*"))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
