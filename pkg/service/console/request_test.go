package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// sent returns a request with a session, which browsers did not send for a window of its own.
func sent(method, path string, form url.Values) *http.Request {
	r := httptest.NewRequest(method, "http://localhost:8080"+path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: "x"})
	return r
}

// The token of dialogs is in addresses, which logs keep. So it opens dialogs, and sends no form.
func TestTheTokenOfDialogsOnlyReads(t *testing.T) {
	token := tokenOf(sent(http.MethodGet, "/", nil), forDialogs)
	for method, want := range map[string]bool{
		http.MethodGet: true, http.MethodPost: false, http.MethodPut: false, http.MethodDelete: false,
	} {
		if got := ofPage(sent(method, "/settings/api-keys?dialog="+token, nil)); got != want {
			t.Errorf("%s: %v", method, got)
		}
	}
	for name, dialog := range map[string]string{
		"no token": "", "another token": strings.Repeat("0", len(token)),
		"the token of forms": tokenOf(sent(http.MethodGet, "/", nil), forForms),
	} {
		if ofPage(sent(http.MethodGet, "/settings/api-keys?dialog="+dialog, nil)) {
			t.Errorf("%s opens a dialog", name)
		}
	}
}

func TestAFormNeedsItsToken(t *testing.T) {
	get := sent(http.MethodGet, "/", nil)
	for _, c := range []struct {
		name, token string
		permitted   bool
	}{
		{"the token of forms", tokenOf(get, forForms), true},
		{"the token of dialogs", tokenOf(get, forDialogs), false},
		{"no token", "", false},
	} {
		r := sent(http.MethodPost, "/settings/mode", url.Values{tokenField: {c.token}})
		if err := permitted(r); (err == nil) != c.permitted {
			t.Errorf("%s: %v", c.name, err)
		}
		r = sent(http.MethodPost, "/settings/mode?"+tokenField+"="+c.token, nil)
		if err := permitted(r); err == nil {
			t.Errorf("%s is taken from an address", c.name)
		}
	}
}
