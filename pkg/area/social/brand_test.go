package social_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/profile"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// The page by which an account is connected for a client of an agency shows the client's name, as text, and logo.
func TestAConnectPageOfAProfile(t *testing.T) {
	w := newWorld(t)
	picture := []byte("\x89PNG, a picture that was decoded")
	made := func(name string, logo *profile.Logo) string {
		t.Helper()
		now := w.Now()
		r := profile.Record{Profile: profile.Profile{Resource: resource.New(id.New(id.Profile, now), now, nil),
			Name: name}}
		o := w.Principal.Owner.Of(tenant.Profile(r.ID))
		it, err := r.Item(o)
		if err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		tx.Create(it, nil)
		ledger.OpenPurse(tx, o, ledger.Bounds{})
		if logo != nil {
			shown, err := profile.LogoItem(o, *logo)
			if err != nil {
				t.Fatal(err)
			}
			tx.Create(shown, nil)
		}
		if err := w.DB.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		return r.ID
	}
	shown := made("Harbour Coffee", &profile.Logo{MIMEType: "image/png", Picture: picture})
	plain := made("<script>alert(1)</script>", nil)
	page := w.open(http.MethodGet, w.connect(w.Caller, object{"platform": "tiktok", "profile_id": shown}))
	w.shows(page, http.StatusOK, "Acme asks for access to your account on TikTok for Harbour Coffee",
		`<div class="bar"><img src="data:image/png;base64,`, base64.StdEncoding.EncodeToString(picture)[:8],
		`<strong><bdi>Harbour Coffee</bdi></strong></div>`)
	w.guarded(page)
	if strings.Contains(page.Body.String(), "Content-Automation") {
		t.Errorf("the page of a profile names the service: %s", page.Body)
	}
	page = w.open(http.MethodGet, w.connect(w.Caller, object{"platform": "tiktok", "profile_id": plain}))
	w.shows(page, http.StatusOK, "&lt;script&gt;alert(1)&lt;/script&gt;")
	w.guarded(page)
	if body := page.Body.String(); strings.Contains(body, "<script") || strings.Contains(body, "<img") {
		t.Errorf("%s", body)
	}
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	page = w.open(http.MethodGet, a)
	w.shows(page, http.StatusOK, `<div class="bar"><svg`, "<strong>Content-Automation</strong></div>")
	if body := page.Body.String(); strings.Contains(body, "Harbour Coffee") || strings.Contains(body, "<img") {
		t.Errorf("without a profile: %s", body)
	}
	// The page at the end has the same header.
	w.shows(w.visit(w.allow(a)), http.StatusOK, `<div class="bar"><svg`, "is connected")
	w.shows(w.visit(w.allow(w.connect(w.Caller, object{"platform": "tiktok", "profile_id": shown}))), http.StatusOK,
		`<div class="bar"><img src="data:image/png;base64,`)
}
