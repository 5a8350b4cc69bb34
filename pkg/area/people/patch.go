package people

import (
	"encoding/json"
	"strings"
)

// operation is one operation of a PATCH.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// patch is the body of a PATCH.
type patch struct {
	Operations []operation `json:"Operations"`
}

// maxOperations bounds the operations of a PATCH.
const maxOperations = 100

// each calls set for each attribute that the operations change. An operation without a path has an object of
// attributes. Removed attributes have no value.
func (p patch) each(set func(op, path string, value json.RawMessage) error) error {
	if len(p.Operations) == 0 || len(p.Operations) > maxOperations {
		return invalid("invalidSyntax", "Operations must have 1 to 100 operations.")
	}
	for _, o := range p.Operations {
		op := strings.ToLower(o.Op) // Entra ID writes Add, Replace and Remove
		if op != "add" && op != "replace" && op != "remove" {
			return invalid("invalidSyntax", "op must be add, replace or remove.")
		}
		if o.Path != "" {
			if err := set(op, o.Path, o.Value); err != nil {
				return err
			}
			continue
		}
		var members map[string]json.RawMessage
		if op == "remove" || json.Unmarshal(o.Value, &members) != nil {
			return invalid("noTarget", "An operation without a path needs an object as its value.")
		}
		for path, value := range members {
			if err := set(op, path, value); err != nil {
				return err
			}
		}
	}
	return nil
}

func scimText(value json.RawMessage) (string, error) {
	var s string
	if len(value) > 0 && json.Unmarshal(value, &s) != nil {
		return "", invalid("invalidValue", "The value must be a text.")
	}
	return s, nil
}

// truth reads a boolean. Entra ID writes it as the text "True" or "False".
func truth(value json.RawMessage) (bool, error) {
	switch strings.ToLower(strings.Trim(string(value), `"`)) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, invalid("invalidValue", "active must be true or false.")
}

// filter is a filter of the form attribute eq "value". The zero filter passes everything.
type filter struct{ attribute, value string }

// parseFilter reads a filter. Directories look for one resource at a time.
func parseFilter(s string, attributes ...string) (f filter, err error) {
	if s == "" {
		return f, nil
	}
	i := strings.Index(strings.ToLower(s), " eq ")
	if i >= 0 {
		f.attribute = strings.ToLower(strings.TrimSpace(s[:i]))
		err = json.Unmarshal([]byte(strings.TrimSpace(s[i+len(" eq "):])), &f.value)
		for _, known := range attributes {
			if err == nil && f.attribute == strings.ToLower(known) {
				return f, nil
			}
		}
	}
	return f, invalid("invalidFilter", "The filter must compare one of "+strings.Join(attributes, ", ")+
		" by eq with a text.")
}
