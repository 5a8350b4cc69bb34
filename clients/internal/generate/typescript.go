package main

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// tsUse returns the TypeScript type of a use.
func tsUse(r form.Ref) string {
	use := "unknown"
	switch r.Kind {
	case form.String, form.Time:
		use = "string"
	case form.Const:
		use = fmt.Sprintf("'%s'", r.Name)
	case form.Integer, form.Number:
		use = "number"
	case form.Boolean:
		use = "boolean"
	case form.List:
		if use = tsUse(*r.Of); strings.Contains(use, "|") {
			use = "(" + use + ")"
		}
		use += "[]"
	case form.Map:
		use = "Record<string, " + tsUse(*r.Of) + ">"
	case form.Named:
		use = text.Pascal(r.Name)
	case form.Choice:
		var all []string
		for _, c := range r.Choices {
			all = append(all, tsUse(c))
		}
		use = strings.Join(all, " | ")
	}
	if r.Nullable && use != "unknown" {
		use += " | null"
	}
	return use
}

// tsComment writes a doc comment.
func tsComment(indent string, parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = sentence(p); p != "" {
			all = append(all, strings.ReplaceAll(p, "*/", "*\\/"))
		}
	}
	text := strings.Join(all, "\n\n")
	if len(all) == 1 && !strings.Contains(text, "\n") && len(indent)+len(text)+7 <= 120 {
		return indent + "/** " + text + " */"
	}
	return indent + "/**\n" + wrap(indent+" * ", text, 120) + "\n" + indent + " */"
}

// tsKey writes the name of a member.
func tsKey(name string) string {
	odd := func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	if strings.ContainsFunc(name, odd) {
		return "'" + name + "'"
	}
	return name
}

func writeTypeScript(_ string, f *form.Form, all map[string][]byte) error {
	functions := template.FuncMap{
		"states": f.States, "works": works, "foreign": f.Foreign, "shared": f.Shared, "special": f.Special,
		"use": tsUse, "comment": tsComment, "key": tsKey, "camel": text.Camel, "wait": waitName, "andWait": andWait,
		"single": func(s string) string { return "'" + s + "'" },
		"values": func(values []string) string {
			quoted := slices.Clone(values)
			for i, v := range quoted {
				quoted[i] = "'" + v + "'"
			}
			return strings.Join(quoted, " | ")
		},
		"array": func(values []string) string { return "['" + strings.Join(values, "', '") + "']" },
	}
	for _, name := range []string{"types", "resources"} {
		text, err := fill("ts_"+name+".tmpl", f, functions)
		if err != nil {
			return err
		}
		all["typescript/src/"+name+".gen.ts"] = text
	}
	return nil
}
