package main

import (
	"fmt"
	"go/format"
	"net/http"
	"slices"
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
)

// cliFlag is a flag of a command.
type cliFlag struct {
	Name, Kind, Doc string
	Required        bool
	Values          []string
}

// cliValues returns the values that a flag may have, if it has a few only.
func cliValues(types map[string]*form.Type, r form.Ref) []string {
	switch r.Kind {
	case form.Const:
		return []string{r.Name}
	case form.List:
		return cliValues(types, *r.Of)
	case form.Named:
		if t := types[r.Name]; t.Alias != nil {
			return cliValues(types, *t.Alias)
		}
		return types[r.Name].Values
	}
	return nil
}

// cliWork returns the operation that reads the work which an operation begins, or nil.
func cliWork(f *form.Form, o form.Operation) *form.Operation {
	if o.Wait != nil || o.Status != http.StatusAccepted && o.ID != "createMedia" {
		return nil
	}
	for _, r := range f.Resources {
		for _, reads := range r.Operations {
			if reads.Wait != nil && reads.Result.Name == o.Result.Name {
				return &reads
			}
		}
	}
	return nil
}

// cliSelects returns the parameter of the query that takes the id of the work which an operation reads, or nothing if
// the path has the id.
func cliSelects(o form.Operation) string {
	for _, p := range o.Query {
		if strings.HasSuffix(p.Name, "_id") {
			return p.Name
		}
	}
	return ""
}

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
		"wait": waitName, "first": first, "selects": cliSelects,
		"work":    func(o form.Operation) *form.Operation { return cliWork(f, o) },
		"strings": func(values []string) string { return fmt.Sprintf("%#v", values) },
		"query": func(o form.Operation) (flags []cliFlag) {
			for _, p := range o.Query {
				kind := cliKind(types, p.Type)
				if kind == "" {
					kind = "pairs"
				}
				flags = append(flags, cliFlag{p.Name, kind, first(p.Doc), false, cliValues(types, p.Type)})
			}
			return flags
		},
		"body": func(o form.Operation) (flags []cliFlag) {
			if o.Body == nil || types[o.Body.Name] == nil {
				return nil
			}
			variants := []form.Variant{{Type: o.Body.Name}}
			if len(types[o.Body.Name].Variants) > 0 {
				variants = types[o.Body.Name].Variants
			}
			for i, v := range variants {
				for _, m := range types[v.Type].Members {
					kind, values := cliKind(types, m.Type), cliValues(types, m.Type)
					at := slices.IndexFunc(flags, func(f cliFlag) bool { return f.Name == m.Name })
					switch {
					case kind == "":
					case at < 0:
						// What only some variants have is not required.
						flags = append(flags, cliFlag{m.Name, kind, first(m.Doc), m.Required && i == 0,
							slices.Clone(values)})
					default:
						for _, value := range values {
							if !slices.Contains(flags[at].Values, value) {
								flags[at].Values = append(flags[at].Values, value)
							}
						}
					}
				}
			}
			for i, f := range flags {
				for _, v := range variants {
					flags[i].Required = flags[i].Required && slices.ContainsFunc(types[v.Type].Members,
						func(m form.Member) bool { return m.Name == f.Name && m.Required })
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
