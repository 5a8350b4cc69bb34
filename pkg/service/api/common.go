package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

// requestID is the schema of the id that each answer has.
const requestID = "RequestId"

// shareMembers describes once what many schemas have: the id of the request, and the settings that all types of
// factories have, in answers, new factories and changes.
func shareMembers(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		member := schemas[name].Properties["request_id"]
		if member == nil || schemas[name].Properties["data"] == nil {
			continue
		}
		if schemas[requestID] == nil {
			shared := *member
			shared.Description = "Id of the request; the same as the header X-Request-Id, except in a replayed response, " +
				"which has the id of the first request"
			schemas[requestID] = &shared
		}
		schemas[name].Properties["request_id"] = httpapi.RefTo(requestID)
	}
	sharePairs(doc)
	for _, end := range []string{"", "Input", "Update"} {
		var settings []*huma.Schema
		for name, s := range schemas {
			if strings.HasSuffix(name, "Settings"+end) {
				settings = append(settings, s)
			}
		}
		common := "CommonSettings" + end
		if schemas[common] = extract(settings, common); schemas[common] != nil {
			schemas[common].Description = "Settings that factories of all types have"
		}
	}
}

// sharePairs describes once each form of pairs of a caller's own: those of answers, of requests and of changes.
func sharePairs(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		for _, part := range append([]*huma.Schema{schemas[name]}, schemas[name].AllOf...) {
			s := part.Properties["metadata"]
			if s == nil || s.Type != huma.TypeObject {
				continue
			}
			form := "Metadata"
			switch {
			case s.Nullable:
				form = "MetadataUpdate"
			case isOfRequests(s):
				form = "MetadataInput"
			}
			if schemas[form] == nil {
				shared := *s
				shared.Description = "Key-value pairs of your own"
				schemas[form] = &shared
			}
			if shared := *schemas[form]; shared.Type == s.Type {
				shared.Description = s.Description
				if alikeSchemas(&shared, s) {
					part.Properties["metadata"] = &huma.Schema{Ref: httpapi.RefTo(form).Ref, Description: s.Description}
				}
			}
		}
	}
}

// isOfRequests reports whether pairs say which characters they cannot have.
func isOfRequests(pairs *huma.Schema) bool {
	pair, ok := pairs.AdditionalProperties.(*huma.Schema)
	return ok && pair.Pattern != ""
}

// extract moves the members that all objects have alike into a schema of their own, of which the objects are made then.
func extract(objects []*huma.Schema, name string) *huma.Schema {
	common := &huma.Schema{Type: huma.TypeObject, Properties: maps.Clone(objects[0].Properties)}
	for _, o := range objects[1:] {
		maps.DeleteFunc(common.Properties, func(member string, s *huma.Schema) bool {
			return o.Properties[member] == nil || !alikeSchemas(s, o.Properties[member]) ||
				slices.Contains(o.Required, member) || slices.Contains(objects[0].Required, member)
		})
	}
	for _, o := range objects {
		own := &huma.Schema{Type: huma.TypeObject, Required: o.Required, Properties: maps.Clone(o.Properties)}
		maps.DeleteFunc(own.Properties, func(member string, _ *huma.Schema) bool {
			return common.Properties[member] != nil
		})
		whole := huma.Schema{Description: o.Description, AllOf: []*huma.Schema{httpapi.RefTo(name), own}}
		if o.AdditionalProperties == false {
			whole.Extensions = map[string]any{httpapi.Unevaluated: false}
		}
		*o = whole
	}
	return common
}

// alikeSchemas reports whether two schemas say the same.
func alikeSchemas(a, b *huma.Schema) bool {
	one, err := json.Marshal(a)
	if err != nil {
		return false
	}
	other, err := json.Marshal(b)
	return err == nil && string(one) == string(other)
}
