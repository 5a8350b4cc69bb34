package social_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

const applications = "/v1/social/applications"

// application adds the customer's application with a platform.
func (w *world) application(members ...any) (a social.Application) {
	w.T.Helper()
	w.Clock.Add(1000000)
	body := object{"platform": "youtube", "client_id": oauth.OwnClientID, "client_secret": oauth.OwnClientSecret}
	w.Call(http.MethodPost, applications, servicetest.Body(body, members...)).Into(w.T, http.StatusCreated, &a)
	return a
}

// granted connects an account as its owner would, and returns it.
func (w *world) granted(c *apitest.Caller, body object) social.Account {
	w.T.Helper()
	a := w.connect(c, body)
	w.shows(w.visit(w.allow(a)), http.StatusOK, "is connected")
	got := w.get(a.ID)
	if got.ConnectedAs != nil {
		return w.get(*got.ConnectedAs)
	}
	return got
}

// work takes the due steps of the tasks of accounts.
func (w *world) work() {
	w.T.Helper()
	kernel := w.Kernel(w.worker.Handlers())
	for _, row := range storetest.Rows(w.T, w.DB) {
		var one task.Task
		if row["kind"] != task.ItemKind || row["f_state"] == "ended" {
			continue
		}
		if err := json.Unmarshal([]byte(row["doc"]), &one); err != nil {
			w.T.Fatal(err)
		}
		if one.DueAt.After(w.Now()) || one.Kind == social.Measure {
			continue
		}
		if _, err := kernel.Do(w.T.Context(), one.Message, ""); err != nil {
			w.T.Error(err)
		}
	}
}

// The fakes know two applications, and bind codes and tokens to the one that asked for them.
func TestAnOwnApplicationConnectsRenewsAndEnds(t *testing.T) {
	for name, renews := range map[string]time.Duration{"youtube": time.Hour, "tiktok": 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.apps = "" // the operator has none
			w.Call(http.MethodPost, "/v1/social/accounts", object{"platform": name}).Refused(t, 422,
				errs.ValidationFailed, "/platform")
			app := w.application("platform", name)
			if app.ClientID != oauth.OwnClientID || app.RedirectURL != base+social.CallbackPath ||
				app.Platform != name || app.ProfileID != nil || len(app.Scopes) != 0 {
				t.Errorf("%+v", app)
			}
			for _, p := range apitest.All[social.Platform](w.Caller, "/v1/social/platforms", 10) {
				if p.ID == name != p.Configured && p.Connect == "oauth2" {
					t.Errorf("%s is configured: %t", p.ID, p.Configured)
				}
			}
			pending := w.connect(w.Caller, object{"platform": name})
			w.shows(w.open(http.MethodGet, pending), http.StatusOK, "names an application of <bdi>Acme</bdi>")
			w.visit(w.allow(pending))
			a := w.get(pending.ID)
			if a.State != social.Connected || a.ApplicationID == nil || *a.ApplicationID != app.ID {
				t.Fatalf("%+v", a)
			}
			w.Clock.Add(renews - time.Minute)
			w.work()
			w.Call(http.MethodDelete, "/v1/social/accounts/"+a.ID, nil).Into(t, http.StatusOK, &a)
			for range 3 {
				w.work()
			}
			calls := w.fakeYoutube.OAuth.Calls()
			if name == "tiktok" {
				calls = w.tiktok.OAuth.Calls()
			}
			if !slices.Contains(calls, "authorization_code "+oauth.OwnClientID) ||
				!slices.Contains(calls, "refresh_token "+oauth.OwnClientID) ||
				slices.ContainsFunc(calls, func(c string) bool { return strings.Contains(c, oauth.ClientID) }) {
				t.Errorf("the platform was called by %v", calls)
			}
			w.without(oauth.OwnClientSecret)
			for _, e := range w.calls.Calls() {
				if raw, err := json.Marshal(e); err != nil || strings.Contains(string(raw), oauth.OwnClientSecret) {
					t.Errorf("an entry of the audit log has the secret: %s, %v", raw, err)
				}
			}
		})
	}
}

