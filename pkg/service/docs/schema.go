package docs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/text"
)

// schema is the part of a JSON Schema that pages show.
type schema struct {
	Ref           string             `json:"$ref"`
	Type          any                `json:"type"` // a text, or a list of texts
	Format        string             `json:"format"`
	Pattern       string             `json:"pattern"`
	Description   string             `json:"description"`
	Properties    map[string]*schema `json:"properties"`
	Required      []string           `json:"required"`
	Items         *schema            `json:"items"`
	AllOf         []*schema          `json:"allOf"`
	AnyOf         []*schema          `json:"anyOf"`
	OneOf         []*schema          `json:"oneOf"`
	Enum          []any              `json:"enum"`
	Extensible    []any              `json:"x-extensible-enum"`
	Const         any                `json:"const"`
	Examples      []json.RawMessage  `json:"examples"`
	Default       json.RawMessage    `json:"default"`
	Minimum       *json.Number       `json:"minimum"`
	Maximum       *json.Number       `json:"maximum"`
	Multiple      *json.Number       `json:"multipleOf"`
	MinLength     *int               `json:"minLength"`
	MaxLength     *int               `json:"maxLength"`
	MinItems      *int               `json:"minItems"`
	MaxItems      *int               `json:"maxItems"`
	MaxProperties *int               `json:"maxProperties"`
	UniqueItems   bool               `json:"uniqueItems"`
	Additional    additional         `json:"additionalProperties"`

	name string // of the component
}

// additional is the schema of the values of a map. It is nil where the document has true or false.
type additional struct{ of *schema }

func (a *additional) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, &a.of)
}

// shape has the members of an object, or the objects that it can be.
type shape struct {
	Members  []member
	Variants []variant
	// Same is the place on the page that has the members of the same schema already.
	Same string
}

// Empty reports whether there is nothing to show.
func (s *shape) Empty() bool { return s == nil || len(s.Members)+len(s.Variants) == 0 && s.Same == "" }

// names lists the first three members, for a variant that has no name of its own.
func (s *shape) names() string {
	var all []string
	for _, m := range s.Members[:min(3, len(s.Members))] {
		all = append(all, m.Name)
	}
	return strings.Join(all, ", ")
}

// variant is an object that a value can be.
type variant struct {
	Name string
	Text template.HTML
	*shape
}

// member is a member of an object, or a parameter.
type member struct {
	At, Name, Type, Example string
	Required                bool
	Text                    template.HTML
	Limits                  []string
	Values                  []string
	More                    bool // values may be added
	Shape                   *shape
}

// drawing finds the shapes of one page. A schema that occurs again is a link to the first place.
type drawing struct {
	*reference
	seen map[string]string
}

// resolve follows the references of a schema.
func (r *reference) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		name, text := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:], s.Description
		of := new(schema)
		if json.Unmarshal(r.Components.Schemas[name], of) != nil {
			return s // of tests with a part of the document
		}
		if of.name = name; text != "" {
			of.Description = text
		}
		s = of
	}
	return s
}

// whole adds up the parts of a schema: those that all hold, and the one beside null. It returns the alternatives too.
func (r *reference) whole(s *schema) (all *schema, choices []*schema) {
	s = r.resolve(s)
	sum := *s
	sum.Properties, sum.Required = maps.Clone(s.Properties), slices.Clone(s.Required)
	if sum.Properties == nil {
		sum.Properties = map[string]*schema{}
	}
	add := func(part *schema) {
		of, more := r.whole(part)
		maps.Copy(sum.Properties, of.Properties)
		sum.Required = append(sum.Required, of.Required...)
		choices = append(choices, more...)
		if sum.Type == nil {
			sum.Type = of.Type
		}
		if sum.Items == nil {
			sum.Items = of.Items
		}
		if sum.Additional.of == nil {
			sum.Additional = of.Additional
		}
		if len(s.AllOf) < 2 {
			sum.name = cmp.Or(sum.name, of.name)
		}
	}
	for _, part := range s.AllOf {
		add(part)
	}
	var others []*schema
	for _, part := range slices.Concat(s.AnyOf, s.OneOf) {
		if kind, _ := part.Type.(string); kind != "null" {
			others = append(others, part)
		}
	}
	if len(others) == 1 {
		add(others[0])
		return &sum, choices
	}
	return &sum, append(choices, others...)
}

