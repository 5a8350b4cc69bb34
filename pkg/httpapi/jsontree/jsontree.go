// Package jsontree parses the body of a call to a tree of maps, slices and values, as encoding/json does, but refuses
// what would be lost silently. It also applies merge patches to such trees. Parse reads a document, and Merge applies a
// patch.
package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/text"
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
	if bytes.HasPrefix(p.text, []byte(text.ByteOrderMark)) {
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

// What is wrong with a text that is not JSON, and how to mend it. The texts repeat nothing of what was sent.
var (
	errMark     = errors.New("it begins with a byte order mark; send UTF-8 without one")
	errEncoding = errors.New("this byte is not UTF-8")
	errMore     = errors.New("the JSON value has ended, and nothing may follow it")
	errEnd      = errors.New("the text ends too early; close every string, object and array")
	errDepth    = fmt.Errorf("objects and arrays are nested deeper than %d", maxDepth)
	errName     = errors.New("expected the name of a member in double quotes")
	errColon    = errors.New("expected a colon after the name")
	errInObject = errors.New("expected a comma or the end of the object, }")
	errInArray  = errors.New("expected a comma or the end of the array, ]")
	errTrailing = errors.New("remove the comma before this bracket")
	errControl  = errors.New("control characters in strings must be escaped; write a line break as \\n")
	errEscape   = errors.New("this string has an invalid escape sequence; write a backslash as \\\\")
	errOpen     = errors.New("this string has no end; close it with a double quote")
	errValue    = errors.New("expected a value: an object, an array, a string in double quotes, a number, true, " +
		"false or null")
	errNumber = errors.New("this number is not one of JSON; write 5, -5, 0.5 or 5e3")
	errRange  = errors.New("this number is too large")
)

// why returns what is wrong with what follows the last token, and sets its place.
func (p *parser) why() error {
	in, n := p.StackIndex(p.StackDepth())
	b := p.next(int(p.InputOffset()))
	switch {
	case in == '{' && n%2 == 1:
		if b != ':' {
			return p.expected(errColon)
		}
		b = p.next(p.at + 1)
	case in != 0 && n > 0:
		if b != ',' {
			return p.expected(map[jsontext.Kind]error{'{': errInObject, '[': errInArray}[in])
		}
		if b = p.next(p.at + 1); b == byte(in)+2 {
			return errTrailing
		}
	}
	switch {
	case in == '{' && n%2 == 0 && b != '"':
		return p.expected(errName)
	case b == '"':
		return p.string()
	case b == '-' || b >= '0' && b <= '9':
		return errNumber
	}
	return p.expected(errValue)
}

// next sets the place after white space, and returns its byte; 0 at the end.
func (p *parser) next(at int) byte {
	rest := bytes.TrimLeft(p.text[at:], " \t\r\n")
	p.at = len(p.text) - len(rest)
	if len(rest) == 0 {
		return 0
	}
	return max(rest[0], 1) // a zero is no JSON either
}

// expected returns an error, or that the text ends where something is expected.
func (p *parser) expected(err error) error {
	if p.at == len(p.text) {
		return errEnd
	}
	return err
}

// string returns what is wrong with the string at the place.
func (p *parser) string() error {
	for i := p.at + 1; i < len(p.text); i++ {
		switch b := p.text[i]; {
		case b == '\\':
			i++
		case b < ' ':
			p.at = i
			return errControl
		case b == '"':
			return errEscape
		}
	}
	return errOpen
}

// position names a place in a text: the line and the column in characters, from 1, and the byte, from 0.
func position(text []byte, at int) string {
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d (byte %d)", line, column, at)
}

// Whole returns a valid JSON text with whole numbers written without a fraction: 60 for 60.0. JSON Schema takes both
// for an integer, and languages without a type for integers write the second, but package json does not read it as one.
func Whole(text []byte) []byte {
	if !bytes.Contains(text, []byte(".0")) {
		return text
	}
	out := make([]byte, 0, len(text))
	quoted := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted && c == '\\':
			out = append(out, c)
			i++
			c = text[i]
		case c == '"':
			quoted = !quoted
		case !quoted && c == '.':
			end := i + 1
			for end < len(text) && text[end] == '0' {
				end++
			}
			if end == len(text) || bytes.IndexByte([]byte("0123456789eE"), text[end]) < 0 {
				i = end - 1
				continue
			}
		}
		out = append(out, c)
	}
	return out
}