// Accounts of a profile use its application, or else that of the account, or else the operator's.
func TestApplicationsOfProfiles(t *testing.T) {
	w := newWorld(t)
	var with, without struct{ ID string }
	w.Call(http.MethodPost, "/v1/profiles", object{"name": "One"}).Into(t, http.StatusCreated, &with)
	w.Clock.Add(time.Second)
	w.Call(http.MethodPost, "/v1/profiles", object{"name": "Two"}).Into(t, http.StatusCreated, &without)
	own := w.application("profile_id", with.ID)
	used := func(c *apitest.Caller, profileID string) string {
		body := object{"platform": "youtube"}
		if profileID != "" {
			body["profile_id"] = profileID
		}
		if a := w.granted(c, body); a.ApplicationID != nil {
			return *a.ApplicationID
		}
		return ""
	}
	if a, b, c := used(w.Caller, with.ID), used(w.Caller, without.ID), used(w.Caller, ""); a != own.ID || b != "" ||
		c != "" {
		t.Errorf("used are %q, %q and %q", a, b, c)
	}
	if calls := w.fakeYoutube.OAuth.Calls(); !slices.Equal(calls, []string{"authorization_code " + oauth.OwnClientID,
		"authorization_code " + oauth.ClientID, "authorization_code " + oauth.ClientID}) {
		t.Errorf("the platform was called by %v", calls)
	}
	whole := w.application()
	// A key that is bound to a profile connects with the account's application, which it cannot see.
	bound := w.As(func(p *auth.Principal) {
		p.Bind([]tenant.Profile{tenant.Profile(without.ID)})
	})
	if a, b := used(bound, ""), used(w.Caller, with.ID); a != whole.ID || b != own.ID {
		t.Errorf("used are %q and %q", a, b)
	}
	bound.Call(http.MethodGet, applications+"/"+whole.ID, nil).Refused(t, 404, errs.NotFound, "")
	if all := apitest.All[social.Application](bound, applications, 10); len(all) != 0 {
		t.Errorf("listed are %+v", all)
	}
	if all := apitest.All[social.Application](w.Caller, applications+"?profile_id="+with.ID, 10); len(all) != 1 ||
		all[0].ID != own.ID {
		t.Errorf("listed are %+v", all)
	}
}

func TestAccountsMoveByConnectingAgain(t *testing.T) {
	w := newWorld(t)
	a := w.granted(w.Caller, object{"platform": "youtube"})
	if a.ApplicationID != nil {
		t.Fatalf("%+v", a)
	}
	first := w.application()
	if got := w.get(a.ID); got.ApplicationID != nil || got.State != social.Connected {
		t.Errorf("it has moved by itself: %+v", got)
	}
	moved := w.granted(w.Caller, object{"social_account_id": a.ID})
	if moved.ID != a.ID || moved.ApplicationID == nil || *moved.ApplicationID != first.ID {
		t.Errorf("%+v", moved)
	}
	listed := func(id string) int {
		return len(apitest.All[social.Account](w.Caller, "/v1/social/accounts?application_id="+id, 10))
	}
	// An application that is used stays until its accounts have moved on to a newer one.
	one := applications + "/" + first.ID
	w.Call(http.MethodDelete, one, nil).Refused(t, 409, errs.InvalidState, "")
	second := w.application()
	w.granted(w.Caller, object{"social_account_id": a.ID})
	if listed(first.ID) != 0 || listed(second.ID) != 1 {
		t.Errorf("%d and %d accounts are listed", listed(first.ID), listed(second.ID))
	}
	w.Call(http.MethodDelete, one, nil).Into(t, http.StatusOK, new(social.Application))
	w.Call(http.MethodGet, one, nil).Refused(t, 404, errs.NotFound, "")
	// Without its application, an account has to be connected again; then with that of the operator.
	w.Call(http.MethodDelete, applications+"/"+second.ID+"?force=true", nil).Into(t, http.StatusOK,
		new(social.Application))
	w.Clock.Add(59 * time.Minute)
	w.work()
	if got := w.get(a.ID); got.State != social.NeedsReconnect {
		t.Errorf("%+v", got)
	}
	if got := w.granted(w.Caller, object{"social_account_id": a.ID}); got.ID != a.ID || got.ApplicationID != nil ||
		got.State != social.Connected {
		t.Errorf("%+v", got)
	}
}

