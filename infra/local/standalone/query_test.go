package standalone

import (
	"maps"
	"slices"
	"testing"
)

// A part of a query that is not well formed reaches the service as it came, so that the service can refuse it.
func TestQueriesReachTheServiceAsTheyCame(t *testing.T) {
	for raw, want := range map[string]map[string][]string{
		"":                         {},
		"a=1&a=2&b=%20x+y":         {"a": {"1", "2"}, "b": {" x y"}},
		"limit=%zz":                {"limit": {"%zz"}},
		"state=paused&amp;limit=1": {"state": {"paused"}, "amp;limit": {"1"}},
		"a&=b":                     {"a": {""}, "": {"b"}},
	} {
		if got := query(raw); !maps.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%q: %v, want %v", raw, got, want)
		}
	}
}
