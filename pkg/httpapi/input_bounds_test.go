package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A query may have thousands of parameters, and long names. The refusal is short.
func TestTheRefusalOfAQueryIsShort(t *testing.T) {
	var b strings.Builder
	for n := range 2000 {
		fmt.Fprintf(&b, "p%d=1&", n)
	}
	got, refused := serve(t, http.MethodPost, b.String(), `{"name":"a"}`)
	if n := strings.Count(refused, "is not a parameter"); got != nil || n != 20 || len(refused) > 8<<10 {
		t.Errorf("%d faults in %d bytes", n, len(refused))
	}
	if _, refused = serve(t, http.MethodPost, strings.Repeat("x", 7000)+"=1", `{"name":"a"}`); refused == "" || len(refused) > 500 {
		t.Errorf("a long name is refused in %d bytes", len(refused))
	}
}

// A text of one line has no characters that a person does not see as a model reads them.
func TestHiddenCharactersOfALineAreRefused(t *testing.T) {
	for _, hidden := range []string{"\U000e0041", "\u202e", "\u202a", "\u2066", "\u2069", "\U000e007f"} {
		got, refused := serve(t, http.MethodPost, "", `{"name":"a","line":"a`+hidden+`b"}`)
		if got != nil || !strings.HasPrefix(refused, "/line must not have characters that hide text") {
			t.Errorf("%+q: %q", hidden, refused)
		}
	}
	if got, refused := serve(t, http.MethodPost, "", "{\"name\":\"a\",\"line\":\"Émile 🙂\u200d \u05d0\u200f\"}"); got == nil {
		t.Error(refused)
	}
}
