package fuzz

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// step leads from a schema to a schema inside it.
type step struct {
	// name is the name of a member. "[]" stands for an item of a list, "*" for a member with any name, and "|" for
	// the choice of an alternative.
	name string
	n    int // of the alternative
}

// members returns the ways to all members, items and pairs that a body may have.
func (d *document) members(s object) (found [][]step) {
	var walk func(s object, way []step, within []string)
	walk = func(s object, way []step, within []string) {
		if ref, ok := s["$ref"].(string); ok {
			if slices.Contains(within, ref) {
				return
			}
			within = append(slices.Clone(within), ref)
		}
		s = d.flat(s)
		for n, one := range alternatives(s) {
			walk(one, to(way, step{"|", n}), within)
		}
		properties, _ := s["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			found = append(found, to(way, step{name: name}))
			walk(properties[name].(object), found[len(found)-1], within)
		}
		for word, name := range map[string]string{"items": "[]", "additionalProperties": "*"} {
			if one, ok := s[word].(object); ok {
				found = append(found, to(way, step{name: name}))
				walk(one, found[len(found)-1], within)
			}
		}
	}
	walk(s, nil, nil)
	return found
}

func to(way []step, next step) []step { return append(slices.Clone(way), next) }

// alternatives returns the schemas that a value may have.
func alternatives(s object) (all []object) {
	for _, word := range []string{"oneOf", "anyOf"} {
		list, _ := s[word].([]any)
		for _, one := range list {
			all = append(all, one.(object))
		}
	}
	return all
}

// flat resolves a schema, and puts the parts of allOf into one.
func (d *document) flat(s object) object {
	s = d.resolve(s)
	parts, ok := s["allOf"].([]any)
	if !ok {
		return s
	}
	one := maps.Clone(s)
	delete(one, "allOf")
	properties, required := object{}, []any{}
	for _, part := range append(slices.Clone(parts), any(one)) {
		p := part.(object)
		if _, again := p["allOf"]; again || p["$ref"] != nil {
			p = d.flat(p)
		}
		for word, value := range p {
			switch word {
			case "properties":
				maps.Copy(properties, value.(object))
			case "required":
				required = append(required, value.([]any)...)
			default:
				one[word] = value
			}
		}
	}
	one["properties"], one["required"] = properties, required
	return one
}

// maker makes values that fit a schema.
type maker struct {
	doc *document
	rng *rand.Rand
	// ids are known ids by their prefixes.
	ids map[string][]string
	now time.Time
	// more is the probability that an optional member is sent.
	more float64
	// odd reports whether unrestricted texts are odd.
	odd bool
}

// known returns one of the known ids with a prefix.
func (m *maker) known(prefix string) string {
	ids := m.ids[prefix]
	return ids[m.rng.IntN(len(ids))]
}

// mostIDs is the number of known ids of a prefix.
const mostIDs = 40

// learn adds the ids of resources that a text contains.
func (m *maker) learn(text string) {
	for _, found := range typeID.FindAllStringSubmatch(text, -1) {
		id, prefix := strings.Trim(found[0], `"`), found[1]
		if len(m.ids[prefix]) < mostIDs && !slices.Contains(m.ids[prefix], id) {
			m.ids[prefix] = append(m.ids[prefix], id)
		}
	}
}

var typeID = regexp.MustCompile(`"([a-z]{3})_[0-7][0-9a-hjkmnp-tv-z]{25}"`)

// value makes a value of a schema. The value has the member to which the way leads.
func (m *maker) value(s object, way []step, depth int) any {
	s = m.doc.flat(s)
	next := step{}
	if len(way) > 0 {
		next, way = way[0], way[1:]
	}
	if all := alternatives(s); len(all) > 0 {
		n := m.rng.IntN(len(all))
		if next.name == "|" {
			n = next.n
		}
		return m.value(all[n], way, depth)
	}
	if listed, ok := s["enum"].([]any); ok {
		return listed[m.rng.IntN(len(listed))]
	}
	switch kindOf(s) {
	case "object":
		return m.object(s, next, way, depth)
	case "array":
		n := number(s, "minItems", 0)
		if next.name == "[]" {
			n = max(n, 1)
		} else if depth < 6 {
			n += m.rng.IntN(3)
		}
		items := []any{}
		for range n {
			items = append(items, m.value(s["items"].(object), way, depth+1))
		}
		return items
	case "boolean":
		return m.rng.IntN(2) == 0
	case "integer", "number":
		least, most := number(s, "minimum", 0), number(s, "maximum", 100)
		if example, ok := first(s["examples"]); ok && m.rng.IntN(2) == 0 {
			return example
		}
		return json.Number(jsonOf(least + m.rng.IntN(max(min(most-least, 1000), 0)+1)))
	case "null":
		return nil
	default:
		return m.text(s)
	}
}

func (m *maker) object(s object, next step, way []step, depth int) any {
	o := object{}
	properties, _ := s["properties"].(object)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		switch {
		case name == next.name:
			o[name] = m.value(properties[name].(object), way, depth+1)
		case slices.Contains(required, any(name)) || depth < 5 && m.rng.Float64() < m.more && name != "sandbox":
			o[name] = m.value(properties[name].(object), nil, depth+1)
		}
	}
	if pair, ok := s["additionalProperties"].(object); ok && (next.name == "*" || m.rng.IntN(4) == 0) {
		if next.name != "*" {
			way = nil
		}
		o["campaign"] = m.value(pair, way, depth+1)
	}
	return o
}

// text makes a text.
func (m *maker) text(s object) any {
	if prefix, ok := prefixOf(s); ok && m.ids[prefix] != nil {
		return m.known(prefix)
	}
	example, ok := first(s["examples"])
	switch format, _ := s["format"].(string); {
	case format == "date-time":
		return m.now.Add(time.Duration(m.rng.IntN(1000)-200) * time.Hour).Format(time.RFC3339)
	case format == "date":
		return m.now.AddDate(0, 0, m.rng.IntN(10)).Format(time.DateOnly)
	case format == "uri":
		return "http://127.0.0.1:9/file"
	case ok && m.rng.IntN(4) > 0:
		return example
	}
	if odd := texts[m.rng.IntN(len(texts))]; m.odd && utf8.RuneCountInString(odd) <= number(s, "maxLength", 4000) {
		return odd
	}
	n := max(number(s, "minLength", 0), 1+m.rng.IntN(12))
	return strings.Repeat("añ b", n/4+1)[:n]
}

func kindOf(s object) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		return t[0].(string)
	}
	if s["properties"] != nil {
		return "object"
	}
	return ""
}

func number(s object, word string, without int) int {
	if n, ok := s[word].(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return int(i)
		}
	}
	return without
}

func first(list any) (any, bool) {
	all, _ := list.([]any)
	if len(all) == 0 {
		return nil, false
	}
	return all[0], true
}
