// Package api describes the operations of all areas: their list, from which the gateway's routes and the authorizer's
// scopes are generated, and the OpenAPI document. No function links it: functions use the generated files. Routes has
// all operations, and DocumentOf makes the document.
package api

//go:generate sh -c "cd ../../.. && go run ./pkg/service/api/gen"

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/crm"
	factoryarea "github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/authorizer"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/service/serve"
)

// router registers every operation of every area.
func router(texts *httpapi.Texts) *httpapi.Router {
	r := httpapi.NewDocument(header(), texts)
	for _, f := range serve.All {
		f.Mount(r, area.Env{})
	}
	return r
}

// Routes returns every operation of the API. Its first call takes some 60 ms.
func Routes() []httpapi.Route { return slices.Clone(routes()) }

var routes = sync.OnceValue(func() []httpapi.Route { return router(httpapi.NewTexts(nil)).Routes() })

// Document returns the OpenAPI document. All callers get the same one, and change nothing in it.
func Document() *huma.OpenAPI { return whole() }

var whole = sync.OnceValue(func() *huma.OpenAPI { return DocumentOf(httpapi.EmbeddedTexts()) })

// DocumentOf returns the OpenAPI document with the given descriptions of members.
func DocumentOf(texts *httpapi.Texts) *huma.OpenAPI {
	r := router(texts)
	factoryarea.Describe(r)
	content.Describe(r)
	describeEvents(r)
	describeEstimates(r.OpenAPI())
	clean(r.OpenAPI())
	describeFormats(r.OpenAPI())
	listValues(r.OpenAPI())
	nameEnums(r.OpenAPI())
	tellApart(r.OpenAPI())
	describeTexts(r.OpenAPI())
	describeSecrets(r.OpenAPI())
	describeShapes(r.OpenAPI())
	shareMembers(r.OpenAPI())
	addExamples(r.OpenAPI(), r.Routes())
	describeClients(r.OpenAPI())
	describeWebhooks(r)
	describeSchemas(r.OpenAPI(), texts)
	shareWhole(r.OpenAPI())
	shareDescriptions(r.OpenAPI())
	return r.OpenAPI()
}

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
			{Name: "Templates", Description: "Designs of media as data, which factories and profiles use"},
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
			{Name: "Feeds", Description: "Feeds of shops, which the catalogs of factories follow, and content " +
				"follows these"},
			{Name: "Social accounts", Description: "Accounts on social platforms, and the factories that publish to " +
				"them"},
			{Name: "Integrations", Description: "Connections to CRMs: products, stages of deals that make content, " +
				"and notes"},
			{Name: "Webhooks", Description: "Receivers of events, signed as Standard Webhooks 1.0 defines. Return " +
				"2xx within 15 seconds; otherwise the event is sent again. Events are delivered at least once and in " +
				"any order: ignore ids that you have processed"},
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

// The functions behind routes without an operation. One page receives the browsers of accounts' owners from platforms,
// one those from CRMs and the webhooks of CRMs; another shows content to reviewers; customers' directories call SCIM
// with a token of their own; one function answers for all unknown paths under /v1, and one serves agents.
const (
	DocsFunction    = "docs"
	ConsoleFunction = "console"
	SocialFunction  = "social"
	CRMFunction     = "crm"
	PeopleFunction  = "apikey"
	ContentFunction = "content"
	MCPFunction     = "mcp"
	UnknownFunction = "account"
	UnknownPath     = "/v1/{proxy+}"
)

