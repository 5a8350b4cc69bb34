package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Known describes the resource of an operation, to explain the refusal of a member.
type Known struct {
	// Answer is the type of the resource.
	Answer reflect.Type
	// Fixed are members that cannot be sent, of the resource or not, with the alternative to each.
	Fixed map[string]string
}

// has reports whether the resource has a member of that name.
func (k Known) has(name string) bool {
	if k.Answer == nil || k.Answer.Kind() != reflect.Struct {
		return false
	}
	return slices.ContainsFunc(reflect.VisibleFields(k.Answer), func(f reflect.StructField) bool {
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return member == name
	})
}

// maxHints bounds the unknown members for which the nearest known one is looked for.
const maxHints = 20

// unexpected explains the refusal of a member of the object at a JSON pointer.
func (w *walk) unexpected(s *huma.Schema, name, at string) string {
	how := w.known.Fixed[name]
	switch {
	case w.first:
		return ""
	case at != w.top || how == "" && !w.known.has(name):
		members := slices.Sorted(maps.Keys(s.Properties))
		if w.hints++; w.hints > maxHints {
			name = "" // which is near to none
		}
		return Unknown("is not a member", name, "The members are ", members)
	case w.patch && how != "":
		return "cannot be changed: " + how
	case w.patch:
		return "cannot be changed"
	case how != "":
		return "cannot be set here: " + how
	}
	return "cannot be set here; leave it out"
}

// longestSample bounds a sample in a message, in bytes.
const longestSample = 120

// missing returns the message about a member that is required and was not sent: with all values of a closed list, or
// with a value of the member, if there is one that is short.
func (c *Checker) missing(member *huma.Schema) string {
	if member.Type == huma.TypeArray {
		if items := c.resolve(member.Items); items != nil && len(items.Enum) > 0 {
			return isRequired + ": a list of " + valuesOf(items.Enum)
		}
	}
	if len(member.Enum) > 0 {
		return isRequired + ": one of " + valuesOf(member.Enum)
	}
	text, err := json.Marshal(c.sample(member))
	if err != nil || string(text) == "null" || len(text) > longestSample {
		return isRequired
	}
	return isRequired + ", such as " + string(text)
}

// valuesOf lists the values of an enumeration.
func valuesOf(values []any) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// show asks for a sample of a schema, or returns an empty text if there is none.
func (c *Checker) show(s *huma.Schema) string {
	sample := c.sample(s)
	text, err := json.Marshal(sample)
	if sample == nil || err != nil {
		return ""
	}
	return ": send " + string(text)
}

// sample returns a value by the examples of a schema and its required members, or nil if some have none.
func (c *Checker) sample(s *huma.Schema) any {
	s = c.resolve(s)
	switch {
	case s == nil:
		return nil
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Required) == 0:
		return nil
	}
	object := map[string]any{}
	for _, name := range s.Required {
		if object[name] = c.sample(s.Properties[name]); object[name] == nil {
			return nil
		}
	}
	return object
}
