package plan

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/craft/business"
)

// A schedule is taken as it is. What it lacks is in the best hours, then in the usual ones, at other minutes each day.
func TestTimesOfASchedule(t *testing.T) {
	for _, c := range []struct {
		name     string
		schedule []string
		perDay   int
		hours    []int
		want     []int // hours
	}{
		{"as many", []string{"18:30", "09:00"}, 2, nil, []int{9, 18}},
		{"too many", []string{"08:00", "10:00", "12:00", "14:00", "16:00", "18:00"}, 2, nil, []int{8, 14}},
		{"none", nil, 3, nil, []int{9, 12, 18}},
		{"none, with better hours", nil, 3, []int{20, 7}, []int{7, 12, 20}},
		{"too few, near a better hour", []string{"19:30"}, 2, []int{20, 7}, []int{7, 19}},
		{"the most posts", nil, 10, nil, nil},
	} {
		minutes := map[time.Duration]bool{}
		for day := range 10 {
			got, err := timesOf(c.schedule, c.perDay, c.hours, -1, seeded("factory", strconv.Itoa(day)))
			if err != nil || len(got) != c.perDay || !slices.IsSorted(got) {
				t.Fatalf("%s: %v, %v", c.name, got, err)
			}
			var hours []int
			for _, at := range got {
				hours = append(hours, int(at.Hours()))
			}
			if c.want != nil && !slices.Equal(hours, c.want) {
				t.Errorf("%s: at %v, want the hours %v", c.name, got, c.want)
			}
			for i := range got[1:] {
				if len(c.schedule) < c.perDay && got[i+1]-got[i] < 20*time.Minute {
					t.Errorf("%s: %v and %v are near", c.name, got[i], got[i+1])
				}
			}
			minutes[got[0]%time.Hour] = true
		}
		if len(c.schedule) == 0 && len(minutes) < 5 {
			t.Errorf("%s: always at the minutes %v", c.name, minutes)
		}
	}
	if _, err := timesOf([]string{"25:00"}, 1, nil, -1, seeded()); err == nil {
		t.Error("25:00 is a time")
	}
}

// The hours of several platforms are taken in turn, and those of the account's own figures are before all.
func TestBestHours(t *testing.T) {
	for _, row := range registry.Rows() {
		for _, hours := range [][]int{row.Capabilities.Habits.Hours, row.Capabilities.Habits.WeekendHours} {
			if len(hours) > 0 && (slices.Max(hours) > 22 || slices.Min(hours) < 7) {
				t.Errorf("%s: %v", row.Name, hours)
			}
		}
	}
	h := hoursOn(business.Named("brand"), []string{"tiktok", "linkedin", "unknown"}, "DE")
	if want := []int{12, 18, 9}; !slices.Equal(h[time.Monday][:3], want) {
		t.Errorf("on Monday: %v", h[time.Monday])
	}
	if want := []int{11, 19, 16}; !slices.Equal(h[time.Sunday][:3], want) {
		t.Errorf("on Sunday: %v", h[time.Sunday])
	}
	abroad := hoursOn(business.Named("brand"), []string{"tiktok", "linkedin", "unknown"}, "AE")
	if gulf := hoursOn(business.Named("brand"), []string{"tiktok"}, "SA"); slices.Equal(gulf[time.Friday],
		gulf[time.Sunday]) || !slices.Equal(gulf[time.Sunday], gulf[time.Monday]) ||
		!slices.Equal(abroad[time.Friday], h[time.Friday]) {
		t.Errorf("on Friday and Sunday in Saudi Arabia: %v, %v; in the Emirates %v", gulf[time.Friday],
			gulf[time.Sunday], abroad[time.Friday])
	}
	h.measured(time.Monday, []int{6, 16})
	if want := []int{6, 16, 12, 18, 9}; !slices.Equal(h[time.Monday][:5], want) {
		t.Errorf("with own figures: %v", h[time.Monday])
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
		{"the day stays", "America/Havana", "2026-03-08", "00:15", "2026-03-08T05:15:00Z"},
		{"the day ends early", "America/Nuuk", "2026-03-28", "23:30", "2026-03-29T00:30:00Z"},
		{"UTC", "UTC", "2026-05-01", "00:00", "2026-05-01T00:00:00Z"},
	} {
		p := Plan{Days: 1, PostsPerDay: 1, ContentTypes: []string{"post"}, StartsOn: c.day, Timezone: c.zone}
		got, err := p.Slots(Recipe{Times: []string{c.time}}, Hours{})
		if err != nil || len(got) != 1 || got[0].At.UTC().Format(time.RFC3339) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, got, err, c.want)
		}
	}
}

