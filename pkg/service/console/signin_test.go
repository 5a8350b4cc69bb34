package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestACookieIsForThisHostAndForNoScript(t *testing.T) {
	for _, name := range []string{sessionCookie, progressCookie} {
		c := cookie(name, "x", 0)
		if !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" ||
			c.Name[:7] != "__Host-" || c.Valid() != nil {
			t.Errorf("%s", c)
		}
	}
}

func TestWithoutAnIssuerTheAccountAreaIsClosed(t *testing.T) {
	h, err := Open(Wiring{URL: "http://localhost:8080", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/settings/api-keys", "/auth/sign-in", "/auth/start", "/auth/callback?code=x"} {
		r := httptest.NewRequest(http.MethodGet, "http://localhost:8080"+path, nil)
		r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "x"})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), messageNotSetUp) ||
			w.Header().Get("Content-Security-Policy") != policy {
			t.Errorf("%s: %d, %s", path, w.Code, w.Body)
		}
	}
}
