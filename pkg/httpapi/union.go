package httpapi

import (
	"maps"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// schemaPath is the location of schemas in the document.
const schemaPath = "#/components/schemas/"

// Unevaluated is a word of JSON Schema that huma lacks: whether an object that is described in parts may have other
// members.
const Unevaluated = "unevaluatedProperties"

// RefTo returns a reference to the schema of a name.
func RefTo(name string) *huma.Schema { return &huma.Schema{Ref: schemaPath + name} }

// PascalCase turns words such as "content.generated" and "not_found" into the name of a schema.
func PascalCase(words string) string {
	var b strings.Builder
	for word := range strings.FieldsFuncSeq(words, func(r rune) bool { return r == '.' || r == '_' }) {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

// Variant is one variant of a union.
type Variant struct {
	// Value is the value of the discriminating member.
	Value string
	// Name is the name of the variant's schema, and Description its description.
	Name, Description string
	// Members are the members that it has in addition to those of all variants.
	Members  map[string]*huma.Schema
	Required []string
	// Closed refuses other members.
	Closed bool
}

// Union adds one schema for each variant to the document, which extends the schema base, and describes the choice
// between them by the value of a member.
func Union(schemas map[string]*huma.Schema, base, member string, variants []Variant) *huma.Schema {
	union := &huma.Schema{Discriminator: &huma.Discriminator{PropertyName: member, Mapping: map[string]string{}}}
	for _, v := range variants {
		schemas[v.Name] = v.extend(base, member, schemas[base].Properties[member].Description)
		union.OneOf = append(union.OneOf, RefTo(v.Name))
		union.Discriminator.Mapping[v.Value] = schemaPath + v.Name
	}
	if len(variants) == 1 {
		return union.OneOf[0]
	}
	return union
}

func (v Variant) extend(base, member, doc string) *huma.Schema {
	own := &huma.Schema{
		Type: huma.TypeObject, Required: append([]string{member}, v.Required...),
		// An enumeration of one value is used, since not all generators combine a constant with the enumeration of all
		// values in base.
		Properties: map[string]*huma.Schema{member: {Type: huma.TypeString, Enum: []any{v.Value}, Description: doc}},
	}
	maps.Copy(own.Properties, v.Members)
	s := &huma.Schema{Description: v.Description, AllOf: []*huma.Schema{RefTo(base), own}}
	if v.Closed {
		s.Extensions = map[string]any{Unevaluated: false}
	}
	return s
}
