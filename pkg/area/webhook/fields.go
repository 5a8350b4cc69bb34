package webhook

import "github.com/danielgtaylor/huma/v2"

// fields are the members that a request chooses.
type fields []string

// Schema describes the list in the OpenAPI document. A patch removes it by null.
func (fields) Schema(huma.Registry) *huma.Schema {
	most, longest := 100, 64
	s := &huma.Schema{
		Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString, MaxLength: &longest}, MaxItems: &most,
		UniqueItems: true, Nullable: true,
		Description: "Only these members of data.object are sent; the id is always sent. Each is a member of the " +
			"object of one of the event_types, and is left out of objects that do not have it. Empty or null: all " +
			"members",
		Examples: []any{[]string{"state", "publications"}},
	}
	s.PrecomputeMessages()
	return s
}