// PublicRoutes are the only routes without a key. The functions decide about the methods: the
// gateway treats an unknown method as an unknown path.
var PublicRoutes = []httpapi.Route{
	{Path: "/", Function: DocsFunction},
	{Path: "/docs", Function: DocsFunction},
	{Path: "/openapi.json", Function: DocsFunction},
	{Path: "/openapi.yaml", Function: DocsFunction},
	{Path: "/api-docs", Function: DocsFunction},
	{Path: "/api-docs/{page+}", Function: DocsFunction},
	{Path: "/healthz", Function: DocsFunction},
	{Path: "/llms.txt", Function: DocsFunction},
	{Path: "/llms-full.txt", Function: DocsFunction},
	{Path: "/.well-known/oauth-protected-resource", Function: MCPFunction},
	{Path: "/.well-known/oauth-protected-resource/mcp", Function: MCPFunction},
	{Path: "/v1/social/callback", Function: SocialFunction},
	{Path: crm.CallbackPath, Function: CRMFunction},
	{Path: crm.HooksPath + "{token}", Function: CRMFunction},
	{Path: "/review/{token}", Function: ContentFunction},
	{Path: "/settings", Function: ConsoleFunction},
	{Path: "/settings/{page+}", Function: ConsoleFunction},
	{Path: "/auth/{step+}", Function: ConsoleFunction},
	{Path: "/setup", Function: ConsoleFunction},
	{Path: "/oauth/{step+}", Function: ConsoleFunction},
	{Path: "/.well-known/oauth-authorization-server", Function: ConsoleFunction},
	{Path: people.SCIMPath + "/{path+}", Function: PeopleFunction},
	// All other paths: browsers get a page that helps on, and callers the error that the gateway would answer.
	{Path: "/{path+}", Function: DocsFunction},
}

// GuardedRoutes are the routes without an operation for which the gateway asks the authorizer. Agents without a token
// are refused there: API Gateway renames the header WWW-Authenticate in answers of functions, and agents look for it.
var GuardedRoutes = []httpapi.Route{
	{Path: authorizer.AgentsPath, Function: MCPFunction},
	{Path: UnknownPath, Function: UnknownFunction},
}

// OutsidePaths returns the beginnings of the paths for those who have neither a key nor a client certificate: browsers
// of people and owners, platforms, CRMs, directories and reviewers.
func OutsidePaths() (paths []string) {
	outside := []string{ConsoleFunction, SocialFunction, CRMFunction, PeopleFunction, ContentFunction}
	for _, r := range PublicRoutes {
		path, _, _ := strings.Cut(r.Path, "{")
		if slices.Contains(outside, r.Function) && !slices.ContainsFunc(paths, func(p string) bool {
			return strings.HasPrefix(path, p)
		}) {
			paths = append(paths, path)
		}
	}
	return paths
}

// ExportSchema returns the JSON Schema of the lines of exports, made of the schemas of the document.
func ExportSchema(document []byte) ([]byte, error) {
	var doc struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("api: the schema of exports: %w", err)
	}
	defs := map[string]any{}
	var need func(v any) any
	need = func(v any) any {
		switch v := v.(type) {
		case []any:
			all := make([]any, len(v))
			for i := range v {
				all[i] = need(v[i])
			}
			return all
		case map[string]any:
			all := make(map[string]any, len(v))
			for name, member := range v {
				ref, ok := member.(string)
				if of, is := strings.CutPrefix(ref, "#/components/schemas/"); ok && is {
					if _, known := defs[of]; !known {
						defs[of] = true
						defs[of] = need(doc.Components.Schemas[of])
					}
					all[name] = "#/$defs/" + of
					continue
				}
				all[name] = need(member)
			}
			return all
		}
		return v
	}
	var lines []any
	for _, t := range []any{transfer.Header{}, transfer.End{}} {
		r := schema.NewRegistry()
		s := r.Schema(reflect.TypeOf(t), false, "")
		schema.Expand(r, s)
		line, err := asTree(s)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	files := schema.NewRegistry()
	file, err := asTree(files.Schema(reflect.TypeFor[transfer.LineFile](), false, ""))
	if err != nil {
		return nil, err
	}
	defs["LineFile"] = file
	for _, r := range transfer.Resources() {
		lines = append(lines, map[string]any{"type": "object", "required": []string{"kind", "id", "data", "files"},
			"properties": map[string]any{
				"kind": map[string]any{"const": r.Name}, "id": map[string]any{"type": "string"},
				"data":  need(map[string]any{"$ref": "#/components/schemas/" + schema.SchemaName(r.Type, "")}),
				"files": map[string]any{"type": "array", "items": map[string]any{"$ref": "#/$defs/LineFile"}},
			}})
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		if defs[name] == nil {
			return nil, fmt.Errorf("api: the schema of exports: the document has no %s", name)
		}
	}
	out, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   fmt.Sprintf("A line of %s, version %d", transfer.Format, transfer.FormatVersion),
		"oneOf":   lines, "$defs": defs,
	}, "", " ")
	return append(out, '\n'), err
}

