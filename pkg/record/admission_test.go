package record_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const issuer = "https://issuer.example/pool"

// pool is a user pool, and a DNS zone.
type pool struct {
	providers map[string]connection.Provider
	offered   []string
	records   map[string][]string
	fails     int // look-ups
	err       error
}

func (p *pool) SetProvider(_ context.Context, name string, of connection.Provider) error {
	if p.err == nil {
		p.providers[name] = of
	}
	return p.err
}

func (p *pool) RemoveProvider(ctx context.Context, name string) error {
	delete(p.providers, name)
	return p.OfferAll(ctx)
}

func (p *pool) OfferAll(context.Context) error {
	if p.err == nil {
		p.offered = slices.Sorted(maps.Keys(p.providers))
	}
	return p.err
}

func (p *pool) LookupTXT(_ context.Context, name string) ([]string, error) {
	if p.fails > 0 {
		p.fails--
		return nil, &net.DNSError{Err: "server misbehaving", IsTemporary: true}
	}
	if found := p.records[name]; found != nil {
		return found, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// world has two accounts, acme and globex.
type world struct {
	*servicetest.World
	people      *person.Service
	admission   *admission.Service
	connections *connection.Service
	pool        *pool
}

const acme, globex tenant.Account = "acc_acme", "acc_globex"

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.New(t), pool: &pool{providers: map[string]connection.Provider{},
		records: map[string][]string{}}}
	w.people = person.NewService(w.DB, w.Clock.Now, rand.Reader)
	w.admission = admission.NewService(w.DB, w.people, w.Clock.Now)
	w.connections = connection.NewService(w.DB, w.Clock.Now, rand.Reader, w.pool, w.pool)
	for _, a := range []tenant.Account{acme, globex} {
		doc := json.RawMessage(`{"plan":"enterprise","rate_limits":{"live":600,"test":60},"ip_allow_list":[]}`)
		it, err := store.NewItem("account", tenant.Of(a, ""), string(a), doc)
		if err != nil {
			t.Fatal(err)
		}
		w.Commit(func(tx *store.Tx) error {
			tx.Create(it, nil)
			return nil
		})
	}
	return w
}

// offer takes the tasks that change what people can choose.
func (w *world) offer() {
	w.T.Helper()
	kernel := w.Kernel(map[task.Kind]task.Handler{
		connection.OfferKind: task.Func(connection.Offerer{DB: w.DB, Client: w.pool, Now: w.Clock.Now}.Offer)})
	for _, row := range storetest.Rows(w.T, w.DB) {
		if row["kind"] == task.ItemKind {
			if _, err := kernel.Do(w.T.Context(), task.Message{ID: row["pk"], Step: 1}, ""); err != nil {
				w.T.Error(err)
			}
		}
	}
}

func (w *world) ok(err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatal(err)
	}
}

func must[T any](w *world) func(T, error) T {
	return func(v T, err error) T {
		w.T.Helper()
		w.ok(err)
		return v
	}
}

func (w *world) invite(account tenant.Account, email string, role auth.Role) person.Record {
	w.T.Helper()
	tx := &store.Tx{}
	r, _, err := w.people.Invite(tx, person.New{Account: account, Email: email, Role: role, By: "operator"})
	w.ok(err)
	w.ok(w.DB.Commit(w.T.Context(), tx))
	return r
}

// native is the identity of a person of the pool.
func native(email string) signin.Identity {
	return signin.Identity{Pool: issuer, Subject: "native " + email, Email: email, EmailVerified: true, Name: "Ada"}
}

// federated is the identity of a person who comes by a connection. Providers may claim any verified address.
func federated(c connection.Connection, email string, groups ...string) signin.Identity {
	return signin.Identity{Pool: issuer, Subject: c.ID + " " + email, Email: email, EmailVerified: true, Name: "Ada",
		Connection: c.Provider(), Groups: groups}
}

// connected makes a connection with a provider and a verified domain.
func (w *world) connected(account tenant.Account, domain string) connection.Connection {
	w.T.Helper()
	ctx, name := w.T.Context(), "Okta"
	c := must[connection.Connection](w)(w.connections.Create(ctx, account, connection.Settings{Name: &name,
		GroupRoles: map[string]auth.Role{"Admins": auth.Admin, "Audit": auth.Auditor}}))
	c = must[connection.Connection](w)(w.connections.SetProvider(ctx, account, c.ID, connection.Provider{
		Kind: connection.SAML, MetadataURL: "https://idp.example/metadata"}))
	c = must[connection.Connection](w)(w.connections.AddDomain(ctx, account, c.ID, domain))
	w.pool.records[connection.RecordName(domain)+"."] = []string{"other", c.Domains[0].Record}
	return must[connection.Connection](w)(w.connections.VerifyDomain(ctx, account, c.ID, domain))
}