// shape returns the shape of a schema. At is the place of its owner on the page.
func (d *drawing) shape(s *schema, at string) *shape {
	all, choices := d.whole(s)
	switch {
	case all.Items != nil:
		return d.shape(all.Items, at)
	case all.Additional.of != nil && len(all.Properties) == 0:
		return d.shape(all.Additional.of, at)
	}
	if all.name != "" {
		if first, seen := d.seen[all.name]; seen {
			return &shape{Same: first}
		}
	}
	out := &shape{}
	for _, name := range slices.Sorted(maps.Keys(all.Properties)) {
		out.Members = append(out.Members, member{Name: name, At: at + "." + name,
			Required: slices.Contains(all.Required, name)})
	}
	slices.SortStableFunc(out.Members, func(a, b member) int {
		switch {
		case a.Required == b.Required:
			return 0
		case a.Required:
			return -1
		}
		return 1
	})
	if all.name != "" && len(out.Members)+len(choices) > 0 {
		d.seen[all.name] = at
	}
	for i := range out.Members {
		d.fill(&out.Members[i], all.Properties[out.Members[i].Name])
	}
	for i, one := range choices {
		if of := d.resolve(one); of.name != "" || len(of.Properties) > 0 {
			v := variant{Name: spaced(of.name), Text: d.inline(of.Description),
				shape: d.shape(one, fmt.Sprintf("%s.%d", at, i+1))}
			if v.Text == "" && v.Name == "" && !v.Empty() {
				v.Name = "With " + v.names()
			}
			if !v.Empty() {
				out.Variants = append(out.Variants, v)
			}
		}
	}
	out.share()
	return out
}

// share moves the members that all variants have in the same form to the object itself.
func (s *shape) share() {
	if len(s.Variants) < 2 {
		return
	}
	var shared []member
	for _, m := range s.Variants[0].Members {
		everywhere := true
		for _, v := range s.Variants[1:] {
			everywhere = everywhere && slices.ContainsFunc(v.Members, m.same)
		}
		if everywhere {
			shared = append(shared, m)
		}
	}
	for i := range s.Variants {
		of := s.Variants[i].shape
		of.Members = slices.DeleteFunc(of.Members, func(m member) bool {
			return slices.ContainsFunc(shared, func(other member) bool { return other.Name == m.Name })
		})
	}
	s.Members = append(s.Members, shared...)
}

// same reports whether another variant has the member in the same form. Its schema is drawn once, and is a link there.
func (m member) same(other member) bool {
	return m.Name == other.Name && m.Type == other.Type && m.Text == other.Text && m.Required == other.Required &&
		slices.Equal(m.Limits, other.Limits) && slices.Equal(m.Values, other.Values) &&
		(m.Shape.Empty() && other.Shape.Empty() || !other.Shape.Empty() && other.Shape.Same != "")
}

// fill adds to a member what its schema says.
func (d *drawing) fill(m *member, s *schema) {
	of := d.resolve(s)
	m.Type, m.Text = d.kind(of), d.inline(of.Description)
	plain := of
	for _, part := range slices.Concat(of.AllOf, of.AnyOf) { // beside null
		if part = d.resolve(part); part.Type != "null" {
			plain = part
		}
	}
	m.Limits = plain.limits()
	values := plain
	if plain.Items != nil {
		values = d.resolve(plain.Items)
		for _, limit := range values.limits() {
			m.Limits = append(m.Limits, "each: "+limit)
		}
	}
	for _, value := range slices.Concat(values.Enum, values.Extensible) {
		if value != nil {
			m.Values = append(m.Values, fmt.Sprint(value))
		}
	}
	m.More = len(values.Extensible) > 0
	for _, from := range []*schema{of, plain, values} {
		if m.Example == "" && len(from.Examples) > 0 {
			m.Example = strings.Trim(string(from.Examples[0]), `"`)
		}
	}
	m.Shape = d.shape(of, m.At)
}

