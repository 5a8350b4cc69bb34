package social_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// The link of a pending account is for who asked: whoever opens it connects an account of their own.
func TestTheLinkOfAnAccountIsShownOnce(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	state := mustQuery(t, *a.AuthorizationURL).Get("link")
	it, err := w.DB.Get(t.Context(), store.IDKey(a.ID))
	if err != nil || state == "" {
		t.Fatal(err, *a.AuthorizationURL)
	}
	one := "/v1/social/accounts/" + a.ID
	weak := w.Only(auth.SocialManage, auth.FactoriesRead, auth.ContentRead)
	for name, text := range map[string]string{
		"the record":       string(it.Doc),
		"getSocialAccount": w.Call(http.MethodGet, one, nil).Raw,
		"another key":      weak.Call(http.MethodGet, one, nil).Raw,
		"the list":         weak.Call(http.MethodGet, "/v1/social/accounts", nil).Raw,
	} {
		if strings.Contains(text, state) || !strings.Contains(text, a.ID) {
			t.Errorf("%s shows the link: %s", name, text)
		}
	}
}

// A link ends with the key that asked for it.
func TestALinkEndsWithItsKey(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	q := w.allow(a)
	w.ChangeKey(func(k *keyrecord.Record) { k.Scopes = []auth.Scope{auth.AccountRead} })
	w.shows(w.visit(q), http.StatusForbidden, "not valid any more")
	w.shows(w.open(http.MethodGet, a), http.StatusForbidden, "not valid any more")
	w.ChangeKey(func(k *keyrecord.Record) { k.Scopes = auth.AllScopes() })
	if got := w.get(a.ID); got.State != social.Pending || w.tiktok.Calls() != 0 {
		t.Errorf("%+v, %d calls", got, w.tiktok.Calls())
	}
	w.shows(w.visit(q), http.StatusOK, "is connected")
}
