package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A few minutes after each moment, the date or the offset of a zone has changed.
func TestMoments(t *testing.T) {
	for _, m := range moments {
		begin, err := time.Parse(time.RFC3339, m.begin)
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if _, err := time.LoadLocation(m.zone); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		changes := false
		for _, zone := range []string{"UTC", "Pacific/Kiritimati", "America/St_Johns", "Europe/Berlin"} {
			in, err := time.LoadLocation(zone)
			if err != nil {
				t.Fatal(err)
			}
			before, after := begin.In(in), begin.Add(2*time.Minute).In(in)
			_, one := before.Zone()
			_, other := after.Zone()
			changes = changes || before.Day() != after.Day() || one != other
		}
		if !changes {
			t.Errorf("%s: nothing changes after %s", m.name, m.begin)
		}
	}
}

func TestTheOverlayFitsThisRelease(t *testing.T) {
	dir := t.TempDir()
	name, err := writeOverlay(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(name)
	if err != nil || strings.Count(string(list), dir) != 2 {
		t.Errorf("%s, %v", list, err)
	}
}
