package people_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/record/admission"
)

func asRefusal(err error, to **admission.Refusal) bool { return errors.As(err, to) }

func TestADevelopersKeysAreItsOwn(t *testing.T) {
	w := newWorld(t)
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
	w := newWorld(t)
	var me account.Me
	w.Call(http.MethodGet, "/v1/me", nil).Into(t, http.StatusOK, &me)
	if me.Person == nil || me.Person.ID != w.owner.ID || me.Person.Role != auth.Owner || me.Key.ID != w.owner.ID ||
		me.Key.Name != w.owner.Name || len(me.Key.Scopes) != 13 {
		t.Errorf("%+v, %+v", me.Key, me.Person)
	}
}

func TestAChangeOfTheAccountReachesItsPeople(t *testing.T) {
	w := newWorld(t)
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
