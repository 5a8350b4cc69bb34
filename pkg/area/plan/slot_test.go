package plan

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"
)

func TestTimesOfASchedule(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule []string
		perDay   int
		want     []string
	}{
		{"as many", []string{"18:30", "09:00"}, 2, []string{"09:00", "18:30"}},
		{"none", nil, 3, []string{"09:00", "12:00", "18:00"}},
		{"too few", []string{"12:00"}, 3, []string{"09:00", "12:00", "18:00"}},
		{"too many", []string{"08:00", "10:00", "12:00", "14:00", "16:00", "18:00"}, 2, []string{"08:00", "14:00"}},
		{"the most posts", nil, 10, []string{"07:30", "09:00", "10:30", "12:00", "13:30", "15:00", "16:30", "18:00",
			"19:30", "21:00"}},
		{"the most posts, all but one on usual times", slices.Clone(usualTimes[:9]), 10,
			slices.Sorted(slices.Values(usualTimes))},
	} {
		if got := timesOf(c.schedule, c.perDay); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestContentTypesAreSpreadEvenly(t *testing.T) {
	for _, types := range [][]string{{"post"}, {"post", "carousel"}, {"short_video", "post", "carousel"}} {
		for perDay := 1; perDay <= 10; perDay++ {
			for _, days := range []int{1, 7, 90} {
				count, first := map[string]int{}, map[string]bool{}
				for day := range days {
					first[typeOf(types, perDay, day, 0)] = true
					for n := range perDay {
						count[typeOf(types, perDay, day, n)]++
					}
				}
				all := slices.Sorted(maps.Values(count))
				if spread := all[len(all)-1] - all[0]; len(all) < min(len(types), days*perDay) || spread > 1 {
					t.Errorf("%d days with %d posts of %v: %v", days, perDay, types, count)
				}
				if days == 90 && len(first) != len(types) {
					t.Errorf("%d posts of %v a day begin with %v only", perDay, types, first)
				}
			}
		}
	}
}

func TestSlotsFollowTheClocksOfTheZone(t *testing.T) {
	for _, c := range []struct {
		name, zone, day, time, want string
	}{
		{"winter", "Europe/Berlin", "2026-12-01", "09:00", "2026-12-01T08:00:00Z"},
		{"summer", "Europe/Berlin", "2026-07-01", "09:00", "2026-07-01T07:00:00Z"},
		{"skipped in Berlin", "Europe/Berlin", "2026-03-29", "02:30", "2026-03-29T01:30:00Z"},
		{"before what is skipped", "Europe/Berlin", "2026-03-29", "01:59", "2026-03-29T00:59:00Z"},
		{"after what is skipped", "Europe/Berlin", "2026-03-29", "03:00", "2026-03-29T01:00:00Z"},
		{"twice in Berlin", "Europe/Berlin", "2026-10-25", "02:30", "2026-10-25T00:30:00Z"},
		{"after the second time", "Europe/Berlin", "2026-10-25", "03:00", "2026-10-25T02:00:00Z"},
		{"skipped in New York", "America/New_York", "2026-03-08", "02:15", "2026-03-08T07:15:00Z"},
		{"twice in New York", "America/New_York", "2026-11-01", "01:30", "2026-11-01T05:30:00Z"},
		{"half an hour skipped", "Australia/Lord_Howe", "2026-10-04", "02:15", "2026-10-03T15:45:00Z"},
		{"half an hour twice", "Australia/Lord_Howe", "2026-04-05", "01:45", "2026-04-04T14:45:00Z"},
		{"a zone of half hours", "Asia/Kolkata", "2026-05-01", "09:00", "2026-05-01T03:30:00Z"},
		{"midnight is skipped", "Africa/Cairo", "2026-04-24", "00:30", "2026-04-23T22:30:00Z"},
		{"UTC", "UTC", "2026-05-01", "00:00", "2026-05-01T00:00:00Z"},
	} {
		p := Plan{Days: 1, PostsPerDay: 1, ContentTypes: []string{"post"}, StartsOn: c.day, Timezone: c.zone}
		got, err := p.Slots([]string{c.time})
		if err != nil || len(got) != 1 || got[0].At.UTC().Format(time.RFC3339) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}

func TestSlotsAreInOrderAndComplete(t *testing.T) {
	p := Plan{Days: 90, PostsPerDay: 10, ContentTypes: []string{"post", "carousel"}, StartsOn: "2026-03-01",
		Timezone: "America/New_York"}
	slots, err := p.Slots(nil)
	if err != nil || len(slots) != 900 {
		t.Fatalf("%d slots, %v", len(slots), err)
	}
	days := map[string]int{}
	zone, _ := time.LoadLocation(p.Timezone)
	for i, s := range slots {
		days[s.At.In(zone).Format(time.DateOnly)]++
		if i > 0 && !slots[i-1].At.Before(s.At) {
			t.Errorf("slot %d is at %v, after %v", i, s.At, slots[i-1].At)
		}
	}
	if len(days) != 90 || days["2026-03-08"] != 10 || days["2026-05-29"] != 10 {
		t.Errorf("%v", days)
	}
}
