package api

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// openAnswers permits members in the schemas of answers and events that the schemas do not describe: /v1 may add
// members, and a client that was generated from the document must not fail on them. The schemas of requests stay
// closed. They have no defaults.
func openAnswers(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	sent := map[*huma.Schema]bool{}
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil || sent[s] {
			return
		}
		sent[s] = true
		if s.Ref != "" {
			walk(schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")])
		}
		for _, part := range partsOf(s) {
			walk(part)
		}
	}
	for _, item := range doc.Paths {
		for _, o := range []*huma.Operation{item.Post, item.Put, item.Patch, item.Delete} {
			if o == nil || o.RequestBody == nil {
				continue
			}
			for _, media := range o.RequestBody.Content {
				walk(media.Schema)
			}
		}
	}
	for _, s := range schemas {
		if s.AdditionalProperties == false && !sent[s] {
			s.AdditionalProperties = nil
		}
	}
	for s := range sent {
		sayDefault(s)
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
