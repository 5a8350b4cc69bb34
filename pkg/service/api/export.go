package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/area/transfer"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

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
