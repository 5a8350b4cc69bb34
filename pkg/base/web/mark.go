package web

import "html/template"

// ServiceName is the name of the service on its pages.
const ServiceName = "Content-Automation"

// Mark draws the mark of the service, which says nothing beside its name. The arguments are CSS colors of the page.
func Mark(ground, line string) template.HTML {
	//nolint:gosec // the callers pass constants
	return template.HTML(`<svg viewBox="0 0 24 24" width="26" height="26" aria-hidden="true">` +
		`<rect width="24" height="24" rx="6" fill="` + ground + `"/><path d="M7 15.5 12 6l5 9.5M9 12.5h6" ` +
		`fill="none" stroke="` + line + `" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`)
}
