package area_test

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

const issuer = "https://issuer.example/pool"

// peopleWorld is an account with an owner, who calls the operations.
type peopleWorld struct {
	*servicetest.World
	accounts *account.Service
	people   *person.Service
	admit    *admission.Service
	account  tenant.Account
	owner    people.Person
	// mails reports that invitations are sent by e-mail.
	mails bool
}

func newPeopleWorld(t *testing.T) *peopleWorld {
	t.Helper()
	return newWorldOn(t)
}

func newWorldOn(t *testing.T, with ...func(*aws.Config)) *peopleWorld {
	t.Helper()
	w := &peopleWorld{World: servicetest.New(t, with...)}
	w.accounts = account.NewService(w.DB, w.Now)
	w.people = person.NewService(w.DB, w.Now, rand.Reader)
	w.admit = admission.NewService(w.DB, w.people, w.Now)
	a, err := w.accounts.Create(t.Context(), account.Settings{Name: new("Acme")})
	if err != nil {
		t.Fatal(err)
	}
	w.account = tenant.Account(a.ID)
	tx := &store.Tx{}
	if _, _, err := w.people.Invite(tx, person.New{Account: w.account, Email: "owner@example.com", Role: auth.Owner,
		By: "operator"}); err != nil {
		t.Fatal(err)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	w.owner = w.signIn("owner@example.com")
	w.Caller = w.as(w.owner)
	w.Clock.Add(time.Second)
	return w
}

// signIn signs in by the pool itself. The name of the subject is the address.
func (w *peopleWorld) signIn(email string) people.Person {
	w.T.Helper()
	a, err := w.admit.Admit(w.T.Context(), signin.Identity{Pool: issuer, Subject: email, Email: email,
		EmailVerified: true, Name: "Name of " + email})
	if err != nil {
		w.T.Fatal(err)
	}
	if a.Account != w.account {
		w.T.Fatalf("signed in to %s", a.Account)
	}
	return a.Person
}

// as returns a caller with the session of a person, with the rights that the authorizer reads.
func (w *peopleWorld) as(p people.Person) *apitest.Caller {
	c := apitest.New(w.T, w.DB, &apitest.Log{}, w.Now, people.NewService(w.DB, w.Now, rand.Reader).
		Mailing(w.mails), w.accounts, apikey.NewService(w.DB, w.accounts, w.Now, rand.Reader))
	return c.As(func(q *auth.Principal) {
		q.Owner, q.Actor, q.Role = tenant.Of(w.account, tenant.Live), auth.Actor{Kind: auth.Person, ID: p.ID}, p.Role
		q.Scopes = p.Role.Scopes()
	})
}

func (w *peopleWorld) invite(email string, role auth.Role) people.Invited {
	w.T.Helper()
	var p people.Invited
	w.Call(http.MethodPost, "/v1/people", object{"email": email, "role": role}).Into(w.T, http.StatusCreated, &p)
	w.Clock.Add(time.Second)
	return p
}

// join invites a person, who signs in.
func (w *peopleWorld) join(email string, role auth.Role) people.Person {
	w.T.Helper()
	w.invite(email, role)
	return w.signIn(email)
}

// credential returns what the authorizer learns of a person.
func (w *peopleWorld) credential(email string) *credential.Credential {
	w.T.Helper()
	c, err := credential.NewCounter(w.DB, w.Now).Count(w.T.Context(), auth.Subject(issuer, email),
		w.Now().Unix()/60, "203.0.113.9")
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

func peoplePath(p people.Person) string { return "/v1/people/" + p.ID }

func TestAnInvitationIsAcceptedOnce(t *testing.T) {
	w := newPeopleWorld(t)
	p := w.invite("Ada@Example.com", auth.Developer)
	if p.Email != "ada@example.com" || p.State != person.Invited || p.Role != auth.Developer ||
		*p.InvitedBy != w.owner.ID || !strings.HasPrefix(p.InvitationURL, w.Gateway.BaseURL+"/auth/invitations#") ||
		!p.InvitationExpiresAt.Equal(p.CreatedAt.Add(7*24*time.Hour)) || p.LastSeenAt != nil {
		t.Errorf("%+v", p)
	}
	_, token, _ := strings.Cut(p.InvitationURL, "invitations#")
	for _, row := range storetest.Rows(t, w.DB) {
		for name, value := range row {
			if strings.Contains(value, token) {
				t.Errorf("the token is stored in %s", name)
			}
		}
	}
	w.Clock.Add(7*24*time.Hour - 2*time.Second)
	joined := w.signIn("ada@example.com")
	if joined.ID != p.ID || joined.State != person.Active || joined.Name != "Name of ada@example.com" ||
		joined.InvitationExpiresAt != nil {
		t.Errorf("%+v", joined)
	}
	if again := w.signIn("ada@example.com"); again.ID != p.ID || again.Version != joined.Version {
		t.Errorf("the second sign-in: %+v", again)
	}
	c := w.credential("ada@example.com")
	if c.KeyID != p.ID || c.Role != "developer" || len(c.Scopes) != 13 || c.Limit != 600 || c.Plan != "enterprise" ||
		c.Owner != tenant.Of(w.account, tenant.Live) {
		t.Errorf("the authorizer learns %+v", c)
	}
	var seen []people.Person
	w.Call(http.MethodGet, "/v1/people?role=developer,admin", nil).Into(t, http.StatusOK, &seen)
	if len(seen) != 1 || seen[0].LastSeenAt == nil || !seen[0].LastSeenAt.Equal(w.Now()) {
		t.Errorf("%+v", seen)
	}
}

func TestAnInvitationEnds(t *testing.T) {
	w := newPeopleWorld(t)
	w.invite("ada@example.com", auth.Developer)
	w.Clock.Add(7 * 24 * time.Hour)
	before := storetest.Snapshot(t, w.DB)
	var refusal *admission.Refusal
	_, err := w.admit.Admit(t.Context(), signin.Identity{Pool: issuer, Subject: "x", Email: "ada@example.com",
		EmailVerified: true})
	if !asRefusal(err, &refusal) || refusal.Reason != admission.Uninvited || storetest.Snapshot(t, w.DB) != before {
		t.Errorf("%v", err)
	}
	var all []people.Person
	w.Call(http.MethodGet, "/v1/people?state=invited", nil).Into(t, http.StatusOK, &all)
	if len(all) != 1 || all[0].InvitationExpiresAt != nil {
		t.Errorf("%+v", all)
	}
	// Another invitation takes its place.
	p := w.invite("ada@example.com", auth.Auditor)
	if p.ID != all[0].ID || p.Role != auth.Auditor || p.Version != 2 {
		t.Errorf("%+v", p)
	}
	if joined := w.signIn("ada@example.com"); joined.Role != auth.Auditor {
		t.Errorf("%+v", joined)
	}
	w.Call(http.MethodPost, "/v1/people", object{"email": "ADA@example.com", "role": "auditor"}).Refused(t, 409,
		errs.Duplicate, "/email")
}

func TestRefusedInvitations(t *testing.T) {
	w := newPeopleWorld(t)
	for name, c := range map[string]struct {
		body  any
		param string
	}{
		"no address":          {object{"role": "admin"}, "/email"},
		"no e-mail":           {object{"email": "ada", "role": "admin"}, "/email"},
		"a name beside":       {object{"email": "Ada <ada@example.com>", "role": "admin"}, "/email"},
		"two addresses":       {object{"email": "a@example.com,b@example.com", "role": "admin"}, "/email"},
		"a line feed":         {object{"email": "ada@example.com\nBcc: x@example.com", "role": "admin"}, "/email"},
		"a local host":        {object{"email": "ada@localhost", "role": "admin"}, "/email"},
		"B18: an address":     {object{"email": "a@[127.0.0.1]", "role": "admin"}, "/email"},
		"a bare address":      {object{"email": "a@127.0.0.1", "role": "admin"}, "/email"},
		"an address of IPv6":  {object{"email": "a@[IPv6:::1]", "role": "admin"}, "/email"},
		"a name of no host":   {object{"email": "a@-b-.example", "role": "admin"}, "/email"},
		"letters like Latin":  {object{"email": "аda@example.com", "role": "admin"}, "/email"},
		"no role":             {object{"email": "ada@example.com"}, "/role"},
		"another role":        {object{"email": "ada@example.com", "role": "root"}, "/role"},
		"a control character": {object{"email": "ada@example.com", "role": "admin", "name": "A\x00da"}, "/name"},
		"a long name": {object{"email": "ada@example.com", "role": "admin",
			"name": strings.Repeat("a", 101)}, "/name"},
		"a scope": {object{"email": "ada@example.com", "role": "admin", "scopes": []string{}}, "/scopes"},
	} {
		before := storetest.Snapshot(t, w.DB)
		w.Call(http.MethodPost, "/v1/people", c.body).Refused(t, 422, errs.ValidationFailed, c.param)
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s has changed something", name)
		}
	}
	hostile := `<script>alert(1)</script>"><img src=x>`
	var p people.Invited
	w.Call(http.MethodPost, "/v1/people", object{"email": "eve@example.com", "role": "auditor", "name": hostile}).Into(t,
		http.StatusCreated, &p)
	if p.Name != hostile {
		t.Errorf("the name became %q", p.Name)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	w := newPeopleWorld(t)
	admin, developer := w.join("admin@example.com", auth.Admin), w.join("dev@example.com", auth.Developer)
	auditor, other := w.join("auditor@example.com", auth.Auditor), w.join("other@example.com", auth.Developer)
	key := w.Caller.As(func(p *auth.Principal) { p.Actor, p.Role = auth.Key("key_01h455vb4pex5vsknk084sn02q"), "" })
	calls := []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/v1/people", object{"email": "new@example.com", "role": "auditor"}},
		{http.MethodPatch, peoplePath(other), object{"role": "admin"}},
		{http.MethodDelete, peoplePath(other), nil},
	}
	for who, c := range map[string]struct {
		caller *apitest.Caller
		code   errs.Code
	}{
		"a key":     {key, errs.PersonRequired},
		"developer": {w.as(developer), errs.InsufficientScope},
		"auditor":   {w.as(auditor), errs.InsufficientScope},
		// The rights are those of the record, not those of the time of the authorization.
		"an auditor who was an admin": {w.as(auditor).As(func(p *auth.Principal) { p.Role = auth.Admin }),
			errs.InsufficientScope},
	} {
		before := storetest.Snapshot(t, w.DB)
		for _, call := range calls {
			a := c.caller.Call(call.method, call.path, call.body)
			a.Refused(t, 403, c.code, "")
		}
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s has changed something", who)
		}
	}
	for caller, status := range map[*apitest.Caller]int{w.as(admin): 200, w.as(auditor): 200, w.as(developer): 403,
		key: 403} {
		if a := caller.Call(http.MethodGet, "/v1/people", nil); a.Status != status {
			t.Errorf("%s lists: %s", caller.Principal.Role, a.Raw)
		}
	}
	// An admin does not touch owners.
	for _, call := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/v1/people", object{"email": "new@example.com", "role": "owner"}},
		{http.MethodPatch, peoplePath(other), object{"role": "owner"}},
		{http.MethodPatch, peoplePath(w.owner), object{"role": "auditor"}},
		{http.MethodDelete, peoplePath(w.owner), nil},
	} {
		w.as(admin).Call(call.method, call.path, call.body).Refused(t, 403, errs.InsufficientScope, "")
	}
	w.as(admin).Call(http.MethodPatch, peoplePath(other), object{"role": "admin"}).Into(t, http.StatusOK, &other)
	if other.Role != auth.Admin || w.credential("other@example.com").Role != "admin" {
		t.Errorf("%+v", other)
	}
	w.Stranger().Call(http.MethodPatch, peoplePath(other), object{"role": "auditor"}).Refused(t, 401, errs.InvalidAPIKey, "")
	w.Call(http.MethodPatch, "/v1/people/usr_01h455vb4pex5vsknk084sn02q", object{"role": "admin"}).Refused(t, 404,
		errs.NotFound, "")
	w.Call(http.MethodPatch, peoplePath(other), object{"email": "x@example.com"}).Refused(t, 422, errs.ValidationFailed,
		"/email")
	w.Call(http.MethodPatch, peoplePath(other), object{"role": nil}).Refused(t, 422, errs.ValidationFailed, "/role")
	w.Call(http.MethodPatch, peoplePath(other), object{"role": "admin"}, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
}

