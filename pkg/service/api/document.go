package api

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
)

// Version is the version of the document. An addition for callers increments the second number, and a correction of the
// document alone the third. The first number is that of /v1.
const Version = "1.1.0"

// introduction is the description of the API.
//
//go:embed introduction.md
var introduction string

// header returns the part of the document that does not depend on the operations.
func header() *huma.OpenAPI {
	var scopes strings.Builder
	for _, s := range auth.Scopes {
		scopes.WriteString("\n- `" + string(s.Scope) + "`: " + s.Permits)
	}
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Content-Automation API", Version: Version, Description: introduction + codes(),
			Contact: &huma.Contact{Name: "API support", Email: "support@content-automation.example"},
			License: &huma.License{Name: "MIT", Identifier: "MIT"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "The system that serves this document"}},
		Tags: []*huma.Tag{
			{Name: "Account", Description: "The account, its balance and its audit log"},
			{Name: "Events", Description: "The events of the last 30 days"},
			{Name: "API keys", Description: "Keys, their scopes, addresses, expiry and rotation"},
			{Name: "People", Description: "People who have access to the account, their roles and invitations"},
			{Name: "Profiles", Description: "Clients of an agency: what belongs to them, and their spending"},
			{Name: "Catalog", Description: "Subscription plans and generation models"},
			{Name: "Factories", Description: "Makers of content, each with its voice and audience"},
			{Name: "Analytics", Description: "The best times to publish, and the figures of social accounts by day"},
			{Name: "Transfer", Description: "Exports of all data, and imports into another account or a sandbox"},
			{Name: "Content", Description: "Posts, videos, carousels, stories and music clips"},
			{Name: "Publishing", Description: "Checks, approvals, review links, slots and published posts"},
			{Name: "Comments", Description: "Comments of readers on published posts"},
			{Name: "Automations", Description: "Content of the entries of a feed, of new products, and at times"},
			{Name: "Architect", Description: "Chats with an assistant that makes drafts of factories, content plans " +
				"and content items"},
			{Name: "Studio", Description: "Single videos, images, tracks, voices and avatars, each made by one model"},
			{Name: "Media", Description: "Pictures, recordings and videos that you bring in, for other operations to " +
				"use"},
			{Name: "Products", Description: "The catalog of a factory of type seller, with photos"},
			{Name: "Promotions", Description: "Lower prices of products for a time"},
			{Name: "Social accounts", Description: "Accounts on social platforms, and the factories that publish to " +
				"them"},
			{Name: "Integrations", Description: "Connections to CRMs: products, stages of deals that make content, " +
				"and notes"},
			{Name: "Webhooks", Description: "Receivers of events, signed as Standard Webhooks 1.0 defines. Return 2xx " +
				"within 15 seconds; otherwise the event is sent again. Events are delivered at least once and in any order: " +
				"ignore ids that you have processed"},
		},
		Components: &huma.Components{Headers: httpapi.Headers(), SecuritySchemes: map[string]*huma.SecurityScheme{
			httpapi.SecurityScheme: {
				Type: "http", Scheme: "bearer", BearerFormat: "svc_live_… or svc_test_…",
				Description: "An API key. Each operation names the scope that the key must have:\n" + scopes.String(),
			},
		}},
	}
}

// codes describes the error codes, each under a heading, so that the search of a viewer finds it.
func codes() string {
	var out strings.Builder
	for _, i := range errs.Infos {
		fmt.Fprintf(&out, "\n## %s\n\n%d. %s [What to do](errors/%[1]s)\n", i.Code, i.Status, i.Meaning)
	}
	return out.String()
}

// partsOf returns the direct parts of a schema.
func partsOf(s *huma.Schema) []*huma.Schema {
	all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Properties)))
	extra, _ := s.AdditionalProperties.(*huma.Schema)
	return append(all, s.Items, s.Not, extra)
}

// eachSchema calls visit once with every schema of a document, including nested ones. The argument at is the name of
// the component, or of the operation and its parameter. The argument member is the name of an object's member, or
// empty.
func eachSchema(doc *huma.OpenAPI, visit func(at, member string, s *huma.Schema)) {
	seen := map[*huma.Schema]bool{}
	var walk func(at, member string, s *huma.Schema)
	walk = func(at, member string, s *huma.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		visit(at, member, s)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			walk(at, name, s.Properties[name])
		}
		extra, _ := s.AdditionalProperties.(*huma.Schema)
		for _, part := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*huma.Schema{s.Items, s.Not, extra}) {
			walk(at, member, part)
		}
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		walk(name, "", schemas[name])
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, o := range operationsOf(doc.Paths[path]) {
			for _, p := range o.Parameters {
				walk(o.OperationID, p.Name, p.Schema)
			}
		}
	}
}

// operationsOf returns the operations of a path.
func operationsOf(item *huma.PathItem) []*huma.Operation {
	return slices.DeleteFunc([]*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete},
		func(o *huma.Operation) bool { return o == nil })
}

// clean removes huma's own words from every schema, and redundant properties from the parameters.
func clean(doc *huma.OpenAPI) {
	for _, path := range doc.Paths {
		for _, o := range operationsOf(path) {
			for _, p := range o.Parameters {
				if p.Schema.Description == p.Description {
					p.Schema.Description = ""
				}
				if p.Schema.Type != huma.TypeArray {
					p.Explode = nil
				}
			}
		}
	}
}
