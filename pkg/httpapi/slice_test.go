package httpapi

import (
	"slices"
	"strconv"
	"testing"

	"github.com/content-automation/api/pkg/store"
)

// A list in memory goes on after the place of an element that has gone, and however many have gone with it.
func TestAListGoesOnAfterAnElementThatHasGone(t *testing.T) {
	place := func(s string) string { return s }
	rising := []string{"a", "b", "c", "d", "e", "f"}
	falling := slices.Clone(rising)
	slices.Reverse(falling)
	mixed := []string{"c", "a", "f", "b", "e", "d"}
	for name, all := range map[string][]string{"rising": rising, "falling": falling, "mixed": mixed} {
		for read := 1; read < len(all); read++ {
			at := store.Cursor{PK: strconv.Itoa(read), Sort: ordered(all, place), SK: all[read-1]}
			if n := following(all, at, place); n != read {
				t.Errorf("%s: %d of the same list, want %d", name, n, read)
			}
			more := append([]string{"0"}, all...)
			if n := following(more, at, place); n != read+1 {
				t.Errorf("%s: %d after one has come before, want %d", name, n, read+1)
			}
			one := slices.Delete(slices.Clone(all), read-1, read)
			if n := following(one, at, place); name != "mixed" && n != read-1 {
				t.Errorf("%s: %d after the last one has gone, want %d", name, n, read-1)
			}
			if n := following(all[read:], at, place); name != "mixed" && n != 0 {
				t.Errorf("%s: %d after all have gone that were read, want 0", name, n)
			}
			if n := following(nil, at, place); n != 0 {
				t.Errorf("%s: %d of nothing", name, n)
			}
		}
	}
}
