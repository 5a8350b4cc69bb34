package main

import (
	"slices"
	"strings"

	"github.com/content-automation/api/clients/internal/form"
	"github.com/content-automation/api/pkg/base/text"
)

// Fields that are the same in all operations.
var (
	n8nReturnAll = props{{"displayName", "Return All"}, {"name", "returnAll"}, {"type", "boolean"}, {"default", false},
		{"description", "Whether to return all results or only up to a given limit"},
		{"routing", props{{"send", props{{"type", "query"}, {"property", "limit"}, {"value", "={{ $value ? 100 : 50 }}"}}}}}}
	n8nLimit = props{{"displayName", "Limit"}, {"name", "limit"}, {"type", "number"},
		{"typeOptions", props{{"minValue", 1}}}, {"default", 50}, {"description", "Max number of results to return"},
		{"routing", props{
			{"send", props{{"type", "query"}, {"property", "limit"}, {"value", "={{ Math.min($value, 100) }}"}}},
			{"output", props{{"maxResults", "={{ $value }}"}}}}}}
	n8nIdempotency = props{{"displayName", "Idempotency Key"}, {"name", "idempotencyKey"}, {"type", "string"},
		{"default", ""}, {"description", "Requests with the same key have one effect, for 24 hours. Set it to what identifies " +
			"the input, such as the ID of a row, so that a new execution for the same row does not repeat the effect. Without " +
			"it, the repeats of this step in the same execution share a key."}}
	n8nVersion = props{{"displayName", "If Version"}, {"name", "ifVersion"}, {"type", "number"}, {"default", 0},
		{"description", "Makes the change only if the resource still has this version"}}
)

// n8nTime takes a time without a zone in the zone of the workflow, as the editor shows it. The API names what it cannot
// read.
const n8nTime = "={{ $value ? DateTime.fromISO(String($value), { zone: $now.zoneName }).toUTC().toISO() ?? $value : $value }}"

// n8nFirst are the members of bodies that are fields of their own although they are not required: nearly all who use
// the operation fill them in. An empty one is not sent.
var n8nFirst = map[string][]string{"createContentItem": {"prompt"}}

const n8nUnlessEmpty = "={{ $value || undefined }}"

// n8nDates are times that may also be words, such as next_slot. The editor shows a calendar for them, and an expression
// may give the word.
var n8nDates = []string{"publish_at"}

// member is a member of a body as a field of the node.
type member struct {
	field    props
	property string
	required bool
	// A variant of the body has the member: that with one of the values of the field tag.
	tag    string
	values array
}

// optional returns the field in a collection of optional fields.
func (m member) optional() props {
	if m.tag == "" {
		return m.field
	}
	return m.field.insert("displayOptions", props{{"show", props{{"/" + m.tag, m.values}}}})
}

// required makes a field one that must be filled in.
func (w *n8n) required(field props) props {
	if field.get("type") == "boolean" {
		return field
	}
	return field.insert("required", true)
}

// param returns the field of a parameter of the path. The function prepare of the node puts it there.
func (w *n8n) param(p form.Param) props {
	if list := w.lists[p.Name]; list != "" {
		return w.locator(p.Name, p.Doc, nil)
	}
	return props{{"displayName", n8nTitle(p.Name)}, {"name", p.Name}, {"type", "string"}, {"default", ""},
		{"description", n8nDoc(p.Doc)}}
}

// query returns the field of a parameter of the query.
func (w *n8n) query(p form.Param) props {
	return w.field(n8nName(p.Name), p.Name, p.Doc, p.Type, "query")
}

// body returns the members of a body as fields. The members of a required object without variants are fields, too.
func (w *n8n) body(o form.Operation) (all []member) {
	if o.Body == nil {
		return nil
	}
	t := w.resolve(*o.Body)
	if t == nil { // a body without members
		return nil
	}
	if len(t.Variants) == 0 {
		return w.members(t, "", "", nil)
	}
	// Members that all variants have alike come first; the others are shown with the value that they are for.
	at := map[string]int{}
	var values array
	for _, v := range t.Variants {
		values = append(values, v.Value)
	}
	all = append(all, member{field: w.choice(t), property: t.Tag, required: true})
	for _, v := range t.Variants {
		for _, m := range w.members(w.types[v.Type], "", n8nName(t.Tag), array{v.Value}) {
			if m.property == t.Tag {
				continue
			}
			key := literal("", m.field)
			if i, ok := at[key]; ok {
				all[i].values = append(all[i].values, v.Value)
				continue
			}
			at[key] = len(all)
			all = append(all, m)
		}
	}
	for i := range all {
		if len(all[i].values) == len(values) {
			all[i].tag = ""
		}
	}
	return all
}

