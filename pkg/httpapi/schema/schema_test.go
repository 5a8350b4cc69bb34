package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

// checkedWith is the version of huma that the work-arounds were checked with.
const checkedWith = "v2.37.2"

func TestTheVersionOfHumaIsTheOneChecked(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`danielgtaylor/huma/v2 (\S+)`).FindSubmatch(mod)
	if found == nil || string(found[1]) != checkedWith {
		t.Errorf("go.mod has huma %s. The work-arounds of this package were checked with %s: see in huma's changes "+
			"whether each is still needed and still works, then change checkedWith.", found[1], checkedWith)
	}
}

type inner struct {
	Size  int `json:"size" minimum:"1"`
	Extra int `json:"extra,omitempty"`
}

type named struct {
	Name string `json:"name" minLength:"1"`
}

func TestOneDetailForEachField(t *testing.T) {
	e := Invalid([]errs.Detail{{Param: "/tags", Message: "is too long"}, {Param: "/since", Message: MustBeTime},
		{Param: "/tags", Message: "has one twice"}, {Param: "/tags", Message: "has one twice"}})
	want := []errs.Detail{
		{Param: "/tags", Message: "is too long; has one twice"},
		{Param: "/since", Message: MustBeTime},
	}
	if !slices.Equal(e.Details, want) || e.Param != "/tags" {
		t.Errorf("%+v", e)
	}
}

func TestAURLIsRefusedWithoutTheWordsOfGo(t *testing.T) {
	type link struct {
		To string `json:"to" format:"web-address"`
	}
	for _, sent := range []string{"https://a b", "https://\x01", "https://[::1", "%zz"} {
		err := Check(reflect.TypeFor[link](), "link", map[string]any{"to": sent})
		if err == nil || !strings.HasSuffix(errs.As(err).Message, "a URL, written as https://example.com/page") {
			t.Errorf("%q: %v", sent, err)
		}
	}
}

func TestAMemberIsCheckedByItsOwnType(t *testing.T) {
	for text, want := range map[string]string{
		`{"size":2}`: "", `{"size":0}`: "/settings/size", `{}`: "/settings/size", `{"siz":1,"size":1}`: "/settings/siz",
		`[]`: "/settings",
	} {
		value, _ := jsontree.Parse([]byte(text))
		err := Check(reflect.TypeFor[inner](), "settings", value)
		if want == "" && err != nil || want != "" && (err == nil || errs.As(err).Param != want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	blank := map[string]any{"name": " "}
	if err := Check(reflect.TypeFor[named](), "settings", blank); err == nil || errs.As(err).Param != "/settings/name" {
		t.Errorf("blank: %v", err)
	}
}

type shown struct {
	Inner *inner  `json:"inner"`
	Left  *inner  `json:"left,omitempty"`
	Text  *string `json:"text"`
}

func TestStructsThatMayBeNullAreDescribedSo(t *testing.T) {
	schemas := NewRegistry()
	if s := schemas.Schema(reflect.TypeFor[*shown](), true, ""); s.Ref != "#/components/schemas/SchemaShown" {
		t.Errorf("it is called %s", s.Ref)
	}
	if s := schemas.Map()["SchemaShown"].Properties["inner"]; s.Ref == "" {
		t.Error("huma describes null by itself")
	}
	MarkNull(schemas, reflect.TypeFor[shown]())
	text, err := json.Marshal(schemas.Map()["SchemaShown"].Properties)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"inner":{"anyOf":[{"$ref":"#/components/schemas/SchemaInner"},{"type":"null"}]},"left":{"$ref":"#/components/schemas/SchemaInner"},"text":{"type":["string","null"]}}`
	if !bytes.Equal(text, []byte(want)) {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

type oneOf struct {
	Lists []inner `json:"lists" maxItems:"2"`
}

// Only the first unknown members are compared with the known ones, and nothing looks at the entries above the most.
func TestB9UnknownMembersAreComparedUpToABound(t *testing.T) {
	sent := map[string]any{}
	for n := range 200 {
		sent["siz"+string(rune(0x4e00+n))] = 1
	}
	err := errs.As(Check(reflect.TypeFor[inner](), "settings", sent))
	hints := 0
	for _, d := range err.Details {
		if strings.Contains(d.Message, "did you mean size?") {
			hints++
		}
	}
	if len(err.Details) != maxProblems || hints != maxHints {
		t.Errorf("%d faults with %d hints", len(err.Details), hints)
	}
	long := map[string]any{"lists": []any{map[string]any{"size": 1.0}, map[string]any{"size": 1.0}, "a", "b"}}
	if err := errs.As(Check(reflect.TypeFor[oneOf](), "of", long)); len(err.Details) != 1 || err.Param != "/of/lists" {
		t.Errorf("%+v", err.Details)
	}
}
