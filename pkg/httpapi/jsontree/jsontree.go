// Package jsontree parses the body of a call to a tree of maps, slices and values, as
// encoding/json does, but refuses what would be lost silently. It also applies merge
// patches to such trees.
package jsontree

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/base/errs"
)

// maxDepth bounds how deep objects and arrays may be nested.
const maxDepth = 1000

// Parse parses a JSON text in one pass. It refuses text that is not UTF-8, half of a
// surrogate pair, and a member that is sent twice.
func Parse(text []byte) (any, error) {
	p := parser{text: text}
	tree, err := p.parse()
	if err != nil {
		return nil, errs.New(errs.MalformedJSON, "The body is not valid JSON at %s: %s.", position(text, p.at), err.Error())
	}
	if p.twice != "" {
		return nil, errs.Invalid(p.twice, "is sent more than once")
	}
	return tree, nil
}

type parser struct {
	text []byte
	at   int
	// twice is the JSON pointer, from the value that is being parsed, of the first
	// member that is sent twice.
	twice string
}

// parse parses the whole text. After an error, at is its place.
func (p *parser) parse() (any, error) {
	if bytes.HasPrefix(p.text, []byte("\ufeff")) {
		return nil, errMark
	}
	if !utf8.Valid(p.text) {
		for {
			r, size := utf8.DecodeRune(p.text[p.at:])
			if r == utf8.RuneError && size == 1 {
				return nil, errEncoding
			}
			p.at += size
		}
	}
	tree, err := p.value(0)
	if err == nil && p.next() != 0 {
		err = errMore
	}
	return tree, err
}

// next skips white space and returns the byte that follows; 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t' || p.text[p.at] == '\r' || p.text[p.at] == '\n') {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return max(p.text[p.at], 1) // a zero is no JSON either
}

// take skips a byte if it follows.
func (p *parser) take(b byte) bool {
	if p.next() != b {
		return false
	}
	p.at++
	return true
}

func (p *parser) value(depth int) (any, error) {
	switch b := p.next(); {
	case depth > maxDepth:
		return nil, errDepth
	case b == '{':
		return p.object(depth)
	case b == '[':
		return p.array(depth)
	case b == '"':
		return p.string()
	case b == '-' || b >= '0' && b <= '9':
		return p.number()
	}
	return p.literal()
}

func (p *parser) object(depth int) (any, error) {
	p.at++
	members := map[string]any{}
	if p.take('}') {
		return members, nil
	}
	for {
		if p.next() != '"' {
			return nil, p.expected(errName)
		}
		name, err := p.string()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.expected(errColon)
		}
		before := p.twice
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if _, known := members[name]; known && p.twice == "" {
			p.twice = "/" + Escape(name)
		} else if p.twice != before {
			p.twice = "/" + Escape(name) + p.twice
		}
		members[name] = v
		if p.take('}') {
			return members, nil
		}
		if !p.take(',') {
			return nil, p.expected(errInObject)
		}
		if p.next() == '}' {
			return nil, errTrailing
		}
	}
}

func (p *parser) array(depth int) (any, error) {
	p.at++
	items := []any{}
	if p.take(']') {
		return items, nil
	}
	for {
		before := p.twice
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if p.twice != before {
			p.twice = "/" + strconv.Itoa(len(items)) + p.twice
		}
		items = append(items, v)
		if p.take(']') {
			return items, nil
		}
		if !p.take(',') {
			return nil, p.expected(errInArray)
		}
		if p.next() == ']' {
			return nil, errTrailing
		}
	}
}

// string parses a text; encoding/json reads its escapes, if it has any.
func (p *parser) string() (string, error) {
	from, escaped := p.at, false
	for p.at++; p.at < len(p.text); p.at++ {
		switch b := p.text[p.at]; {
		case b == '\\':
			escaped = true
			p.at++
		case b < ' ':
			return "", errControl
		case b == '"':
			p.at++
			if !escaped {
				return string(p.text[from+1 : p.at-1]), nil
			}
			var s string
			if json.Unmarshal(p.text[from:p.at], &s) != nil || halfSurrogate(p.text[from:p.at]) {
				p.at = from
				return "", errEscape
			}
			return s, nil
		}
	}
	p.at = from
	return "", errOpen
}

func (p *parser) literal() (any, error) {
	for _, known := range literals {
		if bytes.HasPrefix(p.text[p.at:], known.text) {
			p.at += len(known.text)
			return known.value, nil
		}
	}
	return nil, p.expected(errValue)
}

var literals = []struct {
	text  []byte
	value any
}{{[]byte("true"), true}, {[]byte("false"), false}, {[]byte("null"), nil}}

func (p *parser) number() (any, error) {
	from := p.at
	for p.at < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[p.at]) >= 0 {
		p.at++
	}
	if !json.Valid(p.text[from:p.at]) {
		p.at = from
		return nil, errNumber
	}
	n, err := strconv.ParseFloat(string(p.text[from:p.at]), 64)
	if err != nil {
		p.at = from
		return nil, errRange
	}
	return n, nil
}

// halfSurrogate reports whether a valid JSON string has the escape of one half of a surrogate
// pair without the other. The decoder would put another character in its place.
func halfSurrogate(text []byte) bool {
	pending := false // whether a second half must follow
	for i := 0; i < len(text); i++ {
		unit := rune(-1)
		if text[i] == '\\' {
			i++
			if text[i] == 'u' {
				n, _ := strconv.ParseUint(string(text[i+1:i+5]), 16, 16) // the text is valid
				unit = rune(n)
				i += 4
			}
		}
		if second := unit >= 0xdc00 && unit <= 0xdfff; second != pending {
			return true
		}
		pending = unit >= 0xd800 && unit <= 0xdbff
	}
	return false
}

// Escape writes a name as a part of a JSON pointer (RFC 6901, 3).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Unescape reads a part of a JSON pointer.
func Unescape(part string) string {
	return strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
}

// Merge applies a merge patch to a value (RFC 7396, 2). It changes the objects of the
// value, and none of the patch.
func Merge(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := value.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(merged, name)
		} else {
			merged[name] = Merge(merged[name], change)
		}
	}
	return merged
}