func (w *world) admit(who signin.Identity) admission.Person {
	w.T.Helper()
	return must[admission.Person](w)(w.admission.Admit(w.T.Context(), who))
}

// refused checks that nobody is admitted and that nothing changes.
func (w *world) refused(what string, who signin.Identity, want admission.Reason) *admission.Refusal {
	w.T.Helper()
	before := storetest.Snapshot(w.T, w.DB)
	got, err := w.admission.Admit(w.T.Context(), who)
	var refusal *admission.Refusal
	if !errors.As(err, &refusal) || refusal.Reason != want {
		w.T.Errorf("%s: %+v, %v; want %s", what, got, err, want)
		return &admission.Refusal{}
	}
	if storetest.Snapshot(w.T, w.DB) != before {
		w.T.Errorf("%s: something has changed", what)
	}
	return refusal
}

// ended reports whether the authorizer refuses a person.
func (w *world) ended(who signin.Identity) bool {
	w.T.Helper()
	c, err := credential.Find(w.T.Context(), w.DB, auth.Subject(issuer, who.Subject))
	w.ok(err)
	return c.Ended(w.Clock.Now())
}

func TestNobodyIsAdmittedByAnAddressAlone(t *testing.T) {
	w := newWorld(t)
	w.invite(acme, "ada@example.com", auth.Owner)
	unverified := native("ada@example.com")
	unverified.EmailVerified = false
	w.refused("an address that is not verified", unverified, admission.Unverified)
	w.refused("another address", native("eve@example.com"), admission.Uninvited)
	w.refused("no address", native("nonsense"), admission.Unverified)
	// The provider of another customer claims the address.
	other := w.connected(globex, "globex.example")
	r := w.refused("an address of another domain", federated(other, "ada@example.com"), admission.Unverified)
	if r.Actor != (auth.Actor{Kind: auth.Directory, ID: other.ID}) || r.Account == "" {
		t.Errorf("refused is %+v", r)
	}
	unknown := connection.Connection{}
	unknown.ID = "con_01h455vb4pex5vsknk084sn02q"
	if r := w.refused("an unknown connection", federated(unknown, "ada@example.com"),
		admission.Unverified); r.Account != "" {
		t.Errorf("an unknown connection is of %+v", r)
	}
	for _, alike := range []string{"\u0430da@example.com", "ada@example\uff0ecom", "ad\u200da@example.com", "ada@example.com\n",
		"Ada <ada@example.com>", "ada@example.com,eve@example.com", `"ada"@example.com`, "ada@example.com."} {
		w.refused("an address that looks alike", native(alike), admission.Unverified)
	}
	ada := w.admit(native("Ada@EXAMPLE.com")) // case does not count
	if ada.Role != auth.Owner || ada.Account != acme {
		t.Errorf("%+v", ada)
	}
	// Another subject of the pool with the same address is not the person.
	again := native("ada@example.com")
	again.Subject = "another"
	if r := w.refused("another subject", again, admission.Conflict); r.Account != acme ||
		r.Actor.Kind != auth.Person || r.Actor.ID == "" {
		t.Errorf("refused is %+v", r)
	}
	w.refused("a claim of an address that is known", federated(other, "ada@example.com"), admission.Unverified)
}

func TestPeopleComeByAConnection(t *testing.T) {
	w := newWorld(t)
	c := w.connected(acme, "acme.example")
	for _, x := range []struct {
		groups []string
		want   auth.Role
	}{{nil, auth.Developer}, {[]string{"Staff"}, auth.Developer}, {[]string{"Audit"}, auth.Auditor},
		{[]string{"Audit", "Admins"}, auth.Admin}} {
		email := strings.ToLower(strings.Join(x.groups, "-")) + "x@acme.example"
		a := w.admit(federated(c, email, x.groups...))
		if a.Role != x.want || a.Account != acme || a.State != person.Active || *a.Connection != c.ID ||
			a.InvitedBy != nil {
			t.Errorf("%v: %+v", x.groups, a)
		}
	}
	// The next sign-in follows the groups. Without a group that gives a role, the role stays.
	if a := w.admit(federated(c, "x@acme.example", "Audit")); a.Role != auth.Auditor || a.Version != 2 {
		t.Errorf("%+v", a)
	}
	if a := w.admit(federated(c, "x@acme.example")); a.Role != auth.Auditor || a.Version != 2 {
		t.Errorf("%+v", a)
	}
	// An unverified domain admits nobody, nor does a domain below.
	must[connection.Connection](w)(w.connections.AddDomain(t.Context(), acme, c.ID, "new.example"))
	w.refused("an unverified domain", federated(c, "ada@new.example"), admission.Unverified)
	w.refused("a domain below", federated(c, "ada@sub.acme.example"), admission.Unverified)
	must[connection.Connection](w)(w.connections.RemoveDomain(t.Context(), acme, c.ID, "acme.example"))
	w.refused("a removed domain", federated(c, "x@acme.example"), admission.Unverified)
	// A hostile name stays a text of one line.
	d := w.connected(acme, "evil.example")
	eve := federated(d, "eve@evil.example")
	eve.Name = "<script>\r\nalert(1)\x00" + strings.Repeat("x", 500)
	if a := w.admit(eve); strings.ContainsAny(a.Name, "\r\n\x00") || len(a.Name) > 100 {
		t.Errorf("%q", a.Name)
	}
}