func TestTheLastOwnerStays(t *testing.T) {
	w := newPeopleWorld(t)
	last := func() {
		t.Helper()
		before := storetest.Snapshot(t, w.DB)
		w.Call(http.MethodPatch, peoplePath(w.owner), object{"role": "admin"}).Refused(t, 409, errs.InvalidState, "")
		w.Call(http.MethodDelete, peoplePath(w.owner), nil).Refused(t, 409, errs.InvalidState, "")
		if storetest.Snapshot(t, w.DB) != before {
			t.Error("a refused call has changed something")
		}
	}
	last()
	// An owner who has not signed in does not count.
	second := w.invite("second@example.com", auth.Owner)
	last()
	w.signIn("second@example.com")
	var p people.Person
	w.Call(http.MethodPatch, peoplePath(w.owner), object{"role": "auditor"}).Into(t, http.StatusOK, &p)
	c := w.credential("owner@example.com")
	if p.Role != auth.Auditor || c.Role != "auditor" || slices.Contains(c.Scopes, "content:write") {
		t.Errorf("%+v, %+v", p, c)
	}
	w.as(second.Person).Call(http.MethodDelete, peoplePath(second.Person), nil).Refused(t, 409, errs.InvalidState, "")
	w.as(second.Person).Call(http.MethodPatch, peoplePath(w.owner), object{"role": "owner"}).Into(t, http.StatusOK, &p)
	w.as(second.Person).Call(http.MethodDelete, peoplePath(second.Person), nil).Into(t, http.StatusOK, &p)
	last()
}

