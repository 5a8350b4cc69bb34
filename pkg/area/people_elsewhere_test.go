package area_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/people"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/admission"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// another makes another account with the given owner, and returns it as its owner sees it.
func (w *peopleWorld) another(email string) *peopleWorld {
	w.T.Helper()
	other, own := *w, *w.World
	other.World = &own
	a, err := w.accounts.Create(w.T.Context(), account.Settings{Name: new("Globex")})
	if err != nil {
		w.T.Fatal(err)
	}
	other.account = tenant.Account(a.ID)
	tx := &store.Tx{}
	if _, _, err = w.people.Invite(tx, person.New{Account: other.account, Email: email, Role: auth.Owner,
		By: "operator"}); err == nil {
		err = w.DB.Commit(w.T.Context(), tx)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	other.owner = other.signIn(email)
	other.Caller = other.as(other.owner)
	return &other
}

// verified makes a connection of the account with a verified domain, whose provider is confirmed.
func (w *peopleWorld) verified(domain string) connection.Connection {
	w.T.Helper()
	z := &zone{}
	s := connection.NewService(w.DB, w.Now, rand.Reader, z, z)
	c, err := s.Create(w.T.Context(), w.account, connection.Settings{Name: new("Okta")})
	if err == nil {
		_, err = s.SetProvider(w.T.Context(), w.account, c.ID, connection.Provider{Kind: connection.SAML,
			MetadataURL: "https://idp.example/metadata"})
	}
	if err == nil {
		c, err = s.AddDomain(w.T.Context(), w.account, c.ID, domain)
	}
	if err == nil {
		z.texts = []string{c.Domains[0].Record}
		c, err = s.VerifyDomain(w.T.Context(), w.account, c.ID, domain)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

// by signs in by a connection.
func (w *peopleWorld) by(c connection.Connection, email string) (admission.Person, error) {
	return w.admit.Admit(w.T.Context(), signin.Identity{Pool: issuer, Subject: c.ID + email, Email: email,
		Connection: c.Provider()})
}

// An invitation is answered alike whether the address is unknown, invited or known elsewhere, and blocks nobody.
func TestAnInvitationDoesNotTellWhoIsElsewhere(t *testing.T) {
	w := newPeopleWorld(t)
	other := w.another("boss@globex.example")
	w.join("known@example.com", auth.Developer)
	w.invite("invited@example.com", auth.Developer)
	var shapes []any
	for _, email := range []string{"nobody@example.com", "known@example.com", "invited@example.com"} {
		for range 2 { // again: another invitation takes the place of the first
			a := other.Call(http.MethodPost, "/v1/people", object{"email": email, "role": "auditor"})
			var body struct{ Data map[string]any }
			if err := json.Unmarshal([]byte(a.Raw), &body); err != nil || a.Status != http.StatusCreated {
				t.Fatalf("%s: %d %s", email, a.Status, a.Raw)
			}
			for _, name := range []string{"id", "email", "invitation_url", "created_at", "updated_at",
				"invitation_expires_at"} {
				delete(body.Data, name)
			}
			shapes = append(shapes, body.Data)
			w.Clock.Add(time.Second)
		}
	}
	for i := 2; i < len(shapes); i++ {
		if !reflect.DeepEqual(shapes[i], shapes[i-2]) {
			t.Errorf("the answers differ: %v, %v", shapes[i], shapes[i-2])
		}
	}
	// Who has signed in stays where they are. The later invitation is that of who has not.
	if p := w.signIn("known@example.com"); p.Role != auth.Developer {
		t.Errorf("%+v", p)
	}
	w.invite("invited@example.com", auth.Developer)
	if p := w.signIn("invited@example.com"); p.Role != auth.Developer {
		t.Errorf("the invitation of another account blocks: %+v", p)
	}
	// Removing an invitation that came to nothing leaves the address to who has it.
	var all []people.Person
	other.Call(http.MethodGet, "/v1/people?state=invited", nil).Into(t, http.StatusOK, &all)
	for _, p := range all {
		if a := other.Call(http.MethodDelete, peoplePath(p), nil); a.Status != http.StatusOK {
			t.Error(a.Raw)
		}
	}
	w.Call(http.MethodPost, "/v1/people", object{"email": "known@example.com", "role": "auditor"}).Refused(t, 409,
		errs.Duplicate, "/email")
}

// People of a verified domain are invited by its account alone, and come to it whoever has invited them before.
func TestAVerifiedDomainIsItsAccounts(t *testing.T) {
	w := newPeopleWorld(t)
	other := w.another("boss@globex.example")
	other.invite("newhire@acme.example", auth.Admin)
	other.invite("second@acme.example", auth.Admin)
	w.invite("second@acme.example", auth.Auditor)
	other.invite("second@acme.example", auth.Admin)
	other.invite("third@acme.example", auth.Admin)
	c := w.verified("acme.example")
	if _, err := other.admit.Admit(t.Context(), signin.Identity{Pool: issuer, Subject: "third",
		Email: "third@acme.example", EmailVerified: true}); !errors.As(err, new(*admission.Refusal)) {
		t.Errorf("the invitation of before is accepted: %v", err)
	}
	for _, email := range []string{"newhire@acme.example", "nobody@acme.example"} {
		other.Call(http.MethodPost, "/v1/people", object{"email": email, "role": "auditor"}).Refused(t, 422,
			errs.ValidationFailed, "/email")
	}
	for email, role := range map[string]auth.Role{"newhire@acme.example": auth.Developer,
		"second@acme.example": auth.Auditor} {
		a, err := w.by(c, email)
		if err != nil || a.Account != w.account || a.Role != role {
			t.Errorf("%s: %+v, %v", email, a, err)
		}
	}
	if _, err := other.admit.Admit(t.Context(), signin.Identity{Pool: issuer, Subject: "x",
		Email: "newhire@acme.example", EmailVerified: true}); !errors.As(err, new(*admission.Refusal)) {
		t.Errorf("the invitation of the other account is accepted: %v", err)
	}
}

// zone is a DNS zone, and a user pool.
type zone struct{ texts []string }

// LookupTXT implements connection.Resolver.
func (z *zone) LookupTXT(context.Context, string) ([]string, error) { return z.texts, nil }

// SetProvider implements connection.Pool.
func (z *zone) SetProvider(context.Context, string, connection.Provider) error { return nil }
