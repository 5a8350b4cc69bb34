package content

import "github.com/danielgtaylor/huma/v2"

// Hashtag is a hashtag without its #: one word. All platforms show letters, digits and underscores, with a letter among
// them. validatePublishing says which platform shows less of another one.
type Hashtag string

// Schema describes a hashtag in the OpenAPI document.
func (Hashtag) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 1, 100
	s := &huma.Schema{
		Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest,
		Pattern: `^[^\s#@\x00-\x1F\x7F]+$`, PatternDescription: "one word without #",
		Examples: []any{"trailrunning"},
	}
	s.PrecomputeMessages()
	return s
}
