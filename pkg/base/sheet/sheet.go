// Package sheet writes lists as comma-separated values that a spreadsheet can open safely. Of makes the sheet of a
// list.
package sheet

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns a text that a spreadsheet does not take for a formula.
func Text(s string) string {
	begin, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) // which programs leave out
	}))
	if strings.ContainsRune("=+-@＝＋－＠", begin) || strings.HasPrefix(s, "\t") || strings.HasPrefix(s, "\r") {
		return "'" + s
	}
	return s
}

// column is a member of a type, or of a member of it.
type column struct {
	name string
	path []int
}

// Of returns a list with a line for each element, and the names of the members in the first line. T is a struct. The
// members are those of its JSON, without those that are lists or maps; a member of a member is named "metrics.views".
// What is null is empty.
func Of[T any](all []T) ([]byte, error) {
	columns := columnsOf(reflect.TypeFor[T](), "", nil)
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.name
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for _, v := range all {
		for i, c := range columns {
			text, err := cell(reflect.ValueOf(v), c.path)
			if err != nil {
				return nil, fmt.Errorf("sheet: %s: %w", c.name, err)
			}
			line[i] = text
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// single reports whether the JSON of a type is a single value.
func single(t reflect.Type) bool {
	return t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

func columnsOf(t reflect.Type, prefix string, path []int) (all []column) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		at := append(append([]int{}, path...), i)
		switch {
		case f.Anonymous && name == "" && !single(of):
			all = append(all, columnsOf(of, prefix, at)...)
		case name == "" || name == "-" || !f.IsExported() || of.Kind() == reflect.Slice || of.Kind() == reflect.Map:
		case single(of):
			all = append(all, column{prefix + name, at})
		default:
			all = append(all, columnsOf(of, prefix+name+".", at)...)
		}
	}
	return all
}

// cell returns the text of a member.
func cell(v reflect.Value, path []int) (string, error) {
	for _, i := range path {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "", nil
			}
			v = v.Elem()
		}
		v = v.Field(i)
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", nil
		}
		v = v.Elem()
	}
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		return "", err
	}
	if len(raw) > 0 && raw[0] == '"' {
		var text string
		err = json.Unmarshal(raw, &text)
		return Text(text), err
	}
	if text := string(raw); text != "null" {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(n, 10), nil
		}
		return text, nil
	}
	return "", nil
}