// Of today, only times that are still to come count. What the schedule lacks then comes later on the day, and only an
// evening has room for fewer items, whatever the hours are.
func TestAPlanOfTodayHasNoPast(t *testing.T) {
	for _, c := range []struct {
		now      string
		schedule []string
		perDay   int
		today    int // slots
		first    string
	}{
		{"00:00", []string{"00:00", "09:00"}, 2, 2, ""},
		{"08:59", []string{"09:00"}, 1, 1, "09:00"},
		{"09:00", []string{"09:00"}, 1, 1, ""},
		{"14:10", []string{"09:00", "18:30"}, 1, 1, "18:30"},
		{"14:10", []string{"09:00", "18:30"}, 2, 2, ""},
		{"14:10", nil, 10, 10, ""},
		{"21:40", nil, 10, 6, ""},
		{"23:20", nil, 3, 1, ""},
		{"23:50", nil, 3, 0, ""},
		{"23:50", []string{"23:55"}, 3, 1, "23:55"},
		{"23:59", []string{"23:59"}, 3, 0, ""},
	} {
		p := Plan{Days: 2, PostsPerDay: c.perDay, ContentTypes: []string{"post"}, StartsOn: "2026-05-01",
			Timezone: "Europe/Berlin", Brief: "We open on 1 May at 10:00"}
		zone, _ := time.LoadLocation(p.Timezone)
		now, err := time.ParseInLocation("2006-01-02 15:04", "2026-05-01 "+c.now, zone)
		if err != nil {
			t.Fatal(err)
		}
		for _, hours := range [][]int{nil, {6, 7, 8}, {20, 21, 22}} {
			slots, err := p.Slots(Recipe{Times: c.schedule, After: now, Language: "en"},
				Hours{4: hours, 5: hours, 6: hours})
			var today []string
			for _, slot := range slots {
				if at := slot.At.In(zone); at.Day() == 1 {
					today = append(today, at.Format("15:04"))
				}
				if !slot.At.After(now) {
					t.Errorf("at %s, a slot is at %v", c.now, slot.At.In(zone))
				}
			}
			if err != nil || len(today) != c.today || len(slots) != c.today+c.perDay ||
				c.first != "" && today[0] != c.first {
				t.Errorf("at %s, %d a day: %v, %v, %v", c.now, c.perDay, today, len(slots), err)
			}
		}
	}
}

// Where the clocks skip one time of a schedule onto another, both have an item, but not at once.
func TestTwoTimesAreNeverOne(t *testing.T) {
	p := Plan{Days: 1, PostsPerDay: 2, ContentTypes: []string{"post"}, StartsOn: "2026-03-29", Timezone: "Europe/Berlin"}
	slots, err := p.Slots(Recipe{Times: []string{"02:30", "03:30"}}, Hours{})
	if err != nil || len(slots) != 2 || slots[1].At.Sub(slots[0].At) != 20*time.Minute {
		t.Errorf("%v, %v", slots, err)
	}
}

// At this time of the day before, tomorrow's time of day does not exist in Havana.
func TestAPlanBeginsOnTheNextDay(t *testing.T) {
	now := time.Date(2026, 3, 7, 5, 30, 0, 0, time.UTC)
	if day, err := start("", "America/Havana", now); err != nil || day != "2026-03-08" {
		t.Errorf("%s, %v", day, err)
	}
}

func TestSlotsAreInOrderAndComplete(t *testing.T) {
	p := Plan{Days: 90, PostsPerDay: 10, ContentTypes: []string{"post", "carousel"}, StartsOn: "2026-03-01",
		Timezone: "America/New_York"}
	slots, err := p.Slots(Recipe{}, Hours{})
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
