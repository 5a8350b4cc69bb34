package resource

import (
	"encoding/json"
	"time"
)

// TimeLayout is the layout of times in answers and events: RFC 3339 in UTC, with exactly three decimals.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as answers and events show it. Instant makes one.
type Time struct{ time.Time }

// Instant returns a time as the API shows it: UTC, to the millisecond.
func Instant(t time.Time) Time { return Time{t.UTC().Truncate(time.Millisecond)} }

// InstantOrNil returns the time as the API shows it, or nil for nil.
func InstantOrNil(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	at := Instant(*t)
	return &at
}

// OrZero returns the time, or the zero time for nil.
func (t *Time) OrZero() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// SortableTime returns a time in TimeLayout. Such texts are sorted as the times are.
func SortableTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// MarshalJSON writes the time in TimeLayout.
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+TimeLayout+`"`), nil
}

// UnmarshalJSON reads a time of RFC 3339 with any number of decimals.
func (t *Time) UnmarshalJSON(b []byte) error {
	var read time.Time
	if err := json.Unmarshal(b, &read); err != nil {
		return err
	}
	*t = Instant(read)
	return nil
}
