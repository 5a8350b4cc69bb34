package automation_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/automation"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/id"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// person returns a caller who is a person with a role, as the table has it from now on.
func (w *world) person(role auth.Role, state person.State) *apitest.Caller {
	w.T.Helper()
	c := w.As(func(p *auth.Principal) {
		p.Actor = auth.Actor{Kind: auth.Person, ID: id.Derived(id.Person, time.UnixMilli(1), "ada")}
		p.Role, p.Scopes = role, role.Scopes()
	})
	at := credential.KeyOf(c.Principal.Account, c.Principal.Actor.ID)
	it, _ := w.DB.Get(w.T.Context(), at)
	it.Key, it.Kind, it.Account = at, person.Kind, c.Principal.Account
	if err := it.Encode(person.Record{Person: person.Person{Role: role, State: state}}); err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	if it.Version == 0 {
		tx.Create(it, nil)
	} else {
		tx.Replace(it)
	}
	if err := w.DB.Commit(w.T.Context(), tx); err != nil {
		w.T.Fatal(err)
	}
	return c
}

// An automation acts with what the key or person who set it may do at that time. It ends with an event as soon as it
// looks, and goes on for who sets it to active.
func TestAnAutomationEndsWithItsAuthority(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(w *world)
		role auth.Role // of a person who creates it
		want string
	}{
		"a revoked key": {end: func(w *world) {
			w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
		}, want: "was revoked"},
		"a key that has lost the scope": {end: func(w *world) {
			w.ChangeKey(func(k *keyrecord.Record) { k.Scopes = []auth.Scope{auth.ContentRead} })
		}, want: "does not have the scope content:write"},
		"a demoted person": {end: func(w *world) { w.person(auth.Auditor, person.Active) }, role: auth.Developer,
			want: "does not have the scope content:write"},
		"a removed person": {end: func(w *world) { w.person(auth.Developer, person.Removed) }, role: auth.Developer,
			want: "is not a person of the account any more"},
	} {
		w := newWorld(t)
		factory, maker := w.makeFactory("brand", "UTC"), w.Caller
		if c.role != "" {
			maker = w.person(c.role, person.Active)
		}
		var a automation.Details
		maker.Call(http.MethodPost, automations, object{"factory_id": factory, "max_per_day": 100, "trigger": object{
			"kind": "feed", "url": feedURL}, "template": object{"kind": "post", "prompt": "News"}}).
			Into(t, http.StatusCreated, &a)
		if a.CreatedBy != maker.Principal.Actor.ID {
			t.Errorf("%s: created by %s", name, a.CreatedBy)
		}
		w.do(a.ID)
		w.site.entries = []string{"one"}
		c.end(w)
		w.do(a.ID)
		other := w.As(func(p *auth.Principal) { p.Actor = auth.Key(id.New(id.APIKey, w.Now())) })
		var got automation.Details
		other.Call(http.MethodGet, automations+"/"+a.ID, nil).Into(t, http.StatusOK, &got)
		if got.State != automation.Failed || got.Failure == nil || got.Failure.Code != authority.Code ||
			!strings.Contains(got.Failure.Message, c.want) || len(w.items()) != 0 ||
			!slices.Contains(w.events(), "automation.failed") {
			t.Errorf("%s: %+v, %v", name, got.Automation, w.events())
		}
		other.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &got)
		w.do(a.ID)
		w.site.entries = append(w.site.entries, "two")
		if w.do(a.ID); len(w.items()) != 1 || got.CreatedBy != other.Principal.Actor.ID {
			t.Errorf("%s: set to active by another key it makes %v", name, w.prompts())
		}
	}
}

// A key that changes what an automation makes answers for it: the item is not published without its scope, and costs
// nothing of the key that was there before.
func TestAWeakerKeyMakesAnAutomationItsOwn(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "time", "cron": "0 0 1 1 *"})
	weak := w.Only(auth.ContentRead, auth.ContentWrite)
	limit := int64(0)
	weak.ChangeKey(func(k *keyrecord.Record) { k.Scopes, k.SpendLimit = weak.Principal.Scopes, &limit })
	for member, value := range map[string]any{"template": object{"prompt": "Text of the weak key"},
		"trigger": object{"kind": "time", "cron": "* * * * *"}, "utm": object{"source": "weak"}, "max_per_day": 7} {
		w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "paused"}).Into(t, http.StatusOK, &a)
		w.Call(http.MethodPatch, automations+"/"+a.ID, object{"state": "active"}).Into(t, http.StatusOK, &a)
		if a.CreatedBy != w.Principal.Actor.ID {
			t.Fatalf("%s: before it is of %s", member, a.CreatedBy)
		}
		weak.Call(http.MethodPatch, automations+"/"+a.ID, object{member: value}).Into(t, http.StatusOK, &a)
		if a.CreatedBy != weak.Principal.Actor.ID {
			t.Errorf("%s: it is still of %s", member, a.CreatedBy)
		}
	}
	w.Clock.Add(2 * time.Minute)
	w.do(a.ID)
	for _, made := range w.items() {
		stored, err := w.DB.Get(t.Context(), store.IDKey(made.ID))
		if err != nil {
			t.Fatal(err)
		}
		it, err := item.Decode(&stored)
		if err != nil {
			t.Fatal(err)
		}
		if it.Authority.Actor.ID != weak.Principal.Actor.ID || it.Authority.Had(auth.ContentPublish) {
			t.Errorf("the item is published for %+v", it.Authority)
		}
	}
	if len(w.items()) != 1 {
		t.Errorf("it made %v", w.prompts())
	}
	// Names of its own change nothing of whose it is.
	w.Call(http.MethodPatch, automations+"/"+a.ID, object{"metadata": object{"a": "b"}}).Into(t, http.StatusOK, &a)
	if a.CreatedBy != weak.Principal.Actor.ID {
		t.Errorf("metadata made it that of %s", a.CreatedBy)
	}
}

// Losing rights has automations look at once.
func TestARecheckWakesAnAutomation(t *testing.T) {
	w := newWorld(t)
	a := w.create(w.makeFactory("brand", "UTC"), object{"kind": "time", "cron": "0 0 1 1 *"})
	w.do(a.ID)
	w.ChangeKey(func(k *keyrecord.Record) { k.State = keyrecord.Revoked })
	step := &task.Step{Task: task.Task{Message: task.Message{Subject: w.Principal.Actor.ID, Owner: w.Principal.Owner},
		Payload: []byte("{}")}}
	h := person.Rechecks(w.DB, map[string]person.Recheck{automation.ItemKind: w.service.Recheck})
	woken := func() bool {
		return strings.Contains(storetest.Snapshot(t, w.DB), "wake#"+task.ID(automation.Kind, a.ID, 1))
	}
	before := woken()
	if o, err := h.Step(t.Context(), step); err != nil || !o.Done || before || !woken() {
		t.Errorf("%+v, %v; woken before: %v, after: %v", o, err, before, woken())
	}
}
