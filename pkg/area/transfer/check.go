package transfer

import (
	"maps"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// checkers check the resources of lines, by their types.
var checkers sync.Map

// checker returns the checker of a type. Its members may be absent, and there may be others: the line may be of an
// older or a newer version of the service.
func checker(t reflect.Type) *schema.Checker {
	if c, ok := checkers.Load(t); ok {
		return c.(*schema.Checker)
	}
	schemas := schema.NewRegistry()
	root := schemas.Schema(t, true, "")
	c := schema.NewChecker(schemas, root, false, schema.Known{})
	for _, s := range schemas.Map() {
		loosen(s)
	}
	checkers.Store(t, c)
	return c
}

func loosen(s *huma.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	if s.AdditionalProperties == false {
		s.AdditionalProperties = nil
	}
	s.PrecomputeMessages()
	for _, m := range s.Properties {
		if m.Ref == "" {
			loosen(m)
		}
	}
}

// present returns a JSON value without members that are null.
func present(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = present(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, m any) bool { return m == nil })
		for name := range v {
			v[name] = present(v[name])
		}
	}
	return v
}

// parse checks the data of a line against the schema of its type, and returns it as a tree.
func parse(k kind, data []byte) (map[string]any, error) {
	parsed, err := jsontree.Parse(data)
	tree, ok := present(parsed).(map[string]any)
	if err != nil || !ok {
		return nil, errs.Wrap(err, errs.MalformedJSON, "data is no JSON object.")
	}
	if faults := checker(k.of).Check(any(tree)); len(faults) > 0 {
		return nil, schema.Invalid(faults)
	}
	return tree, nil
}
