package standalone

import (
	"crypto/rand"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/content-automation/api/infra/local/terminal"
	"github.com/content-automation/api/infra/verify/harness/signintest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// A person who has signed in calls the API through the gateway, until the removal.
func TestAPersonCallsTheService(t *testing.T) {
	issuer := signintest.New(time.Now)
	keys := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		set, err := issuer.RoundTrip(req)
		if err != nil {
			t.Error(err)
			return
		}
		defer set.Body.Close()
		_, _ = io.Copy(w, set.Body)
	}))
	defer keys.Close()
	settings := issuer.Settings()
	settings.KeysURL = keys.URL
	s := started(t, Options{SignIn: settings})
	defer s.Stop()
	demo, err := terminal.NewDemo(t.Context(), s.DB(), s.BaseURL, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	people, account := person.NewService(s.DB(), time.Now, rand.Reader), tenant.Account(demo.Account)
	admit := func(email string, role auth.Role) admission.Person {
		t.Helper()
		tx := &store.Tx{}
		_, _, err := people.Invite(tx, person.New{Account: account, Email: email, Role: role, By: "operator"})
		if err == nil {
			err = s.DB().Commit(t.Context(), tx)
		}
		if err != nil {
			t.Fatal(err)
		}
		a, err := admission.NewService(s.DB(), people, time.Now).Admit(t.Context(), signin.Identity{
			Pool: signintest.Pool, Subject: email, Email: email, EmailVerified: true})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	admit("owner@example.com", auth.Owner)
	ada := admit("ada@example.com", auth.Auditor)
	owner, auditor := issuer.Access("owner@example.com"), issuer.Access("ada@example.com")
	for name, c := range map[string]struct {
		token, method, path string
		body                any
		status              int
		code                string
	}{
		"the owner reads":            {owner, "GET", "/v1/me", nil, 200, ""},
		"the owner lists people":     {owner, "GET", "/v1/people", nil, 200, ""},
		"the auditor reads":          {auditor, "GET", "/v1/audit-log", nil, 200, ""},
		"the auditor changes":        {auditor, "POST", "/v1/factories", object{}, 403, "insufficient_scope"},
		"a key manages people":       {demo.Live, "GET", "/v1/people", nil, 403, "person_required"},
		"a damaged token":            {owner + "x", "GET", "/v1/me", nil, 401, "invalid_api_key"},
		"nobody calls the directory": {owner, "GET", "/scim/v2/Users", nil, 401, ""},
	} {
		if got := ask(t, s, c.token, c.method, c.path, c.body); got.status != c.status || got.code != c.code {
			t.Errorf("%s: %d %s", name, got.status, got.raw)
		}
	}
	if got := ask(t, s, owner, "DELETE", "/v1/people/"+ada.ID, nil); got.status != http.StatusOK {
		t.Errorf("%d %s", got.status, got.raw)
	}
	if got := ask(t, s, auditor, "GET", "/v1/me", nil); got.status != http.StatusUnauthorized {
		t.Errorf("after the removal: %d %s", got.status, got.raw)
	}
}
