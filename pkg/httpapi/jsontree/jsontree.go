// Package jsontree parses the body of a call to a tree of maps, slices and values, as encoding/json does, but refuses
// what would be lost silently. It also applies merge patches to such trees. Parse reads a document, and Merge applies a
// patch.
package jsontree

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/content-automation/api/pkg/base/errs"
)

// maxDepth bounds how deep objects and arrays may be nested.
const maxDepth = 1000

// Parse parses a JSON text in one pass. It refuses text that is not UTF-8, half of a
// surrogate pair, and a member that is sent twice.
func Parse(text []byte) (any, error) {
	p := parser{Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)), text: text}
	tree, err := p.parse()
	if err != nil {
		return nil, errs.New(errs.MalformedJSON, "The body is not valid JSON at %s: %s.",
			position(text, p.at), err.Error())
	}
	if p.twice != "" {
		return nil, errs.Invalid(p.twice, "is sent more than once")
	}
	return tree, nil
}

type parser struct {
	*jsontext.Decoder
	text []byte
	// at is the place of an error.
	at int
	// twice is the JSON pointer of the first member that is sent twice.
	twice string
}

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
	tree, err := p.value()
	if err == nil && p.next(int(p.InputOffset())) != 0 {
		err = errMore
	}
	return tree, err
}

func (p *parser) value() (any, error) {
	kind := p.PeekKind()
	if kind != 0 && p.StackDepth() > maxDepth {
		if b := p.next(int(p.InputOffset())); b == ':' || b == ',' {
			p.next(p.at + 1)
		}
		return nil, errDepth
	}
	token, err := p.ReadToken()
	if err != nil {
		return nil, p.why()
	}
	switch kind {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		return token.String(), nil
	case '0':
		return p.number(token.String())
	case 'n':
		return nil, nil
	}
	return token.Bool(), nil
}

func (p *parser) object() (any, error) {
	members := map[string]any{}
	for p.PeekKind() != '}' {
		token, err := p.ReadToken()
		if err != nil {
			return nil, p.why()
		}
		name := token.String()
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		if _, known := members[name]; known && p.twice == "" {
			p.twice = string(p.StackPointer())
		}
		members[name] = v
	}
	_, err := p.ReadToken()
	return members, err
}

func (p *parser) array() (any, error) {
	items := []any{}
	for p.PeekKind() != ']' {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		items = append(items, v)
	}
	_, err := p.ReadToken()
	return items, err
}

func (p *parser) number(text string) (any, error) {
	end := int(p.InputOffset())
	p.at = end - len(text)
	if end < len(p.text) && strings.IndexByte("+-.0123456789Ee", p.text[end]) >= 0 {
		return nil, errNumber
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errRange
	}
	return n, nil
}

// Escape writes a name as a part of a JSON pointer (RFC 6901, 3).
func Escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// Merge applies a merge patch to a value (RFC 7396, 2). It changes the objects of the value, and none of the patch.
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
