package safehttp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/safehttp"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-5": 0, "soon": 0, "99999999999999": 24 * time.Hour, "99999999999999999999": 24 * time.Hour,
		"-99999999999999999999": 0, "0.65": 650 * time.Millisecond, "1795338030": 30 * time.Second,
		"1795338030000": 30 * time.Second, "1795338030.5": 30 * time.Second, "1e400": 24 * time.Hour, "NaN": 0, "1795337000": 0,
		"Sun, 22 Nov 2026 09:01:30 GMT": 90 * time.Second, "Sun, 22 Nov 2026 08:00:00 GMT": 0,
		"Mon, 22 Nov 2027 09:00:00 GMT": 24 * time.Hour,
	} {
		if got := safehttp.RetryAfter(http.Header{"Retry-After": {value}}, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// A request is sent again after what may pass, and no earlier than the server says, up to an hour.
func TestWhatMayPassIsTriedAgain(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for status, want := range map[int]bool{200: false, 304: false, 400: false, 403: false, 404: false, 408: true,
		410: false, 429: true, 500: true, 503: true, 599: true} {
		for asked, wait := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "7200": time.Hour} {
			if !want {
				wait = 0
			}
			pause, again := safehttp.Again(&http.Response{StatusCode: status, Header: http.Header{"Retry-After": {asked}}},
				now)
			if again != want || pause != wait {
				t.Errorf("%d, %q: %v, %v", status, asked, pause, again)
			}
		}
	}
}
