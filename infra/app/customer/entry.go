package customer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// readEntry reads the customer's entry in cdk.json, one member at a time, so that the error
// names every wrong member.
func (s *Settings) readEntry(entry json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(entry, &members); err != nil {
		return fmt.Errorf("the entry of customer %s in cdk.json is not an object of settings", s.Customer)
	}
	return s.readMembers(members, "in cdk.json")
}

// readMembers reads settings, which are given where the error says.
func (s *Settings) readMembers(members map[string]json.RawMessage, where string) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(settingNames(), name) {
			wrong = append(wrong, fmt.Sprintf("there is no setting %s", name))
			continue
		}
		member, err := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if err != nil {
			return err
		}
		d := json.NewDecoder(bytes.NewReader(member))
		d.DisallowUnknownFields()
		if err := d.Decode(s); err != nil {
			wrong = append(wrong, name+" "+reason(err))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the settings of customer %s %s: %s; the settings are %s", s.Customer, where,
			strings.Join(wrong, ", "), strings.Join(settingNames(), ", "))
	}
	return nil
}

// reason describes the error in the value of a member.
func reason(err error) string {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return "cannot be read (" + strings.TrimPrefix(err.Error(), "json: ") + ")"
	}
	kinds := map[reflect.Kind]string{
		reflect.String: "text", reflect.Int: "a number", reflect.Bool: "true or false", reflect.Slice: "a list",
	}
	want, ok := kinds[mistyped.Type.Kind()]
	if !ok {
		want = "an object"
	}
	return "must be " + want + ", not a JSON " + mistyped.Value
}

// settingFields returns the fields of the settings that an entry may have.
func settingFields() []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[Settings]()), func(f reflect.StructField) bool {
		return f.Tag.Get("json") == "-" || f.Anonymous
	})
}

// settingNames returns the settings that an entry may have, sorted.
func settingNames() []string {
	var all []string
	for _, f := range settingFields() {
		all = append(all, f.Tag.Get("json"))
	}
	slices.Sort(all)
	return all
}

// decode converts a context value, which the CLI may have passed as text, to its type.
func decode[T any](value any) (T, error) {
	var out T
	if text, ok := value.(string); ok {
		return out, json.Unmarshal([]byte(text), &out)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(data, &out)
}
