package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/content-automation/api/pkg/httpapi"
)

// Others than the caller may have another address of the API: the caller's needs a client certificate.
func TestOthersAreGivenThePublicAddress(t *testing.T) {
	for public, want := range map[string]string{"": "https://api.acme.example",
		"https://public.acme.example": "https://public.acme.example"} {
		got := ""
		h := httpapi.Published(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			g := httpapi.GatewayOf(req.Context())
			if got = g.PublicURL; got == "" {
				got = g.BaseURL
			}
		}), public)
		req := httptest.NewRequest(http.MethodGet, "/v1/me", nil)
		req = req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{BaseURL: "https://api.acme.example"}))
		h.ServeHTTP(httptest.NewRecorder(), req)
		if got != want {
			t.Errorf("others are given %s, want %s", got, want)
		}
	}
}
