package factory

import (
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

// Describe adds the schemas that depend on a factory's type to a document: factories and
// new factories are choices between seven shapes, and changes name the settings of each.
func Describe(r *httpapi.Router) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	divide(r, "Factory", "Factory of ", false)
	divide(r, "FactoryCreate", "New factory of ", true)

	members := schemas["FactoryUpdate"].Properties
	settings := &huma.Schema{Description: members["settings"].Description}
	for _, t := range typeSettings {
		name := t.Shape.Name()
		schemas[name+"Update"] = patch(schemas[name], r.OpenAPI().Components.Schemas.SchemaFromRef)
		settings.AnyOf = append(settings.AnyOf, httpapi.RefTo(name+"Update"))
	}
	settings.AnyOf = append(settings.AnyOf, &huma.Schema{Type: "null"})
	members["settings"] = settings
}

// divide makes the schema of a name a choice by type.
func divide(r *httpapi.Router, name, title string, closed bool) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	base := schemas[name]
	schemas[name+"Base"] = base
	settings := base.Properties["settings"]
	delete(base.Properties, "settings")
	always := slices.Contains(base.Required, "settings")
	base.Required = slices.DeleteFunc(base.Required, func(member string) bool { return member == "settings" })
	base.AdditionalProperties = nil // each shape adds its settings
	var variants []httpapi.Variant
	for _, t := range typeSettings {
		v := httpapi.Variant{
			Value: string(t.Type), Name: httpapi.PascalCase(string(t.Type)) + name,
			Description: title + t.Who,
			Members: map[string]*huma.Schema{"settings": {Ref: r.Schema(t.Shape).Ref,
				Description: settings.Description}},
			Closed: closed,
		}
		if always || len(schemas[t.Shape.Name()].Required) > 0 {
			v.Required = []string{"settings"}
		}
		variants = append(variants, v)
	}
	schemas[name] = httpapi.Union(schemas, name+"Base", "type", variants)
}

// patch describes a merge patch of an object: every member may be left out, and null removes the optional ones.
func patch(object *huma.Schema, find func(ref string) *huma.Schema) *huma.Schema {
	s := &huma.Schema{Type: object.Type, AdditionalProperties: object.AdditionalProperties,
		Properties: map[string]*huma.Schema{}}
	for name, member := range object.Properties {
		change := *apart(member)
		if of := find(member.Ref); member.Ref != "" && of != nil {
			change = *apart(of)
		}
		if len(change.Properties) > 0 {
			change = *patch(&change, find)
			change.Description = member.Description
		}
		change.Nullable = !slices.Contains(object.Required, name)
		s.Properties[name] = &change
	}
	return s
}

// apart returns a copy of a schema that shares no part with it: those of requests and of responses are changed apart.
func apart(s *huma.Schema) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Items, c.Properties, c.OneOf = apart(s.Items), maps.Clone(s.Properties), slices.Clone(s.OneOf)
	for name, member := range c.Properties {
		c.Properties[name] = apart(member)
	}
	for i, one := range c.OneOf {
		c.OneOf[i] = apart(one)
	}
	return &c
}
