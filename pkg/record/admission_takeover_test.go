package record_test

import (
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// as returns the authority of a person.
func as(r person.Record) authority.Authority { return authority.OfPerson(r.ID, r.Role) }

// signedIn makes an active person of acme, who signs in without a connection.
func (w *world) signedIn(email string, role auth.Role) person.Record {
	w.T.Helper()
	r := w.invite(acme, email, role)
	w.admit(native(email))
	return r
}

// set changes the role of a person.
func (w *world) set(r person.Record, role auth.Role) {
	w.T.Helper()
	must[person.Record](w)(w.people.Change(w.T.Context(), acme, r.ID, func(tx *store.Tx, r *person.Record,
		it store.Item) error {
		w.people.SetRole(tx, r, acme, role)
		return w.people.Save(tx, r, it)
	}))
}

// confirm confirms the present provider.
func (w *world) confirm(c connection.Connection, by person.Record) {
	w.T.Helper()
	c, _, err := w.connections.Find(w.T.Context(), acme, c.ID)
	w.ok(err)
	must[connection.Connection](w)(w.connections.Confirm(w.T.Context(), acme, c.ID, c.ProviderID(), as(by)))
}

var metadata = connection.Provider{Kind: connection.SAML, MetadataURL: "https://evil.example/metadata"}

func TestOnlyAnOwnerMapsAGroupToOwner(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	owner, admin := w.signedIn("owner@demo.example", auth.Owner), w.signedIn("admin@demo.example", auth.Admin)
	c := w.connected(acme, "acme.example")
	update := func(by person.Record, roles map[string]auth.Role) error {
		_, err := w.connections.Update(ctx, acme, c.ID, connection.Settings{GroupRoles: roles, By: as(by)})
		return err
	}
	x := map[string]auth.Role{"x": auth.Owner}
	if err := update(admin, x); errs.CodeOf(err) != errs.InsufficientScope || errs.As(err).Param != "/group_roles" {
		t.Errorf("an admin maps a group to owner: %v", err)
	}
	w.ok(update(owner, x))
	// What the owner has mapped stays while an admin changes other groups. An admin does not bring it back.
	w.ok(update(admin, map[string]auth.Role{"x": auth.Owner, "y": auth.Admin}))
	if a := w.admit(federated(c, "boss@acme.example", "x")); a.Role != auth.Owner {
		t.Errorf("the group of the owner gives %s", a.Role)
	}
	w.ok(update(admin, map[string]auth.Role{"y": auth.Admin}))
	if err := update(admin, x); errs.CodeOf(err) != errs.InsufficientScope {
		t.Errorf("an admin brings the group back: %v", err)
	}
	// A role that was stored without its authority, or by an admin, makes no owner.
	c.GroupRoles = x
	for _, by := range []map[string]authority.Authority{nil, {"x": as(admin)}} {
		c.MappedBy = by
		if role, _ := c.RoleOf([]string{"x"}); role != auth.Admin {
			t.Errorf("mapped by %v: %s", by, role)
		}
	}
}

func TestANewProviderAdmitsNoOwnerBeforeItIsConfirmed(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	owner, admin := w.signedIn("owner@acme.example", auth.Owner), w.signedIn("admin@acme.example", auth.Admin)
	dev := w.signedIn("dev@acme.example", auth.Developer)
	c := w.connected(acme, "acme.example")
	must[connection.Connection](w)(w.connections.Update(ctx, acme, c.ID, connection.Settings{By: as(owner),
		GroupRoles: map[string]auth.Role{"Owners": auth.Owner}}))
	// The operator has set the provider: owners come by it.
	w.admit(federated(c, owner.Email))
	link := must[connection.Setup](w)(w.connections.OpenSetup(ctx, acme, c.ID, as(owner)))
	_, c, err := w.connections.UseSetup(ctx, link.Token, metadata)
	w.ok(err)
	w.refused("an owner, whom the earlier provider has signed in", federated(c, owner.Email), admission.Unconfirmed)
	other := federated(c, owner.Email)
	other.Subject = "another subject of the new provider"
	w.refused("an owner", other, admission.Unconfirmed)
	w.admit(federated(c, dev.Email))
	if a := w.admit(federated(c, "eve@acme.example", "Owners")); a.Role != auth.Admin {
		t.Errorf("a provider that is not confirmed makes an %s", a.Role)
	}
	if _, err := w.connections.Confirm(ctx, acme, c.ID, c.ProviderID(), as(admin)); errs.CodeOf(err) !=
		errs.InsufficientScope {
		t.Errorf("an admin confirms: %v", err)
	}
	if _, err := w.connections.Confirm(ctx, acme, c.ID, "another", as(owner)); errs.CodeOf(err) != errs.InvalidState {
		t.Errorf("the provider was replaced since the page was opened: %v", err)
	}
	must[person.Record](w)(w.people.SetBreakGlass(ctx, acme, owner.ID, true))
	if _, err := w.connections.Enforce(ctx, acme, c.ID, true); errs.CodeOf(err) != errs.InvalidState {
		t.Errorf("a provider that is not confirmed is required: %v", err)
	}
	w.confirm(c, owner)
	w.admit(federated(c, owner.Email))
	w.admit(other)
}

func TestASetUpLinkDoesWhatItsMakerMayDo(t *testing.T) {
	w := newWorld(t)
	ctx, name := t.Context(), "Entra"
	owner, admin := w.signedIn("owner@demo.example", auth.Owner), w.signedIn("admin@demo.example", auth.Admin)
	c := must[connection.Connection](w)(w.connections.Create(ctx, acme, connection.Settings{Name: &name}))
	open := func(by person.Record) string {
		t.Helper()
		return must[connection.Setup](w)(w.connections.OpenSetup(ctx, acme, c.ID, as(by))).Token
	}
	works := func(what, token string, want bool) {
		t.Helper()
		if _, _, err := w.connections.BySetup(ctx, token); (err == nil) != want || !want &&
			!errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	link := open(admin)
	works("of an admin, to set a first provider", link, true)
	w.set(admin, auth.Developer)
	works("of an admin who is a developer now", link, false)
	if _, _, err := w.connections.UseSetup(ctx, link, metadata); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a dead link is used: %v", err)
	}
	if len(w.pool.providers) != 0 {
		t.Error("a dead link sets a provider")
	}
	w.set(admin, auth.Admin)
	// Another link or the operator has set the provider meanwhile.
	must[connection.Connection](w)(w.connections.SetProvider(ctx, acme, c.ID, metadata))
	works("of an admin, to replace a provider", link, false)
	if _, err := w.connections.OpenSetup(ctx, acme, c.ID, as(admin)); errs.CodeOf(err) != errs.InsufficientScope {
		t.Errorf("an admin opens a link to replace the provider: %v", err)
	}
	w.signedIn("second@demo.example", auth.Owner)
	link = open(owner)
	works("of an owner", link, true)
	w.set(owner, auth.Admin)
	works("of an owner who is an admin now", link, false)
	w.set(owner, auth.Owner)
	must[person.Record](w)(w.people.Change(ctx, acme, owner.ID, func(tx *store.Tx, r *person.Record,
		it store.Item) error {
		return w.people.Remove(tx, r, it)
	}))
	works("of an owner who was removed", link, false)
}
