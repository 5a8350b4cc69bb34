// Package clock goes from the time that clocks on a wall show, such as 18:30 on a day in a zone, to the instant at
// which they show it. Instant has the one rule for days on which clocks are changed; On and Cron follow it.
package clock

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Layout is the layout of a time of day, with two digits each for the hour and the minute.
const Layout = "15:04"

// day is the length of a day in UTC, where days are counted.
const day = 24 * time.Hour

// Parse returns a time of day as the duration since midnight. For example, it is 18 hours and 30 minutes for 18:30.
func Parse(text string) (time.Duration, error) {
	at, err := time.Parse(Layout, text)
	if err != nil {
		return 0, fmt.Errorf("clock: %w", err)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}

// Valid reports whether a text is a time of day in Layout. Parse also reads 9:30, which is not.
func Valid(text string) bool {
	_, err := Parse(text)
	return err == nil && len(text) == len(Layout)
}

// Zone returns the time zone with a name of the IANA database. What depends on the machine is none: its own zone, and
// the files beside the database, such as the clocks with leap seconds below right/.
func Zone(name string) (*time.Location, error) {
	top, _, _ := strings.Cut(name, "/")
	if slices.Contains([]string{"", "Local", "localtime", "posixrules", "Factory", "posix", "right"}, top) {
		return nil, fmt.Errorf("clock: %q is no time zone", name)
	}
	return time.LoadLocation(name)
}

// Day returns the day that a time shows in its zone, as midnight in UTC. Days are counted there: in a zone, a day may
// lack the time of day from which the next one is counted.
func Day(at time.Time) time.Time {
	y, m, d := at.Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// On returns a time of day on the day of another time, in its zone. Beyond 24 hours it is on a later day.
func On(at time.Time, of time.Duration) time.Time { return Instant(Day(at).Add(of), at.Location()) }

// Instant returns the time at which the clocks of a zone show the date and the time of day that wall shows. Of a time
// that they show twice it is the first. A time that they skip moves on by what they skip: 02:30 becomes 03:30. If it
// would leave its day so, it moves back as much. The day stays, unless the zone leaves it out as a whole.
func Instant(wall time.Time, zone *time.Location) time.Time {
	h, m, s := wall.Clock()
	wall = Day(wall).Add(time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second +
		time.Duration(wall.Nanosecond()))
	// No zone changes its clocks twice within two days.
	before, after := offset(wall.Add(-day), zone), offset(wall.Add(day), zone)
	first, second := wall.Add(-max(before, after)).In(zone), wall.Add(-min(before, after)).In(zone)
	for _, at := range []time.Time{first, second} {
		if at.Add(offset(at, zone)).Equal(wall) {
			return at
		}
	}
	if Day(first).Equal(Day(wall)) && !Day(second).Equal(Day(wall)) {
		return first
	}
	return second
}

// offset is the time by which the clocks of a zone are ahead of UTC.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
