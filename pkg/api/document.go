package api

import (
	_ "embed"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/tenant"
)

// Version is the version of the document: it grows with every addition.
const Version = "1.0.0"

// introduction is the description of the API.
//
//go:embed introduction.md
var introduction string

// header is the part of the document that no operation makes.
func header() *huma.OpenAPI {
	var scopes strings.Builder
	for _, s := range auth.Scopes {
		scopes.WriteString("\n- `" + string(s.Scope) + "`: " + s.Permits)
	}
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Content-Automation API", Version: Version, Description: strings.TrimSpace(introduction),
			License: &huma.License{Name: "MIT", Identifier: "MIT"},
		},
		Servers: []*huma.Server{{URL: "/", Description: "The system that serves this document"}},
		Tags: []*huma.Tag{
			{Name: "Account", Description: "The account, its balance and its audit log"},
			{Name: "Events", Description: "The events of the last 30 days"},
			{Name: "API keys", Description: "Keys, their scopes, addresses, expiry and rotation"},
			{Name: "Catalog", Description: "Subscription plans and generation models"},
			{Name: "Factories", Description: "Makers of content, each with its voice and audience"},
			{Name: "Content", Description: "Posts, videos, carousels, stories and music clips"},
			{Name: "Studio", Description: "Single videos, images, tracks, voices and avatars, each made by one model"},
			{Name: "Webhooks", Description: "Receivers of events, signed as Standard Webhooks defines"},
		},
		Components: &huma.Components{Headers: httpapi.Headers(), SecuritySchemes: map[string]*huma.SecurityScheme{
			httpapi.SecurityScheme: {
				Type: "http", Scheme: "bearer", BearerFormat: "svc_live_… or svc_test_…",
				Description: "An API key. Each operation names the scope that the key must have:\n" + scopes.String(),
			},
		}},
	}
}

// describeWebhooks adds what receivers get: one entry for each type of event.
func describeWebhooks(r *httpapi.Router) {
	doc := r.OpenAPI()
	doc.Webhooks = map[string]*huma.PathItem{}
	header := func(name, text, example string) *huma.Param {
		return &huma.Param{Name: name, In: "header", Required: true, Description: text, Schema: &huma.Schema{Type: huma.TypeString}, Example: example}
	}
	envelope := r.Schema(reflect.TypeFor[event.Event]())
	for _, t := range event.Types {
		payload := &huma.Schema{AllOf: []*huma.Schema{envelope, {
			Type: huma.TypeObject,
			Properties: map[string]*huma.Schema{
				"type": {Type: huma.TypeString, Enum: []any{string(t.Type)}},
				"data": {Type: huma.TypeObject, Properties: map[string]*huma.Schema{"object": r.Schema(payloads[t.Type])}},
			},
		}}}
		doc.Webhooks[string(t.Type)] = &huma.PathItem{Post: &huma.Operation{
			OperationID: "on" + title(string(t.Type)), Tags: []string{"Webhooks"},
			Summary:     t.Summary,
			Description: "Sent to webhooks whose creator has the scope `" + string(t.Scope) + "`. Signed as Standard Webhooks 1.0 defines. Return 2xx within 15 seconds; otherwise the event is sent again. Events are delivered at least once and in any order: ignore ids that you have processed.",
			Security:    []map[string][]string{},
			Parameters: []*huma.Param{
				header("webhook-id", "Id of the event; the same in every attempt", "evt_01h455vb4pex5vsknk084sn02q"),
				header("webhook-timestamp", "Time of this attempt, in seconds since 1970", "1795255200"),
				header("webhook-signature", "v1, and the base64 of the HMAC-SHA256 over id.timestamp.body; several signatures are separated by spaces", "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4="),
			},
			RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": {
				Schema: payload, Example: event.Sample(t.Type, tenant.Of(exampleAccount, tenant.Test), exampleTime),
			}}},
			Responses: map[string]*huma.Response{
				"2XX": {Description: "Delivered"},
				"3XX": {Description: "Not delivered: redirects are not followed. The event is sent again"},
				"410": {Description: "Not delivered. The webhook is disabled"},
				"4XX": {Description: "Not delivered. The event is sent again; after 429, not before Retry-After"},
				"5XX": {Description: "Not delivered. The event is sent again; after 503, not before Retry-After"},
			},
		}}
	}
}

// What the examples of events are about.
const exampleAccount = "acc_01h455vb4pex5vsknk084sn02q"

var exampleTime = time.Date(2026, 5, 1, 9, 0, 30, 0, time.UTC)

// title turns "content.generated" into "ContentGenerated".
func title(s string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// partsOf returns the schemas that stand in one.
func partsOf(s *huma.Schema) []*huma.Schema {
	all := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Properties)))
	extra, _ := s.AdditionalProperties.(*huma.Schema)
	return append(all, s.Items, s.Not, extra)
}

// clean takes out of every schema what is huma's own and no word of JSON Schema,
// and puts null among the values of an enumeration that may be null.
func clean(doc *huma.OpenAPI) {
	seen := map[*huma.Schema]bool{}
	var walk func(s *huma.Schema)
	walk = func(s *huma.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		s.PatternDescription = ""
		if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
			s.Enum = append(slices.Clip(s.Enum), nil)
		}
		for _, part := range partsOf(s) {
			walk(part)
		}
	}
	for _, s := range doc.Components.Schemas.Map() {
		walk(s)
	}
	for _, item := range doc.Paths {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o == nil {
				continue
			}
			for _, p := range o.Parameters {
				walk(p.Schema)
			}
		}
	}
}
