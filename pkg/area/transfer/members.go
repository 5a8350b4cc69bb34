package transfer

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Rule says what an import does with a member of a resource. An import is untrusted input: whoever has written its
// lines may say anything of what has happened elsewhere.
type Rule string

// The rules. What comes in is checked by the schema of the operation that creates such a resource.
const (
	ComesIn  Rule = "comes in"
	Computed Rule = "is computed anew" // of the file as it is read, of other members, or of where it comes to
	Reset    Rule = "is reset"
)

// Member is a member of a resource of a type, by its path: names of members, and * for any name.
type Member struct {
	Path string
	Rule Rule
	// list reports that it is a list that is never null.
	list bool
}

// sketch are the rules of a type of resource, as paths between spaces. A path that is computed or reset stands for all
// below it. What has no rule does not come in; a test finds it.
type sketch struct{ in, computed, reset string }

// common are the rules of members that all resources have.
var common = sketch{in: "id created_at metadata", computed: "updated_at version"}

func (k sketch) rules() map[string]Rule {
	all := map[string]Rule{}
	for _, one := range []sketch{common, k} {
		for rule, paths := range map[Rule]string{ComesIn: one.in, Computed: one.computed, Reset: one.reset} {
			for path := range strings.FieldsSeq(paths) {
				all[path] = rule
			}
		}
	}
	return all
}

// Members returns the members of the types of resources that imports take, by the names of the types. A member without
// a rule has an empty one.
func Members() map[string][]Member {
	all := map[string][]Member{}
	for _, k := range kinds {
		if takers[k.name] != nil {
			all[k.name] = membersOfKind(k)
		}
	}
	return all
}

func membersOfKind(k kind) []Member { return membersOf(k.of, sketches[k.name].rules()) }

// Unknown returns the rules of a type that none of its members has.
func Unknown(name string) (paths []string) {
	rules := sketches[name].rules()
	for _, m := range Members()[name] {
		delete(rules, m.Path)
	}
	return slices.Sorted(maps.Keys(rules))
}

// membersOf returns the members of a type, down to those with a rule of their own or without further members.
func membersOf(t reflect.Type, rules map[string]Rule) (all []Member) {
	var walk func(t reflect.Type, at string)
	walk = func(t reflect.Type, at string) {
		for f := range fields(t) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			path := strings.TrimPrefix(at+"."+name, ".")
			inner, suffix := elem(f.Type)
			rule := rules[path]
			if rule == "" && inner != nil {
				walk(inner, path+suffix)
				continue
			}
			all = append(all, Member{path, rule, f.Type.Kind() == reflect.Slice && f.Tag.Get("nullable") == "false"})
		}
	}
	walk(t, "")
	return all
}

// fields returns the members of a struct, with those of embedded ones, by their names.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" && f.IsExported() {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// elem returns the struct that a member has, or lists, or has by names, and what its path continues with; or nil.
func elem(t reflect.Type) (inner reflect.Type, suffix string) {
	for {
		if t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
			reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
			return nil, ""
		}
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			t = t.Elem()
		case reflect.Map:
			t, suffix = t.Elem(), suffix+".*"
		case reflect.Struct:
			return t, suffix
		default:
			return nil, ""
		}
	}
}

// admit returns a resource of a line with the members that come in. Lists that are never null are empty.
func admit(tree map[string]any, members []Member) map[string]any {
	in := map[string]Member{}
	for _, m := range members {
		in[m.Path] = m
	}
	out, _ := admitted(tree, "", in).(map[string]any)
	for _, m := range members {
		if _, there := out[m.Path]; m.list && !there && !strings.Contains(m.Path, ".") {
			out[m.Path] = []any{}
		}
	}
	return out
}

func admitted(v any, at string, in map[string]Member) any {
	switch v := v.(type) {
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = admitted(v[i], at, in)
		}
		return all
	case map[string]any:
		all := map[string]any{}
		for name, value := range v {
			path := strings.TrimPrefix(at+"."+name, ".")
			if any := at + ".*"; isBelow(any, in) {
				path = any
			}
			switch m, known := in[path]; {
			case known && m.Rule == ComesIn:
				all[name] = value
			case !known && isBelow(path, in):
				all[name] = admitted(value, path, in)
			}
		}
		return all
	}
	return nil // a plain value in the place of an object
}

// isBelow reports whether there are members below a path.
func isBelow(path string, in map[string]Member) bool {
	for known := range in {
		if strings.HasPrefix(known, path+".") || known == path && strings.HasSuffix(path, "*") {
			return true
		}
	}
	return false
}
