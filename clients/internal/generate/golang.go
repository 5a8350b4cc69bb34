package main

import (
	"fmt"
	"go/format"
	"slices"
	"strings"
	"text/template"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// goName writes a name as Go does.
func goName(name string) string { return text.Go(strings.ReplaceAll(name, "*", " all ")) }

// goParam writes the name of an argument.
func goParam(name string) string {
	n := goName(name)
	return strings.ToLower(n[:1]) + n[1:]
}

// golang writes the types of Go.
type golang struct{ types map[string]*form.Type }

// use returns the Go type of a use, without regard to null.
func (g golang) use(r form.Ref) string {
	switch r.Kind {
	case form.String, form.Const:
		return "string"
	case form.Integer:
		return "int64"
	case form.Number:
		return "float64"
	case form.Boolean:
		return "bool"
	case form.Time:
		return "time.Time"
	case form.List:
		return "[]" + g.use(*r.Of)
	case form.Map:
		if r.Of.Nullable {
			return "map[string]*" + g.use(*r.Of)
		}
		return "map[string]" + g.use(*r.Of)
	case form.Named:
		return goName(r.Name)
	default:
		return "any"
	}
}

// nilable reports whether the Go type of a use has a value for nothing.
func (g golang) nilable(r form.Ref) bool {
	if r.Kind == form.Named {
		t := g.types[r.Name]
		return len(t.Variants) > 0 && t.Sent || t.Alias != nil && g.nilable(*t.Alias)
	}
	return slices.Contains([]form.Kind{form.List, form.Map, form.Any, form.Choice}, r.Kind)
}

// field returns the type and the tag of a member.
func (g golang) field(t *form.Type, m form.Member) string {
	use, option := g.use(m.Type), ""
	switch {
	case t.Sent && !m.Required && m.Type.Nullable:
		use, option = "Nullable["+use+"]", ",omitzero"
	case !m.Required && !g.nilable(m.Type):
		use, option = "*"+use, ",omitzero"
	case !m.Required:
		option = ",omitzero"
	case m.Type.Nullable && !g.nilable(m.Type):
		use = "*" + use
	}
	return fmt.Sprintf("%s %s `json:\"%s%s\"`", goName(m.Name), use, m.Name, option)
}

// tag returns the member that names a variant, if the type is one that requests have.
func (g golang) tag(t *form.Type) *form.Variant {
	for _, u := range g.types {
		for _, v := range u.Variants {
			if v.Type == t.Name && u.Sent {
				return &form.Variant{Value: v.Value, Type: u.Tag}
			}
		}
	}
	return nil
}

// own returns the members that are fields: the tag of a variant is none in requests.
func (g golang) own(t *form.Type) []form.Member {
	if tag := g.tag(t); tag != nil {
		return slices.DeleteFunc(slices.Clone(t.Members), func(m form.Member) bool { return m.Name == tag.Type })
	}
	return t.Members
}

// common returns the members that all variants of a union have alike.
func (g golang) common(t *form.Type) []form.Member {
	var all []form.Member
	for _, m := range g.types[t.Variants[0].Type].Members {
		shared := m.Name != t.Tag
		for _, v := range t.Variants[1:] {
			shared = shared && slices.ContainsFunc(g.types[v.Type].Members, func(o form.Member) bool {
				return o.Name == m.Name && g.field(t, o) == g.field(t, m)
			})
		}
		if m.Name == t.Tag {
			m.Type, shared = g.tagType(t), true
		}
		if shared {
			all = append(all, m)
		}
	}
	return all
}

// tagType returns the type of a union's tag: the enumeration with its values, if there is one.
func (g golang) tagType(t *form.Type) form.Ref {
	for name, e := range g.types {
		if e.Open && len(e.Values) == len(t.Variants) &&
			!slices.ContainsFunc(t.Variants, func(v form.Variant) bool { return !slices.Contains(e.Values, v.Value) }) {
			return form.Ref{Kind: form.Named, Name: name}
		}
	}
	return form.Ref{Kind: form.String}
}

// aliasOf returns the enumeration of responses with the values of an enumeration of requests.
func (g golang) aliasOf(t *form.Type) string {
	base := g.types[strings.TrimSuffix(t.Name, "Input")]
	if base == nil || base == t || !base.Open || !slices.Equal(base.Values, t.Values) {
		return ""
	}
	return goName(base.Name)
}

// comment writes a doc comment.
func goComment(indent string, parts ...string) string {
	var all []string
	for _, p := range parts {
		if p = sentence(p); p != "" {
			all = append(all, wrap(indent+"// ", p, 120))
		}
	}
	return strings.Join(all, "\n"+indent+"//\n")
}

// lead begins a description with the name of what it describes.
func lead(name, text string) string {
	if text == "" {
		return name + " is a type of the API."
	}
	return name + ": " + text
}

// shapeText says what a shape of an object requires beside what all shapes do, and the values that tell it apart.
func shapeText(shape, of *form.Type) string {
	var needs []string
	for _, m := range shape.Members {
		needed := m.Required && !slices.ContainsFunc(of.Members, func(o form.Member) bool {
			return o.Name == m.Name && o.Required
		})
		var values []string
		for _, c := range append(m.Type.Choices, m.Type) {
			if c.Kind == form.Const {
				values = append(values, c.Name)
			}
		}
		switch {
		case m.Required && len(values) > 0:
			needs = append(needs, goName(m.Name)+" "+strings.Join(values, " or "))
		case needed:
			needs = append(needs, goName(m.Name))
		}
	}
	return strings.TrimSuffix(shape.Doc, ".") + ": " + strings.Join(needs, ", ")
}

func goPath(o form.Operation) string {
	parts := []string{}
	rest := o.Path
	for _, p := range o.PathParams {
		before, after, _ := strings.Cut(rest, "{"+p.Name+"}")
		parts, rest = append(parts, fmt.Sprintf("%q", before), "p"+goName(p.Name)), after
	}
	if rest != "" {
		parts = append(parts, fmt.Sprintf("%q", rest))
	}
	return strings.Join(parts, " + ")
}

func writeGo(_ string, f *form.Form, all map[string][]byte) error {
	g := golang{map[string]*form.Type{}}
	for _, t := range f.Types {
		g.types[t.Name] = t
	}
	functions := template.FuncMap{
		"name": goName, "param": goParam, "use": g.use, "field": g.field, "own": g.own, "tag": g.tag, "common": g.common,
		"aliasOf": g.aliasOf, "comment": goComment, "lead": lead, "path": goPath, "wait": waitName, "andWait": andWait,
		"states": func() (names []string) {
			for _, name := range works(f) {
				for _, m := range f.Type(name).Members {
					if state := goName(m.Type.Name); m.Name == "state" && !slices.Contains(names, state) {
						names = append(names, state) // works may share their states
					}
				}
			}
			return names
		},
		"shape": func(name string) string { return shapeText(f.Type(name), f.Type(f.Type(name).ShapeOf)) },
		"list":  func(values []string) string { return fmt.Sprintf("%#v", values) },
		"sentType": func(r form.Ref) string {
			if t := g.types[r.Name]; r.Kind == form.Named && t != nil && len(t.Variants) == 0 {
				return goName(r.Name)
			}
			return g.use(r)
		},
		"queryType": func(r form.Ref) string {
			if g.nilable(r) {
				return g.use(r)
			}
			return "*" + g.use(r)
		},
	}
	for _, name := range []string{"types", "operations"} {
		text, err := fill("go_"+name+".tmpl", f, functions)
		if err != nil {
			return err
		}
		formatted, err := format.Source(text)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, text)
		}
		all["go/"+name+"_gen.go"] = formatted
	}
	return nil
}
