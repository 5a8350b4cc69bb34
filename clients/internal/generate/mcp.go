package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/content-automation/api/clients/internal/form"
)

// mcpOperation is an operation as package mcp reads it.
type mcpOperation struct {
	ID      string         `json:"operation_id"`
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	Summary string         `json:"summary"`
	Text    string         `json:"description,omitempty"`
	Scope   string         `json:"scope"`
	Opens   []string       `json:"opens,omitempty"`
	Query   []mcpParameter `json:"query,omitempty"`
	Body    []mcpParameter `json:"body,omitempty"`
}

type mcpParameter struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	Doc      string `json:"doc,omitempty"`
}

var sentenceEnd = regexp.MustCompile(`[.:;] `)

// brief returns the first sentence of a text.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		return text[:at[0]]
	}
	return strings.TrimSuffix(text, ".")
}

// writeMCP writes the operations for agents: one line each.
func writeMCP(_ string, f *form.Form, all map[string][]byte) error {
	types := map[string]*form.Type{}
	for _, t := range f.Types {
		types[t.Name] = t
	}
	var out bytes.Buffer
	out.WriteString("[\n")
	first := true
	for _, r := range f.Resources {
		for _, o := range r.Operations {
			text := strings.Join(strings.Fields(o.Description), " ")
			if runes := []rune(text); len(runes) > 400 {
				text = string(runes[:400]) + "…"
			}
			one := mcpOperation{ID: o.ID, Method: o.Method, Path: o.Path, Summary: o.Summary, Text: text,
				Scope: o.Scope, Opens: o.Opens}
			for _, p := range o.Query {
				one.Query = append(one.Query, mcpParameter{p.Name, describe(types, p.Type, 0), false, brief(p.Doc)})
			}
			if o.Body != nil {
				one.Body = mcpMembers(types, *o.Body)
			}
			line, err := json.Marshal(one)
			if err != nil {
				return err
			}
			if !first {
				out.WriteString(",\n")
			}
			first = false
			out.Write(line)
		}
	}
	out.WriteString("\n]\n")
	all["../pkg/service/mcp/operations.json"] = out.Bytes()
	return nil
}

// mcpMembers returns the members of a body. Those of a union are the members of all variants.
func mcpMembers(types map[string]*form.Type, body form.Ref) (list []mcpParameter) {
	t := types[body.Name]
	if t == nil {
		return []mcpParameter{{Name: "(body)", Type: describe(types, body, 0)}}
	}
	at := map[string]int{}
	add := func(m form.Member, kind string) {
		i, known := at[m.Name]
		if !known {
			at[m.Name] = len(list)
			list = append(list, mcpParameter{m.Name, kind, m.Required, brief(m.Doc)})
		} else if !strings.Contains(" or "+list[i].Type+" or ", " or "+kind+" or ") {
			list[i].Type += " or " + kind
		}
	}
	for _, m := range t.Members {
		add(m, describe(types, m.Type, 0))
	}
	for _, v := range t.Variants {
		variant := types[v.Type]
		if variant == nil {
			continue
		}
		for _, m := range variant.Members {
			kind := describe(types, m.Type, 0)
			if differs(types, t, m) {
				kind = outline(types, m.Type) + " for " + v.Value
			}
			add(m, kind)
		}
	}
	return list
}

// differs reports whether a member, which is no constant, has other types in other variants of a union.
func differs(types map[string]*form.Type, union *form.Type, m form.Member) bool {
	if m.Type.Kind == form.Const {
		return false
	}
	return slices.ContainsFunc(union.Variants, func(v form.Variant) bool {
		variant := types[v.Type]
		return variant != nil && slices.ContainsFunc(variant.Members, func(other form.Member) bool {
			return other.Name == m.Name && describe(types, other.Type, 0) != describe(types, m.Type, 0)
		})
	})
}

// outline names the members of an object without their types.
func outline(types map[string]*form.Type, r form.Ref) string {
	t := types[r.Name]
	if r.Kind != form.Named || t == nil || len(t.Members) == 0 {
		return describe(types, r, 1)
	}
	var names []string
	for _, m := range t.Members {
		if m.Required {
			names = append(names, m.Name)
		} else {
			names = append(names, m.Name+"?")
		}
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// describe describes a type in a few words. Types that are deep in another one are named only.
func describe(types map[string]*form.Type, r form.Ref, depth int) string {
	switch r.Kind {
	case form.List:
		return "list of " + describe(types, *r.Of, depth)
	case form.Map:
		return "map of " + describe(types, *r.Of, depth)
	case form.Const:
		return `"` + r.Name + `"`
	case form.Named:
		t := types[r.Name]
		switch {
		case t == nil:
		case len(t.Values) > 0:
			return strings.Join(t.Values, "|")
		case t.Alias != nil:
			return describe(types, *t.Alias, depth)
		case depth < 2:
			var members []string
			for _, m := range t.Members {
				name := m.Name
				if !m.Required {
					name += "?"
				}
				members = append(members, name+": "+describe(types, m.Type, depth+1))
			}
			if len(members) > 0 {
				return "{" + strings.Join(members, ", ") + "}"
			}
		}
		return "object"
	case form.Choice:
		var all []string
		for _, c := range r.Choices {
			all = append(all, describe(types, c, depth))
		}
		return strings.Join(all, " or ")
	default:
		return string(r.Kind)
	}
}
