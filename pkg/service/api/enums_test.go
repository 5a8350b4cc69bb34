package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestEveryEnumerationHasAName(t *testing.T) {
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	named := slices.Collect(maps.Values(enumNames))
	users := map[string]string{}
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		if len(listed(s)) > 1 && schemas[at] != s {
			t.Errorf("the enumeration of %s of %s has no name", member, at)
		}
		if slices.Contains(listed(s), nil) {
			t.Errorf("%s of %s has null among its values", member, at)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(s.Ref, "#/components/schemas/"), "Input")
		if enum := schemas[name]; enum == nil || len(listed(enum)) == 0 || slices.Contains(named, name) {
			return
		}
		at = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(at, "Input"), "Update"), "Create")
		if was, ok := users[name]; ok && was != at {
			t.Errorf("%s and %s share an enumeration: name it in enumNames", was, at)
		}
		users[name] = at
	})
	for place, name := range enumNames {
		if s := schemas[name]; s == nil || len(listed(s)) < 2 {
			t.Errorf("%s names no enumeration %s", place, name)
		}
	}
}

// listed returns the values of an enumeration of requests or responses.
func listed(s *huma.Schema) []any {
	if values, open := s.Extensions[ExtensibleEnum].([]any); open {
		return values
	}
	return s.Enum
}
