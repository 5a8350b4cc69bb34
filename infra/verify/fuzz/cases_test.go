package fuzz

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// change makes a request odd.
type change func(m *maker, c *call)

// manners are the ways to spoil a value of a body that depend on the value.
var manners = []manner{
	func(parent object, name string, v any) any { return take(parent, name, "") },
	func(parent object, name string, v any) any { return take(parent, name, strings.ToUpper(name)) },
	func(parent object, name string, v any) any { return take(parent, name, name+" ") },
	func(parent object, name string, v any) any { return repeated(parent, name) },
	func(_ object, _ string, v any) any { return []any{v} },
	func(_ object, _ string, v any) any { return []any{v, v} },
	func(_ object, _ string, v any) any { return slices.Repeat([]any{v}, 101) },
	func(_ object, _ string, v any) any { return object{"x": v} },
	func(_ object, _ string, v any) any { return raw(jsonOf(printed(v))) },
}

// take removes a member, or gives it another name.
func take(parent object, name, other string) any {
	if parent == nil {
		return raw("")
	}
	if other != "" {
		parent[other] = parent[name]
	}
	delete(parent, name)
	return gone
}

func repeated(parent object, name string) any {
	if parent == nil {
		return raw("{}{}")
	}
	return twice{parent, name}
}

func printed(v any) string {
	var b bytes.Buffer
	write(&b, v)
	return b.String()
}

// manner spoils a value of a body.
type manner = func(parent object, name string, v any) any

// constant returns a manner that replaces the value.
func constant(odd any) manner { return func(object, string, any) any { return odd } }

// member returns a change of the value to which a way leads.
func member(way []step, spoil manner) change {
	return func(m *maker, c *call) {
		made := m.value(c.op.body, way, 0)
		if usual, ok := c.tree.(object); ok && way[0].name != "|" {
			if to, ok := made.(object); ok {
				for name, v := range usual {
					if name != way[0].name {
						to[name] = v
					}
				}
			}
		}
		c.sent, c.tree = true, put(made, way, spoil)
	}
}

// ofQuery returns a change of a parameter of the query.
func ofQuery(name, text string) change {
	return func(_ *maker, c *call) { c.query[name] = []string{text} }
}

func ofHeader(name, value string) change {
	return func(_ *maker, c *call) { c.header[name] = value }
}

// ofPath returns a change of an id of the path. The text of the id is escaped if escaped is true.
func ofPath(n int, text string, escaped bool) change {
	if escaped {
		text = url.PathEscape(text)
	}
	return func(_ *maker, c *call) { c.ids[n] = text }
}

// changes returns the changes of a request to an operation: all changes of the walk, and those that are made only
// by chance.
func (d *document) changes(o *operation) (all, byChance []change) {
	all = append(all, func(*maker, *call) {})
	if o.body != nil {
		for _, way := range d.members(o.body) {
			for _, spoil := range manners {
				all = append(all, member(way, spoil))
			}
			for _, odd := range plain {
				all = append(all, member(way, constant(odd)))
			}
			for _, odd := range rare {
				byChance = append(byChance, member(way, constant(odd)))
			}
		}
		for _, v := range slices.Concat(plain, rare) {
			all = append(all, func(_ *maker, c *call) { c.sent, c.tree = true, v })
		}
	}
	all = append(all, bodies...)
	for _, p := range o.parameters {
		if p.in == "query" {
			for _, text := range texts {
				all = append(all, ofQuery(p.name, text))
			}
			all = append(all, func(_ *maker, c *call) { c.query[p.name] = []string{"a", "b"} },
				func(_ *maker, c *call) { c.query[p.name] = []string{} })
		}
	}
	for _, name := range []string{"x", "", "limit", "Limit", "limit[]", "cursor", "a\x00b", strings.Repeat("x", 2100)} {
		all = append(all, ofQuery(name, "1"))
	}
	for _, h := range headers {
		all = append(all, ofHeader(h.name, h.value))
	}
	for n := range strings.Count(o.Path, "{") {
		for _, text := range texts {
			all = append(all, ofPath(n, text, true))
		}
		for _, text := range []string{"..", "../../..", "..%2f..%2f", "%00", "%", "%zz", "a/b", "a//b", "a?b=c", "a#b",
			" ", "a;b", "\xff", "%ff", "%2e%2e", "+", "", "\\"} {
			all = append(all, ofPath(n, text, false))
		}
		all = append(all, func(m *maker, c *call) {
			c.ids[n] = m.known(slices.Sorted(maps.Keys(m.ids))[m.rng.IntN(len(m.ids))])
		})
	}
	return all, byChance
}

// bodies are odd bodies, and other changes that fit any request.
var bodies = []change{
	func(_ *maker, c *call) { c.sent, c.body = true, []byte(" ") },
	func(_ *maker, c *call) { c.sent, c.tree = false, nil },
	func(m *maker, c *call) { c.finish(); c.sent, c.body = true, c.body[:m.rng.IntN(len(c.body)+1)] },
	func(_ *maker, c *call) { c.finish(); c.sent, c.body = true, append([]byte("\ufeff"), c.body...) },
	func(_ *maker, c *call) { c.finish(); c.sent, c.body = true, append(c.body, "{}"...) },
	func(_ *maker, c *call) {
		c.finish()
		c.sent, c.body = true, append(c.body, strings.Repeat(" ", 256<<10)...)
	},
	func(_ *maker, c *call) {
		c.finish()
		c.sent, c.body = true, append(c.body, strings.Repeat(" ", max(256<<10-len(c.body), 0))...)
	},
	func(_ *maker, c *call) { c.finish(); c.sent, c.body = true, append([]byte{0xff, 0xfe}, c.body...) },
	func(_ *maker, c *call) { c.encoded = c.sent },
	func(_ *maker, c *call) { c.live = true },
	func(_ *maker, c *call) {
		if c.method == http.MethodGet {
			c.method = http.MethodHead
		}
	},
	func(_ *maker, c *call) {
		c.finish()
		if len(c.body) > 2 {
			c.body = append(append([]byte{}, c.body[:len(c.body)-1]...), `,"unknown_member":[{}]}`...)
		}
	},
}

// random makes a random request: half of the requests fit the schema, and the others have up to three changes.
func random(m *maker, c *call, changes []change) {
	m.more, m.odd = m.rng.Float64(), m.rng.IntN(2) == 0
	if c.op.body != nil && m.rng.IntN(3) > 0 {
		c.sent, c.tree = true, m.value(c.op.body, nil, 0)
	}
	for i, prefix := range c.op.prefixes {
		if len(m.ids[prefix]) > 0 && m.rng.IntN(2) == 0 {
			c.ids[i] = m.known(prefix)
		}
	}
	for range m.rng.IntN(2) * m.rng.IntN(4) {
		c.finishTree()
		changes[m.rng.IntN(len(changes))](m, c)
	}
	if m.rng.IntN(16) == 0 {
		c.live = true
	}
	m.more, m.odd = usualMore, false
}

// finishTree discards the tree of a body that is already written as text.
func (c *call) finishTree() {
	if c.body != nil {
		c.tree = nil
	}
}

func newRand(seed, batch uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, batch)) }
