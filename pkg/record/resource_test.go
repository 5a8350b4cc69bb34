package record_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/record/resource"
)

func TestAResourceCountsItsChanges(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 1_999_999, time.FixedZone("", 7200))
	r := resource.New("id", at, nil)
	shown := time.Date(2026, 5, 1, 10, 0, 0, 1_000_000, time.UTC)
	if want := (resource.Resource{ID: "id", CreatedAt: resource.Instant(shown), UpdatedAt: resource.Instant(shown),
		Version: 1, Metadata: resource.Metadata{}}); !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v, want %+v", r, want)
	}
	r.Touch(at.Add(time.Second))
	if r.ResourceVersion() != 2 || !r.UpdatedAt.Equal(shown.Add(time.Second)) || !r.CreatedAt.Equal(shown) {
		t.Errorf("after a change: %+v", r)
	}
}

func TestTimesAreShownInUTCWithThreeDecimals(t *testing.T) {
	for _, c := range []struct{ read, shown string }{
		{`"2026-05-01T09:00:30Z"`, `"2026-05-01T09:00:30.000Z"`},
		{`"2026-05-01T09:00:30.12Z"`, `"2026-05-01T09:00:30.120Z"`},
		{`"2026-05-01T11:00:30.1239+02:00"`, `"2026-05-01T09:00:30.123Z"`},
	} {
		var at resource.Time
		if err := json.Unmarshal([]byte(c.read), &at); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(map[string]any{"at": at, "also": &at}); err != nil ||
			string(got) != `{"also":`+c.shown+`,"at":`+c.shown+`}` {
			t.Errorf("%s is shown as %s, %v", c.read, got, err)
		}
	}
	var at resource.Time
	if err := json.Unmarshal([]byte(`"tomorrow"`), &at); err == nil {
		t.Error("read tomorrow")
	}
	if got := resource.InstantOrNil(nil); got != nil {
		t.Errorf("nil became %v", got)
	}
	precise := resource.Time{Time: time.Date(2026, 5, 1, 11, 0, 30, 1_999_999, time.FixedZone("", 7200))}
	if got, err := json.Marshal(precise); err != nil || string(got) != `"2026-05-01T09:00:30.001Z"` {
		t.Errorf("a time that Instant did not make is shown as %s, %v", got, err)
	}
}
