package safehttp

import (
	"errors"
	"net/http"
	"strconv"
	"time"
)

// The bounds of the wait that a server may ask for: before an address of a caller is fetched again, and of others.
const (
	longestPause  = time.Hour
	maxRetryAfter = 24 * time.Hour
)

// Again reports whether a request may succeed when it is sent again after an answer: the server has given up on it
// (408), asks for fewer (429), or has failed (5xx). The pause is the shortest wait until then that the server asks for
// by Retry-After: at most an hour, and 0 if it asks for none.
func Again(answer *http.Response, now time.Time) (pause time.Duration, again bool) {
	switch code := answer.StatusCode; {
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return min(RetryAfter(answer.Header, now), longestPause), true
	}
	return 0, false
}

// RetryAfter parses the header Retry-After: seconds, or a date (RFC 9110, 10.2.3). It returns at most a day, and 0 if
// the header says nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	var after time.Duration
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		// ParseInt returns the nearest number of one that is too large (RFC 9111, 1.2.2).
		// Compared first: the product of a large number would overflow.
		after = time.Duration(min(seconds, int64(maxRetryAfter/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		after = at.Sub(now)
	}
	return min(max(after, 0), maxRetryAfter)
}
