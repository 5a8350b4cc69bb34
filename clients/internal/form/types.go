package form

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/content-automation/api/pkg/base/text"
)

// reader turns schemas into types.
type reader struct {
	schemas    map[string]*schema
	parameters map[string]*parameter
	types      map[string]*Type
	err        error
}

// find returns the schema that a reference refers to, or the schema itself.
func (r *reader) find(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = r.schemas[nameOf(s.Ref)]
	}
	if s == nil {
		return &schema{}
	}
	return s
}

// ref returns the use of a schema in requests or in responses.
func (r *reader) ref(s *schema, sent bool) Ref {
	switch {
	case s == nil:
		return Ref{Kind: Any}
	case s.Ref != "":
		if of := r.find(s); isMap(of) {
			return r.ref(of, sent)
		}
		return r.named(nameOf(s.Ref), sent)
	case len(s.AnyOf) > 0:
		return r.choice(s.AnyOf, sent)
	}
	kind, nullable := typeOf(s.Type)
	ref := Ref{Nullable: nullable}
	switch {
	case len(s.Enum) == 1:
		ref.Kind, ref.Name = Const, fmt.Sprint(s.Enum[0])
	case len(s.Enum) > 1:
		ref.Kind = Choice
		for _, v := range s.Enum {
			ref.Choices = append(ref.Choices, Ref{Kind: Const, Name: fmt.Sprint(v)})
		}
	case kind == "string" && s.Format == "date-time":
		ref.Kind = Time
	case kind == "string" || kind == "integer" || kind == "number" || kind == "boolean":
		ref.Kind = Kind(kind)
	case kind == "array":
		of := r.ref(s.Items, sent)
		ref.Kind, ref.Of = List, &of
	case kind == "object" && len(s.Properties.of) == 0:
		ref.Kind, ref.Of = Map, &Ref{Kind: Any}
		if extra, ok := s.AdditionalProperties.(map[string]any); ok {
			of := r.ref(decode(extra), sent)
			ref.Of = &of
		}
	default:
		ref.Kind = Any
		if kind == "object" && r.err == nil {
			r.err = fmt.Errorf("an object with members has no name: %v", s.Properties.names)
		}
	}
	return ref
}

// isMap reports whether a schema is that of pairs, whose names it does not know.
func isMap(s *schema) bool {
	kind, _ := typeOf(s.Type)
	_, extra := s.AdditionalProperties.(map[string]any)
	return kind == "object" && extra && len(s.Properties.of) == 0
}

// choice returns the use of alternatives. Null is not one of them.
func (r *reader) choice(of []*schema, sent bool) Ref {
	var all []Ref
	nullable := false
	for _, s := range of {
		if kind, _ := typeOf(s.Type); kind == "null" {
			nullable = true
			continue
		}
		all = append(all, r.ref(s, sent))
	}
	if len(all) == 1 {
		all[0].Nullable = all[0].Nullable || nullable
		return all[0]
	}
	return Ref{Kind: Choice, Choices: all, Nullable: nullable}
}

// typeOf returns the type of a schema, and whether null is one, too.
func typeOf(t any) (kind string, nullable bool) {
	switch t := t.(type) {
	case string:
		return t, false
	case []any:
		for _, one := range t {
			if one == "null" {
				nullable = true
			} else {
				kind, _ = one.(string)
			}
		}
	}
	return kind, nullable
}

// named returns the use of a named type, which it adds if it is new.
func (r *reader) named(name string, sent bool) Ref {
	use := Ref{Kind: Named, Name: name}
	s := r.schemas[name]
	if s == nil {
		r.err = cmp.Or(r.err, fmt.Errorf("there is no schema %s", name))
		return use
	}
	t := r.types[name]
	if t != nil && (sent && t.Sent || !sent && t.Given) {
		return use
	}
	if t == nil {
		t = &Type{Name: name, Doc: s.Description}
		r.types[name] = t
	}
	t.Sent, t.Given = t.Sent || sent, t.Given || !sent
	switch {
	case len(s.Extensible) > 0:
		t.Values, t.Open = s.Extensible, true
	case len(s.Enum) > 1:
		t.Values = nil
		for _, v := range s.Enum {
			t.Values = append(t.Values, fmt.Sprint(v))
		}
	case s.Discriminator != nil:
		t.Tag, t.Variants = s.Discriminator.PropertyName, nil
		for _, value := range slices.Sorted(maps.Keys(s.Discriminator.Mapping)) {
			variant := nameOf(s.Discriminator.Mapping[value])
			t.Variants = append(t.Variants, Variant{value, variant})
			r.named(variant, sent)
		}
	case len(s.Properties.of) > 0 || len(s.AllOf) > 0:
		t.Members = r.members(name, s, sent)
	case r.shaped(s):
		t.Members, t.Shapes = r.merged(name, s, sent), nil
		for _, of := range s.AnyOf {
			t.Shapes = append(t.Shapes, nameOf(of.Ref))
			r.named(nameOf(of.Ref), sent)
			r.types[nameOf(of.Ref)].ShapeOf = name
		}
	default:
		of := r.ref(s, sent)
		if kind, _ := typeOf(s.Type); kind == "object" && of.Kind == Map && s.AdditionalProperties == nil {
			of.Of = &Ref{Kind: Any}
		}
		t.Alias = &of
	}
	return use
}

