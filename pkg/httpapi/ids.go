package httpapi

import (
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
)

// idParameters returns the parameters of the query by which an input takes the id of a resource, such as factory_id.
func idParameters(in reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(in) {
		name, _, _ := strings.Cut(f.Tag.Get("query"), ",")
		if noun, ok := strings.CutSuffix(name, "_id"); ok && f.Type.Kind() == reflect.String {
			if _, known := id.Prefix(noun); known {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// checkIDs refuses a parameter of the query that takes an id and has none: a filter by it would find nothing, and the
// caller would not learn why.
func checkIDs(query url.Values, names []string) error {
	for _, name := range names {
		noun := strings.TrimSuffix(name, "_id")
		prefix, _ := id.Prefix(noun)
		if value := query.Get(name); value != "" && !id.Valid(prefix, value) {
			return errs.NotID(name, noun, value)
		}
	}
	return nil
}
