package jsontree

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// What is wrong with a text that is not JSON, and how to mend it. The texts repeat
// nothing of what was sent.
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
	errValue    = errors.New("expected a value: an object, an array, a string in double quotes, a number, true, false or null")
	errNumber   = errors.New("this number is not one of JSON; write 5, -5, 0.5 or 5e3")
	errRange    = errors.New("this number is too large")
)

// expected returns an error, or that the text ends where something is expected.
func (p *parser) expected(err error) error {
	if p.at == len(p.text) {
		return errEnd
	}
	return err
}

// position names a place in a text: the line and the column in characters, from 1, and
// the byte, from 0.
func position(text []byte, at int) string {
	before := text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d (byte %d)", line, column, at)
}
