package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// A test program runs once at each moment, in its zone, and all runs count.
func TestAProgramRunsAtEachMoment(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	script := "#!/bin/sh\necho $1 $TZ $(( ($(date +%s) + CALENDAR_SHIFT) / 60 ))\n[ $TZ != America/St_Johns ]\n"
	if err := os.WriteFile(name, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := atMoments(t.Context(), &out, []string{name, "-test.v"})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != len(moments) {
		t.Fatalf("%d runs: %s", len(lines), &out)
	}
	for i, m := range moments {
		begin, parseErr := time.Parse(time.RFC3339, m.begin)
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		minute := begin.Unix() / 60
		if lines[i] != fmt.Sprint("-test.v ", m.zone, " ", minute) && lines[i] != fmt.Sprint("-test.v ", m.zone, " ", minute-1) {
			t.Errorf("%s: %s, want the minute %d", m.name, lines[i], minute)
		}
		if (m.zone == "America/St_Johns") != strings.Contains(err.Error(), m.name+": ") {
			t.Errorf("%s: %v", m.name, err)
		}
	}
	if err := calendar(t.Context(), []string{"-only", "new year"}); err == nil {
		t.Error("a moment that does not exist is taken")
	}
	t.Setenv("CALENDAR_ONLY", moments[0].name)
	if err := atMoments(t.Context(), io.Discard, []string{name}); err != nil {
		t.Errorf("one moment: %v", err)
	}
}
