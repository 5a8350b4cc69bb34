package console

import (
	_ "embed"
	"html/template"
	"strings"
	"sync"
)

// The file has a line for each icon: its name, a tab, and its outline of 24 by 24 units, after Lucide (ISC licence).
//
//go:embed icons.tsv
var iconFile string

var icons = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(iconFile) {
		if name, outline, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			all[name] = outline
		}
	}
	return all
})

// icon draws an icon, which says nothing of its own.
func icon(name string) template.HTML {
	//nolint:gosec // constants
	return template.HTML(`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" ` +
		`stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" width="16" height="16">` + icons()[name] +
		`</svg>`)
}