// A person of the pool may write the attribute of the groups. Only a provider's groups count.
func TestGroupsOfAPersonOfThePoolGiveNothing(t *testing.T) {
	w := newWorld(t)
	w.connected(acme, "acme.example")
	w.invite(acme, "guest@example.com", auth.Developer)
	guest := native("guest@example.com")
	for _, sign := range []string{"the first sign-in", "the next"} {
		guest.Groups = []string{"Admins"}
		if a := w.admit(guest); a.Role != auth.Developer {
			t.Errorf("%s: %+v", sign, a)
		}
	}
}

func TestTwoSignInsAtOnceMakeOnePerson(t *testing.T) {
	w := newWorld(t)
	c := w.connected(acme, "acme.example")
	ids := make([]string, 4)
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			a, err := w.admission.Admit(t.Context(), federated(c, "ada@acme.example"))
			if err != nil {
				t.Error(err)
			}
			ids[i] = a.ID
		})
	}
	all.Wait()
	if len(slices.Compact(ids)) != 1 {
		t.Errorf("they made %v", ids)
	}
}

func TestEnforcedSignOn(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	c := w.connected(acme, "acme.example")
	owner := w.invite(acme, "owner@acme.example", auth.Owner)
	w.invite(acme, "ada@acme.example", auth.Developer)
	w.invite(acme, "guest@elsewhere.example", auth.Auditor)
	w.admit(native("owner@acme.example"))
	w.admit(native("ada@acme.example"))
	guest := w.admit(native("guest@elsewhere.example"))
	_, err := w.connections.Enforce(ctx, acme, c.ID, true)
	if errs.CodeOf(err) != errs.InvalidState {
		t.Errorf("without an owner for emergencies: %v", err)
	}
	if _, err := w.people.SetBreakGlass(ctx, acme, guest.ID, true); errs.CodeOf(err) != errs.InvalidState {
		t.Errorf("an auditor for emergencies: %v", err)
	}
	must[person.Record](w)(w.people.SetBreakGlass(ctx, acme, owner.ID, true))
	if _, err := w.connections.Enforce(ctx, acme, c.ID, true); errs.CodeOf(err) != errs.InvalidState ||
		len(w.pool.offered) != 0 {
		t.Errorf("before people can choose the provider: %v, %v", w.pool.offered, err)
	}
	w.offer()
	if !slices.Equal(w.pool.offered, []string{c.Provider()}) {
		t.Errorf("people can choose %v", w.pool.offered)
	}
	must[connection.Connection](w)(w.connections.Enforce(ctx, acme, c.ID, true))
	if !w.ended(native("ada@acme.example")) || w.ended(native("owner@acme.example")) ||
		w.ended(native("guest@elsewhere.example")) {
		t.Error("the wrong people are out")
	}
	r := w.refused("a person of the domain", native("ada@acme.example"), admission.Elsewhere)
	if r.Provider != c.Provider() {
		t.Errorf("sent to %q", r.Provider)
	}
	w.refused("a new person of the domain", native("new@acme.example"), admission.Elsewhere)
	w.admit(native("owner@acme.example"))
	w.admit(native("guest@elsewhere.example"))
	// The same person comes by the connection.
	if a := w.admit(federated(c, "ada@acme.example")); a.Role != auth.Developer || *a.Connection != c.ID {
		t.Errorf("%+v", a)
	}
	must[connection.Connection](w)(w.connections.Enforce(ctx, acme, c.ID, false))
	// With the connection, all access by it goes.
	w.ok(w.connections.Remove(ctx, acme, c.ID))
	if !w.ended(federated(c, "ada@acme.example")) {
		t.Error("the connection goes on")
	}
	if w.offer(); len(w.pool.providers) != 0 || len(w.pool.offered) != 0 {
		t.Errorf("the pool still has %v", w.pool.providers)
	}
	w.refused("a removed connection", federated(c, "ada@acme.example"), admission.Unverified)
	if a := w.admit(native("ada@acme.example")); a.Connection != nil {
		t.Errorf("%+v", a)
	}
}