// choice returns the field that tells the variants of a body apart.
func (w *n8n) choice(t *form.Type) props {
	doc := ""
	for _, m := range w.types[t.Variants[0].Type].Members {
		if m.Name == t.Tag {
			doc = m.Doc
		}
	}
	var values []string
	for _, v := range t.Variants {
		values = append(values, v.Value)
	}
	return props{{"displayName", n8nTitle(n8nName(t.Tag))}, {"name", n8nName(t.Tag)}, {"type", "options"},
		{"options", n8nOptions(values)},
		{"default", n8nOptions(values)[0].(props).get("value")}, {"description", n8nDoc(doc)},
		{"routing", n8nSend("body", t.Tag)}}
}

// n8nName returns the name of the field of a property. A name has no dots, and the node itself has some names.
func n8nName(property string) string {
	if slices.Contains([]string{"resource", "operation", "action", "returnAll", "limit", "requestOptions"}, property) {
		return "api_" + property
	}
	return strings.ReplaceAll(property, ".", "__")
}

// members returns the members of an object as fields.
func (w *n8n) members(t *form.Type, prefix, tag string, values array) (all []member) {
	for _, m := range t.Members {
		inner := w.resolve(m.Type)
		if m.Required && prefix == "" && m.Name != "body" && inner != nil && len(inner.Members) > 0 {
			all = append(all, w.members(inner, m.Name+".", tag, values)...)
			continue
		}
		property := prefix + m.Name
		all = append(all, member{property: property, required: m.Required, tag: tag, values: values,
			field: w.field(n8nName(property), property, m.Doc, m.Type, "body")})
	}
	return all
}

// resolve returns the named type of a use, behind other names of it.
func (w *n8n) resolve(r form.Ref) *form.Type {
	for r.Kind == form.Named {
		t := w.types[r.Name]
		if t.Alias == nil {
			return t
		}
		r = *t.Alias
	}
	return nil
}

// bare returns the use of a type behind other names of it.
func (w *n8n) bare(r form.Ref) form.Ref {
	for r.Kind == form.Named && w.types[r.Name].Alias != nil {
		r = *w.types[r.Name].Alias
	}
	return r
}

// n8nSend returns the routing of a field into the body or the query, with functions that change its value there.
func n8nSend(place, property string, preSend ...any) props {
	send := props{{"type", place}, {"property", property}}
	if strings.Contains(property, "[") {
		send = append(send, entry{"propertyInDotNotation", false})
	}
	if len(preSend) > 0 {
		send = append(send, entry{"preSend", array(preSend)})
	}
	return props{{"send", send}}
}

// long are the members whose texts have several lines.
var long = []string{"prompt", "script", "caption", "description", "brief", "text", "message"}

// field returns the field of a member of the body or of a parameter of the query.
func (w *n8n) field(name, property, doc string, r form.Ref, place string) props {
	r = w.bare(r)
	if id := strings.TrimSuffix(property, "s"); r.Kind == form.List && w.lists[id] != "" &&
		!strings.Contains(w.lists[id], "{") {
		w.loaded[id] = true
		return props{{"displayName", n8nTitle(strings.TrimSuffix(id, "_id")) + " Names or IDs"}, {"name", name},
			{"type", "multiOptions"}, {"typeOptions", props{{"loadOptionsMethod", "load" +
				text.Pascal(strings.TrimSuffix(id, "_id"))}}}, {"default", array{}}, {"description", n8nChoose},
			{"routing", n8nSend(place, property, w.shape("list", place, property))}}
	}
	if w.lists[property] != "" && !strings.Contains(w.lists[property], "{") {
		return w.locator(property, doc, n8nSend(place, property))
	}
	kind, shape := w.kind(r, place)
	if slices.Contains(n8nDates, property) && shape != "time" {
		kind, shape = props{{"type", "dateTime"}, {"default", ""}}, "time"
		doc = strings.TrimSuffix(doc, ".") + ". A word is given as an expression, such as {{ 'next_slot' }}"
	}
	field := props{{"displayName", n8nTitle(name)}, {"name", name}}
	field = append(field, kind...)
	if strings.Contains(property, "color") && shape == "list" {
		// A text with such a name would have to be one color.
		field[2].value, field[3].value, shape = "json", "[]", "json"
	}
	doc = n8nFieldDoc(doc, kind.get("type").(string), shape, w.hint(r))
	if slices.Contains(long, property) && kind.get("type") == "string" {
		field = field.insert("typeOptions", props{{"rows", 4}})
	}
	if secret(property) {
		field = field.insert("typeOptions", props{{"password", true}})
	}
	field = append(field, entry{"description", doc})
	if shape == "time" {
		send := n8nSend(place, property)
		send[0].value = append(send[0].value.(props), entry{"value", n8nTime})
		return append(field, entry{"routing", send})
	}
	if shape == "" {
		return append(field, entry{"routing", n8nSend(place, property)})
	}
	return append(field, entry{"routing", n8nSend(place, property, w.shape(shape, place, property))})
}

