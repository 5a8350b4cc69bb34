package social_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/oauth"
	"github.com/content-automation/api/testdata/platforms/threads"
	"github.com/content-automation/api/testdata/platforms/tiktok"
)

// tell sends what a platform tells of removed rights. A signature is that of TikTok.
func (w *world) tell(method, query, body, signature string) *httptest.ResponseRecorder {
	w.T.Helper()
	req := httptest.NewRequest(method, social.CallbackPath+"?"+query, strings.NewReader(body))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if signature != "" {
		req.Header.Set("TikTok-Signature", signature)
	}
	req = req.WithContext(httpapi.WithGateway(req.Context(), httpapi.Gateway{RequestID: "req-3", BaseURL: base}))
	out := httptest.NewRecorder()
	w.callback.ServeHTTP(out, req)
	return out
}

// meta tells of the one user of Meta, as the operator's application signs it now.
func (w *world) meta() string {
	return control.SignedRequest(oauth.ClientSecret, control.Person, w.Now())
}

// states returns the states of all accounts, by platform and customer.
func (w *world) states() map[string]social.State {
	w.T.Helper()
	all := map[string]social.State{}
	for _, c := range []*apitest.Caller{w.Caller, w.Stranger()} {
		who := "own "
		if c != w.Caller {
			who = "other "
		}
		for _, a := range apitest.All[social.Account](c, "/v1/social/accounts", 50) {
			all[who+a.Platform] = a.State
		}
	}
	return all
}

func (w *world) grantedTo(c *apitest.Caller, platforms ...string) {
	w.T.Helper()
	for _, name := range platforms {
		a := w.connect(c, object{"platform": name})
		w.shows(w.visit(w.allow(a)), http.StatusOK, "is connected")
	}
}

// The operator has one application of Meta for Instagram and Facebook, which has one address for callbacks. Who removes
// it ends all accounts that they have connected, of all customers.
func TestRemovedRightsEndAccountsAtOnce(t *testing.T) {
	w := newWorldWith(t, "facebook", "threads")
	w.grantedTo(w.Caller, "instagram", "facebook", "threads", "tiktok")
	w.grantedTo(w.Stranger(), "instagram")
	before := w.events()["social_account.needs_reconnect"]
	for _, person := range []string{"1", threads.User + "9"} {
		if out := w.tell(http.MethodPost, "removed=instagram", control.SignedRequest(oauth.ClientSecret, person, w.Now()),
			""); out.Code != http.StatusOK || w.events()["social_account.needs_reconnect"] != before {
			t.Errorf("another person: %d, %v", out.Code, w.states())
		}
	}
	for range 2 { // a repeat changes nothing
		if out := w.tell(http.MethodPost, "removed=facebook", w.meta(), ""); out.Code != http.StatusOK ||
			out.Body.Len() != 0 {
			t.Errorf("%d %s", out.Code, out.Body)
		}
		want := map[string]social.State{"own instagram": social.NeedsReconnect, "own facebook": social.NeedsReconnect,
			"own threads": social.Connected, "own tiktok": social.Connected, "other instagram": social.NeedsReconnect}
		for account, state := range w.states() {
			if state != want[account] {
				t.Errorf("%s is %s", account, state)
			}
		}
		if n := w.events()["social_account.needs_reconnect"]; n != before+3 {
			t.Errorf("%d events", n-before)
		}
	}
	a := apitest.All[social.Account](w.Caller, "/v1/social/accounts?platform=instagram", 5)[0]
	if a.Failure == nil || a.Failure.Code != "needs_reconnect" || !strings.Contains(a.Failure.Message, "removed the access") ||
		a.TokenExpiresAt != nil || a.Handle == "" {
		t.Errorf("%+v", a)
	}
	body := control.SignedRequest(oauth.ClientSecret, threads.User, w.Now())
	if w.tell(http.MethodPost, "removed=threads", body, ""); w.states()["own threads"] != social.NeedsReconnect {
		t.Error("threads goes on")
	}
}

