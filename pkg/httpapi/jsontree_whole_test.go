package httpapi_test

import (
	"testing"

	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

func TestWholeNumbersAreWrittenAsIntegers(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":60.0,"b":[1.00,-2.0 ]}`:  `{"a":60,"b":[1,-2 ]}`,
		`{"a":1.05,"b":1.0e3,"c":0.0}`: `{"a":1.05,"b":1.0e3,"c":0}`,
		`{"a":"1.0, \"2.0","b.0":3.0}`: `{"a":"1.0, \"2.0","b.0":3}`,
		`60.0`:                         `60`,
		`{"a":9007199254740993}`:       `{"a":9007199254740993}`,
	} {
		if got := string(jsontree.Whole([]byte(text))); got != want {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}
