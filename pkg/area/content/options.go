package content

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/httpapi"
)

// platformOptions are the options of the post on each platform, by its id.
type platformOptions map[string]*item.PublishOptions

// Schema describes the options in the OpenAPI document, and restricts requests to the options of each platform.
func (platformOptions) Schema(r huma.Registry) *huma.Schema {
	const name = "PlatformOptions"
	if r.Map()[name] == nil {
		s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
		for _, p := range registry.Rows() {
			if p.Capabilities.Shape != nil {
				s.Properties[p.Name] = shapeOf(r, p)
			}
		}
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	return httpapi.RefTo(name)
}

// shapeOf describes the options of a platform.
func shapeOf(r huma.Registry, p registry.Row) *huma.Schema {
	name := httpapi.PascalCase(p.Name) + "Options"
	if r.Map()[name] == nil {
		s := huma.SchemaFromType(r, reflect.TypeOf(p.Capabilities.Shape))
		if privacy := s.Properties["privacy"]; privacy != nil {
			privacy.Enum = httpapi.Enum(p.Capabilities.Privacies).Enum
			privacy.PrecomputeMessages()
		}
		s.PrecomputeMessages()
		r.Map()[name] = s
	}
	ref := httpapi.RefTo(name)
	ref.Description = "Options on " + p.Capabilities.Label
	return ref
}

// Describe describes the options that publications show in the document: members of all platforms.
func Describe(r *httpapi.Router) {
	schemas := r.OpenAPI().Components.Schemas.Map()
	shown := schemas["PublishOptions"]
	*shown = huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range registry.Rows() {
		shape := schemas[httpapi.PascalCase(p.Name)+"Options"]
		if shape == nil {
			continue
		}
		r.DescribeMembers(shape, reflect.TypeOf(p.Capabilities.Shape))
		for name, member := range shape.Properties {
			known := shown.Properties[name]
			if known == nil {
				c := *member
				if c.Items != nil { // what requests and responses share would be that of responses
					items := *c.Items
					c.Items = &items
				}
				shown.Properties[name] = &c
				continue
			}
			for _, v := range member.Enum {
				if !slices.Contains(known.Enum, v) {
					known.Enum = append(slices.Clone(known.Enum), v)
				}
			}
		}
	}
}
