package httpapi

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
)

// Fields holds the query parameter of a list that returns only some members of its results. Embed it.
type Fields struct {
	// Only these members of each result, separated by commas, such as state,publish_at. The id is always returned; all
	// other members are left out. Absent: all.
	Fields []string `query:"fields" nullable:"false" example:"[\"state\",\"publish_at\"]"`
}

// Of returns the members that a call asks for, with the id, or nil for all. It refuses what is no member of a type.
func (f Fields) Of(of reflect.Type) ([]string, error) {
	if len(f.Fields) == 0 {
		return nil, nil
	}
	known := MembersOf(of)
	for _, name := range f.Fields {
		if !slices.Contains(known, name) {
			return nil, errs.Invalid("fields", "has %q, which is no member of the results%s", name,
				text.NearestHint(name, known))
		}
	}
	return append([]string{"id"}, f.Fields...), nil
}

// MembersOf returns the names of the members of a struct as JSON, as it declares them: those of embedded structs are in
// their places. Other types have none.
func MembersOf(of reflect.Type) (names []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// sparse returns results with some of their members only.
func sparse[T any](all []T, members []string) ([]map[string]json.RawMessage, error) {
	out := make([]map[string]json.RawMessage, 0, len(all))
	for _, v := range all {
		b, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		var full map[string]json.RawMessage
		if err := json.Unmarshal(b, &full); err != nil {
			return nil, err
		}
		some := map[string]json.RawMessage{}
		for _, name := range members {
			if value, ok := full[name]; ok {
				some[name] = value
			}
		}
		out = append(out, some)
	}
	return out, nil
}
