package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/id"
)

// ContractTables returns the tables of docs/contract.md that are made from the code, by the names of their places.
func ContractTables(doc *huma.OpenAPI) map[string]string {
	return map[string]string{"prefixes": prefixTable(), "states": stateTable(doc)}
}

// WithTables returns the text of docs/contract.md with its tables as they are now.
func WithTables(text string, tables map[string]string) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		before, rest, ok := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			return "", fmt.Errorf("docs/contract.md has no place for %s", name)
		}
		text = before + begin + "\n" + tables[name] + "\n" + end + after
	}
	return text, nil
}

// prefixTable lists the prefixes of ids, by the resources that have them.
func prefixTable() string {
	of := map[string][]string{}
	for _, name := range id.Resources() {
		prefix, _ := id.Prefix(name)
		of[prefix] = append(of[prefix], name)
	}
	var b strings.Builder
	b.WriteString("| Prefix | Resource |\n|---|---|\n")
	for _, prefix := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", prefix, strings.Join(of[prefix], ", "))
	}
	return b.String()
}

// stateTable lists the states of each schema that has any. Schemas with the same states share a row.
func stateTable(doc *huma.OpenAPI) string {
	schemas := doc.Components.Schemas.Map()
	of := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		s := schemas[name].Properties["state"]
		if s == nil || strings.HasSuffix(name, "Update") {
			continue
		}
		if named := schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]; named != nil {
			s = named
		}
		all, open := s.Extensions[ExtensibleEnum].([]any)
		if !open {
			all = s.Enum
		}
		if len(all) > 0 {
			states := "`" + strings.Trim(strings.ReplaceAll(fmt.Sprint(all), " ", "`, `"), "[]") + "`"
			of[states] = append(of[states], name)
		}
	}
	rows := make([]string, 0, len(of))
	for states, names := range of {
		rows = append(rows, fmt.Sprintf("| %s | %s |\n", strings.Join(names, ", "), states))
	}
	slices.Sort(rows)
	return "| Resource | States |\n|---|---|\n" + strings.Join(rows, "")
}
