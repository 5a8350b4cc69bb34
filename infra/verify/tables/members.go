package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/area/transfer"
)

// members writes what an import does with each member of the resources that it takes: it comes in, is computed anew, or
// is reset.
func members(w io.Writer) {
	fmt.Fprint(w, "# Members that an import takes\n\nWhat comes in is checked by the schema of the operation that creates "+
		"such a resource.\n")
	all := transfer.Members()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(w, "\n## %s\n\n| Member | Rule |\n|---|---|\n", name)
		for _, m := range all[name] {
			fmt.Fprintf(w, "| `%s` | %s |\n", m.Path, m.Rule)
		}
	}
}
