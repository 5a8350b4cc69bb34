package apikey_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
)

// bounded is a mandate with all members.
func bounded(w *world, members ...any) object {
	m := object{"credits_a_day": 200, "platforms": []string{"telegram", "vk"}, "needs_person": []string{"delete"},
		"quiet_hours": object{"from": "22:00", "to": "08:00", "timezone": "Europe/Berlin"},
		"until":       w.Now().Add(48 * time.Hour)}
	return servicetest.Body(m, members...)
}

// agent makes a key with a mandate that manages others, and its caller.
func (w *world) agent() (apikey.NewKey, *apitest.Caller) {
	k := w.create("kind", "live", "scopes", manager, "mandate", bounded(w))
	return k, w.with(k, auth.AccountManage, auth.ContentRead)
}

func TestAKeyShowsItsMandate(t *testing.T) {
	w := newWorld(t)
	if k := w.create(); k.Mandate != nil {
		t.Errorf("without one it has %+v", k.Mandate)
	}
	k, _ := w.agent()
	m := w.get(k).Mandate
	if m == nil || m.ID != k.ID+":1" || *m.CreditsADay != 200 || !reflect.DeepEqual(m.Platforms, []string{"telegram",
		"vk"}) || *m.QuietHours != (auth.QuietHours{From: "22:00", To: "08:00", Timezone: "Europe/Berlin"}) ||
		!reflect.DeepEqual(m.NeedsPerson, []auth.Act{"delete"}) || m.Until == nil {
		t.Fatalf("%+v", m)
	}
	// The authorizer sees the same.
	if s, _ := w.secret(k.Secret); !reflect.DeepEqual(s.Mandate, m.Terms()) {
		t.Errorf("the authorizer has %+v", s.Mandate)
	}
	// A patch changes what it names. A change of the key alone leaves the mandate its id.
	got := w.patch(k, object{"name": "Agent"})
	if got.Mandate.ID != m.ID {
		t.Errorf("its id is %s", got.Mandate.ID)
	}
	got = w.patch(k, object{"mandate": object{"credits_a_day": 50, "platforms": nil}})
	if got.Mandate.ID != k.ID+":3" || *got.Mandate.CreditsADay != 50 || got.Mandate.Platforms != nil ||
		got.Mandate.QuietHours == nil {
		t.Errorf("%+v", got.Mandate)
	}
	if s, _ := w.secret(k.Secret); *s.Mandate.CreditsADay != 50 || s.Mandate.ID != k.ID+":3" {
		t.Errorf("the authorizer has %+v", s.Mandate)
	}
	if got = w.patch(k, object{"mandate": nil}); got.Mandate != nil {
		t.Errorf("%+v", got.Mandate)
	}
	if s, _ := w.secret(k.Secret); s.Mandate != nil {
		t.Errorf("the authorizer has %+v", s.Mandate)
	}
}

func TestBadMandatesAreRefused(t *testing.T) {
	w := newWorld(t)
	create := func(name, param string, m object) rejectedCall {
		return rejectedCall{name, "POST", "/v1/api-keys", body("mandate", m), 422, errs.ValidationFailed,
			"/mandate/" + param}
	}
	hours := func(from, to, zone string) object {
		return object{"quiet_hours": object{"from": from, "to": to, "timezone": zone}}
	}
	w.refused(w.Caller, []rejectedCall{
		create("negative credits", "credits_a_day", object{"credits_a_day": -1}),
		create("an unknown platform", "platforms/1", object{"platforms": []string{"telegram", "telegarm"}}),
		create("no platform", "platforms", object{"platforms": []string{}}),
		create("an unknown act", "needs_person/0", object{"needs_person": []string{"fly"}}),
		create("an unknown zone", "quiet_hours/timezone", hours("22:00", "08:00", "Mars/Crater")),
		create("no time of day", "quiet_hours/from", hours("25:00", "08:00", "UTC")),
		create("hours without an end", "quiet_hours/to", hours("08:00", "08:00", "UTC")),
		create("hours without a zone", "quiet_hours/timezone", object{"quiet_hours": object{"from": "22:00",
			"to": "08:00"}}),
		create("an unknown member", "speed", object{"speed": 3}),
	})
}

