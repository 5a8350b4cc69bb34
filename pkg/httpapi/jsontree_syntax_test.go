package httpapi_test

import (
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

func TestASyntaxErrorHasItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1,\n}": "line 3, column 1 (byte 12): remove the comma before this bracket.",
		`[1, 2, ]`:          "line 1, column 8 (byte 7): remove the comma before this bracket.",
		"{\"é\": 'x'}":      "line 1, column 7 (byte 7): expected a value",
		`{a: 1}`: "line 1, column 2 (byte 1): expected the name of a member in double " +
			"quotes.",
		`{"a" 1}`:           "column 6 (byte 5): expected a colon",
		`{"a": 1 "b": 2}`:   "column 9 (byte 8): expected a comma or the end of the object",
		`[1 2]`:             "column 4 (byte 3): expected a comma or the end of the array",
		`{"a": None}`:       "column 7 (byte 6): expected a value",
		`{"a": 1 // one`:    "column 9 (byte 8): expected a comma or the end of the object",
		`{"a": 01}`:         "column 7 (byte 6): this number is not one of JSON",
		`[1.5.5]`:           "column 2 (byte 1): this number is not one of JSON",
		`[-`:                "column 2 (byte 1): this number is not one of JSON",
		`[truex]`:           "column 6 (byte 5): expected a comma or the end of the array",
		`{"a": 1]`:          "column 8 (byte 7): expected a comma or the end of the object",
		`[}`:                "column 2 (byte 1): expected a value",
		`{"a": 1, 2}`:       "column 10 (byte 9): expected the name of a member",
		`[1e999]`:           "column 2 (byte 1): this number is too large.",
		`{"a": "b`:          "column 7 (byte 6): this string has no end",
		"{\"a\": \"b\nc\"}": "line 1, column 9 (byte 8): control characters in strings must be escaped",
		`{"a": "C:\dir"}`:   "column 7 (byte 6): this string has an invalid escape sequence",
		`{"a": "\ud83d"}`:   "column 7 (byte 6): this string has an invalid escape sequence",
		`{"a": {"b": 1}`:    "column 15 (byte 14): the text ends too early",
		`{"a":`:             "column 6 (byte 5): the text ends too early",
		`{} {}`:             "column 4 (byte 3): the JSON value has ended",
		"\ufeff{}":          "column 1 (byte 0): it begins with a byte order mark",
		"{\"ü\": \"\xe9\"}": "column 8 (byte 8): this byte is not UTF-8.",
		strings.Repeat(`{"a":`, 1002) + "1": "line 1, column 5006 (byte 5005): objects and arrays are nested deeper " +
			"than 1000.",
		strings.Repeat("[", 1e4): "nested deeper than 1000.",
	} {
		_, err := jsontree.Parse([]byte(text))
		if e := errs.As(err); e.Code != errs.MalformedJSON || !strings.Contains(e.Message, want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
}
