package resource_test

import (
	"reflect"
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
