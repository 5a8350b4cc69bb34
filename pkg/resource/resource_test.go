package resource_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/resource"
)

func TestAResourceCountsItsChanges(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 1_999_999, time.FixedZone("", 7200))
	r := resource.New("id", at, nil)
	shown := time.Date(2026, 5, 1, 10, 0, 0, 1_000_000, time.UTC)
	if want := (resource.Resource{ID: "id", CreatedAt: shown, UpdatedAt: shown, Version: 1, Metadata: resource.Metadata{}}); !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
	r.Touch(at.Add(time.Second))
	if r.ResourceVersion() != 2 || !r.UpdatedAt.Equal(shown.Add(time.Second)) || !r.CreatedAt.Equal(shown) {
		t.Errorf("after a change: %+v", r)
	}
}

func TestMetadataIsBounded(t *testing.T) {
	many := resource.Metadata{}
	for i := range 20 {
		many[fmt.Sprint(i)] = ""
	}
	for _, m := range []resource.Metadata{nil, {"a": ""}, {strings.Repeat("é", 40): "x"}, many} {
		if err := m.Check(); err != nil {
			t.Errorf("%v: %v", m, err)
		}
	}
	more := resource.Metadata{"20": ""}
	for name := range many {
		more[name] = ""
	}
	for _, m := range []resource.Metadata{{"": ""}, {strings.Repeat("x", 41): ""}, {"a\nb": ""}, {"\x7f": ""}, more} {
		if m.Check() == nil {
			t.Errorf("%v is taken", m)
		}
	}
}
