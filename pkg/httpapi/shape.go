package httpapi

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi/schema"
)

// Shape returns the JSON Schema of a body, complete and without references, for writers without the document, such as a
// language model. It can omit some of the members.
func Shape(body reflect.Type, without ...string) (json.RawMessage, error) {
	schemas := huma.NewMapRegistry(schemaPath, huma.DefaultSchemaNamer)
	own := schemas.Schema(body, false, "")
	EmbeddedTexts().Registered(schemas, schemaPath)
	s := whole(schemas, own)
	maps.DeleteFunc(s.Properties, func(name string, _ *huma.Schema) bool { return slices.Contains(without, name) })
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return slices.Contains(without, name) })
	return json.Marshal(s)
}

// whole returns a copy of a schema in which references are replaced by their schemas. It omits patterns: they serve
// validation, not writing.
func whole(schemas huma.Registry, s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		referred := *schemas.SchemaFromRef(s.Ref)
		if s.Description != "" {
			referred.Description = s.Description
		}
		s = &referred
	}
	c := *s
	schema.Fill(&c)
	c.Pattern, c.Format, c.Examples = "", "", nil
	c.Items = whole(schemas, s.Items)
	if s.Properties != nil {
		c.Properties = map[string]*huma.Schema{}
	}
	for name, member := range s.Properties {
		c.Properties[name] = whole(schemas, member)
	}
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = whole(schemas, values)
	}
	return &c
}
