package api

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
)

// A time.Time writes as many decimals as it has.
func TestTimesInAnswersHaveThreeDecimals(t *testing.T) {
	doc := Document()
	shown := map[string]reflect.Type{}
	for path, item := range doc.Paths {
		for method, o := range map[string]*huma.Operation{"GET": item.Get, "POST": item.Post, "PUT": item.Put,
			"PATCH": item.Patch, "DELETE": item.Delete} {
			if o == nil {
				continue
			}
			for status, answer := range o.Responses {
				if content := answer.Content["application/json"]; content != nil && status[0] == '2' {
					shown[method+" "+path+" "+status] = doc.Components.Schemas.TypeFromRef(content.Schema.Ref)
				}
			}
		}
	}
	for name, payload := range payloads {
		shown[string(name)] = payload
	}
	shown["event"], shown["error"] = reflect.TypeFor[event.Event](), reflect.TypeFor[httpapi.ErrorResponse]()
	if len(shown) < 60 {
		t.Fatalf("only %d answers", len(shown))
	}
	for name, answer := range shown {
		if answer == nil {
			t.Errorf("%s has no type", name)
			continue
		}
		if at := bareTime(answer, map[reflect.Type]bool{}); at != "" {
			t.Errorf("%s shows a time.Time at %s: use resource.Time", name, at)
		}
	}
}

// bareTime returns where a type shows a time.Time; empty: nowhere.
func bareTime(t reflect.Type, seen map[reflect.Type]bool) string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		return bareTime(t.Elem(), seen)
	case reflect.Struct:
	default:
		return ""
	}
	if t == reflect.TypeFor[time.Time]() {
		return t.String()
	}
	if seen[t] || t.Implements(reflect.TypeFor[interface{ MarshalJSON() ([]byte, error) }]()) {
		return ""
	}
	seen[t] = true
	for f := range t.Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if at := bareTime(f.Type, seen); at != "" {
			return f.Name + "." + at
		}
	}
	return ""
}
