package web

import (
	_ "embed"
	"html/template"
	"strings"
	"sync"
)

// The file has a line for each platform and CRM: its id, its name, a color, whether the mark is filled or drawn as a
// line, and its outline of 24 by 24 units. The marks are drawings of this project, and not the trademarks' files.
//
//go:embed logos.tsv
var logoFile string

var logos = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(logoFile) {
		if row := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(row) == 5 {
			all[row[0]] = row[1:]
		}
	}
	return all
})

// Label returns the name of a platform or CRM by its id. That of an unknown one is the id.
func Label(id string) string {
	if row := logos()[id]; row != nil {
		return row[0]
	}
	return id
}

// Logo draws the mark of a platform or CRM, which says nothing beside its name. An unknown one has none.
func Logo(id string) template.HTML {
	row := logos()[id]
	if row == nil {
		return ""
	}
	look := `fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"`
	if row[2] == "fill" {
		look = `fill="#fff"`
	}
	//nolint:gosec // all parts are constants of the program itself
	return template.HTML(`<svg class="logo-mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">` +
		`<rect width="24" height="24" rx="6" fill="` + row[1] + `"/><path ` + look + ` d="` + row[3] + `"/></svg>`)
}
