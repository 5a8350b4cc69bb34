package plan

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.
)

// Slot is one future item of a plan: its type, the time of its publication, and its place in the grid.
type Slot struct {
	Type string
	At   time.Time
	// Held is the type for whose price a reservation is made. An experiment may draw another type.
	Held string
	cell
}

// Slots returns the slots of a plan, in the order of their times. Hours are the best ones for the times that the
// schedule of its factory does not name.
func (p *Plan) Slots(r Recipe, hours Hours) ([]Slot, error) {
	zone, err := time.LoadLocation(p.Timezone)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	first, err := time.Parse(time.DateOnly, p.StartsOn)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	slots := make([]Slot, 0, p.Days*p.PostsPerDay)
	for n := range p.Days {
		day := first.AddDate(0, 0, n)
		times, err := timesOf(r.Times, p.PostsPerDay, hours[day.Weekday()], seeded(r.Name, p.seed(), day.String()))
		if err != nil {
			return nil, err
		}
		for _, at := range times {
			slots = append(slots, Slot{At: instant(day.Add(at), zone)})
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return a.At.Compare(b.At) })
	for i, c := range p.grid(len(slots)) {
		slots[i].cell, slots[i].Type = c, p.ContentTypes[c.typed]
		slots[i].Held = slots[i].Type
	}
	return slots, nil
}

// instant returns the time at which the clocks of a zone show the time that wall shows in UTC. If they show it twice it
// is the first time; if they skip it, it moves on by the skipped time: 02:30 is then 03:30.
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