func TestTikTokTellsOfRemovedRights(t *testing.T) {
	w := newWorld(t)
	w.grantedTo(w.Caller, "tiktok")
	body := func(name string) string {
		raw, err := json.Marshal(object{"client_key": oauth.ClientID, "event": name, "create_time": w.Now().Unix(),
			"user_openid": tiktok.User, "content": `{"reason": 1}`})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	sent := body("video.publish.completed")
	if out := w.tell(http.MethodPost, "removed=tiktok", sent, control.TikTokSignature(oauth.ClientSecret, sent,
		w.Now())); out.Code != http.StatusOK || w.states()["own tiktok"] != social.Connected {
		t.Errorf("another event: %d, %v", out.Code, w.states())
	}
	sent = body("authorization.removed")
	signature := control.TikTokSignature(oauth.ClientSecret, sent, w.Now())
	if out := w.tell(http.MethodPost, "removed=tiktok", sent, signature); out.Code != http.StatusOK ||
		w.states()["own tiktok"] != social.NeedsReconnect {
		t.Errorf("%d, %v", out.Code, w.states())
	}
	// Connected again, the account has rights again: the repeat of what was before does not end it.
	w.Clock.Add(time.Minute)
	again := apitest.All[social.Account](w.Caller, "/v1/social/accounts", 5)[0].ID
	w.shows(w.visit(w.allow(w.connect(w.Caller, object{"social_account_id": again}))), http.StatusOK, "is connected")
	if out := w.tell(http.MethodPost, "removed=tiktok", sent, signature); out.Code != http.StatusOK ||
		w.get(again).State != social.Connected {
		t.Errorf("%d, %v", out.Code, w.states())
	}
	w.Clock.Add(5 * time.Minute)
	if out := w.tell(http.MethodPost, "removed=tiktok", sent, signature); out.Code != http.StatusForbidden {
		t.Errorf("an old one: %d", out.Code)
	}
	// Another customer connects it for the first time. TikTok sends a webhook that was not taken for three days, and
	// signs each attempt.
	w.grantedTo(w.Stranger(), "tiktok")
	if out := w.tell(http.MethodPost, "removed=tiktok", sent, control.TikTokSignature(oauth.ClientSecret, sent,
		w.Now())); out.Code != http.StatusOK || w.states()["other tiktok"] != social.Connected {
		t.Errorf("one of before: %d, %v", out.Code, w.states())
	}
}

func TestForgedRemovalsAreRefused(t *testing.T) {
	w := newWorld(t)
	w.grantedTo(w.Caller, "instagram", "tiktok")
	good := w.meta()
	tikTok := `{"client_key":"` + oauth.ClientID + `","event":"authorization.removed","create_time":1,"user_openid":"` +
		tiktok.User + `"}`
	own := w.application("platform", "instagram")
	for _, c := range []struct {
		name, method, query, body, signature string
		status                               int
	}{
		{"unsigned", http.MethodPost, "removed=instagram", "user_id=" + control.Person, "", 403},
		{"without a body", http.MethodPost, "removed=instagram", "", "", 403},
		{"another secret", http.MethodPost, "removed=instagram", control.SignedRequest("guess", control.Person, w.Now()), "",
			403},
		{"an empty secret", http.MethodPost, "removed=instagram", control.SignedRequest("", control.Person, w.Now()), "", 403},
		{"two hours old", http.MethodPost, "removed=instagram", control.SignedRequest(oauth.ClientSecret, control.Person,
			w.Now().Add(-2*time.Hour)), "", 403},
		{"of tomorrow", http.MethodPost, "deletion=instagram", control.SignedRequest(oauth.ClientSecret, control.Person,
			w.Now().Add(24*time.Hour)), "", 403},
		{"a changed request", http.MethodPost, "deletion=instagram", good + "x", "", 403},
		{"another method", http.MethodGet, "removed=instagram&" + good, "", "", 405},
		{"a platform without", http.MethodPost, "removed=telegram", good, "", 404},
		{"an unknown platform", http.MethodPost, "removed=nowhere", good, "", 404},
		{"no platform", http.MethodPost, "removed=", good, "", 404},
		{"no application", http.MethodPost, "removed=threads", good, "", 404},
		{"TikTok asks for no deletion", http.MethodPost, "deletion=tiktok", tikTok,
			control.TikTokSignature(oauth.ClientSecret, tikTok, w.Now()), 404},
		{"too large", http.MethodPost, "removed=instagram", strings.Repeat(" ", 64<<10) + good, "", 413},
		{"unsigned TikTok", http.MethodPost, "removed=tiktok", tikTok, "", 403},
		{"an old TikTok", http.MethodPost, "removed=tiktok", tikTok, control.TikTokSignature(oauth.ClientSecret, tikTok,
			w.Now().Add(-5*time.Minute-time.Second)), 403},
		{"of a customer, for the operator's", http.MethodPost, "removed=instagram", control.SignedRequest(
			oauth.OwnClientSecret, control.Person, w.Now()), "", 403},
		{"of the operator, for a customer's", http.MethodPost, "removed=instagram&application=" + own.ID, good, "", 403},
		{"another platform of an application", http.MethodPost, "removed=facebook&application=" + own.ID,
			control.SignedRequest(oauth.OwnClientSecret, control.Person, w.Now()), "", 404},
		{"an unknown application", http.MethodPost, "removed=instagram&application=app_01h455vb4pex5vsknk084sn02q", good, "",
			404},
		{"no application's id", http.MethodPost, "removed=instagram&application=x", good, "", 404},
	} {
		out := w.tell(c.method, c.query, c.body, c.signature)
		if out.Code != c.status || out.Body.Len() != 0 {
			t.Errorf("%s: %d %s, want %d", c.name, out.Code, out.Body, c.status)
		}
		for account, state := range w.states() {
			if state != social.Connected {
				t.Fatalf("%s: %s is %s", c.name, account, state)
			}
		}
	}
	w.apps = "unreadable"
	if out := w.tell(http.MethodPost, "removed=instagram", good, ""); out.Code != http.StatusServiceUnavailable {
		t.Errorf("unreadable applications: %d", out.Code)
	}
	if n := w.events()["social_account.needs_reconnect"]; n != 0 {
		t.Errorf("%d events", n)
	}
}

// A customer's application has its own secret and address. It ends the accounts of this customer alone.
func TestRemovedRightsOfAnOwnApplication(t *testing.T) {
	w := newWorldWith(t, "facebook")
	w.grantedTo(w.Stranger(), "instagram", "facebook") // with the operator's
	instagram, facebook := w.application("platform", "instagram"), w.application("platform", "facebook")
	w.grantedTo(w.Caller, "instagram", "facebook")
	body := control.SignedRequest(oauth.OwnClientSecret, control.Person, w.Now())
	if out := w.tell(http.MethodPost, "removed=facebook&application="+facebook.ID, body, ""); out.Code != http.StatusOK {
		t.Errorf("%d %s", out.Code, out.Body)
	}
	for account, state := range w.states() {
		if (state == social.NeedsReconnect) != strings.HasPrefix(account, "own ") {
			t.Errorf("%s is %s", account, state)
		}
	}
	w.Call(http.MethodDelete, applications+"/"+instagram.ID+"?force=true", nil).Into(t, http.StatusOK,
		new(social.Application))
	if out := w.tell(http.MethodPost, "removed=instagram&application="+instagram.ID, body, ""); out.Code !=
		http.StatusNotFound {
		t.Errorf("a deleted application: %d", out.Code)
	}
	w.tell(http.MethodPost, "removed=instagram", w.meta(), "")
	for account, state := range w.states() {
		if state != social.NeedsReconnect {
			t.Errorf("%s is %s", account, state)
		}
	}
}

// What a platform has told of an account is deleted before the platform gets its answer.
func TestDataAreDeletedOnRequest(t *testing.T) {
	w := newWorld(t)
	f := w.factory(w.Caller)
	w.grantedTo(w.Caller, "instagram")
	a := apitest.All[social.Account](w.Caller, "/v1/social/accounts", 5)[0]
	w.Call(http.MethodPut, "/v1/factories/"+f+"/social-accounts/"+a.ID, nil).Into(t, http.StatusOK, &a)
	o, now := tenant.Of(w.Principal.Account, tenant.Live), w.Now()
	likes := int64(4711)
	tx := &store.Tx{}
	err := errors.Join(social.KeepDays(t.Context(), w.DB, tx, o, a.ID, []platform.Day{
		{Date: platform.Midnight(now).AddDate(-1, 0, 0), Followers: &likes},
		{Date: platform.Midnight(now), Followers: &likes},
	}), func() error {
		_, err := social.KeepPast(t.Context(), w.DB, tx, now, o, a.ID, []platform.PastPost{
			{ID: "900", At: now.AddDate(0, -11, 0), Text: "An earlier post"}})
		return err
	}())
	if err == nil {
		err = w.DB.Commit(t.Context(), tx)
	}
	if err != nil {
		t.Fatal(err)
	}
	var first struct {
		URL  string `json:"url"`
		Code string `json:"confirmation_code"`
	}
	body := w.meta()
	for i := range 2 { // a repeat has the same answer
		out, again := w.tell(http.MethodPost, "deletion=instagram", body, ""), first
		if err := json.Unmarshal(out.Body.Bytes(), &again); err != nil || out.Code != http.StatusOK ||
			out.Header().Get("Content-Type") != "application/json" || i > 0 && again != first {
			t.Fatalf("%d %s: %v", out.Code, out.Body, err)
		}
		first = again
	}
	if first.URL != base+social.CallbackPath+"?deleted="+first.Code || len(first.Code) != 32 {
		t.Errorf("%+v", first)
	}
	got := w.get(a.ID)
	if got.State != social.NeedsReconnect || got.Handle != "" || got.DisplayName != "" || got.AvatarURL != nil ||
		len(got.FactoryIDs) != 1 || w.events()["social_account.needs_reconnect"] != 1 {
		t.Errorf("%+v, %v", got, w.events())
	}
	for _, row := range storetest.Rows(t, w.DB) {
		switch row["kind"] {
		case social.Kind, social.DaysKind, social.PastKind, "social_identity":
			for _, text := range []string{control.Person, "17841400000000001", "acme", "Acme", "4711", "earlier", "sealed"} {
				if strings.Contains(row["doc"], text) || strings.Contains(row["parent_pk"], text) {
					t.Errorf("%s has %s: %s", row["kind"], text, row["doc"])
				}
			}
		}
	}
	w.shows(w.tell(http.MethodGet, "deleted="+first.Code, "", ""), http.StatusOK, "Your data are deleted",
		"1 May 2026", first.Code)
	// The person connects again, in the same place.
	w.shows(w.visit(w.allow(w.connect(w.Caller, object{"social_account_id": a.ID}))), http.StatusOK, "is connected")
	if got := w.get(a.ID); got.State != social.Connected || got.Handle != "@acme" || got.Failure != nil {
		t.Errorf("%+v", got)
	}
	if out := w.tell(http.MethodPost, "deletion=instagram", control.SignedRequest(oauth.ClientSecret, "1", w.Now()),
		""); out.Code != http.StatusOK || !strings.Contains(out.Body.String(), "confirmation_code") {
		t.Errorf("a person without accounts: %d %s", out.Code, out.Body)
	}
}

func TestCodesOfDeletionsAreSigned(t *testing.T) {
	w := newWorld(t)
	var answer struct {
		Code string `json:"confirmation_code"`
	}
	out := w.tell(http.MethodPost, "deletion=instagram", w.meta(), "")
	if err := json.Unmarshal(out.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	last := answer.Code[len(answer.Code)-1:]
	for _, code := range []string{"", "x", answer.Code[1:], "a" + answer.Code, strings.Repeat("a", 32),
		answer.Code[:len(answer.Code)-1] + map[bool]string{true: "b", false: "a"}[last == "a"]} {
		w.shows(w.tell(http.MethodGet, "deleted="+code, "", ""), http.StatusNotFound, "not known")
	}
	page := w.tell(http.MethodGet, "deleted="+answer.Code, "", "")
	if h := page.Header(); h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Content-Security-Policy"),
		"default-src 'none'") {
		t.Errorf("%v", h)
	}
	w.shows(w.tell(http.MethodPost, "deleted="+answer.Code, "", ""), http.StatusMethodNotAllowed)
}
