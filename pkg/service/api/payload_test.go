package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/content-automation/api/clients"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/record/event"
)

// document is the address that the committed document has among the schemas.
const document = "https://api.example.com/openapi.json"

// schemas compiles schemas of the committed document, formats included.
func schemas(t *testing.T) func(pointer ...string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(clients.OpenAPIJSON))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(document, doc); err != nil {
		t.Fatal(err)
	}
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	return func(pointer ...string) *jsonschema.Schema {
		t.Helper()
		at := document + "#"
		for _, name := range pointer {
			at += "/" + escape.Replace(name)
		}
		s, err := c.Compile(at)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// instance reads a document as the validator wants it.
func instance(t *testing.T, body []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// unknown are members that a media lacks if they are not known.
var unknown = []string{"type", "mime_type", "bytes", "sha256", "width", "height", "duration_seconds"}

// TestEventsFitTheDocument holds the event of each type, as receivers get it, against
// the schema that the document has of it, and against those of the other types.
func TestEventsFitTheDocument(t *testing.T) {
	schema := schemas(t)
	ofType := func(of event.Type) *jsonschema.Schema {
		return schema("components", "pathItems", text.Pascal(string(of)), "post", "requestBody", "content", "application/json", "schema")
	}
	for _, known := range event.Types {
		body, err := json.Marshal(event.Sample(known.Type, tenant.Of(exampleAccount, tenant.Test), exampleTime))
		if err != nil {
			t.Fatal(err)
		}
		sent := instance(t, body)
		if err := ofType(known.Type).Validate(sent); err != nil {
			t.Errorf("%s: %v", known.Type, err)
		}
		for _, other := range event.Types {
			if other.Type != known.Type && ofType(other.Type).Validate(sent) == nil {
				t.Errorf("%s passes for %s", known.Type, other.Type)
			}
		}
		// The schema is no empty one: it misses each member that is taken away.
		object := sent.(map[string]any)["data"].(map[string]any)["object"].(map[string]any)
		for name, value := range object {
			if strings.HasPrefix(string(known.Type), "media.") && slices.Contains(unknown, name) {
				continue
			}
			delete(object, name)
			if ofType(known.Type).Validate(sent) == nil {
				t.Errorf("%s passes without %s", known.Type, name)
			}
			object[name] = value
		}
	}
}

// TestExamplesFitTheDocument holds the examples of requests against their schemas.
func TestExamplesFitTheDocument(t *testing.T) {
	schema := schemas(t)
	for path, item := range Document().Paths {
		for method, o := range map[string]*huma.Operation{"post": item.Post, "put": item.Put, "patch": item.Patch} {
			if o == nil || o.RequestBody == nil {
				continue
			}
			for kind, media := range o.RequestBody.Content {
				body, err := json.Marshal(media.Example)
				if err != nil {
					t.Fatal(err)
				}
				if err := schema("paths", path, method, "requestBody", "content", kind,
					"schema").Validate(instance(t, body)); err != nil {
					t.Errorf("%s %s: %v", method, path, err)
				}
			}
		}
	}
}

// TestEveryMemberIsDescribed looks through all that callers send and get.
func TestEveryMemberIsDescribed(t *testing.T) {
	doc := Document()
	if doc.Components.Schemas.Map()["Delivery"] == nil {
		t.Fatal("there are no schemas")
	}
	var walk func(at string, s *huma.Schema)
	walk = func(at string, s *huma.Schema) {
		if s == nil {
			return
		}
		for name, member := range s.Properties {
			ref := member.Ref
			if len(member.AnyOf) > 0 {
				ref = member.AnyOf[0].Ref
			}
			if of := doc.Components.Schemas.SchemaFromRef(ref); of != nil && of.Description != "" {
				continue
			}
			if member.Description == "" {
				t.Errorf("%s/%s is not described", at, name)
			}
			walk(at+"/"+name, member)
		}
		walk(at, s.Items)
		for _, list := range [][]*huma.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, sub := range list {
				walk(at, sub)
			}
		}
	}
	for name, s := range doc.Components.Schemas.Map() {
		walk(name, s)
	}
}
