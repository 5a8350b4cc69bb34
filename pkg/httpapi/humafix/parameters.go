package humafix

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// memberOf returns the object and the member that the name of a parameter names, such as metadata[order]. The name of
// the member goes to the last bracket, so that it may have brackets itself: metadata[a[b]]. An object in an object, as
// metadata[a][b] would be, has no members.
func memberOf(name string) (object, member string, ok bool) {
	object, member, ok = strings.Cut(name, "[")
	member, closed := strings.CutSuffix(member, "]")
	return object, member, ok && closed && member != "" && !strings.Contains(member, "][")
}

// pairs are the fields of an input that take pairs in brackets, by the names of their parameters.
func pairs(input reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(input) {
		name, options, _ := strings.Cut(f.Tag.Get("query"), ",")
		if options == "deepObject" && f.Type.Kind() == reflect.Map {
			fields[name] = f.Index
		}
	}
	return fields
}

// fillPairs sets the fields of an input that take pairs in brackets: huma cuts names at each bracket, and would look
// for the member a of metadata[a[b]].
func fillPairs(input reflect.Value, fields map[string][]int, query url.Values) {
	for _, at := range fields {
		input.FieldByIndex(at).SetZero()
	}
	for name, values := range query {
		object, member, ok := memberOf(name)
		at, known := fields[object]
		if !ok || !known {
			continue
		}
		field := input.FieldByIndex(at)
		if field.IsNil() {
			field.Set(reflect.MakeMap(field.Type()))
		}
		field.SetMapIndex(reflect.ValueOf(member), reflect.ValueOf(values[0]))
	}
}

// isMember reports whether the name of a parameter is that of a member of one of the objects.
func isMember(objects []string, name string) bool {
	object, _, ok := memberOf(name)
	return ok && slices.Contains(objects, object)
}

// The faults of parameters that are reported, and the length of a name in them: a query may have thousands.
const (
	mostParameters = 20
	mostName       = 64
)

// parameters returns the first faults in the names of the parameters of a query, repeated parameters, and empty ones.
func parameters(query url.Values, o *huma.Operation) []errs.Detail {
	var names, objects []string
	for _, p := range o.Parameters {
		switch {
		case p.In == "query" && p.Style == "deepObject":
			names, objects = append(names, p.Name+"[…]"), append(objects, p.Name)
		case p.In == "query":
			names = append(names, p.Name)
		}
	}
	var found []errs.Detail
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(found) == mostParameters {
			break
		}
		p := errs.Detail{Param: text.ClipText(name, mostName)}
		switch values := query[name]; {
		case slices.Contains(objects, name):
			p.Message = "takes the name of a pair in brackets: " + name + "[order]=4711"
		case !slices.Contains(names, name) && !isMember(objects, name):
			p.Message = schema.Unknown("is not a parameter of this operation", p.Param, "It takes ", names)
		case len(values) > 1:
			p.Message = "is sent more than once"
		case values[0] == "":
			p.Message = "is empty; send a value, or leave it out"
		default:
			continue
		}
		found = append(found, p)
	}
	return found
}
