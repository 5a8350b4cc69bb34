package schema

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/content-automation/api/pkg/base/errs"
)

// Ruled is a body with rules that its schema does not state. Their violations are reported together with violations of
// the schema, so the rules must accept a body with missing members. A body that fits the schema is left to its
// operation.
type Ruled interface{ Rules() error }

// AddRules adds the violated rules of a body of a type to the faults that were found.
func (c *Checker) AddRules(body reflect.Type, tree any, found []errs.Detail) []errs.Detail {
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
	text, err := json.Marshal(c.strip(c.root, tree))
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
	for _, d := range e.Details[:min(len(e.Details), maxProblems)] {
		// A rule knows the other members: it says 10 to 60 of a short video where the schema says at most 180.
		same := slices.IndexFunc(found, func(p errs.Detail) bool { return p.Param == d.Param && ofForm(p.Message) })
		if same >= 0 {
			found[same] = d
			continue
		}
		if !slices.ContainsFunc(told, func(p errs.Detail) bool { return isWithin(p.Param, d.Param) }) {
			found = append(found, d)
		}
	}
	return found
}

// Strip returns a body without the members that the schema does not know.
func (c *Checker) Strip(tree any) any { return c.strip(c.root, tree) }

// strip returns a value without the members that its schema does not know, and without the entries above the most. The
// decoder would take one for another that differs in case.
func (c *Checker) strip(s *huma.Schema, value any) any {
	if s = c.resolve(s); s != nil && len(s.OneOf) > 0 {
		s = c.alternative(s, value)
	}
	if s == nil {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		known := map[string]any{}
		for name, member := range v {
			one := s.Properties[name]
			if one == nil {
				one, _ = s.AdditionalProperties.(*huma.Schema)
			}
			if one != nil || s.AdditionalProperties != false {
				known[name] = c.strip(one, member)
			}
		}
		return known
	case []any:
		v = bounded(s, v)
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = c.strip(s.Items, item)
		}
		return items
	}
	return value
}

// isWithin reports whether a fault at a JSON pointer concerns a member, a part of it, or a value that contains it.
func isWithin(at, member string) bool {
	shorter, longer := at, member
	if len(longer) < len(shorter) {
		shorter, longer = longer, shorter
	}
	rest, ok := strings.CutPrefix(longer, shorter)
	return ok && strings.HasPrefix(at, "/") && (rest == "" || rest[0] == '/')
}

// ofForm reports whether a message is about the bounds or the form of a value, or says no more than that it is missing.
// Of a value of the wrong type rules see nothing.
func ofForm(message string) bool {
	return message == isRequired || strings.HasPrefix(message, mustBe) && !slices.ContainsFunc([]string{
		validation.MsgExpectedBoolean, validation.MsgExpectedNumber, validation.MsgExpectedInteger,
		validation.MsgExpectedString, validation.MsgExpectedArray, validation.MsgExpectedObject,
	}, func(text string) bool { return strings.HasPrefix(message, text) })
}
