package event

import (
	"slices"
	"strconv"

	"github.com/content-automation/api/pkg/base/errs"
	nearest "github.com/content-automation/api/pkg/base/text"
)

// CheckFields refuses fields that no object of the events has that the patterns match.
func CheckFields(chosen, patterns []string) error {
	if len(chosen) == 0 {
		return nil
	}
	var known []string
	for _, t := range Types {
		if slices.ContainsFunc(patterns, func(p string) bool { return Pattern(p).Matches(t.Type) }) {
			known = append(known, Members(t.Type)...)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i, name := range chosen {
		if !slices.Contains(known, name) {
			return errs.Invalid("/fields/"+strconv.Itoa(i), "is %q, which is no member of data.object of these "+
				"event_types%s", name, nearest.NearestHint(name, known))
		}
	}
	return nil
}
