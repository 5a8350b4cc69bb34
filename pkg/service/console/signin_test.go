package console

import (
	"net/http"
	"testing"
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

func TestACellIsNoFormula(t *testing.T) {
	for text, want := range map[string]string{"": "", "getMe": "getMe", "=1+1": "'=1+1", "+x": "'+x", "-x": "'-x",
		"@x": "'@x", "\tx": "'\tx", "a=b": "a=b"} {
		if got := cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
