package api

import (
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

func TestOnlyWhatCallersSendIsClosed(t *testing.T) {
	doc := Document()
	schemas := doc.Components.Schemas.Map()
	for name, s := range schemas {
		if (strings.HasSuffix(name, "Response") || strings.HasSuffix(name, "List")) && s.AdditionalProperties == false {
			t.Errorf("%s refuses members to come", name)
		}
	}
	for _, name := range []string{"Account", "ApiKey", "ContentItem", "Event", "Factory", "Generation", "Media", "Model", "Webhook", "ErrorBody"} {
		if s := schemas[name]; s == nil || s.AdditionalProperties == false {
			t.Errorf("%s refuses members to come", name)
		}
	}
	for _, name := range []string{"ApiKeyCreate", "ContentItemCreate", "FactoryCreate", "BrandSettings", "GenerationInput", "StudioRehearsal", "WebhookUpdate"} {
		if s := schemas[name]; s == nil || s.AdditionalProperties != false {
			t.Errorf("%s takes unknown members, which the service refuses", name)
		}
	}
}

func TestScopesAreListed(t *testing.T) {
	for name, s := range Document().Components.Schemas.Map() {
		if scopes := s.Properties["scopes"]; scopes != nil && len(scopes.Items.Enum) != 13 {
			t.Errorf("%s lists the scopes %v", name, scopes.Items.Enum)
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