func TestDomains(t *testing.T) {
	w := newWorld(t)
	ctx, name := t.Context(), "Entra"
	w.connected(acme, "acme.example")
	c := must[connection.Connection](w)(w.connections.Create(ctx, globex, connection.Settings{Name: &name}))
	for _, bad := range []string{"", "localhost", "acme_example.com", "-a.example", "a..example", "gmail.com",
		"*.example.com", "xn--.", "example.com/x", "экзампл.example", strings.Repeat("a", 64) + ".example"} {
		if _, err := w.connections.AddDomain(ctx, globex, c.ID, bad); errs.CodeOf(err) != errs.ValidationFailed {
			t.Errorf("%q: %v", bad, err)
		}
	}
	must[connection.Connection](w)(w.connections.AddDomain(ctx, globex, c.ID, "Acme.example."))
	verify := func(want errs.Code) {
		t.Helper()
		_, err := w.connections.VerifyDomain(ctx, globex, c.ID, "acme.example")
		if err == nil || errs.CodeOf(err) != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	verify(errs.InvalidState) // the record has the text of the other account
	c, _, err := w.connections.Find(ctx, globex, c.ID)
	w.ok(err)
	delete(w.pool.records, "_content-automation.acme.example.")
	verify(errs.InvalidState)
	w.pool.records["_content-automation.acme.example."] = []string{c.Domains[0].Record}
	w.pool.fails = 2
	verify(errs.ProviderUnavailable)
	w.pool.fails = 1 // is tried again
	verify(errs.Duplicate)
	if _, _, err := w.connections.Find(ctx, acme, c.ID); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("another account's connection: %v", err)
	}
}

func TestProvidersAreChecked(t *testing.T) {
	w := newWorld(t)
	ctx, name := t.Context(), "Entra"
	c := must[connection.Connection](w)(w.connections.Create(ctx, acme, connection.Settings{Name: &name}))
	for param, p := range map[string]connection.Provider{
		"/kind":          {},
		"/metadata_url":  {Kind: connection.SAML, MetadataURL: "http://idp.example/"},
		"/metadata":      {Kind: connection.SAML, Metadata: "<html>"},
		"/issuer":        {Kind: connection.OIDC, Issuer: "https://user@idp.example"},
		"/client_id":     {Kind: connection.OIDC, Issuer: "https://idp.example"},
		"/client_secret": {Kind: connection.OIDC, Issuer: "https://idp.example", ClientID: "a"},
	} {
		_, err := w.connections.SetProvider(ctx, acme, c.ID, p)
		if errs.CodeOf(err) != errs.ValidationFailed || errs.As(err).Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	good := connection.Provider{Kind: connection.OIDC, Issuer: "https://idp.example", ClientID: "a", ClientSecret: "hidden"}
	w.pool.err = errs.New(errs.ProviderUnavailable, "away")
	if _, err := w.connections.SetProvider(ctx, acme, c.ID, good); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Error(err)
	}
	w.pool.err = nil
	c = must[connection.Connection](w)(w.connections.SetProvider(ctx, acme, c.ID, good))
	if !c.Ready || w.pool.providers[c.Provider()] != good {
		t.Errorf("%+v", c)
	}
	for _, row := range storetest.Rows(t, w.DB) {
		if strings.Contains(row["doc"], "hidden") {
			t.Error("the secret is stored")
		}
	}
}

func TestSetUpLinks(t *testing.T) {
	w := newWorld(t)
	ctx, name := t.Context(), "Entra"
	c := must[connection.Connection](w)(w.connections.Create(ctx, acme, connection.Settings{Name: &name}))
	first := must[connection.Setup](w)(w.connections.OpenSetup(ctx, acme, c.ID, authority.Operator()))
	link := must[connection.Setup](w)(w.connections.OpenSetup(ctx, acme, c.ID, authority.Operator()))
	works := func(token string, want bool) {
		t.Helper()
		account, found, err := w.connections.BySetup(ctx, token)
		if (err == nil) != want || want && (account != acme || found.ID != c.ID) ||
			!want && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s, %+v, %v", account, found, err)
		}
	}
	works(first.Token, false)
	works(link.Token, true)
	works("x", false)
	if _, _, err := w.connections.ByDirectory(ctx, link.Token); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the link serves as the token of a directory: %v", err)
	}
	w.Clock.Add(7 * 24 * time.Hour)
	works(link.Token, false)
	link = must[connection.Setup](w)(w.connections.OpenSetup(ctx, acme, c.ID, authority.Operator()))
	must[connection.Connection](w)(w.connections.CloseSetup(ctx, acme, c.ID))
	works(link.Token, false)
}
