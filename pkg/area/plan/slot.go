package plan

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.
)

// Slot is one future item of a plan: its type, and the time of its publication.
type Slot struct {
	Type string
	At   time.Time
}

// usualTimes are the times of day of a schedule that names too few, in the order in which
// they are taken. There are as many as a day has posts at most.
var usualTimes = []string{"12:00", "18:00", "09:00", "15:00", "21:00", "10:30", "16:30", "13:30", "19:30", "07:30"}

// timesOf returns the n times of day at which a schedule publishes. Of a schedule with
// more times it takes n that are spread evenly over them, and to one with fewer it adds
// the usual ones.
func timesOf(schedule []string, n int) []string {
	all := slices.Sorted(slices.Values(schedule))
	if len(all) >= n {
		chosen := make([]string, n)
		for i := range chosen {
			chosen[i] = all[i*len(all)/n]
		}
		return chosen
	}
	for _, usual := range usualTimes {
		if len(all) < n && !slices.Contains(all, usual) {
			all = append(all, usual)
		}
	}
	slices.Sort(all)
	return all
}

// typeOf returns the content type of post number n of a day, both from 0, of a plan with so
// many posts a day. The types follow each other, so that the plan has equally many of each.
// If that made each day the same, every day begins with the next one.
func typeOf(types []string, perDay, day, n int) string {
	i := day*perDay + n
	if perDay%len(types) == 0 {
		i += day
	}
	return types[i%len(types)]
}

// Slots returns the slots of a plan, in the order of their times. The schedule is that of
// its factory.
func (p *Plan) Slots(schedule []string) ([]Slot, error) {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	times := timesOf(schedule, p.PostsPerDay)
	slots := make([]Slot, 0, p.Days*p.PostsPerDay)
	for day := range p.Days {
		for n, text := range times {
			at, err := time.Parse("15:04", text)
			if err != nil {
				return nil, fmt.Errorf("plan: %w", err)
			}
			wall := first.AddDate(0, 0, day).Add(time.Duration(at.Hour())*time.Hour +
				time.Duration(at.Minute())*time.Minute)
			slots = append(slots, Slot{typeOf(p.ContentTypes, p.PostsPerDay, day, n), instant(wall, zone)})
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return a.At.Compare(b.At) })
	return slots, nil
}

// instant returns the time at which the clocks of a zone show the time that wall shows in
// UTC. If they show it twice it is the first time; if they skip it, it moves on by the
// skipped time: 02:30 is then 03:30.
func instant(wall time.Time, zone *time.Location) time.Time {
	// No zone changes its clocks twice within two days.
	before, after := offset(wall.AddDate(0, 0, -1), zone), offset(wall.AddDate(0, 0, 1), zone)
	first, second := wall.Add(-before), wall.Add(-after)
	if second.Before(first) {
		first, second = second, first
	}
	for _, at := range []time.Time{first, second} {
		if at.Add(offset(at, zone)).Equal(wall) {
			return at
		}
	}
	return wall.Add(-before)
}

// offset is the time by which the clocks of a zone are ahead of UTC.
func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}
