package api

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Names are those that a person would give: they are not made of an operation's, say nothing twice, and end with a
// thing.
func TestNamesOfSchemasReadWell(t *testing.T) {
	ids := map[string]bool{}
	for _, r := range Routes() {
		ids[strings.ToLower(r.OperationID)] = true
	}
	bad := func(name string) string {
		words := regexp.MustCompile(`[A-Z]+[a-z0-9]*`).FindAllString(name, -1)
		switch {
		case strings.Join(words, "") != name:
			return "does not begin with a capital"
		case ids[strings.ToLower(name)]:
			return "is the name of an operation"
		case slices.Contains([]string{"Of", "By", "In", "To"}, words[len(words)-1]):
			return "ends in the middle of a phrase"
		}
		for i, w := range words[1:] {
			if w == words[i] {
				return "says " + w + " twice"
			}
			if w == "Create" && slices.Contains([]string{"Verify", "Validate", "Invite", "Update"}, words[i]) {
				return "has two verbs"
			}
		}
		return ""
	}
	for name := range Document().Components.Schemas.Map() {
		if why := bad(name); why != "" {
			t.Errorf("the schema %s %s: name it in pkg/httpapi/schema/registry.go or in enumNames", name, why)
		}
	}
	for _, name := range []string{"listAllPublicationsOrderBy", "ContentCountOf", "OwnMediaVerifyCreate"} {
		if bad(name) == "" {
			t.Errorf("%s is taken for a good name", name)
		}
	}
}

// Clients have a sentence for each type.
func TestEverySchemaHasADescription(t *testing.T) {
	for name, s := range Document().Components.Schemas.Map() {
		if s.Description == "" || strings.Contains(s.Description, "``") {
			t.Errorf("%s has the description %q: write a comment of its type", name, s.Description)
		}
	}
}

// A reader finds first what must be sent, then the rest as it is declared.
func TestMembersAreInTheOrderOfReaders(t *testing.T) {
	text, err := JSON(Document())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties json.RawMessage
				Required   []string
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for schema, first := range map[string][]string{
		"ContentItemCreateBase": {"factory_id", "kind", "language"},
		"ContentItem":           {"id", "created_at", "updated_at", "version", "metadata", "factory_id", "kind"},
		"ProductPriceInput":     {"amount", "currency"},
	} {
		d := json.NewDecoder(strings.NewReader(string(doc.Components.Schemas[schema].Properties)))
		var names []string
		_, _ = d.Token()
		for d.More() {
			name, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name.(string))
			var member json.RawMessage
			if err := d.Decode(&member); err != nil {
				t.Fatal(err)
			}
		}
		if len(names) < len(first) || !slices.Equal(names[:len(first)], first) {
			t.Errorf("%s begins with %v, want %v", schema, names[:min(8, len(names))], first)
		}
		required := doc.Components.Schemas[schema].Required
		if !slices.Equal(names[:len(required)], required) {
			t.Errorf("%s requires %v, and begins with %v", schema, required, names[:len(required)])
		}
	}
}