// shaped reports whether a schema is a choice between objects that are made of the same part.
func (r *reader) shaped(s *schema) bool {
	for _, of := range s.AnyOf {
		parts := r.find(of).AllOf
		if of.Ref == "" || len(parts) == 0 || parts[0].Ref == "" || parts[0].Ref != r.find(s.AnyOf[0]).AllOf[0].Ref {
			return false
		}
	}
	return len(s.AnyOf) > 1
}

// merged returns the members that any shape of an object has. Those that all of them require are required.
func (r *reader) merged(of string, s *schema, sent bool) []Member {
	var all []Member
	count, values := map[string]int{}, map[string][]string{}
	for _, shape := range s.AnyOf {
		for _, m := range r.members(of, r.find(shape), sent) {
			at := slices.IndexFunc(all, func(o Member) bool { return o.Name == m.Name })
			if at < 0 {
				at, all = len(all), append(all, m)
			}
			count[m.Name]++
			values[m.Name] = append(values[m.Name], r.values(m.Type)...)
			all[at].Required = all[at].Required && m.Required
			if !reflect.DeepEqual(all[at].Type, m.Type) || m.Type.Kind == Choice { // each shape has other values
				all[at].Type = r.enumeration(values[m.Name], sent)
			}
		}
	}
	var first, others []Member
	for _, m := range all {
		if m.Required = m.Required && count[m.Name] == len(s.AnyOf); m.Required {
			first = append(first, m)
		} else {
			others = append(others, m)
		}
	}
	return append(first, others...)
}

// values returns those of an enumeration.
func (r *reader) values(t Ref) (all []string) {
	switch t.Kind {
	case Const:
		return []string{t.Name}
	case Named:
		return r.types[t.Name].Values
	}
	for _, c := range t.Choices {
		all = append(all, r.values(c)...)
	}
	return all
}

// enumeration returns the use of the smallest enumeration of requests that has some values.
func (r *reader) enumeration(values []string, sent bool) Ref {
	best := ""
	for _, name := range slices.Sorted(maps.Keys(r.schemas)) {
		has := r.schemas[name].Enum
		lacks := func(value string) bool { return !slices.Contains(has, any(value)) }
		if len(has) > 1 && !slices.ContainsFunc(values, lacks) && (best == "" || len(has) < len(r.schemas[best].Enum)) {
			best = name
		}
	}
	if best == "" {
		return Ref{Kind: String}
	}
	return r.named(best, sent)
}

// members returns the members of an object: the required ones first, each group in the order of the document. A part
// has its members in place of those of the parts before it.
func (r *reader) members(of string, s *schema, sent bool) []Member {
	all, required := r.whole(s)
	var first, others []Member
	for _, name := range all.names {
		p := all.of[name]
		m := Member{name, r.doc(p), r.ref(r.lift(of, name, p), sent), required[name]}
		if m.Required {
			first = append(first, m)
		} else {
			others = append(others, m)
		}
	}
	return append(first, others...)
}

// whole returns the members of an object and of the parts that it is made of, and which of them are required.
func (r *reader) whole(s *schema) (all properties, required map[string]bool) {
	all, required = properties{of: map[string]*schema{}}, map[string]bool{}
	var collect func(s *schema)
	collect = func(s *schema) {
		s = r.find(s)
		for _, part := range s.AllOf {
			collect(part)
		}
		for _, name := range s.Properties.names {
			if all.of[name] == nil {
				all.names = append(all.names, name)
			}
			all.of[name] = s.Properties.of[name]
		}
		for _, name := range s.Required {
			required[name] = true
		}
	}
	collect(s)
	return all, required
}

// doc returns the description of a member: its own, or that of the schema that it refers to.
func (r *reader) doc(s *schema) string {
	text := cmp.Or(s.Description, r.find(s).Description)
	if text == "" && len(s.AnyOf) > 0 {
		return r.doc(s.AnyOf[0])
	}
	return text
}

// lift gives an object in an object a name.
func (r *reader) lift(of, member string, s *schema) *schema {
	kind, nullable := typeOf(s.Type)
	if kind != "object" || len(s.Properties.of) == 0 {
		return s
	}
	name := of + text.Pascal(member)
	lifted := *s
	lifted.Type = "object"
	r.schemas[name] = &lifted
	if !nullable {
		return &schema{Ref: name}
	}
	return &schema{AnyOf: []*schema{{Ref: name}, {Type: "null"}}}
}

// decode reads a schema that stands where something else may stand, too.
func decode(m map[string]any) *schema {
	s := &schema{Type: m["type"]}
	s.Ref, _ = m["$ref"].(string)
	s.Format, _ = m["format"].(string)
	s.Enum, _ = m["enum"].([]any)
	return s
}
