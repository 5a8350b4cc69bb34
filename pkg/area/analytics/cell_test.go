package analytics

import (
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/store"
)

// With eleven kinds, platforms and metrics, each name is of one cell.
func TestNamesOfCellsDoNotCollide(t *testing.T) {
	seen := map[string]cell{}
	for n := range 96 {
		for kind := range 12 {
			for number := range 12 {
				for metric := range 12 {
					c := cell{n, kind, number, metric}
					if was, ok := seen[c.name()]; ok {
						t.Fatalf("%s is of %v and %v", c.name(), was, c)
					}
					seen[c.name()] = c
					if got, err := cellOf(c.name()); err != nil || got != c {
						t.Fatalf("%s is of %v, not %v: %v", c.name(), got, c, err)
					}
				}
			}
		}
	}
}

// The counts of more than ten kinds and platforms, whose numbers have two digits, are read again.
func TestManyKindsAndPlatforms(t *testing.T) {
	was := kinds
	t.Cleanup(func() { kinds = was })
	for len(kinds) < 12 {
		kinds = append(kinds[:len(kinds):len(kinds)], platform.Kind(fmt.Sprintf("kind%d", len(kinds))))
	}
	all, at := sums{}, time.Date(2026, 11, 22, 23, 50, 0, 0, time.UTC)
	var amounts RollupAmounts
	for i := range amounts {
		amounts[i] = int64(i + 1)
	}
	var lines []Line
	for _, kind := range kinds {
		for _, p := range registry.Names() {
			lines = append(lines, Line{At: at, Kind: string(kind), Platform: p, Amounts: amounts})
		}
	}
	if err := all.count(lines, "UTC", time.UTC, 1); err != nil {
		t.Fatal(err)
	}
	for _, sk := range []string{"day#2026-11", "quarter#2026-11-22"} {
		read := totals{}
		if err := read.add(store.Item{Numbers: all[sk]}, "2026-11-22", "2026-11-22",
			func(int) string { return "2026-11-22" }); err != nil {
			t.Fatal(err)
		}
		if len(read) != len(lines) {
			t.Errorf("%s has %d groups, not %d", sk, len(read), len(lines))
		}
		for _, l := range lines {
			if got := read[Group{"2026-11-22", l.Kind, l.Platform}]; got != amounts {
				t.Errorf("%s: %s on %s has %v", sk, l.Kind, l.Platform, got)
			}
		}
	}
}

// A name that is none is an error: sums are never left out in silence.
func TestNamesThatAreNone(t *testing.T) {
	for _, name := range []string{"01100", "010100000", "0101000x", "01-10000", "01990000", "01019900", "01010099"} {
		if err := (totals{}).add(store.Item{Numbers: map[string]int64{name: 1}}, "", "~",
			func(int) string { return "2026-11-22" }); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if err := (sums{}).count([]Line{{Kind: "post", Platform: "myspace"}}, "UTC", time.UTC, 1); err == nil {
		t.Error("a platform without a number is counted")
	}
}
