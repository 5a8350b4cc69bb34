package api

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"

	"github.com/content-automation/api/pkg/httpapi"
)

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
