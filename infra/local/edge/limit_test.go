package edge

import (
	"net/http"
	"testing"
)

// A key counts as one whatever the case of its scheme and the number of spaces after it (RFC 9110, 11.1 and 11.4).
func TestHeadersWithAKey(t *testing.T) {
	for header, want := range map[string]bool{
		"Bearer svc_test_1": true, "bearer  svc_test_1": true, "BEARER \t svc_live_1": true, "Bearersvc_test_1": false,
		"Basic svc_test_1": false, "": false,
	} {
		if got := hasKey(&http.Request{Header: http.Header{"Authorization": {header}}}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
}
