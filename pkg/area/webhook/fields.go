package webhook

import (
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	nearest "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/event"
)

// maxFields bounds the members that a webhook chooses.
const maxFields = 100

// fields are the members that a request chooses.
type fields []string

// Schema describes the list in the OpenAPI document. A patch removes it by null.
func (fields) Schema(huma.Registry) *huma.Schema {
	most, longest := maxFields, 64
	s := &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, MaxLength: &longest}, MaxItems: &most,
		UniqueItems: true, Nullable: true,
		Description: "Only these members of data.object are sent; the id is always sent. Each is a member of the " +
			"object of one of the event_types, and is left out of objects that do not have it. Empty or null: all members",
		Examples: []any{[]string{"state", "publications"}},
	}
	s.PrecomputeMessages()
	return s
}

// checkFields refuses fields that no object of the events has.
func checkFields(chosen, patterns []string) error {
	if len(chosen) == 0 {
		return nil
	}
	var known []string
	for _, t := range event.Types {
		if slices.ContainsFunc(patterns, func(p string) bool { return event.Pattern(p).Matches(t.Type) }) {
			known = append(known, event.Members(t.Type)...)
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
