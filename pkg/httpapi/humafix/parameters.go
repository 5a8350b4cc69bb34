package humafix

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// memberOf reports whether the name of a parameter is that of a member of one of the objects, such as metadata[order].
func memberOf(objects []string, name string) bool {
	object, member, found := strings.Cut(name, "[")
	member, closed := strings.CutSuffix(member, "]")
	return found && closed && member != "" && !strings.ContainsAny(member, "[]") && slices.Contains(objects, object)
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
		case !slices.Contains(names, name) && !memberOf(objects, name):
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