// A key with a mandate neither widens it nor gets around it by another key.
func TestNoKeyGetsAroundItsMandate(t *testing.T) {
	w := newWorld(t)
	k, agent := w.agent()
	until := w.get(k).Mandate.Until
	free := w.create("kind", "live", "scopes", manager)
	create := func(name, param string, m any) rejectedCall {
		return rejectedCall{name, "POST", "/v1/api-keys", body("scopes", manager, "mandate", m), 403,
			errs.ScopeEscalation, "/mandate" + param}
	}
	change := func(name, param string, k apikey.NewKey, m any) rejectedCall {
		return rejectedCall{name, "PATCH", path(k), object{"mandate": m}, 403, errs.ScopeEscalation, "/mandate" + param}
	}
	w.refused(agent, []rejectedCall{
		{"a key without one", "POST", "/v1/api-keys", body("scopes", manager), 403, errs.ScopeEscalation, "/mandate"},
		create("more credits", "/credits_a_day", bounded(w, "credits_a_day", 201, "until", until)),
		create("another platform", "/platforms", bounded(w, "platforms", []string{"tiktok"}, "until", until)),
		create("other hours", "/quiet_hours", bounded(w, "quiet_hours", nil, "until", until)),
		create("more by itself", "/needs_person", bounded(w, "needs_person", nil, "until", until)),
		create("a later end", "/until", bounded(w, "until", until.Add(time.Second))),
		change("dropping it", "", k, nil),
		change("more credits of its own", "/credits_a_day", k, object{"credits_a_day": nil}),
		change("a later end of its own", "/until", k, object{"until": until.Add(time.Hour)}),
		{"the secret of a key without one", "POST", path(free) + "/rotate", nil, 403, errs.ScopeEscalation, ""},
	})
	var child apikey.NewKey
	agent.Call("POST", "/v1/api-keys", body("kind", "live", "scopes", manager, "mandate",
		bounded(w, "credits_a_day", 10, "until", until))).Into(t, http.StatusCreated, &child)
	s, _ := w.secret(child.Secret)
	if len(s.Makers) == 0 || s.Makers[0].Key != k.ID || s.Makers[0].Mandate == nil ||
		*s.Makers[0].Mandate.CreditsADay != 200 {
		t.Fatalf("the mandate of its maker is not known: %+v", s.Makers)
	}
	// It narrows itself. What it has made is bound by that, too, also by its end.
	agent.Call("PATCH", path(k), object{"mandate": object{"until": w.Now().Add(time.Hour)}}).
		Into(t, 200, new(object))
	w.patch(k, object{"mandate": object{"until": w.Now()}})
	s, _ = w.secret(child.Secret)
	p := auth.Principal{Mandate: s.Mandate, Makers: s.Makers}
	if errs.CodeOf(p.RequireMandate(w.Now())) != errs.OutsideMandate {
		t.Errorf("a key goes on after the end of its maker's mandate: %+v", s.Makers)
	}
}

func TestAMandateLeavesInvitationsToPeople(t *testing.T) {
	w := newWorld(t)
	k := w.create("scopes", manager, "mandate", object{"needs_person": []string{"invite", "delete"}})
	agent := w.with(k, auth.AccountManage, auth.ContentRead).As(func(p *auth.Principal) {
		p.Mandate = w.get(k).Mandate.Terms()
	})
	w.refused(agent, []rejectedCall{
		{"another key", "POST", "/v1/api-keys", body("scopes", manager, "mandate",
			object{"needs_person": []string{"invite", "delete"}}), 403, errs.PersonRequired, ""},
		{"revoking", "DELETE", path(k), nil, 403, errs.PersonRequired, ""},
	})
}
