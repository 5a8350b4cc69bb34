package area_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/crm"
)

// A state is signed for its integration, and the cookie of its browser cannot be derived from it.
func TestAForgedStateIsRefused(t *testing.T) {
	w := newCrmWorld(t)
	var c, other connected
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}).Into(t, http.StatusCreated, &c)
	w.Call(http.MethodPost, "/v1/integrations", object{"kind": "amocrm"}).Into(t, http.StatusCreated, &other)
	callback, cookies := w.allow("amocrm", *c.AuthorizationURL)
	at, err := url.Parse(callback)
	if err != nil {
		t.Fatal(err)
	}
	good := at.Query()
	state := good.Get("state")
	parts := strings.Split(state, ".")
	for name, forged := range map[string]string{
		"no signature":        strings.Join(parts[:3], "."),
		"another integration": strings.Replace(state, c.ID, other.ID, 1),
		"a later end":         strings.Join([]string{parts[0], "zzzzzz", parts[2], parts[3]}, "."),
		"a cut signature":     state[:len(state)-1],
	} {
		q := at.Query()
		q.Set("state", forged)
		if resp := w.visit(http.MethodGet, base+"/integrations/callback?"+q.Encode(), cookies...); resp.StatusCode !=
			http.StatusBadRequest {
			t.Errorf("%s: %s", name, resp.Status)
		}
	}
	nonce, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range [][]byte{nonce, []byte(parts[2]), []byte(state)} {
		sum := sha256.Sum256(from)
		derived := &http.Cookie{Name: cookies[0].Name, Value: hex.EncodeToString(sum[:])}
		if resp := w.visit(http.MethodGet, callback, derived); resp.StatusCode != http.StatusForbidden {
			t.Errorf("a derived cookie: %s", resp.Status)
		}
	}
	if got := w.get(c.ID); got.State != crm.Pending {
		t.Errorf("it is %+v", got)
	}
	if resp := w.visit(http.MethodGet, callback, cookies...); resp.StatusCode != http.StatusOK {
		t.Errorf("the good state: %s", resp.Status)
	}
}
