package console

import (
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
)

// level is a choice of the scopes of one resource.
type level struct {
	Text   string
	Scopes []auth.Scope
	// Chosen reports that the form has it.
	Chosen bool
}

// Value is the value of the field: the scopes with spaces between them.
func (l level) Value() string { return scopeText(l.Scopes) }

// Spends reports whether calls with the scopes may cost credits, and Publishes whether they may publish.
func (l level) Spends() bool { return slices.ContainsFunc(l.Scopes, spends) }

// Publishes reports whether calls with the scopes may publish.
func (l level) Publishes() bool { return slices.Contains(l.Scopes, auth.ContentPublish) }

// spends reports whether an operation of a scope costs credits.
func spends(s auth.Scope) bool {
	return slices.Contains([]auth.Scope{auth.FactoriesWrite, auth.ContentWrite, auth.StudioUse, auth.ArchitectUse}, s)
}

// scopeRow is a resource with the levels of access to it.
type scopeRow struct {
	// Field is the name of its field.
	Field, Text string
	// Permits are the sentences that say what its scopes permit.
	Permits []string
	Levels  []level
}

// scopeRows are all scopes by resource. The first level of each row is none.
var scopeRows = []scopeRow{
	row("account", "Account", level{Text: "Read", Scopes: []auth.Scope{auth.AccountRead}},
		level{Text: "Manage", Scopes: []auth.Scope{auth.AccountRead, auth.AccountManage}}),
	row("factories", "Factories", level{Text: "Read", Scopes: []auth.Scope{auth.FactoriesRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.FactoriesRead, auth.FactoriesWrite}}),
	row("content", "Content", level{Text: "Read", Scopes: []auth.Scope{auth.ContentRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.ContentRead, auth.ContentWrite}}),
	row("publishing", "Publishing", level{Text: "Publish", Scopes: []auth.Scope{auth.ContentPublish}}),
	row("studio", "Studio", level{Text: "Use", Scopes: []auth.Scope{auth.StudioUse}}),
	row("products", "Products", level{Text: "Read", Scopes: []auth.Scope{auth.ProductsRead}},
		level{Text: "Write", Scopes: []auth.Scope{auth.ProductsRead, auth.ProductsWrite}}),
	row("social", "Social accounts", level{Text: "Manage", Scopes: []auth.Scope{auth.SocialManage}}),
	row("architect", "Architect", level{Text: "Use", Scopes: []auth.Scope{auth.ArchitectUse}}),
	row("webhooks", "Webhooks", level{Text: "Manage", Scopes: []auth.Scope{auth.WebhooksManage}}),
}

// row returns the row of a resource, whose last level has all of its scopes.
func row(name, text string, levels ...level) scopeRow {
	r := scopeRow{Field: "scopes-" + name, Text: text, Levels: append([]level{{Text: "No access"}}, levels...)}
	for _, s := range auth.Scopes {
		if slices.Contains(levels[len(levels)-1].Scopes, s.Scope) {
			r.Permits = append(r.Permits, s.Permits)
		}
	}
	return r
}

// all returns the scopes of the row.
func (r scopeRow) all() []auth.Scope { return r.Levels[len(r.Levels)-1].Scopes }

// rowsOf returns the rows with the levels of a list of scopes. A combination that no level has, such as writing without
// reading, gets a level of its own.
func rowsOf(chosen []auth.Scope) []scopeRow {
	rows := make([]scopeRow, len(scopeRows))
	for i, r := range scopeRows {
		var has []auth.Scope
		for _, s := range r.all() {
			if slices.Contains(chosen, s) {
				has = append(has, s)
			}
		}
		r.Levels = slices.Clone(r.Levels)
		at := slices.IndexFunc(r.Levels, func(l level) bool { return slices.Equal(l.Scopes, has) })
		if at < 0 {
			at = len(r.Levels)
			r.Levels = append(r.Levels, level{Text: "As it is", Scopes: has})
		}
		r.Levels[at].Chosen = true
		rows[i] = r
	}
	return rows
}

// scopeText returns scopes with spaces between them.
func scopeText(scopes []auth.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, " ")
}

// chosenScopes returns the scopes of the form: those of the rows, and those that are listed one by one.
func chosenScopes(r *request) (all []auth.Scope) {
	given := slices.Clone(r.Form["scopes"])
	for _, of := range scopeRows {
		given = append(given, strings.Fields(r.FormValue(of.Field))...)
	}
	for _, name := range given {
		if s := auth.Scope(name); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
