package area_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
)

func asRefusal(err error, to **admission.Refusal) bool { return errors.As(err, to) }

func TestADevelopersKeysAreItsOwn(t *testing.T) {
	w := newPeopleWorld(t)
	dev := w.as(w.join("dev@example.com", auth.Developer))
	body := object{"name": "CRM", "kind": "live", "scopes": []string{"content:read"}}
	var own, others apikey.NewKey
	dev.Call(http.MethodPost, "/v1/api-keys", body).Into(t, http.StatusCreated, &own)
	w.Call(http.MethodPost, "/v1/api-keys", body).Into(t, http.StatusCreated, &others)
	if own.CreatedBy != dev.Principal.Actor.ID || others.CreatedBy != w.owner.ID {
		t.Errorf("made by %s and %s", own.CreatedBy, others.CreatedBy)
	}
	if got := apitest.All[apikey.Key](dev, "/v1/api-keys", 10); len(got) != 1 || got[0].ID != own.ID {
		t.Errorf("a developer lists %+v", got)
	}
	if got := apitest.All[apikey.Key](w.Caller, "/v1/api-keys", 10); len(got) != 2 {
		t.Errorf("an owner lists %+v", got)
	}
	at := "/v1/api-keys/" + others.ID
	dev.Call(http.MethodGet, at, nil).Refused(t, 404, errs.NotFound, "")
	dev.Call(http.MethodPatch, at, object{"name": "Mine"}).Refused(t, 404, errs.NotFound, "")
	dev.Call(http.MethodPost, at+"/rotate", nil).Refused(t, 404, errs.NotFound, "")
	dev.Call(http.MethodDelete, at, nil).Refused(t, 404, errs.NotFound, "")
	if a := dev.Call(http.MethodDelete, "/v1/api-keys/"+own.ID, nil); a.Status != http.StatusOK {
		t.Error(a.Raw)
	}
}

func TestAPersonSeesTheAccount(t *testing.T) {
	w := newPeopleWorld(t)
	var me account.Me
	w.Call(http.MethodGet, "/v1/me", nil).Into(t, http.StatusOK, &me)
	if me.Person == nil || me.Person.ID != w.owner.ID || me.Person.Role != auth.Owner || me.Key.ID != w.owner.ID ||
		me.Key.Name != w.owner.Name || len(me.Key.Scopes) != 13 {
		t.Errorf("%+v, %+v", me.Key, me.Person)
	}
}

func TestAChangeOfTheAccountReachesItsPeople(t *testing.T) {
	w := newPeopleWorld(t)
	w.join("ada@example.com", auth.Auditor)
	_, err := w.accounts.Update(t.Context(), w.account, account.Settings{Plan: new("starter"), LiveLimit: new(7)})
	if err != nil {
		t.Fatal(err)
	}
	for _, email := range []string{"owner@example.com", "ada@example.com"} {
		if c := w.credential(email); c.Plan != "starter" || c.Limit != 7 || c.Role == "" {
			t.Errorf("%s: %+v", email, c)
		}
	}
}

// keyed returns a caller with a key, with the scopes of the key.
func (w *peopleWorld) keyed(k apikey.NewKey) *apitest.Caller {
	c := w.as(w.owner)
	return c.As(func(q *auth.Principal) {
		q.Owner, q.Actor, q.Role, q.Scopes = tenant.Of(w.account, k.Kind), auth.Key(k.ID), "", k.Scopes
	})
}

func (w *peopleWorld) role(personID string, to auth.Role) {
	w.T.Helper()
	if a := w.Call(http.MethodPatch, "/v1/people/"+personID, object{"role": to}); a.Status != http.StatusOK {
		w.T.Fatal(a.Raw)
	}
}

func (w *peopleWorld) key(by *apitest.Caller) (k apikey.NewKey) {
	w.T.Helper()
	by.Call(http.MethodPost, "/v1/api-keys", object{"name": "CRM", "kind": "live",
		"scopes": []string{"account:manage", "content:read"}}).Into(w.T, http.StatusCreated, &k)
	w.Clock.Add(time.Second)
	return k
}

