package webhook

import (
	"net/http"
	"strconv"
	"time"
)

// attemptTimeout bounds an attempt, from looking the name up to the last byte of
// the answer.
const attemptTimeout = 15 * time.Second

// schedule is how long after each failed attempt the next one follows. After the
// attempt that follows the last wait, the delivery has failed.
var schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
}

// jitter is how far a wait may differ from the schedule, so that what failed
// together does not come again together.
const jitter = 0.1

// longestRetryAfter bounds what a receiver may ask for.
const longestRetryAfter = 24 * time.Hour

// wait tells how long after the failure with the given number (0 for the first)
// the next attempt follows. chance is a random number from 0 to 1. A receiver that
// asks for more time gets it: never is it called before the time that it names.
func wait(failures int, asked time.Duration, chance float64) time.Duration {
	if failures >= len(schedule) {
		return 0
	}
	scheduled := float64(schedule[failures]) * (1 - jitter + 2*jitter*chance)
	return max(time.Duration(scheduled), time.Duration(float64(asked)*(1+jitter*chance)))
}

// retryAfter reads the header Retry-After (RFC 9110, 10.2.3) of an answer that
// asks for a later attempt: seconds, or a date. It gives 0 where there is none.
func retryAfter(status int, h http.Header, now time.Time) time.Duration {
	if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		return 0
	}
	value := h.Get("Retry-After")
	var asked time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		// Compared first: the product of a large number would be a negative one.
		asked = time.Duration(min(seconds, int64(longestRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		asked = at.Sub(now)
	}
	return min(max(asked, 0), longestRetryAfter)
}