// secret reports whether the name of a text is that of one which n8n hides: the linter of n8n wants it for such names,
// and the document has them with the format password.
func secret(property string) bool {
	words := strings.Split(property, "_")
	hidden := []string{"password", "passphrase", "secret", "token"}
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(hidden, word) }) ||
		words[len(words)-1] == "key" && property != "idempotency_key"
}

// shape returns the call of a function of the node that gives a value its form in the request.
func (w *n8n) shape(name, place, property string) any {
	if place == "query" {
		switch name {
		case "list":
			name = "joined"
		case "json":
			name = "pairs"
		}
	}
	w.used[name] = true
	return code(name + "('" + property + "')")
}

// kind returns the type of the field for a type, its default and its choice, and the function for its form.
func (w *n8n) kind(r form.Ref, place string) (props, string) {
	switch r.Kind {
	case form.Integer, form.Number:
		return props{{"type", "number"}, {"default", 0}}, ""
	case form.Boolean:
		return props{{"type", "boolean"}, {"default", false}}, ""
	case form.Time:
		return props{{"type", "dateTime"}, {"default", ""}}, "time"
	case form.String:
		return props{{"type", "string"}, {"default", ""}}, ""
	case form.Const:
		return props{{"type", "options"}, {"options", n8nOptions([]string{r.Name})}, {"default", r.Name}}, ""
	case form.Named:
		if values := w.types[r.Name].Values; len(values) > 0 {
			options := n8nOptions(values)
			return props{{"type", "options"}, {"options", options}, {"default", options[0].(props).get("value")}}, ""
		}
	case form.List:
		of := w.bare(*r.Of)
		if of.Kind == form.Named && len(w.types[of.Name].Values) > 0 {
			return props{{"type", "multiOptions"}, {"options", n8nOptions(w.types[of.Name].Values)}, {"default", array{}}}, "list"
		}
		if of.Kind == form.String || of.Kind == form.Choice {
			return props{{"type", "string"}, {"default", ""}}, "list"
		}
		return props{{"type", "json"}, {"default", "[]"}}, "json"
	}
	return props{{"type", "json"}, {"default", "{}"}}, "json"
}

// hint names the members of an object, or of the objects of a list, for a field of JSON.
func (w *n8n) hint(r form.Ref) string {
	if r.Kind == form.List {
		r = *r.Of
	}
	t := w.resolve(r)
	if t == nil || len(t.Members) == 0 {
		return ""
	}
	var names []string
	for _, m := range t.Members {
		if m.Required {
			names = append(names, m.Name+" (required)")
		} else {
			names = append(names, m.Name)
		}
	}
	return "Members: " + strings.Join(names, ", ")
}

// locator returns a field that finds a resource in a list, or takes its id.
func (w *n8n) locator(id, doc string, routing props) props {
	name := strings.TrimSuffix(id, "_id")
	description := n8nDoc(doc)
	if description == "" || strings.EqualFold(description, n8nTitle(name)) { // the linter of n8n refuses a repeat
		description = n8nTitle(name) + " to use"
	}
	field := props{{"displayName", n8nTitle(name)}, {"name", id}, {"type", "resourceLocator"},
		{"default", props{{"mode", "list"}, {"value", ""}}}, {"modes", array{
			props{{"displayName", "From List"}, {"name", "list"}, {"type", "list"}, {"typeOptions", props{
				{"searchListMethod", "search" + text.Pascal(name)}, {"searchable", true}}}},
			props{{"displayName", "By ID"}, {"name", "id"}, {"type", "string"}},
		}}, {"description", description}}
	if routing != nil {
		field = append(field, entry{"routing", routing})
	}
	return field
}
