package humafix

import (
	"encoding/json"
	"maps"
	"math"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// The words of schemas that huma must not check.
const (
	// uniqueItems marks lists that must not have a value twice. huma puts the items into a map to compare them, which
	// panics if an item is a list or an object.
	uniqueItems = "x-unique-items"
	// multipleOf is the divisor of a number. huma takes the remainder of floating point numbers, by which 64 is no
	// multiple of 0.001.
	multipleOf = "x-multiple-of"
)

// takeOver moves these words of a schema, and of its parts, to extensions, which huma does not read.
func (c *checker) takeOver(s *huma.Schema, seen map[*huma.Schema]bool) {
	if s = c.resolve(s); s == nil || seen[s] {
		return
	}
	seen[s] = true
	DescribeLine(s)
	if s.UniqueItems {
		s.UniqueItems = false
		extend(s, uniqueItems, true)
	}
	if s.MultipleOf != nil {
		extend(s, multipleOf, *s.MultipleOf)
		s.MultipleOf = nil
	}
	extra, _ := s.AdditionalProperties.(*huma.Schema)
	for _, part := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf, []*huma.Schema{s.Items, s.Not, extra}) {
		c.takeOver(part, seen)
	}
	for _, member := range s.Properties {
		c.takeOver(member, seen)
	}
}

func extend(s *huma.Schema, word string, value any) {
	extensions := map[string]any{word: value}
	maps.Copy(extensions, s.Extensions)
	s.Extensions = extensions
}

// taken returns the fault of a value by the words that were taken over, or an empty text.
func taken(s *huma.Schema, value any) string {
	switch v := value.(type) {
	case []any:
		if s.Extensions[uniqueItems] == true && repeats(v) {
			return validation.MsgExpectedArrayItemsUnique
		}
	case float64:
		if of, ok := s.Extensions[multipleOf].(float64); ok && !isMultiple(v, of) {
			return huma.ErrorFormatter(validation.MsgExpectedNumberBeMultipleOf, of)
		}
	}
	return ""
}

// isMultiple reports whether a number is a multiple of another, up to the rounding of binary numbers.
func isMultiple(v, of float64) bool {
	const exact = 1e-9
	n := v / of
	return math.Abs(n-math.Round(n)) <= exact*max(1, math.Abs(n))
}

// repeats reports whether a list has a value twice.
func repeats(items []any) bool {
	seen := make(map[string]bool, len(items))
	for _, item := range items {
		text, err := json.Marshal(item) // the members of objects are in order
		if err != nil || seen[string(text)] {
			return err == nil
		}
		seen[string(text)] = true
	}
	return false
}
