package httpapi

import (
	"cmp"
	_ "embed"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// module is the path of the module, without which types are named in Texts.
const module = "github.com/content-automation/api/"

// Texts are the descriptions of types and fields, by names such as "pkg/media.File" and "pkg/media.File.URL". The
// description of a member is the first paragraph of the comment of its field, unless its type describes itself.
// Reflection has no comments: pkg/service/api/gen writes them to members.tsv, which is embedded here.
type Texts struct {
	texts     map[string]string
	usedTexts map[string]bool
}

// NewTexts returns descriptions by name.
func NewTexts(texts map[string]string) *Texts {
	return &Texts{texts: texts, usedTexts: map[string]bool{}}
}

//go:embed members.tsv
var membersFile string

// EmbeddedTexts returns the descriptions of the generated file.
var EmbeddedTexts = sync.OnceValue(func() *Texts {
	texts := map[string]string{}
	for line := range strings.Lines(membersFile) {
		name, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		texts[name] = text
	}
	return &Texts{texts: texts}
})

// Lines returns the descriptions that were asked for, in the form of the generated file.
func (d *Texts) Lines() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.usedTexts)) {
		b.WriteString(name + "\t" + d.texts[name] + "\n")
	}
	return b.String()
}

// text returns the description of a field, or "".
func (d *Texts) text(f field) string { return d.of(typeName(f.owner) + "." + f.Name) }

// Type returns the description of a type, or "": its comment, without the name of the type and "is".
func (d *Texts) Type(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if strings.Contains(t.Name(), "[") {
		return ""
	}
	name := typeName(t)
	text := d.of(name)
	rest, named := strings.CutPrefix(text, name[strings.LastIndex(name, ".")+1:]+" ")
	if !named {
		return text
	}
	for _, verb := range []string{"is ", "are "} {
		rest = strings.TrimPrefix(rest, verb)
	}
	return strings.ToUpper(rest[:1]) + rest[1:]
}

// typeName returns the name of a type among the texts.
func typeName(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return strings.TrimPrefix(t.PkgPath(), module) + "." + name
}

// of returns the description of a name, or "".
func (d *Texts) of(name string) string {
	text := d.texts[name]
	if d.usedTexts != nil && text != "" {
		d.usedTexts[name] = true
	}
	return text
}

// Registered describes the members of all types that a registry has. Its references begin with prefix.
func (d *Texts) Registered(r huma.Registry, prefix string) {
	for name, s := range r.Map() {
		if t := r.TypeFromRef(prefix + name); t != nil {
			d.Members(s, t)
		}
	}
}

// Members describes the members of the schema of a struct.
func (d *Texts) Members(s *huma.Schema, t reflect.Type) {
	seen := map[string]bool{}
	for _, f := range fieldsOf(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if member := s.Properties[name]; member != nil && !seen[name] {
			member.Description, seen[name] = cmp.Or(member.Description, d.text(f)), true
		}
	}
}

// Parameters describes the parameters that an input has.
func (d *Texts) Parameters(all []*huma.Param, input reflect.Type) {
	for _, f := range fieldsOf(input) {
		for _, p := range all {
			if name, _, _ := strings.Cut(f.Tag.Get(p.In), ","); name == p.Name {
				p.Description = cmp.Or(p.Description, d.text(f))
			}
		}
	}
}

// Reach asks for the descriptions of a type and of all types in it.
func (d *Texts) Reach(t reflect.Type) { d.reach(t, map[reflect.Type]bool{}) }

func (d *Texts) reach(t reflect.Type, seen map[reflect.Type]bool) {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, t.Kind()) {
		t = t.Elem()
	}
	if seen[t] {
		return
	}
	seen[t] = true
	for _, f := range fieldsOf(t) {
		d.text(f)
		d.reach(f.Type, seen)
	}
}

// field is a field of a struct, or of one that is embedded in it.
type field struct {
	reflect.StructField
	owner reflect.Type
}

// fieldsOf returns the fields of a struct, as huma reads them: those of embedded structs are last. A field that has the
// name of its embedded struct is not visible to Go, and has a member all the same.
func fieldsOf(t reflect.Type) (all []field) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var embedded []field
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && f.Tag.Get("json") == "" {
			embedded = append(embedded, fieldsOf(f.Type)...)
		} else {
			all = append(all, field{f, t})
		}
	}
	return append(all, embedded...)
}