// formats are the names of strings of a form.
var formats = map[string]string{"date-time": "time", "date": "date", "uri": "URL", "email": "e-mail address"}

// kind names the type of a schema.
func (d *drawing) kind(s *schema) string {
	s = d.resolve(s)
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	types, _ := s.Type.([]any)
	if one, ok := s.Type.(string); ok {
		types = []any{one}
	}
	for _, one := range types {
		switch one {
		case "array":
			of := "values"
			if s.Items != nil {
				of = d.kind(s.Items)
			}
			add("list of " + of)
		case "object":
			if s.Additional.of != nil && len(s.Properties) == 0 {
				add("map of " + d.kind(s.Additional.of))
				continue
			}
			add("object")
		case "string":
			add(cmp.Or(formats[s.Format], "string"))
		default:
			add(fmt.Sprint(one))
		}
	}
	if s.Const != nil {
		names = []string{fmt.Sprintf("%q", s.Const)}
	}
	for _, part := range slices.Concat(s.AllOf, s.OneOf, s.AnyOf) {
		if part.Ref == "" && part.Type == nil && part.Properties == nil && part.Const == nil && part.AllOf == nil {
			continue // a condition on the members
		}
		for name := range strings.SplitSeq(d.kind(part), " or ") {
			add(name)
		}
	}
	if i := slices.Index(names, "null"); i >= 0 { // it comes last
		names = append(slices.Delete(names, i, i+1), "null")
	}
	if len(names) == 0 {
		return "any value"
	}
	return strings.Join(names, " or ")
}

// limits lists what a value must fulfil.
func (s *schema) limits() (all []string) {
	add := func(format string, n any) { all = append(all, fmt.Sprintf(format, n)) }
	span := func(least, most *int, unit string) {
		switch {
		case least != nil && most != nil && *least == *most:
			add("%d "+unit, *least)
		case least != nil && most != nil && *least > 0:
			all = append(all, fmt.Sprintf("%d to %d %s", *least, *most, unit))
		case most != nil:
			add("at most %d "+unit, *most)
		case least != nil && *least > 0:
			add("at least %d "+unit, *least)
		}
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		all = append(all, fmt.Sprintf("%s to %s", *s.Minimum, *s.Maximum))
	case s.Minimum != nil:
		add("at least %s", *s.Minimum)
	case s.Maximum != nil:
		add("at most %s", *s.Maximum)
	}
	if s.Multiple != nil {
		add("a multiple of %s", *s.Multiple)
	}
	span(s.MinLength, s.MaxLength, "characters")
	span(s.MinItems, s.MaxItems, "entries")
	span(nil, s.MaxProperties, "members")
	if s.UniqueItems {
		all = append(all, "no entry twice")
	}
	switch {
	case strings.Contains(s.Pattern, `\x7F-\xA0`):
		all = append(all, "not blank", "no control characters")
	case strings.Contains(s.Pattern, `\x7F-\x9F`):
		all = append(all, "no control characters")
	case s.Pattern != "":
		add("pattern %s", s.Pattern)
	}
	if len(s.Default) > 0 {
		add("default %s", s.Default)
	}
	return all
}

// spaced writes the name of a schema in words: "Prompt item create".
func spaced(name string) string {
	words := strings.Join(text.Words(name), " ")
	return strings.ToUpper(words[:min(1, len(words))]) + words[min(1, len(words)):]
}
