package httpapi

import (
	"reflect"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/errs"
)

// The bounds of metadata.
const (
	maxPairs      = 20
	maxPairName   = 40
	maxPairLength = 500
)

// Metadata are the caller's own string pairs on a resource.
type Metadata map[string]string

// Schema describes metadata in the OpenAPI document.
func (Metadata) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, MaxProperties: pointerTo(maxPairs),
		AdditionalProperties: pairSchema(false),
		Examples:             []any{map[string]any{"campaign": "spring"}},
	}
}

// pairSchema describes the value of a pair. huma does not prepare the messages of
// such schemas by itself.
func pairSchema(nullable bool) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, MaxLength: pointerTo(maxPairLength), Nullable: nullable}
	s.PrecomputeMessages()
	return s
}

// Check refuses pairs whose name is empty, too long or has control characters;
// huma has checked their number and values.
func (m Metadata) Check() error {
	if len(m) > maxPairs {
		return errs.Invalid("/metadata", "must have at most %d pairs", maxPairs)
	}
	for name := range m {
		if name == "" || utf8.RuneCountInString(name) > maxPairName {
			return errs.Invalid("/metadata", "names must have 1 to %d characters", maxPairName)
		}
		for _, r := range name {
			if r < ' ' || r == 0x7f {
				return errs.Invalid("/metadata", "names must be free of control characters")
			}
		}
	}
	return nil
}

// MetadataPatch is metadata in a merge patch: null removes a pair.
type MetadataPatch map[string]*string

// Schema describes the patch in the OpenAPI document.
func (MetadataPatch) Schema(r huma.Registry) *huma.Schema {
	s := r.Schema(reflect.TypeFor[Metadata](), false, "")
	s.AdditionalProperties = pairSchema(true)
	s.Nullable = true
	return s
}
