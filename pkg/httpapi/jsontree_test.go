package httpapi_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// Parse returns the tree that encoding/json makes, and refuses all that encoding/json refuses.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e3,"x\u00e9",true,null,{}],"b":{"c":[]}}`, ` [ ] `, `null`, `"\ud83d\ude00"`, `1e999`, `{"a":1,}`,
		`[1,]`, `{"a" 1}`, `{1:2}`, `[1 2]`, `{} {}`, `{]`, `[}`, `]`, ``,
		`{"a":{"b":1,"b":2}}`, `"\ud83d"`, "\"\xff\"", `tru`, `01`, `"a`, `[[[`, `{"a"`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := jsontree.Parse([]byte(text))
		var want any
		refused := json.Unmarshal([]byte(text), &want)
		if refused != nil && err == nil || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v, %v", text, got, want, refused)
		}
	})
}

func TestParseRefusesWhatWouldBeLost(t *testing.T) {
	for text, want := range map[string]errs.Detail{
		`{"a":{"b/~":[0,{"c":1,"c":2}]},"a":1}`: {Param: "/a/b~1~0/1/c"},
		`{"a":{"x":1},"a":{"x":1,"x":2}}`:       {Param: "/a/x"},
		`{"a":1,"\u0061":2}`:                    {Param: "/a"},
	} {
		_, err := jsontree.Parse([]byte(text))
		if e := errs.As(err); e.Code != errs.ValidationFailed || e.Param != want.Param {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`"\ud83d"`, `"\ude00\ud83d"`, "\"\xff\"", `{"a":1,"a":2`,
		strings.Repeat("[", 1_002) + strings.Repeat("]", 1_002)} {
		if _, err := jsontree.Parse([]byte(text)); errs.CodeOf(err) != errs.MalformedJSON {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	for _, text := range []string{`"\ud83d\ude00"`, `"\\ud83d"`, strings.Repeat("[", 900) + strings.Repeat("]", 900),
		`{"a":{"b":1},"b":{"a":1}}`} {
		if _, err := jsontree.Parse([]byte(text)); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// The examples of RFC 7396, appendix A.
func TestMerge(t *testing.T) {
	for _, c := range [][3]string{
		{`{"a":"b"}`, `{"a":"c"}`, `{"a":"c"}`}, {`{"a":"b"}`, `{"b":"c"}`, `{"a":"b","b":"c"}`},
		{`{"a":"b"}`, `{"a":null}`, `{}`},
		{`{"a":"b","b":"c"}`, `{"a":null}`, `{"b":"c"}`}, {`{"a":["b"]}`, `{"a":"c"}`, `{"a":"c"}`},
		{`{"a":"c"}`, `{"a":["b"]}`, `{"a":["b"]}`},
		{`{"a":{"b":"c"}}`, `{"a":{"b":"d","c":null}}`, `{"a":{"b":"d"}}`},
		{`{"a":[{"b":"c"}]}`, `{"a":[1]}`, `{"a":[1]}`},
		{`["a","b"]`, `["c","d"]`, `["c","d"]`}, {`{"a":"b"}`, `["c"]`, `["c"]`}, {`{"a":"foo"}`, `null`, `null`},
		{`{"a":"foo"}`, `"bar"`, `"bar"`},
		{`{"e":null}`, `{"a":1}`, `{"e":null,"a":1}`}, {`[1,2]`, `{"a":"b","c":null}`, `{"a":"b"}`},
		{`{}`, `{"a":{"bb":{"ccc":null}}}`, `{"a":{"bb":{}}}`},
	} {
		var trees [3]any
		for i, text := range c {
			var err error
			if trees[i], err = jsontree.Parse([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if got := jsontree.Merge(trees[0], trees[1]); !reflect.DeepEqual(got, trees[2]) {
			t.Errorf("%s with %s: got %v, want %s", c[0], c[1], got, c[2])
		}
		if again, _ := jsontree.Parse([]byte(c[1])); !reflect.DeepEqual(again, trees[1]) {
			t.Errorf("the patch %s has become %v", c[1], trees[1])
		}
	}
}
