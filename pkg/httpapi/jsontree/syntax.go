package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

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
