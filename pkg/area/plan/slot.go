package plan

import (
	"fmt"
	"slices"
	"time"
	_ "time/tzdata" // Lambda's runtime need not know the time zones.

	"github.com/content-automation/api/pkg/base/clock"
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
			slots = append(slots, Slot{At: clock.Instant(day.Add(at), zone).UTC()})
		}
	}
	slices.SortStableFunc(slots, func(a, b Slot) int { return a.At.Compare(b.At) })
	for i, c := range p.grid(len(slots)) {
		slots[i].cell, slots[i].Type = c, p.ContentTypes[c.typed]
		slots[i].Held = slots[i].Type
	}
	return slots, nil
}
