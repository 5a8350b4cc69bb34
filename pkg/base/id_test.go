package base_test

import (
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/id"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestIDsSortByCreation(t *testing.T) {
	var ids []string
	for i := range 50 {
		ids = append(ids, id.New(id.ContentItem, noon.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) {
		t.Fatalf("not sorted: %v", ids)
	}
	at, ok := id.Time(ids[7])
	if !ok || !at.Equal(noon.Add(7*time.Millisecond)) {
		t.Errorf("Time(%s) = %v, %v", ids[7], at, ok)
	}
}

// More than 4,096 ids, by which the counter of package uuid wraps round.
func TestIDsOfOneMillisecondSortByCreation(t *testing.T) {
	for last, n := id.New(id.Event, noon), 0; n < 10_000; n++ {
		next := id.New(id.Event, noon)
		if next <= last || !id.Valid(id.Event, next) {
			t.Fatalf("the id %d, %s, comes after %s", n, next, last)
		}
		last = next
	}
}

func TestDerivedIsStableAndTellsPartsApart(t *testing.T) {
	a := id.Derived(id.Delivery, noon, "ab", "c")
	if b := id.Derived(id.Delivery, noon, "ab", "c"); a != b {
		t.Errorf("same parts gave %s and %s", a, b)
	}
	if b := id.Derived(id.Delivery, noon, "a", "bc"); a == b {
		t.Errorf("different parts gave the same id %s", a)
	}
	if !id.Valid(id.Delivery, a) {
		t.Errorf("%s is not valid", a)
	}
}

func TestFirstBoundsARangeByTime(t *testing.T) {
	bound := id.First(id.Event, noon)
	if before := id.New(id.Event, noon.Add(-time.Millisecond)); before >= bound {
		t.Errorf("%s is not below %s", before, bound)
	}
	if at := id.New(id.Event, noon); at < bound {
		t.Errorf("%s is below %s", at, bound)
	}
	// The zero time must not wrap round to the far future.
	if id.First(id.Event, time.Time{}) >= bound {
		t.Error("the bound of the zero time is not the lowest")
	}
}

func TestValidRefusesOthers(t *testing.T) {
	good := id.New(id.Factory, noon)
	for _, s := range []string{"", "fac", "fac_", good[:len(good)-1], good + "0", "FAC" + good[3:],
		id.New(id.ContentItem, noon), "fac_zzzzzzzzzzzzzzzzzzzzzzzzzz", good + "\n"} {
		if id.Valid(id.Factory, s) {
			t.Errorf("Valid(%q) = true", s)
		}
	}
	if !id.Valid(id.Factory, good) {
		t.Errorf("Valid(%q) = false", good)
	}
}