func TestARemovedPersonIsOutOnTheNextCall(t *testing.T) {
	w := newPeopleWorld(t)
	p := w.join("ada@example.com", auth.Admin)
	if w.credential("ada@example.com").Ended(w.Now()) {
		t.Fatal("has no access")
	}
	var removed people.Person
	w.Call(http.MethodDelete, peoplePath(p), nil).Into(t, http.StatusOK, &removed)
	if removed.State != person.Removed || !w.credential("ada@example.com").Ended(w.Now()) {
		t.Errorf("%+v", removed)
	}
	// Even a call that was authorized before.
	w.as(p).Call(http.MethodDelete, peoplePath(w.owner), nil).Refused(t, 401, errs.InvalidAPIKey, "")
	w.Call(http.MethodDelete, peoplePath(p), nil).Into(t, http.StatusOK, &removed)
	w.Call(http.MethodPatch, peoplePath(p), object{"role": "auditor"}).Refused(t, 409, errs.InvalidState, "")
	if _, err := w.admit.Admit(t.Context(), signin.Identity{Pool: issuer, Subject: "ada@example.com",
		Email: "ada@example.com", EmailVerified: true}); err == nil {
		t.Error("signed in again")
	}
	// Another invitation makes another person, with the same subject.
	again := w.join("ada@example.com", auth.Auditor)
	if again.ID == p.ID || w.credential("ada@example.com").KeyID != again.ID ||
		w.credential("ada@example.com").Ended(w.Now()) {
		t.Errorf("%+v", again)
	}
	w.Clock.Add(90 * 24 * time.Hour)
	if all := apitest.All[people.Person](w.Caller, "/v1/people", 2); len(all) != 2 {
		t.Errorf("after 90 days there are %+v", all)
	}
}

func TestALateRepeatLeavesTheLinkOut(t *testing.T) {
	w := newPeopleWorld(t)
	body, header := object{"email": "ada@example.com", "role": "auditor"}, []string{"Idempotency-Key", "k"}
	first := w.Call(http.MethodPost, "/v1/people", body, header...)
	if again := w.Call(http.MethodPost, "/v1/people", body, header...); again.Raw != first.Raw {
		t.Errorf("%s\n%s", first.Raw, again.Raw)
	}
	w.Clock.Add(10 * time.Minute)
	if late := w.Call(http.MethodPost, "/v1/people", body, header...); !strings.Contains(late.Raw,
		`"invitation_url":null`) {
		t.Error(late.Raw)
	}
}
