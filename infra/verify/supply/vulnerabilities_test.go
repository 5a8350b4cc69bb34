package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The notes are about the programs that are pinned. Their age is compared when the command runs, not here.
func TestB17TheNotesAreOfThePinnedPrograms(t *testing.T) {
	const root = "../../.."
	text, err := os.ReadFile(root + "/infra/tools/faults.tsv")
	if err != nil {
		t.Fatal(err)
	}
	newest := time.Time{}
	for line := range strings.Lines(string(text)) {
		if row := strings.Split(line, "\t"); len(row) == 5 {
			if day, err := time.Parse(time.DateOnly, row[2]); err == nil && day.After(newest) {
				newest = day
			}
		}
	}
	if found, err := notes(root, newest.Add(time.Hour)); err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := notes(root, newest.Add(longest+25*time.Hour)); err != nil || len(found) < len(pins) {
		t.Errorf("after 35 days: %v, %v", found, err)
	}
}

func TestNotesThatHoldNothing(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"ffmpeg\t7.0.2\t2026-11-01\tx\ty\n": "",
		"ffmpeg\t7.0.2\t2026-10-25\tx\ty\n": "",
		"ffmpeg\t7.0.2\t2026-10-24\tx\ty\n": "35 days",
		"ffmpeg\t7.0.2\t2026-12-01\tx\ty\n": "no day",
		"ffmpeg\t7.0.2\tlately\tx\ty\n":     "no day",
		"ffmpeg\t8.1\t2026-11-01\tx\ty\n":   "is pinned",
		"ffmpeg\t7.0.2\t2026-11-01\tx\t\n":  "five cells",
		"":                                  "no note",
		"sox\t1\t2026-11-01\tx\ty\nffmpeg\t7.0.2\t2026-11-01\tx\ty\n": "not pinned",
	} {
		found := strings.Join(compare(text, map[string]string{"ffmpeg": "7.0.2"}, now), "; ")
		if (want == "") != (found == "") || !strings.Contains(found, want) {
			t.Errorf("%q: %s", text, found)
		}
	}
}

// What cannot be checked fails, unless somebody has said so; what needs no network never may.
func TestWhatCannotBeCheckedFails(t *testing.T) {
	unreachable := func(context.Context) ([]string, error) { return nil, errors.New("no network") }
	some := func(context.Context) ([]string, error) { return []string{"a fault"}, nil }
	for about, c := range map[string]struct {
		look    look
		offline bool
		faults  int
	}{
		"no network":              {look{"Go", unreachable, true}, false, 1},
		"no network, and said so": {look{"Go", unreachable, true}, true, 0},
		"no notes, and said so":   {look{"notes", unreachable, false}, true, 1},
		"a fault, and said so":    {look{"Go", some, true}, true, 1},
	} {
		if faults := examine(t.Context(), []look{c.look}, c.offline); len(faults) != c.faults {
			t.Errorf("%s: %v", about, faults)
		}
	}
	if _, err := audited([]byte(`{"message":"405 Method Not Allowed"}`)); err == nil {
		t.Error("an audit that was refused counts as one")
	}
	found, err := audited([]byte(`{"metadata":{},"vulnerabilities":{"a":{"severity":"high"},"b":{"severity":"low"}}}`))
	if err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
