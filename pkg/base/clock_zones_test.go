package base_test

import (
	"archive/zip"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/clock"
)

// The years of testdata/zones.tsv, which infra/tools/zones/table.py writes, and the walls between its values.
var (
	begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	end   = time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
)

const quarter = 15 * time.Minute

// zoneTable is a zone of the table, with the instant of each wall in it, in the order of the walls.
type zoneTable struct {
	zone     *time.Location
	instants []time.Time
}

// behind returns the time by which an instant is behind its wall in UTC.
func (z zoneTable) behind(i int) time.Duration {
	return begin.Add(time.Duration(i) * quarter).Sub(z.instants[i])
}

func (z zoneTable) at(wall time.Time) time.Time { return z.instants[wall.Sub(begin)/quarter] }

// tables reads the table, with the zones from the data that it was made of.
func tables(t *testing.T) (all []zoneTable) {
	t.Helper()
	files, err := zip.OpenReader("clock/testdata/zones.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	text, err := os.ReadFile("clock/testdata/zones.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, runs, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f, err := files.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			t.Fatal(err)
		}
		z := zoneTable{}
		if z.zone, err = time.LoadLocationFromTZData(name, data); err != nil {
			t.Fatal(err)
		}
		for _, run := range strings.Fields(runs) {
			behind, count, _ := strings.Cut(run, "*")
			minutes, err := strconv.Atoi(behind)
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			for range n {
				wall := begin.Add(time.Duration(len(z.instants)) * quarter)
				z.instants = append(z.instants, wall.Add(-time.Duration(minutes)*time.Minute))
			}
		}
		if len(z.instants) != int(end.Sub(begin)/quarter) {
			t.Fatalf("%s has %d instants", name, len(z.instants))
		}
		all = append(all, z)
	}
	if len(all) < 12 {
		t.Fatalf("%d zones", len(all))
	}
	return all
}

func TestInstantsAreThoseOfAnotherImplementation(t *testing.T) {
	t.Parallel()
	for _, z := range tables(t) {
		wrong := 0
		for i, want := range z.instants {
			wall := begin.Add(time.Duration(i) * quarter)
			const near = 3 * 24 * int(time.Hour/quarter)
			if i%8 != 0 && z.behind(max(i-near, 0)) == z.behind(min(i+near, len(z.instants)-1)) {
				continue // away from changes, each two hours are enough
			}
			got := clock.Instant(wall, z.zone)
			if (!got.Equal(want) || !clock.Day(got).Equal(clock.Day(wall))) && wrong < 5 {
				t.Errorf("%s %s is %s, want %s", z.zone, wall.Format(time.DateTime), got, want.In(z.zone))
				wrong++
			}
		}
	}
}

// A daily expression is due once on each date, at the instant of its time of day.
func TestADailyCronRunsOnceOnEachDate(t *testing.T) {
	t.Parallel()
	for _, z := range tables(t) {
		for _, c := range []struct {
			cron string
			of   time.Duration
		}{{"0 0 * * *", 0}, {"15 0 * * *", quarter}, {"30 1 * * *", 6 * quarter}, {"15 2 * * *", 9 * quarter},
			{"30 2 * * *", 10 * quarter}, {"0 12 * * *", 48 * quarter}, {"30 23 * * *", 94 * quarter}} {
			times, err := clock.ParseCron(c.cron)
			if err != nil {
				t.Fatal(err)
			}
			at := clock.Instant(begin, z.zone).Add(-1)
			for day := begin; day.Before(end); day = day.AddDate(0, 0, 1) {
				at = times.Next(at)
				if !at.Equal(z.at(day.Add(c.of))) || !clock.Day(at).Equal(day) {
					t.Errorf("%s %s is due at %s on %s", z.zone, c.cron, at, day.Format(time.DateOnly))
					break
				}
			}
		}
	}
}

// An expression with several times of day is due at the instants of all, in their order, and once where two are one.
func TestACronOfManyTimesIsDueAtAllOfThem(t *testing.T) {
	t.Parallel()
	times, err := clock.ParseCron("*/15 0-3,22-23 * * *")
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range tables(t) {
		var want []time.Time
		for i, at := range z.instants {
			if hour := begin.Add(time.Duration(i) * quarter).Hour(); hour < 4 || hour > 21 {
				want = append(want, at)
			}
		}
		slices.SortFunc(want, time.Time.Compare)
		want = slices.CompactFunc(want, time.Time.Equal)
		at := clock.Instant(begin, z.zone).Add(-1)
		for _, wanted := range want {
			if at = times.Next(at); !at.Equal(wanted) {
				t.Errorf("%s is due at %s, want %s", z.zone, at, wanted.In(z.zone))
				break
			}
		}
	}
}

// A zone is one of the IANA database on every machine.
func TestZonesOfTheDatabase(t *testing.T) {
	for name, known := range map[string]bool{"Europe/Berlin": true, "UTC": true, "Etc/GMT+5": true, "Asia/Calcutta": true,
		"": false, "Local": false, "localtime": false, "posixrules": false, "Factory": false, "posix/UTC": false,
		"right/UTC": false, "right/Europe/Berlin": false, "Europe/Nowhere": false, "../etc/passwd": false} {
		if _, err := clock.Zone(name); (err == nil) != known {
			t.Errorf("%q: %v", name, err)
		}
	}
}
