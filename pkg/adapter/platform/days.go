package platform

import "time"

// Days are the days of a period, in order.
type Days []Day

// NewDays returns the days from a time to now, at most most days before now.
func NewDays(from, now time.Time, most int) (all Days) {
	last := Midnight(now)
	at := Midnight(from)
	if first := last.AddDate(0, 0, -most); at.Before(first) {
		at = first
	}
	for ; !at.After(last); at = at.AddDate(0, 0, 1) {
		all = append(all, Day{Date: at})
	}
	return all
}

// At returns the day of a time, or nil if it is none of them.
func (all Days) At(t time.Time) *Day {
	i := int(Midnight(t).Sub(all[0].Date).Hours() / 24)
	if t.Before(all[0].Date) || i >= len(all) {
		return nil
	}
	return &all[i]
}

// Last returns the present day.
func (all Days) Last() *Day { return &all[len(all)-1] }