// asTree returns a value as JSON trees are.
func asTree(v any) (tree any, err error) {
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	return tree, err
}

// JSON returns the document with the members of schemas in the order that a reader wants: those that are required
// first, each group as it is declared in Go, which is the order of answers. huma writes them in alphabetical order.
func JSON(doc *huma.OpenAPI) ([]byte, error) {
	plain, err := doc.MarshalJSON()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	var whole map[string]any
	if err := d.Decode(&whole); err != nil {
		return nil, err
	}
	if err := shareParts(whole); err != nil {
		return nil, err
	}
	schemas, _ := components(whole)["schemas"].(map[string]any)
	declared := declarations(doc)
	for name, s := range schemas {
		of := declared[name]
		for _, end := range []string{"Input", "Base", "Update"} {
			if of == nil {
				of = declared[strings.TrimSuffix(name, end)]
			}
		}
		schemas[name] = ordered(s, of)
	}
	return json.Marshal(whole)
}

// YAML returns the document that JSON has returned, as YAML.
func YAML(document []byte) ([]byte, error) {
	var out bytes.Buffer
	err := yaml.Convert(&out, bytes.NewReader(document))
	return out.Bytes(), err
}

// declarations returns the names of the members of each type in the order of Go, by the name of its schema.
func declarations(doc *huma.OpenAPI) map[string][]string {
	all := map[string][]string{}
	for name := range doc.Components.Schemas.Map() {
		if t := doc.Components.Schemas.TypeFromRef("#/components/schemas/" + name); t != nil {
			all[name] = httpapi.MembersOf(t)
		}
	}
	all["CommonSettings"] = all["BrandSettings"]
	for name, list := range shapes() {
		for _, s := range list {
			all[s.name] = all[strings.TrimSuffix(name, "Input")]
			if s.with != "" {
				all[s.with] = all[name]
			}
		}
	}
	return all
}

// members is an object whose members have an order.
type members struct {
	names []string
	of    map[string]any
}

// MarshalJSON writes the members in their order.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range m.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.of[name])
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// ordered returns a schema whose members are in order, and those of the schemas in it.
func ordered(schema any, declared []string) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	s = maps.Clone(s)
	for _, word := range []string{"items", "additionalProperties", "not"} {
		if part, ok := s[word]; ok {
			s[word] = ordered(part, nil)
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		if parts, ok := s[word].([]any); ok {
			parts = slices.Clone(parts)
			for i, part := range parts {
				parts[i] = ordered(part, declared)
			}
			s[word] = parts
		}
	}
	properties, ok := s["properties"].(map[string]any)
	if !ok {
		return s
	}
	required, _ := s["required"].([]any)
	place := func(name string) int {
		at := slices.Index(declared, name)
		if at < 0 {
			at = len(declared)
		}
		if !slices.Contains(required, any(name)) {
			at += len(declared) + 1
		}
		return at
	}
	m := members{slices.Sorted(maps.Keys(properties)), map[string]any{}}
	slices.SortStableFunc(m.names, func(a, b string) int { return place(a) - place(b) })
	for name, part := range properties {
		m.of[name] = ordered(part, nil)
	}
	s["properties"] = m
	if len(required) > 0 {
		required = slices.Clone(required)
		slices.SortStableFunc(required, func(a, b any) int {
			return slices.Index(m.names, a.(string)) - slices.Index(m.names, b.(string))
		})
		s["required"] = required
	}
	return s
}
