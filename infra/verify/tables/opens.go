package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/service/api"
)

// routes are all operations, by what they open and by their names.
func routes() []httpapi.Route {
	all := api.Routes()
	slices.SortFunc(all, func(a, b httpapi.Route) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method))
	})
	return all
}

// operations returns a row for each operation.
func operations() []byte {
	var b bytes.Buffer
	b.WriteString("# What operations open\n\n| Operation | Call | Scopes | Opens | A mandate leaves it to people by | " +
		"An auditor |\n|---|---|---|---|---|---|\n")
	for _, r := range routes() {
		scopes := string(r.Scope)
		for _, s := range r.Also {
			scopes += ", " + string(s)
		}
		auditor := "–"
		if r.Method == "GET" && r.Opens == httpapi.Nothing && r.Scope != auth.PersonScope {
			auditor = "reads"
		}
		fmt.Fprintf(&b, "| `%s` | %s %s | %s | %s | %s | %s |\n", r.OperationID, r.Method, r.Path, scopes, r.Opens,
			cmp.Or(strings.Join(acts(r), ", "), "–"), auditor)
	}
	return b.Bytes()
}

// acts are the members of needs_person that stop an operation, or a call of it that does what they name.
func acts(r httpapi.Route) (names []string) {
	for _, act := range r.Opens.Acts() {
		names = append(names, string(act))
	}
	for _, one := range []struct {
		opens httpapi.Opens
		act   auth.Act
		where string
	}{{httpapi.Spending, auth.ActSpend, " (where it spends)"}, {httpapi.Publishing, auth.ActPublish, ""}} {
		if r.Opens == 0 || !r.Opens.Has(one.opens) {
			continue
		}
		if one.opens == httpapi.Publishing && r.Scope != auth.ContentPublish {
			one.where = " (where it publishes)"
		}
		names = append(names, string(one.act)+one.where)
	}
	return names
}

// summary returns the operations that open each thing.
func summary() []byte {
	var b bytes.Buffer
	b.WriteString("| Opens | `needs_person` | Operations |\n|---|---|---|\n")
	for _, o := range httpapi.Openings() {
		var names []string
		for _, r := range routes() {
			if r.Opens.Has(o.Opens) {
				names = append(names, "`"+r.OperationID+"`")
			}
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s |\n", o.Name, o.Act, strings.Join(names, ", "))
	}
	return b.Bytes()
}
