package api

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

// ExtensibleEnum is the word for the values of an enumeration that may get more of them.
const ExtensibleEnum = "x-extensible-enum"

// inputName returns the name of the schema for requests if that for responses differs.
func inputName(name string) string {
	if strings.HasSuffix(name, "Input") {
		return name + "Create"
	}
	return name + "Input"
}

// tellApart gives requests and responses schemas of their own, if they are not to be the same: responses may get new
// members and new values of enumerations within /v1, and a client made from the document must not fail at them.
// Requests stay strict. The schema of the response keeps the name.
func tellApart(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	var bodies, parameters, responses []*huma.Schema
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody != nil {
				bodies = append(bodies, schemasOf(o.RequestBody.Content)...)
			}
			for _, p := range o.Parameters {
				parameters = append(parameters, p.Schema)
			}
			for _, r := range o.Responses {
				responses = append(responses, schemasOf(r.Content)...)
			}
		}
	}
	for _, r := range doc.Components.Responses {
		responses = append(responses, schemasOf(r.Content)...)
	}
	for s := range reached(schemas, bodies) {
		sayDefault(s)
	}
	taken, given := reached(schemas, append(bodies, parameters...)), reached(schemas, responses)
	split := map[string]bool{}
	for more := true; more; {
		more = false
		for name, s := range schemas {
			if taken[s] && given[s] && !split[name] && differs(s, split) {
				split[name], more = true, true
			}
		}
	}
	for name := range split {
		schemas[inputName(name)] = inputOf(schemas[name], split)
	}
	for s := range taken {
		if !given[s] {
			referToInput(s, split)
		}
	}
	told := map[*huma.Schema]bool{} // the members by which the shapes of a union are told apart
	for s := range given {
		for _, part := range s.AllOf {
			for _, member := range part.Properties {
				told[member] = true
			}
		}
	}
	for s := range given {
		if s.AdditionalProperties == false {
			s.AdditionalProperties = nil
		}
		if len(s.Enum) > 0 && !told[s] {
			s.Extensions, s.Enum = map[string]any{ExtensibleEnum: s.Enum}, nil
		}
	}
}

func schemasOf(content map[string]*huma.MediaType) (all []*huma.Schema) {
	for _, media := range content {
		all = append(all, media.Schema)
	}
	return all
}

// reached returns the roots, the schemas in them and those that these refer to.
func reached(schemas map[string]*huma.Schema, roots []*huma.Schema) map[*huma.Schema]bool {
	all := map[*huma.Schema]bool{}
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil || all[s] {
			return
		}
		all[s] = true
		if s.Ref != "" {
			walk(schemas[path.Base(s.Ref)])
		}
		for _, part := range partsOf(s) {
			walk(part)
		}
	}
	for _, s := range roots {
		walk(s)
	}
	return all
}

// differs reports whether a schema of requests cannot be that of responses.
func differs(s *huma.Schema, split map[string]bool) bool {
	if s == nil {
		return false
	}
	return s.AdditionalProperties == false || len(s.Enum) > 0 || s.Ref != "" && split[path.Base(s.Ref)] ||
		slices.ContainsFunc(partsOf(s), func(part *huma.Schema) bool { return differs(part, split) })
}

// inputOf returns a copy of a schema for requests.
func inputOf(s *huma.Schema, split map[string]bool) *huma.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Properties = maps.Clone(s.Properties)
	for name, member := range c.Properties {
		c.Properties[name] = inputOf(member, split)
	}
	for _, list := range []*[]*huma.Schema{&c.AllOf, &c.AnyOf, &c.OneOf} {
		*list = slices.Clone(*list)
		for i, part := range *list {
			(*list)[i] = inputOf(part, split)
		}
	}
	c.Items, c.Not = inputOf(s.Items, split), inputOf(s.Not, split)
	if extra, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = inputOf(extra, split)
	}
	referToInput(&c, split)
	return &c
}

// referToInput has a schema refer to the schema of requests.
func referToInput(s *huma.Schema, split map[string]bool) {
	if s.Ref != "" && split[path.Base(s.Ref)] {
		s.Ref = httpapi.RefTo(inputName(path.Base(s.Ref))).Ref
	}
}

// sayDefault moves the default of a member that callers may leave out into its
// description: some generators require a member that has a default.
func sayDefault(s *huma.Schema) {
	if s.Default == nil {
		return
	}
	s.Description += fmt.Sprintf(". Default: %v", s.Default)
	s.Default = nil
}
