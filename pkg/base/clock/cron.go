package clock

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cron is when a cron expression is due: on its days, at its times of day.
type Cron struct {
	days, months, weekdays field
	// times are the times of day, in their order.
	times []time.Duration
}

// field has the values of a field of an expression as bits, and every if it is not restricted.
type field uint64

const every field = 1 << 63

func (f field) has(value int) bool { return f&(1<<value) != 0 }

// bounds are the values that a field takes. Names are in lower case; the first stands for the lowest value.
type bounds struct {
	low, high int
	names     []string
}

var (
	minutes  = bounds{0, 59, nil}
	hours    = bounds{0, 23, nil}
	days     = bounds{1, 31, nil}
	months   = bounds{1, 12, strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")}
	weekdays = bounds{0, 6, strings.Fields("sun mon tue wed thu fri sat")}
)

var errCron = errors.New("clock: not a cron expression of five fields")

// ParseCron reads five fields: minute, hour, day of month, month and day of week, where 0 is Sunday. A field is a list
// of numbers, names such as MON and JAN, ranges and steps, for example 1-5 or 10-20/5; * and ? are all values. If both
// the day of month and the day of week are restricted, one of them is enough.
func ParseCron(text string) (*Cron, error) {
	parts := strings.Fields(text)
	if len(parts) != 5 {
		return nil, errCron
	}
	var read [5]field
	for i, b := range []bounds{minutes, hours, days, months, weekdays} {
		var err error
		if read[i], err = b.list(parts[i]); err != nil {
			return nil, err
		}
	}
	c := &Cron{days: read[2], months: read[3], weekdays: read[4]}
	for hour := range hours.high + 1 {
		for minute := range minutes.high + 1 {
			if read[1].has(hour) && read[0].has(minute) {
				c.times = append(c.times, time.Duration(hour)*time.Hour+time.Duration(minute)*time.Minute)
			}
		}
	}
	return c, nil
}

// list reads a field.
func (b bounds) list(text string) (all field, err error) {
	for one := range strings.SplitSeq(text, ",") {
		f, err := b.part(one)
		if err != nil {
			return 0, err
		}
		all |= f
	}
	return all, nil
}

// part reads one element of a list: a value or a range, and perhaps a step. A value with a step begins a range that
// ends with the highest value.
func (b bounds) part(text string) (f field, err error) {
	values, stepText, stepped := strings.Cut(text, "/")
	from, to, ranged := strings.Cut(values, "-")
	low, high, step := b.low, b.high, 1
	if stepped {
		if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
			return 0, errCron
		}
	}
	if values == "*" || values == "?" {
		if step == 1 {
			f = every
		}
	} else {
		if low, err = b.value(from); err != nil {
			return 0, err
		}
		switch {
		case ranged:
			high, err = b.value(to)
		case !stepped:
			high = low
		}
		if err != nil || low > high {
			return 0, errCron
		}
	}
	for value := low; value <= high; value += min(step, b.high+1) {
		f |= 1 << value
	}
	return f, nil
}

// value reads a number or a name.
func (b bounds) value(text string) (int, error) {
	if i := slices.Index(b.names, strings.ToLower(text)); i >= 0 {
		return b.low + i, nil
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < b.low || value > b.high {
		return 0, errCron
	}
	return value, nil
}

// on reports whether a day is one of the expression.
func (c *Cron) on(day time.Time) bool {
	inMonth, inWeek := c.days.has(day.Day()), c.weekdays.has(int(day.Weekday()))
	if (c.days|c.weekdays)&every != 0 {
		inMonth = inMonth && inWeek
	} else {
		inMonth = inMonth || inWeek
	}
	return inMonth && c.months.has(int(day.Month()))
}

// Next returns the first time after another at which the expression is due in its zone, each as Instant has it: once a
// day for a time of day, also if clocks skip or repeat it. It is the zero time if none comes within five years.
func (c *Cron) Next(after time.Time) (next time.Time) {
	zone := after.Location()
	// The times of a day that a zone leaves out are on the next one.
	for of := Day(after).Add(-day); of.Year() <= after.Year()+5; of = of.Add(day) {
		if !c.on(of) {
			continue
		}
		if next = c.first(of, zone, after); !next.IsZero() {
			return next
		}
	}
	return next
}

// first returns the first of the times of a day after a time, or the zero time. A time that moves may come after a
// later one of its day.
func (c *Cron) first(of time.Time, zone *time.Location, after time.Time) (first time.Time) {
	before, behind := offset(of.Add(-day), zone), offset(of.Add(2*day), zone)
	most, least := max(before, behind), min(before, behind)
	for _, t := range c.times {
		wall := of.Add(t)
		if !wall.Add(-least).After(after) {
			continue // it is not after it by either offset
		}
		if !first.IsZero() && !wall.Add(-most).Before(first) {
			break
		}
		if at := Instant(wall, zone); at.After(after) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}
