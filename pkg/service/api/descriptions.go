package api

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

// describeSchemas gives each schema a description: that of its type, or else what it is for.
func describeSchemas(doc *huma.OpenAPI, texts *httpapi.Texts) {
	schemas := doc.Components.Schemas.Map()
	say := func(name, text string) {
		if s := schemas[name]; s != nil && s.Description == "" && text != "" {
			s.Description = text
		}
	}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		if t := doc.Components.Schemas.TypeFromRef("#/components/schemas/" + name); t != nil {
			say(name, texts.Type(t))
		}
	}
	bodies := map[string][]string{}
	for _, at := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[at]) {
			if o.RequestBody != nil {
				for _, s := range schemasOf(o.RequestBody.Content)[:1] {
					name := path.Base(s.Ref)
					bodies[name] = append(bodies[name], "`"+o.OperationID+"`")
				}
			}
		}
	}
	for name, of := range bodies {
		say(name, "Body of "+strings.Join(slices.Compact(of), " and "))
	}
	for name, s := range schemas {
		data := s.Properties["data"]
		switch {
		case data == nil || s.Properties["request_id"] == nil:
		case strings.HasSuffix(name, "Response") && data.Ref != "":
			say(name, "Response with `"+path.Base(data.Ref)+"`")
		case strings.HasSuffix(name, "Response") && data.Items != nil:
			say(name, "Response with a list of `"+path.Base(data.Items.Ref)+"`")
		case strings.HasSuffix(name, "List") && data.Items != nil:
			say(name, "Page of a list of `"+path.Base(data.Items.Ref)+"`. `next_cursor` reads the next page")
		case strings.HasSuffix(name, "Response"):
			say(name, "Response with the error "+codesOf(s.Properties["error"]))
		}
	}
	for name := range schemas {
		if of, is := strings.CutSuffix(name, "Base"); is {
			say(name, "Members that all variants of `"+of+"` have")
		}
	}
	describeByMembers(doc, say)
	for name := range schemas {
		if base := strings.TrimSuffix(name, "Input"); base != name && schemas[base] != nil {
			say(name, schemas[base].Description)
		}
	}
}

// codesOf lists the codes of an error.
func codesOf(s *huma.Schema) string {
	if s.Discriminator == nil {
		return "`" + path.Base(s.Ref) + "`"
	}
	return "`" + strings.Join(slices.Sorted(maps.Keys(s.Discriminator.Mapping)), "`, `") + "`"
}

// describeByMembers gives schemas without a type of their own, such as enumerations, the description of a member or
// parameter that has them.
func describeByMembers(doc *huma.OpenAPI, say func(name, text string)) {
	eachSchema(doc, func(at, member string, s *huma.Schema) {
		for _, part := range append([]*huma.Schema{s, s.Items}, s.AnyOf...) {
			switch {
			case part == nil || part.Ref == "" || member == "":
			case s.Description != "" && doc.Components.Schemas.Map()[at] != nil:
				say(path.Base(part.Ref), s.Description)
			default:
				say(path.Base(part.Ref), "Values of `"+member+"` of `"+at+"`")
			}
		}
	})
}
