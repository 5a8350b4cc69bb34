package humafix

import (
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	clip "github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
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

// isUnexpected reports whether an error of huma's is about an unknown member.
func isUnexpected(cause error) bool {
	d, ok := cause.(huma.ErrorDetailer)
	return ok && d.ErrorDetail().Message == validation.MsgUnexpectedProperty
}

// locationOf returns the location of an error of huma's. Its text would include the whole value.
func locationOf(cause error) string {
	if d, ok := cause.(huma.ErrorDetailer); ok {
		return d.ErrorDetail().Location
	}
	return ""
}

// unexpected explains the refusal of the member at a pointer in a value.
func (c *checker) unexpected(value any, pointer string) string {
	above, name := cutLast(pointer)
	schema, _ := c.at(value, above)
	if above == "" && (c.known.has(name) || c.known.Fixed[name] != "") {
		switch how := c.known.Fixed[name]; {
		case c.patch && how != "":
			return "cannot be changed: " + how
		case c.patch:
			return "cannot be changed"
		case how != "":
			return "cannot be set here: " + how
		}
		return "cannot be set here; leave it out"
	}
	if schema == nil {
		return unknownMember
	}
	return unknown(unknownMember, name, "The members are ", slices.Sorted(maps.Keys(schema.Properties)))
}

// cutLast returns a pointer without its last part, and that part.
func cutLast(pointer string) (above, name string) {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return "", pointer
	}
	return pointer[:i], jsontree.Unescape(pointer[i+1:])
}

// at returns the schema and the value at a pointer in a value.
func (c *checker) at(value any, pointer string) (*huma.Schema, any) {
	schema := c.branch(c.schema, value)
	if pointer == "" {
		return schema, value
	}
	for part := range strings.SplitSeq(pointer[1:], "/") {
		schema, value = c.step(schema, value, jsontree.Unescape(part))
	}
	return schema, value
}

// advice shows an object where one was not sent, or was sent empty. It returns an empty text for other faults.
func (c *checker) advice(value any, pointer, message string) string {
	above, _ := cutLast(pointer)
	switch {
	case pointer != "" && strings.HasPrefix(message, validation.MsgExpectedObject):
		if schema, _ := c.at(value, pointer); schema != nil {
			return show(c.sample(schema))
		}
	case message == isRequired:
		schema, sent := c.at(value, above)
		if object, ok := sent.(map[string]any); ok && len(object) == 0 && schema != nil && len(schema.Required) == 1 {
			return show(c.sample(schema))
		}
	}
	return ""
}

// show asks for a sample, or returns an empty text if there is none.
func show(sample any) string {
	text, err := json.Marshal(sample)
	if sample == nil || err != nil {
		return ""
	}
	return ": send " + string(text)
}

// sample returns a value by the examples of a schema and its required members, or nil if some have none.
func (c *checker) sample(schema *huma.Schema) any {
	schema = c.resolve(schema)
	switch {
	case schema == nil:
		return nil
	case len(schema.Examples) > 0:
		return schema.Examples[0]
	case len(schema.Required) == 0:
		return nil
	}
	object := map[string]any{}
	for _, name := range schema.Required {
		if object[name] = c.sample(schema.Properties[name]); object[name] == nil {
			return nil
		}
	}
	return object
}

const unknownMember = "is not a member"

// step returns the schema and the value of a part of a value.
func (c *checker) step(schema *huma.Schema, value any, part string) (*huma.Schema, any) {
	if schema == nil {
		return nil, nil
	}
	switch v := value.(type) {
	case map[string]any:
		member := schema.Properties[part]
		if member == nil {
			member, _ = schema.AdditionalProperties.(*huma.Schema)
		}
		return c.branch(member, v[part]), v[part]
	case []any:
		if i, err := strconv.Atoi(part); err == nil && i < len(v) {
			return c.branch(schema.Items, v[i]), v[i]
		}
	}
	return nil, nil
}

// branch resolves a schema, and chooses the alternative that fits the value best: by the discriminator, or by its known
// members.
func (c *checker) branch(schema *huma.Schema, value any) *huma.Schema {
	schema = c.resolve(schema)
	if schema == nil || len(schema.OneOf)+len(schema.AnyOf) == 0 {
		return schema
	}
	object, _ := value.(map[string]any)
	if d := schema.Discriminator; d != nil {
		kind, _ := object[d.PropertyName].(string)
		if ref, ok := d.Mapping[kind]; ok {
			return c.schemas.SchemaFromRef(ref)
		}
	}
	var best *huma.Schema
	most := -1
	for _, s := range slices.Concat(schema.OneOf, schema.AnyOf) {
		s = c.branch(s, value)
		n := 0
		for name := range object {
			if s.Properties[name] != nil {
				n++
			}
		}
		if n > most && s.Type != "null" {
			best, most = s, n
		}
	}
	return best
}

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
func parameters(query url.Values, o *huma.Operation) []error {
	var names, objects []string
	for _, p := range o.Parameters {
		switch {
		case p.In == "query" && p.Style == "deepObject":
			names, objects = append(names, p.Name+"[…]"), append(objects, p.Name)
		case p.In == "query":
			names = append(names, p.Name)
		}
	}
	var found []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(found) == mostParameters {
			break
		}
		p := problem{Param: clip.ClipText(name, mostName)}
		switch values := query[name]; {
		case slices.Contains(objects, name):
			p.Message = "takes the name of a pair in brackets: " + name + "[order]=4711"
		case !slices.Contains(names, name) && !memberOf(objects, name):
			p.Message = unknown("is not a parameter of this operation", p.Param, "It takes ", names)
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
