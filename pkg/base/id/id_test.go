package id

import (
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestIDsSortByCreation(t *testing.T) {
	var ids []string
	for i := range 50 {
		ids = append(ids, New(ContentItem, noon.Add(time.Duration(i)*time.Millisecond)))
	}
	if !slices.IsSorted(ids) {
		t.Fatalf("not sorted: %v", ids)
	}
	at, ok := Time(ids[7])
	if !ok || !at.Equal(noon.Add(7*time.Millisecond)) {
		t.Errorf("Time(%s) = %v, %v", ids[7], at, ok)
	}
}

// More than 4,096 ids, by which the counter of package uuid wraps round.
func TestIDsOfOneMillisecondSortByCreation(t *testing.T) {
	for last, n := New(Event, noon), 0; n < 10_000; n++ {
		next := New(Event, noon)
		if next <= last || !Valid(Event, next) {
			t.Fatalf("the id %d, %s, comes after %s", n, next, last)
		}
		last = next
	}
}

func TestDerivedIsStableAndTellsPartsApart(t *testing.T) {
	a := Derived(Delivery, noon, "ab", "c")
	if b := Derived(Delivery, noon, "ab", "c"); a != b {
		t.Errorf("same parts gave %s and %s", a, b)
	}
	if b := Derived(Delivery, noon, "a", "bc"); a == b {
		t.Errorf("different parts gave the same id %s", a)
	}
	if !Valid(Delivery, a) {
		t.Errorf("%s is not valid", a)
	}
}

func TestFirstBoundsARangeByTime(t *testing.T) {
	bound := First(Event, noon)
	if before := New(Event, noon.Add(-time.Millisecond)); before >= bound {
		t.Errorf("%s is not below %s", before, bound)
	}
	if at := New(Event, noon); at < bound {
		t.Errorf("%s is below %s", at, bound)
	}
	// The zero time must not wrap round to the far future.
	if First(Event, time.Time{}) >= bound {
		t.Error("the bound of the zero time is not the lowest")
	}
}

func TestValidRefusesOthers(t *testing.T) {
	good := New(Factory, noon)
	for _, s := range []string{"", "fac", "fac_", good[:len(good)-1], good + "0", "FAC" + good[3:],
		New(ContentItem, noon), "fac_zzzzzzzzzzzzzzzzzzzzzzzzzz", good + "\n"} {
		if Valid(Factory, s) {
			t.Errorf("Valid(%q) = true", s)
		}
	}
	if !Valid(Factory, good) {
		t.Errorf("Valid(%q) = false", good)
	}
}