// A key that a developer has made, directly or through other keys, manages the developer's keys and no others.
func TestAKeyOfADeveloperManagesOnlyTheDevelopersKeys(t *testing.T) {
	w := newPeopleWorld(t)
	person := w.join("dev@example.com", auth.Developer)
	dev := w.as(person)
	production, first := w.key(w.Caller), w.key(dev)
	child := w.key(w.keyed(first))
	for name, by := range map[string]*apitest.Caller{"the developer": dev, "a key": w.keyed(first),
		"a key of the key": w.keyed(child)} {
		if got := apitest.All[apikey.Key](by, "/v1/api-keys", 10); len(got) != 2 || got[0].ID == production.ID ||
			got[1].ID == production.ID {
			t.Errorf("%s lists %+v", name, got)
		}
		at := "/v1/api-keys/" + production.ID
		by.Call(http.MethodGet, at, nil).Refused(t, 404, errs.NotFound, "")
		by.Call(http.MethodPatch, at, object{"ip_allow_list": []string{"203.0.113.9"}}).Refused(t, 404, errs.NotFound, "")
		by.Call(http.MethodPost, at+"/rotate", object{"overlap_seconds": 0}).Refused(t, 404, errs.NotFound, "")
		by.Call(http.MethodDelete, at+"?include_created=true", nil).Refused(t, 404, errs.NotFound, "")
		if a := by.Call(http.MethodPatch, "/v1/api-keys/"+child.ID, object{"name": name}); a.Status != http.StatusOK {
			t.Errorf("%s changes a key of the developer: %s", name, a.Raw)
		}
	}
	// The key follows what the developer becomes.
	w.role(person.ID, auth.Admin)
	if a := w.keyed(child).Call(http.MethodGet, "/v1/api-keys/"+production.ID, nil); a.Status != http.StatusOK {
		t.Errorf("a key of an admin: %s", a.Raw)
	}
}

// A key manages no others from the moment on at which the person who has made it may not.
func TestAKeyManagesNoMoreThanItsMakerMayNow(t *testing.T) {
	w := newPeopleWorld(t)
	second := w.join("second@example.com", auth.Owner)
	production, own := w.key(w.Caller), w.key(w.as(second))
	by := w.keyed(own)
	at := "/v1/api-keys/" + production.ID
	if a := by.Call(http.MethodPatch, at, object{"name": "Changed"}); a.Status != http.StatusOK {
		t.Fatal(a.Raw)
	}
	body := object{"name": "Another", "kind": "test", "scopes": []string{"content:read"}}
	w.role(second.ID, auth.Developer)
	by.Call(http.MethodPost, at+"/rotate", nil).Refused(t, 404, errs.NotFound, "")
	if a := by.Call(http.MethodPost, "/v1/api-keys", body); a.Status != http.StatusCreated {
		t.Errorf("a key of a developer makes a key: %s", a.Raw)
	}
	for _, demote := range []func(){func() { w.role(second.ID, auth.Auditor) }, func() {
		if a := w.Call(http.MethodDelete, "/v1/people/"+second.ID, nil); a.Status != http.StatusOK {
			t.Fatal(a.Raw)
		}
	}} {
		demote()
		by.Call(http.MethodGet, at, nil).Refused(t, 404, errs.NotFound, "")
		by.Call(http.MethodDelete, at, nil).Refused(t, 404, errs.NotFound, "")
		by.Call(http.MethodPost, "/v1/api-keys", body).Refused(t, 403, errs.InsufficientScope, "")
		by.Call(http.MethodPost, "/v1/api-keys/"+own.ID+"/rotate", nil).Refused(t, 403, errs.InsufficientScope, "")
	}
	if a := by.Call(http.MethodDelete, "/v1/api-keys/"+own.ID, nil); a.Status != http.StatusOK {
		t.Errorf("the key does not revoke itself: %s", a.Raw)
	}
}

// An invitation gives what who sent it may give when it is accepted.
func TestAnInvitationIsThatOfWhoMayInviteNow(t *testing.T) {
	w := newPeopleWorld(t)
	boss, admin := w.join("boss@example.com", auth.Owner), w.join("admin@example.com", auth.Admin)
	from := func(by people.Person, email string, role auth.Role) {
		t.Helper()
		if a := w.as(by).Call(http.MethodPost, "/v1/people", object{"email": email, "role": role}); a.Status !=
			http.StatusCreated {
			t.Fatal(a.Raw)
		}
	}
	from(boss, "owner@new.example", auth.Owner)
	from(boss, "dev@new.example", auth.Developer)
	from(admin, "admin@new.example", auth.Admin)
	from(admin, "second@new.example", auth.Admin)
	w.role(boss.ID, auth.Admin)
	w.role(admin.ID, auth.Developer)
	refused := func(email string) {
		t.Helper()
		before := storetest.Snapshot(t, w.DB)
		var refusal *admission.Refusal
		_, err := w.admit.Admit(t.Context(), signin.Identity{Pool: issuer, Subject: email, Email: email,
			EmailVerified: true})
		if !asRefusal(err, &refusal) || refusal.Reason != admission.Uninvited || storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%s: %v", email, err)
		}
	}
	refused("owner@new.example")
	refused("admin@new.example")
	if p := w.signIn("dev@new.example"); p.Role != auth.Developer {
		t.Errorf("%+v", p)
	}
	if a := w.Call(http.MethodDelete, "/v1/people/"+admin.ID, nil); a.Status != http.StatusOK {
		t.Fatal(a.Raw)
	}
	refused("second@new.example")
	// By the connection of its domain the person comes without the invitation, and with the role of the connection.
	if a, err := w.by(w.verified("new.example"), "second@new.example"); err != nil || a.Role != auth.Developer {
		t.Errorf("%+v, %v", a, err)
	}
}