// A link that is open when its application is deleted connects nothing, and a new secret is used at once.
func TestApplicationsChangeUnderALink(t *testing.T) {
	w := newWorld(t)
	app := w.application("client_secret", "mistyped", "metadata", object{"a": "b"})
	one := applications + "/" + app.ID
	a := w.connect(w.Caller, object{"platform": "youtube"})
	q := w.allow(a)
	w.Call(http.MethodPatch, one, object{"client_secret": oauth.OwnClientSecret}).Into(t, http.StatusOK, &app)
	if app.Version != 2 || app.Metadata["a"] != "b" {
		t.Errorf("%+v", app)
	}
	w.shows(w.visit(q), http.StatusOK, "is connected")
	b := w.connect(w.Caller, object{"social_account_id": a.ID})
	q = w.allow(b)
	w.Call(http.MethodDelete, one+"?force=true", nil).Into(t, http.StatusOK, &app)
	if page := w.visit(q); strings.Contains(page.Body.String(), "is connected") {
		t.Errorf("it was connected with an application that is gone: %s", page.Body)
	}
}

func TestApplicationsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change object
		param  string
	}{
		"a bot's platform":     {object{"platform": "telegram"}, "/platform"},
		"no platform":          {object{"platform": "myspace"}, "/platform"},
		"not switched on":      {object{"platform": "linkedin"}, "/platform"},
		"no secret":            {object{"client_secret": nil}, "/client_secret"},
		"an empty id":          {object{"client_id": " "}, "/client_id"},
		"a secret that is not": {object{"platform": "vk"}, "/client_secret"},
		"a limit of none":      {object{"platform": "tiktok", "daily_limit": 5}, "/daily_limit"},
		"a limit of nothing":   {object{"daily_limit": 0}, "/daily_limit"},
		"scopes with spaces":   {object{"scopes": []string{"a b"}}, "/scopes/0"},
		"another's profile":    {object{"profile_id": "prf_01h455vb4pex5vsknk084sn02q"}, "/profile_id"},
	} {
		body := object{"platform": "youtube", "client_id": oauth.OwnClientID, "client_secret": oauth.OwnClientSecret}
		for member, value := range c.change {
			if body[member] = value; value == nil {
				delete(body, member)
			}
		}
		a := w.Call(http.MethodPost, applications, body)
		if a.Status != 422 && a.Status != 404 || a.Error == nil || a.Error.Param != c.param ||
			strings.Contains(a.Raw, oauth.OwnClientSecret) {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	app := w.application()
	one := applications + "/" + app.ID
	w.Call(http.MethodPatch, one, object{"client_id": "other"}).Refused(t, 422, errs.ValidationFailed, "/client_id")
	w.Call(http.MethodPatch, one, object{"client_secret": nil}).Refused(t, 422, errs.ValidationFailed, "/client_secret")
	w.Call(http.MethodPatch, one, object{"name": "x"}).Refused(t, 422, errs.ValidationFailed, "/name")
	w.Call(http.MethodDelete, one, nil, "If-Match", `"9"`).Refused(t, 412, errs.VersionMismatch, "If-Match")
	w.Stranger().Call(http.MethodGet, one, nil).Refused(t, 404, errs.NotFound, "")
	w.test.Call(http.MethodGet, one, nil).Refused(t, 404, errs.NotFound, "")
	for range 49 {
		w.application()
	}
	w.Call(http.MethodPost, applications, object{"platform": "youtube", "client_id": "a", "client_secret": "b"}).
		Refused(t, 409, errs.InvalidState, "")
	if got := w.Call(http.MethodGet, one, nil).Raw; strings.Contains(got, "secret") {
		t.Errorf("a secret is shown: %s", got)
	}
}

// The limit of an application says what it counts, which is another thing on each platform.
func TestTheLimitOfAnApplicationHasItsUnit(t *testing.T) {
	w := newWorld(t)
	for platform, want := range map[string]string{"youtube": "uploads"} {
		app := w.application("platform", platform, "daily_limit", 600)
		if app.DailyLimitUnit == nil || *app.DailyLimitUnit != want {
			t.Errorf("%s: %v", platform, app.DailyLimitUnit)
		}
	}
	if app := w.application("platform", "tiktok"); app.DailyLimit != nil || app.DailyLimitUnit != nil {
		t.Errorf("without a limit: %v %v", app.DailyLimit, app.DailyLimitUnit)
	}
}
