package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// hostile makes bodies of the largest size for a schema: of many members, entries or letters, at each place.
type hostile struct {
	schemas huma.Registry
	bodies  map[string]string
	// seen are the schemas that bodies were made of, for this operation or an earlier one. A text is checked by its
	// limits alone, so that texts with the same limits are one schema.
	seen map[string]bool
}

// add adds the bodies that are hostile at a place of a value. The body is before + value + after.
func (h *hostile) add(s *huma.Schema, place, before, after string) {
	if s != nil && s.Ref != "" {
		if h.seen[s.Ref] {
			return
		}
		h.seen[s.Ref] = true
		s = h.schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || len(place) > 200 {
		return
	}
	if s.Type == huma.TypeString {
		limits, _ := json.Marshal(huma.Schema{Type: s.Type, Format: s.Format, Pattern: s.Pattern, Enum: s.Enum,
			MinLength: s.MinLength, MaxLength: s.MaxLength})
		if h.seen[string(limits)] {
			return
		}
		h.seen[string(limits)] = true
	}
	fill := func(what, begin, end string, part func(n int) string) {
		var b strings.Builder
		b.WriteString(before + begin)
		for n, room := 0, httpapi.MaxBody-len(after)-len(end)-2000; b.Len() < room; n++ {
			one := part(n)
			if b.Len()+len(one) > room+1900 {
				break
			}
			if n > 0 && begin != `"` {
				b.WriteString(",")
			}
			b.WriteString(one)
		}
		h.bodies[place+" "+what] = b.String() + end + after
	}
	for _, one := range s.OneOf {
		h.add(one, place, before, after)
	}
	members := slices.Sorted(maps.Keys(s.Properties))
	object := s.Type == huma.TypeObject || len(members) > 0
	if object {
		fill("short names", "{", "}", func(n int) string { return fmt.Sprintf(`"%x":0`, n) })
		fill("long names", "{", "}", func(n int) string { return fmt.Sprintf(`"%060d":0`, n) })
		fill("names like others", "{", "}", func(n int) string {
			return fmt.Sprintf(`"%s%x":0`, append(members, "x")[n%(len(members)+1)], n)
		})
		if others, ok := s.AdditionalProperties.(*huma.Schema); ok {
			h.add(others, place+"/*", before+`{"a":`, "}"+after)
			fill("texts", "{", "}", func(n int) string { return fmt.Sprintf(`"%x":"a"`, n) })
		}
	}
	for _, name := range members {
		quoted, _ := json.Marshal(name)
		h.add(s.Properties[name], place+"/"+name, before+"{"+string(quoted)+":", "}"+after)
	}
	switch s.Type {
	case huma.TypeArray:
		h.add(s.Items, place+"/0", before+"[", "]"+after)
		for what, entry := range map[string]string{"objects": "{}", "empty texts": `""`, "numbers": "0", "lists": "[]"} {
			fill(what, "[", "]", func(int) string { return entry })
		}
		fill("different texts", "[", "]", func(n int) string { return fmt.Sprintf(`"a%x"`, n) })
		fill("objects of others", "[", "]", func(n int) string { return fmt.Sprintf(`{"a%x":0}`, n) })
		if one := h.entry(s.Items, 0); one != "" {
			fill("entries", "[", "]", func(n int) string { return h.entry(s.Items, n) })
		}
	case huma.TypeString:
		fill("letters", `"`, `"`, func(int) string { return "a" })
		fill("spaces", `"`, `"`, func(int) string { return " " })
		fill("marks", `"`, `"`, func(int) string { return `{{a}} #a @a http://a ` })
	}
}

// entry returns a value that looks like one of a schema.
func (h *hostile) entry(s *huma.Schema, n int) string {
	if s != nil && s.Ref != "" {
		s = h.schemas.SchemaFromRef(s.Ref)
	}
	switch {
	case s == nil:
		return ""
	case len(s.Enum) > 0:
		b, _ := json.Marshal(s.Enum[n%len(s.Enum)])
		return string(b)
	case len(s.Examples) > 0 && s.Type != huma.TypeString:
		b, _ := json.Marshal(s.Examples[0])
		return string(b)
	case s.Type == huma.TypeString && s.Pattern != "" && len(s.Examples) > 0:
		b, _ := json.Marshal(s.Examples[0])
		return string(b)
	case s.Type == huma.TypeString:
		return fmt.Sprintf(`"a%x"`, n)
	case s.Type == huma.TypeInteger || s.Type == huma.TypeNumber:
		return "1"
	case s.Type == huma.TypeBoolean:
		return "true"
	case len(s.Properties) > 0:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if one := h.entry(s.Properties[name], n); one != "" {
				quoted, _ := json.Marshal(name)
				all = append(all, string(quoted)+":"+one)
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return ""
}

// 47 KB of unknown members took 1.5 CPU seconds, and 216 KB more than the 15 seconds of a call. Bodies of all
// operations are checked as a call checks them.
func TestB9BodiesOfTheLargestSize(t *testing.T) {
	api := router(httpapi.NewTexts(nil)).OpenAPI()
	schemas := api.Components.Schemas
	tried, slowest, of, seen := 0, cost.Cost{}, "", map[string]bool{}
	for path, item := range api.Paths {
		for method, o := range map[string]*huma.Operation{http.MethodPost: item.Post, http.MethodPut: item.Put,
			http.MethodPatch: item.Patch} {
			if o == nil || o.RequestBody == nil || o.RequestBody.Content["application/json"] == nil {
				continue
			}
			root := o.RequestBody.Content["application/json"].Schema
			checker := schema.NewChecker(schemas, root, method == http.MethodPatch, schema.ResourceInfo{})
			h := &hostile{schemas: schemas, bodies: map[string]string{}, seen: seen}
			h.add(root, "", "", "")
			for place, body := range h.bodies {
				if len(body) > httpapi.MaxBody {
					t.Fatalf("%s %s %s: %d bytes", method, path, place, len(body))
				}
				tried++
				check := func() {
					tree, err := jsontree.Parse([]byte(body))
					if err != nil {
						t.Fatalf("%s: %v", place, err)
					}
					found := checker.Check(tree)
					if kind := schemas.TypeFromRef(root.Ref); root.Ref != "" && len(found) > 0 {
						checker.AddRules(kind, tree, found)
					}
				}
				c := cost.Quick(check)
				if c.CPU > cost.MostCPU || c.Memory > cost.MostMemory {
					c = cost.Least(cost.MostCPU, func() cost.Cost { return cost.Of(check) })
				}
				if c.CPU > slowest.CPU {
					slowest, of = c, method+" "+path+" "+place
				}
				if c.CPU > cost.MostCPU || c.Memory > cost.MostMemory {
					t.Errorf("%s %s %s: %v, %d MB", method, path, place, c.CPU, c.Memory>>20)
				}
			}
		}
	}
	t.Logf("cost: %d bodies of 256 KB, the slowest %s: %.3f CPU s, %d MB", tried, of, slowest.CPU.Seconds(),
		slowest.Memory>>20)
	if tried < 500 {
		t.Errorf("only %d bodies were tried", tried)
	}
}
