package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	nearest "github.com/content-automation/api/pkg/base/text"
)

// argumentTexts describe arguments by their names. A tool that takes one in another sense has its own text. What the
// instructions of the server say about confirmation and repeat is not said again.
var argumentTexts = map[string]string{
	"approval":             "pending, approved, changes_requested",
	"content_item_id":      "cnt_…",
	"content_plan_id":      "pln_…",
	"factory_id":           "factory: fac_…",
	"from_content_item_id": "cnt_… to retell",
	"hashtags":             "without the #",
	"language":             "BCP 47",
	"limit":                "1 to 50",
	"product_id":           "prd_…",
	"product_ids":          "prd_…",
	"social_account_ids":   "soc_…; default: the factory's",
	"wait_seconds":         "0 to 25",
}

// inputSchema returns the schema of the arguments of a tool.
func inputSchema[In any](t tool[In]) *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic("mcp: " + t.name + ": " + err.Error()) // the types are fixed
	}
	schema.AdditionalProperties = nil // decode refuses others, with a better text
	for name, at := range schema.Properties {
		if at.AdditionalProperties != nil && at.AdditionalProperties.Type == "" {
			at.AdditionalProperties = nil // its members may be of any type
		}
		at.Description = argumentTexts[name]
		if own := t.texts[name]; own != "" {
			at.Description = own
		}
		// A null is as good as nothing: it is left out before the arguments are checked.
		for _, one := range at.Types {
			if one != "null" {
				at.Type = one
			}
		}
		at.Types = nil
		if values := t.values[name]; at.Items != nil {
			at.Items.Enum = values
		} else {
			at.Enum = values
		}
	}
	return schema
}

// decode reads the arguments of a tool. Its errors name the argument, and say what the tool takes.
func decode[In any](tool string, schema *jsonschema.Schema, raw json.RawMessage) (in In, _ error) {
	var given object
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) > 0 {
		if err := d.Decode(&given); err != nil {
			return in, invalid("arguments", "The arguments of %s must be one JSON object.", tool)
		}
	}
	names := schema.PropertyOrder
	for name, value := range given {
		at := schema.Properties[name]
		switch {
		case at == nil && len(names) == 0:
			return in, invalid(name, "%s takes no arguments.", tool)
		case at == nil:
			if meant := nearest.Nearest(name, names); meant != "" {
				return in, invalid(name, "%s has no argument %q: did you mean %q?", tool, name, meant)
			}
			return in, invalid(name, "%s has no argument %q. It takes: %s.", tool, name, strings.Join(names, ", "))
		case value == nil:
			delete(given, name)
			continue
		}
		if members, ok := value.(object); ok && name == "query" {
			for parameter, one := range members {
				members[parameter] = joined(one)
			}
		}
		given[name] = coerced(at, value)
		if err := fits(name, at, given[name]); err != nil {
			return in, err
		}
	}
	for _, name := range schema.Required {
		if given[name] == nil {
			return in, invalid(name, "%s needs %s: %s.", tool, name, means(schema.Properties[name]))
		}
	}
	clean, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(clean, &in)
	}
	if err != nil {
		return in, invalid("arguments", "The arguments of %s cannot be read: send each as its description says.", tool)
	}
	return in, nil
}

// coerced returns a value in the type of an argument where no other can be meant. For example, agents send limit: 3 for
// the text "3", "3" for the number, and "true" for true.
func coerced(at *jsonschema.Schema, value any) any {
	text, isText := value.(string)
	switch at.Type {
	case "string":
		switch v := value.(type) {
		case json.Number, bool:
			return fmt.Sprint(v)
		case float64: // of a body, which is read without its types
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	case "integer":
		if number := json.Number(strings.TrimSpace(text)); isText {
			if _, err := number.Int64(); err == nil {
				return number
			}
		}
		if number, ok := value.(json.Number); ok {
			if whole, found := strings.CutSuffix(number.String(), ".0"); found {
				return json.Number(whole)
			}
		}
	case "boolean":
		if text == "true" || text == "false" {
			return text == "true"
		}
	case "object":
		members, ok := value.(object)
		if ok && at.AdditionalProperties != nil {
			for name, one := range members {
				members[name] = coerced(at.AdditionalProperties, one)
			}
		}
	}
	return value
}

// joined returns the values of a list as one text with commas between them, as filters take several. Other values stay.
func joined(value any) any {
	all, ok := value.([]any)
	if !ok {
		return value
	}
	texts := make([]string, 0, len(all))
	for _, one := range all {
		switch one.(type) {
		case string, json.Number, bool:
			texts = append(texts, fmt.Sprint(one))
		default:
			return value
		}
	}
	return strings.Join(texts, ",")
}

// means says what an argument is, for one that is missing.
func means(at *jsonschema.Schema) string {
	if len(at.Enum) > 0 {
		return "one of " + list(at.Enum)
	}
	return at.Description
}

// fits reports what is wrong with the value of an argument.
func fits(name string, at *jsonschema.Schema, value any) error {
	elements, isList := value.([]any)
	right := true
	switch at.Type {
	case "string":
		_, right = value.(string)
	case "integer":
		number, isNumber := value.(json.Number)
		_, err := number.Int64()
		right = isNumber && err == nil
	case "boolean":
		_, right = value.(bool)
	case "array":
		right = isList
	case "object":
		var members object
		if members, right = value.(object); right && at.AdditionalProperties != nil {
			for member, one := range members {
				if err := fits(name+"."+member, at.AdditionalProperties, one); err != nil {
					return err
				}
			}
		}
	}
	if !right {
		kinds := map[string]string{"string": "a text", "integer": "a whole number", "boolean": "true or false",
			"array": "a list", "object": "an object"}
		text := fmt.Sprintf("%s must be %s, not %.80s.", name, kinds[at.Type], encode(value))
		if at.Description != "" {
			text += " It is: " + at.Description + "."
		}
		return invalid(name, "%s", text)
	}
	if isList && at.Items != nil {
		for i, one := range elements {
			if err := fits(fmt.Sprintf("%s[%d]", name, i), at.Items, one); err != nil {
				return err
			}
		}
	}
	if len(at.Enum) > 0 && !slices.Contains(at.Enum, value) {
		var known []string
		for _, v := range at.Enum {
			known = append(known, fmt.Sprint(v))
		}
		return invalid(name, "%s: %.80s %s.", name, encode(value), nearest.NotOneOf(fmt.Sprint(value), known))
	}
	return nil
}

func list(values []any) string {
	var all []string
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return strings.Join(all, ", ")
}

// outputSchema returns the schema of structuredContent: a message of the service, and members of the data. A name ends
// with the type of its member: [] is an array, {} an object, # a number; all others are texts. An answer that asks for
// a confirmation has other members than the result, so none but the message is always there.
func outputSchema(members []string) *jsonschema.Schema {
	schema := &jsonschema.Schema{Type: "object",
		Properties: map[string]*jsonschema.Schema{"message": {Type: "string"}}}
	for _, name := range members {
		kind := "string"
		for suffix, other := range map[string]string{"[]": "array", "{}": "object", "#": "number"} {
			if strings.HasSuffix(name, suffix) {
				name, kind = strings.TrimSuffix(name, suffix), other
			}
		}
		schema.Properties[name] = &jsonschema.Schema{Type: kind}
	}
	return schema
}
