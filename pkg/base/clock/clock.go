// Package clock reads times of day as people write them in schedules, such as 18:30. Parse reads one, and On returns it
// on a day.
package clock

import (
	"fmt"
	"time"
)

// Layout is the layout of a time of day, with two digits each for the hour and the minute.
const Layout = "15:04"

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

// On returns a time of day on the day of another time, in its zone. Beyond 24 hours it is on a later day.
func On(day time.Time, of time.Duration) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, int(of/time.Hour), int(of%time.Hour/time.Minute), 0, 0, day.Location())
}
