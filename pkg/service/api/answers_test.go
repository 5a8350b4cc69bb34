package api

import (
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
)

func TestOnlyWhatCallersSendIsClosed(t *testing.T) {
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	for name, s := range schemas {
		if (strings.HasSuffix(name, "Response") || strings.HasSuffix(name, "List")) && s.AdditionalProperties == false {
			t.Errorf("%s refuses members to come", name)
		}
	}
	for _, name := range []string{"Account", "ApiKey", "ContentItem", "EventBase", "FactoryBase", "Generation", "Media", "Model", "Webhook", "ErrorBody"} {
		if s := schemas[name]; s == nil || s.AdditionalProperties == false {
			t.Errorf("%s refuses members to come", name)
		}
	}
	for _, name := range []string{"ApiKeyCreate", "ContentItemCreate", "FactoryUpdate", "BrandSettings", "BrandSettingsUpdate", "GenerationInput", "StudioRehearsal", "WebhookUpdate"} {
		if s := schemas[name]; s == nil || s.AdditionalProperties != false {
			t.Errorf("%s takes unknown members, which the service refuses", name)
		}
	}
	for _, choice := range schemas["FactoryCreate"].OneOf {
		if s := schemas[strings.TrimPrefix(choice.Ref, "#/components/schemas/")]; s.Extensions[httpapi.Unevaluated] != false {
			t.Errorf("%s takes unknown members, which the service refuses", choice.Ref)
		}
	}
}

func TestScopesAreListed(t *testing.T) {
	schemas := Document().Components.Schemas.Map()
	if n := len(schemas["Scope"].Enum); n != 13 {
		t.Errorf("%d scopes", n)
	}
	for name, s := range schemas {
		if scopes := s.Properties["scopes"]; scopes != nil && scopes.Items.Ref != "#/components/schemas/Scope" {
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
