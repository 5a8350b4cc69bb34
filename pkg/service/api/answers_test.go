package api

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

func TestRequestsAreStrictAndResponsesOpen(t *testing.T) {
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	var sent, given []*huma.Schema
	for _, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody != nil {
				sent = append(sent, schemasOf(o.RequestBody.Content)...)
			}
			for _, p := range o.Parameters {
				sent = append(sent, p.Schema)
			}
			for _, r := range o.Responses {
				given = append(given, schemasOf(responseOf(doc, r).Content)...)
			}
		}
	}
	taken, shown := reached(schemas, sent), reached(schemas, given)
	variants := map[*huma.Schema]bool{}
	for s := range shown {
		for _, part := range s.AllOf {
			for _, member := range part.Properties {
				variants[member] = true
			}
		}
	}
	open, closed := 0, 0
	for s := range shown {
		if s.AdditionalProperties == false || s.Extensions[httpapi.Unevaluated] != nil {
			t.Errorf("a response refuses members to come: %v", slices.Sorted(maps.Keys(s.Properties)))
		}
		if len(s.Enum) > 0 && !variants[s] {
			t.Errorf("a response refuses values to come: %v", s.Enum)
		}
		if s.Extensions[ExtensibleEnum] != nil {
			open++
		}
	}
	for s := range taken {
		if s.Extensions[ExtensibleEnum] != nil {
			t.Errorf("a request takes any value of %v", s.Extensions[ExtensibleEnum])
		}
		if len(s.Enum) > 1 {
			closed++
		}
	}
	if open < 50 || closed < 40 {
		t.Errorf("%d open enumerations, %d closed ones", open, closed)
	}
	for _, name := range []string{"ApiKeyCreate", "ContentItemCreate", "FactoryUpdate", "BrandSettingsInput",
		"BrandSettingsUpdate", "GenerationInputCreate", "StudioRehearsal", "WebhookUpdate"} {
		for _, s := range append([]*huma.Schema{schemas[name]}, choices(schemas, name)...) {
			if len(s.AnyOf) > 0 || s.AdditionalProperties == false || s.Extensions[httpapi.Unevaluated] == false {
				continue
			}
			t.Errorf("%s takes unknown members, which the service refuses", name)
		}
	}
	for _, choice := range schemas["FactoryCreate"].OneOf {
		if s := schemas[strings.TrimPrefix(choice.Ref,
			"#/components/schemas/")]; s.Extensions[httpapi.Unevaluated] != false {
			t.Errorf("%s takes unknown members, which the service refuses", choice.Ref)
		}
	}
}

func TestScopesAreListed(t *testing.T) {
	schemas := Document().Components.Schemas.Map()
	if n, m := len(listed(schemas["Scope"])), len(schemas["ScopeInput"].Enum); n != 13 || m != n {
		t.Errorf("%d scopes in responses, %d in requests", n, m)
	}
	for name, s := range schemas {
		scopes := s.Properties["scopes"]
		ofPlatform := strings.HasPrefix(name, "SocialApplication") // whose scopes are the platform's
		if scopes != nil && ofPlatform == (strings.TrimSuffix(scopes.Items.Ref, "Input") == "#/components/schemas/Scope") {
			t.Errorf("%s has the scopes %+v", name, scopes.Items)
		}
	}
}

func TestEveryTagIsDescribed(t *testing.T) {
	doc := Document()
	known := map[string]bool{}
	for _, tag := range doc.Tags {
		known[tag.Name] = true
	}
	for path, item := range doc.Paths {
		for _, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil && !known[o.Tags[0]] {
				t.Errorf("%s: the tag %s is not described", path, o.Tags[0])
			}
		}
	}
}

// A profile that there is not is not found, wherever a body names it.
func TestBodiesThatNameAProfileDeclareThatThereIsNone(t *testing.T) {
	doc, n := Document(), 0
	for path, item := range doc.Paths {
		for _, o := range operationsOf(item) {
			if o.RequestBody == nil {
				continue
			}
			for s := range reached(doc.Components.Schemas.Map(), schemasOf(o.RequestBody.Content)) {
				if s.Properties["profile_id"] == nil && s.Properties["profile_ids"] == nil {
					continue
				}
				if n++; o.Responses["404"] == nil {
					t.Errorf("%s of %s does not declare not_found", o.OperationID, path)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("%d bodies name a profile", n)
	}
}

// choices returns the shapes of a body.
func choices(schemas map[string]*huma.Schema, name string) (all []*huma.Schema) {
	for _, s := range schemas[name].AnyOf {
		all = append(all, schemas[path.Base(s.Ref)])
	}
	return all
}
