package api

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/id"
)

// ContractTables returns the tables of docs/contract.md that are made from the code, by the names of their places.
func ContractTables() map[string]string {
	return map[string]string{"prefixes": prefixList()}
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

// prefixList lists the prefixes of ids with the resources that have them, in lines of the length of a page.
func prefixList() string {
	of := map[string][]string{}
	for _, name := range id.Resources() {
		prefix, _ := id.Prefix(name)
		of[prefix] = append(of[prefix], name)
	}
	var b strings.Builder
	width := 0
	for i, prefix := range slices.Sorted(maps.Keys(of)) {
		part := fmt.Sprintf("`%s` %s", prefix, strings.Join(of[prefix], " or "))
		switch {
		case i == 0:
		case width+len(part) > pageWidth:
			b.WriteString(",\n")
			width = 0
		default:
			b.WriteString(", ")
		}
		b.WriteString(part)
		width += len(part) + len(", ")
	}
	return b.String() + ".\n"
}

// pageWidth is the number of characters of a line of docs/contract.md, without its last comma.
const pageWidth = 110
