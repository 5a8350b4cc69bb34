package main

import (
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
)

// cliFlag is a flag of a command.
type cliFlag struct{ Name, Kind, Doc string }

// cliKind returns the kind of a flag for a type, or nothing for what only a whole body can have.
func cliKind(types map[string]*form.Type, r form.Ref) string {
	switch r.Kind {
	case form.Integer, form.Number, form.Boolean:
		return string(r.Kind)
	case form.String, form.Time, form.Const:
		return "string"
	case form.List:
		if cliKind(types, *r.Of) == "string" {
			return "list"
		}
	case form.Named:
		t := types[r.Name]
		if len(t.Values) > 0 {
			return "string"
		}
		if t.Alias != nil {
			return cliKind(types, *t.Alias)
		}
	}
	return ""
}

func writeCLI(_ string, f *form.Form, all map[string][]byte) error {
	types := map[string]*form.Type{}
	for _, t := range f.Types {
		types[t.Name] = t
	}
	first := func(text string) string {
		line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		return line
	}
	functions := template.FuncMap{
		"wait": waitName, "first": first,
		"strings": func(values []string) string { return fmt.Sprintf("%#v", values) },
		"query": func(o form.Operation) (flags []cliFlag) {
			for _, p := range o.Query {
				kind := cliKind(types, p.Type)
				if kind == "" {
					kind = "pairs"
				}
				flags = append(flags, cliFlag{p.Name, kind, first(p.Doc)})
			}
			return flags
		},
		"body": func(o form.Operation) (flags []cliFlag) {
			if o.Body == nil || types[o.Body.Name] == nil {
				return nil
			}
			members := types[o.Body.Name].Members
			for _, v := range types[o.Body.Name].Variants {
				for _, m := range types[v.Type].Members {
					if !slices.ContainsFunc(members, func(o form.Member) bool { return o.Name == m.Name }) {
						members = append(members, m)
					}
				}
			}
			for _, m := range members {
				if kind := cliKind(types, m.Type); kind != "" {
					flags = append(flags, cliFlag{m.Name, kind, first(m.Doc)})
				}
			}
			return flags
		},
	}
	text, err := fill("cli.tmpl", f, functions)
	if err != nil {
		return err
	}
	if all["cli/operations_gen.go"], err = format.Source(text); err != nil {
		return fmt.Errorf("cli: %w\n%s", err, text)
	}
	return nil
}
