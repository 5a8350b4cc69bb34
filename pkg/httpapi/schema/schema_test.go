package schema

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/jsontree"
)

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
		{Param: "/since", Message: "must be a time as RFC 3339 defines, such as 2026-05-01T12:00:00Z"},
	}
	if !slices.Equal(e.Details, want) || e.Param != "/tags" {
		t.Errorf("%+v", e)
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
