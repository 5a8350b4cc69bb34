package httpapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/errs"
)

// RefuseBlank refuses texts of a value that must not be empty, by their schema, and
// that have white space alone: that is a mistake, too. Place is where the value is
// in the body, as a JSON pointer.
func RefuseBlank(schemas huma.Registry, schema *huma.Schema, value any, place string) error {
	if blank := blanks(schemas, schema, value, place, nil); blank != nil {
		return errs.InvalidFields(blank...)
	}
	return nil
}

func blanks(schemas huma.Registry, schema *huma.Schema, value any, place string, found []errs.Detail) []errs.Detail {
	if schema != nil && schema.Ref != "" {
		schema = schemas.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return found
	}
	switch v := value.(type) {
	case string:
		if schema.MinLength != nil && *schema.MinLength > 0 && isBlank(v) {
			return append(found, errs.Detail{Param: place, Message: "must not be blank"})
		}
	case []any:
		for i, item := range v {
			found = blanks(schemas, schema.Items, item, place+"/"+strconv.Itoa(i), found)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member := schema.Properties[name]
			if member == nil {
				member, _ = schema.AdditionalProperties.(*huma.Schema)
			}
			found = blanks(schemas, member, v[name], place+"/"+escape(name), found)
		}
	}
	return found
}

// isBlank tells whether nothing of a text can be seen.
func isBlank(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}

// bodySchema is the schema of an operation's body, nil where it takes none.
func bodySchema(o *huma.Operation) *huma.Schema {
	if o == nil || o.RequestBody == nil {
		return nil
	}
	for _, media := range o.RequestBody.Content {
		return media.Schema
	}
	return nil
}

// refuseBlankIn is RefuseBlank for the body of a call.
func refuseBlankIn(schemas huma.Registry, schema *huma.Schema, body []byte) error {
	var sent any
	if schema == nil || len(body) == 0 || json.Unmarshal(body, &sent) != nil {
		return nil // what is no JSON was refused before
	}
	return RefuseBlank(schemas, schema, sent, "")
}
