package humafix

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
)

// Ruled is a body with rules that its schema does not state. Their violations are reported together with violations of
// the schema, so the rules must accept a body with missing members. A body that fits the schema is left to its
// operation.
type Ruled interface{ Rules() error }

// broken adds the violated rules of a body to the faults that were found.
func (c *checker) broken(body reflect.Type, tree any, found []error) []error {
	if body.Kind() == reflect.Pointer {
		body = body.Elem()
	}
	v := reflect.New(body).Interface()
	ruled, ok := v.(Ruled)
	if !ok {
		return found
	}
	if _, ok := tree.(map[string]any); !ok {
		return found // reported already
	}
	text, err := json.Marshal(c.strip(c.schema, tree))
	if err != nil {
		return found
	}
	// A member of the wrong type is omitted. It is reported already.
	var wrong *json.UnmarshalTypeError
	if err := json.Unmarshal(text, v); err != nil && !errors.As(err, &wrong) {
		return found
	}
	err = ruled.Rules()
	if err == nil {
		return found
	}
	e := errs.As(err)
	if e.Details == nil {
		e = errs.InvalidFields(errs.Detail{Param: e.Param, Message: e.Message})
	}
	told := slices.Clone(found)
	for _, d := range e.Details {
		if !slices.ContainsFunc(told, func(p error) bool { return isWithin(p, d.Param) }) {
			found = append(found, problem(d))
		}
	}
	return found
}

// strip returns a value without the members that its schema does not know. The decoder would take one for another that
// differs in case.
func (c *checker) strip(schema *huma.Schema, value any) any {
	schema = c.branch(schema, value)
	if schema == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		known := map[string]any{}
		for name, member := range v {
			one := schema.Properties[name]
			if one == nil {
				one, _ = schema.AdditionalProperties.(*huma.Schema)
			}
			if one != nil || schema.AdditionalProperties != false {
				known[name] = c.strip(one, member)
			}
		}
		return known
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.strip(schema.Items, item)
		}
		return items
	}
	return value
}

// isWithin reports whether a problem concerns a member, a part of it, or a value that contains it.
func isWithin(p error, param string) bool {
	d, ok := p.(problem)
	return ok && strings.HasPrefix(d.Param, "/") && (strings.HasPrefix(d.Param+"/", param+"/") ||
		strings.HasPrefix(param+"/", d.Param+"/"))
}
