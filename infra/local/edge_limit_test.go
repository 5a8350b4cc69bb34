package main_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A key counts as one whatever the case of its scheme and the number of spaces after it (RFC 9110, 11.1 and 11.4).
func TestHeadersWithAKey(t *testing.T) {
	for header, want := range map[string]bool{
		"Bearer svc_test_1": true, "bearer  svc_test_1": true, "BEARER \t svc_live_1": true, "Bearersvc_test_1": false,
		"Basic svc_test_1": false, "": false,
	} {
		gateway := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		proxy := limited(t, gateway.URL, 1, time.Now)
		last := 0
		for range 2 { // of which the second is one too many without a key
			r, w := httptest.NewRequest(http.MethodGet, "/v1/me", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", header)
			proxy.ServeHTTP(w, r)
			last = w.Code
		}
		if got := last == http.StatusOK; got != want {
			t.Errorf("%q: %v, answered %d", header, got, last)
		}
		gateway.Close()
	}
}
