package main

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

//go:embed templates
var templates embed.FS

// fill fills a template with a form.
func fill(name string, data any, functions template.FuncMap) ([]byte, error) {
	all := template.FuncMap{
		"pascal": text.Pascal, "snake": text.Snake, "kebab": text.Kebab, "join": strings.Join,
		"quote": func(s string) string { return fmt.Sprintf("%q", s) },
	}
	maps.Copy(all, functions)
	t, err := template.New(name).Funcs(all).ParseFS(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// wrap breaks a text into lines of at most width characters, each with a prefix.
func wrap(prefix, text string, width int) string {
	var out strings.Builder
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line := prefix
		for word := range strings.FieldsSeq(paragraph) {
			if len(line)+1+len(word) > width && line != prefix {
				out.WriteString(strings.TrimRight(line, " ") + "\n")
				line = prefix
			}
			if line != prefix {
				line += " "
			}
			line += word
		}
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(out.String(), "\n")
}

// sentence ends a text with a full stop.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// waitName returns the name of the method that waits for what an operation reads.
func waitName(o form.Operation) string { return "waitFor" + strings.TrimPrefix(o.Name, "get") }

// andWait returns the name of the method that waits for the work which an operation begins, or nothing. Programs that
// run by a schedule begin this work and wait for it, so that one call does both.
func andWait(o form.Operation) string {
	if o.ID == "syncFeed" {
		return "waitForRun"
	}
	return ""
}

// works returns the names of the types of work, in alphabetical order.
func works(f *form.Form) (names []string) {
	for _, r := range f.Resources {
		for _, o := range r.Operations {
			if o.Wait != nil && !slices.Contains(names, o.Result.Name) {
				names = append(names, o.Result.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}
