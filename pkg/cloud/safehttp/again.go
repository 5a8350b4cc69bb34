package safehttp

import (
	"errors"
	"math"
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

// RetryAfter parses the header Retry-After (RFC 9110, 10.2.3). It returns at most a day, and 0 if the header says
// nothing.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	after, _ := Wait(h.Get("Retry-After"), now)
	return after
}

// Wait reads how long to wait, as the headers of limits say it: seconds, some with a fraction, a date, or the second or
// the millisecond since 1970 at which the wait ends (sindresorhus/ky #618, openfga/dotnet-sdk #76). It returns at most
// a day, and false if the value is none.
func Wait(value string, now time.Time) (after time.Duration, ok bool) {
	const second, millisecond = 1e9, 1e12 // what is above is one since 1970
	n, err := strconv.ParseFloat(value, 64)
	switch at, bad := http.ParseTime(value); {
	case bad == nil:
		after = at.Sub(now)
	case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(n):
		return 0, false
	case n < second, n > 1000*millisecond: // a product of a large number would overflow
		after = time.Duration(max(min(n, maxRetryAfter.Seconds()), 0) * float64(time.Second))
	case n < millisecond:
		after = time.Unix(int64(n), 0).Sub(now)
	default:
		after = time.UnixMilli(int64(n)).Sub(now)
	}
	return min(max(after, 0), maxRetryAfter), true
}
