package base_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/web"
)

func TestAPage(t *testing.T) {
	d := web.NewDesign("\n<h1>{{.Title}}</h1>", func() string { return "h1 { color: red }" })
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		d.Write(w, method, http.StatusNotFound, d.Policy("form-action 'self'; "), struct{ Title string }{"<b>A & B"})
		if w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" ||
			w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("X-Robots-Tag") == "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy,
			"default-src 'none'; form-action 'self'; style-src 'sha256-") || strings.Contains(policy, "script") {
			t.Error(policy)
		}
		body := w.Body.String()
		if method == http.MethodHead && body != "" || method == http.MethodGet &&
			(!strings.Contains(body, "<title>&lt;b&gt;A &amp; B</title>") ||
				!strings.Contains(body, "<style>h1 { color: red }</style>") ||
				!strings.Contains(body, "<main>\n<h1>&lt;b&gt;A &amp; B</h1>\n</main>")) {
			t.Errorf("%s: %s", method, body)
		}
	}
	w := httptest.NewRecorder()
	d.Write(w, http.MethodGet, http.StatusOK, "", struct{}{})
	if w.Code != http.StatusInternalServerError || w.Body.Len() > 1 {
		t.Errorf("without data: %d %s", w.Code, w.Body)
	}
}
