package api

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

// describeEstimates makes the body of an estimate a choice by operation: each has the body of its operation, and the id
// of the resource if it is in the path of the operation.
func describeEstimates(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	base := schemas["EstimateCreate"]
	base.AdditionalProperties = nil
	schemas["EstimateCreateBase"] = base
	body, ids := base.Properties["body"], map[string]*huma.Schema{}
	delete(base.Properties, "body")
	for _, member := range []string{"content_item_id", "factory_id"} {
		ids[member] = base.Properties[member]
		delete(base.Properties, member)
	}
	required := slices.DeleteFunc(slices.Clone(base.Required),
		func(member string) bool { return member == "operation" })
	base.Required = []string{"operation"}
	var variants []httpapi.Variant
	for path, item := range doc.Paths {
		o := item.Post
		if o == nil || !slices.Contains(valuesOf(base.Properties["operation"]), o.OperationID) {
			continue
		}
		v := httpapi.Variant{
			Value: o.OperationID, Name: httpapi.PascalCase(o.OperationID) + "Estimate",
			Description: "Estimate of " + o.OperationID,
			Members: map[string]*huma.Schema{"body": {Ref: o.RequestBody.Content["application/json"].Schema.Ref,
				Description: body.Description}},
			Required: slices.Clone(required), Closed: true,
		}
		for member, id := range ids {
			if strings.Contains(path, "{"+member+"}") && id != nil {
				v.Members[member] = id
				v.Required = append(v.Required, member)
			}
		}
		variants = append(variants, v)
	}
	slices.SortFunc(variants, func(a, b httpapi.Variant) int { return strings.Compare(a.Value, b.Value) })
	schemas["EstimateCreate"] = httpapi.Union(schemas, "EstimateCreateBase", "operation", variants)
}
