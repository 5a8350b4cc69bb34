// Package admission decides who of those who sign in is a person of an account. An equal e-mail address alone never
// lets anyone in: the pool must have verified it, or the connection its domain. Start with Service.Admit.
package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/auth/signin"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"
)

// Reason is the reason for which nobody is admitted.
type Reason string

// The reasons.
const (
	// Unverified: the e-mail address is not verified, or its domain is not one of the connection.
	Unverified Reason = "unverified"
	// Uninvited: there is no person and no open invitation with the address.
	Uninvited Reason = "uninvited"
	// Elsewhere: the person has to sign in by the connection of the refusal.
	Elsewhere Reason = "elsewhere"
	// Unconfirmed: the person is an owner, and no owner has confirmed the provider of the connection.
	Unconfirmed Reason = "unconfirmed"
	// Conflict: a person with the address exists, and signs in otherwise.
	Conflict Reason = "conflict"
)

// Refusal is the error of a sign-in that is not admitted.
type Refusal struct {
	Reason Reason
	// Provider is the name in the pool of the provider to sign in with, of Elsewhere.
	Provider string
	// Account is the account that refuses, and Actor its person who signs in. For anybody else, Actor is the
	// connection of the sign-in. Both are empty if the sign-in concerns no account.
	Account tenant.Account
	Actor   auth.Actor
}

// Error names the reason.
func (r *Refusal) Error() string { return "admission: refused: " + string(r.Reason) }

// Service admits people.
type Service struct {
	db     *store.DB
	people *person.Service
	now    func() time.Time
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, people *person.Service, now func() time.Time) *Service {
	return &Service{db, people, now}
}

// Person is a person who has signed in.
type Person struct {
	person.Person
	Account tenant.Account
}

// Admit returns the person of a verified ID token. It makes the person, or accepts the open invitation, at the first
// sign-in. It returns a *Refusal if there is no such person. Repeating it has no further effect.
func (s *Service) Admit(ctx context.Context, who signin.Identity) (a Person, err error) {
	err = store.Retry(func() error {
		a, err = s.admit(ctx, who)
		return err
	})
	if errors.Is(err, store.ErrConflict) {
		err = errs.Wrap(err, errs.ProviderUnavailable, "Your sign-in meets others. Try again.")
	}
	return a, err
}

// candidate is all that an admission is based on.
type candidate struct {
	signin.Identity
	hash       string
	email      string // empty if it is no address
	subject    store.Item
	domain     store.Item
	byEmail    store.Item
	connection *connection.Connection // nil without one
	account    tenant.Account         // of the connection
}

func (s *Service) admit(ctx context.Context, who signin.Identity) (a Person, err error) {
	f, err := s.find(ctx, who)
	if err != nil {
		return a, err
	}
	if c := credential.Of(f.hash, f.subject); c != nil && !c.Revoked {
		return s.known(ctx, f, c)
	}
	switch {
	case f.email == "",
		f.connection == nil && !f.EmailVerified,
		f.connection != nil && !f.connection.Speaks(person.Domain(f.email)):
		return a, f.refuse(Unverified)
	}
	personID := f.byEmail.Attributes["person"]
	if personID == "" {
		return s.join(ctx, f, person.Holder{})
	}
	if f.connection != nil && f.account != f.byEmail.Account {
		// An open invitation of another account gives way to the account that has verified the domain.
		h, err := s.people.HolderOf(ctx, f.byEmail)
		if err == nil && h.Taken() {
			err = f.refuse(Conflict)
		}
		if err != nil {
			return a, err
		}
		return s.join(ctx, f, h)
	}
	r, it, err := s.people.Find(ctx, f.byEmail.Account, personID)
	if err != nil {
		return a, err
	}
	if to := s.confined(f, &r); to != "" {
		return a, elsewhere(to).of(it.Account, r.ID)
	}
	switch {
	case f.connection != nil && !f.connection.Admits(&r):
		return a, f.refuse(Unconfirmed).of(it.Account, r.ID)
	case r.State == person.Invited && f.connection == nil && (!r.Open() || f.domain.Kind != "" &&
		f.domain.Account != it.Account): // the domain is another account's by now
		return a, f.refuse(Uninvited).of(it.Account, r.ID)
	case r.State == person.Active && f.connection == nil && len(r.Subjects) > 0:
		return a, f.refuse(Conflict).of(it.Account, r.ID)
	}
	return s.link(ctx, f, r, it)
}

// refuse returns a refusal by the account of the connection, if there is one.
func (f *candidate) refuse(reason Reason) *Refusal {
	r := &Refusal{Reason: reason}
	if f.connection != nil {
		r.Account, r.Actor = f.account, auth.Actor{Kind: auth.Directory, ID: f.connection.ID}
	}
	return r
}

// of sets the person who is refused.
func (r *Refusal) of(account tenant.Account, personID string) *Refusal {
	r.Account, r.Actor = account, auth.Actor{Kind: auth.Person, ID: personID}
	return r
}

func elsewhere(connectionID string) *Refusal {
	c := connection.Connection{}
	c.ID = connectionID
	return &Refusal{Reason: Elsewhere, Provider: c.Provider()}
}

// confined returns the connection that a person has to sign in with instead, or an empty id.
func (s *Service) confined(f *candidate, r *person.Record) string {
	to := connection.EnforcedBy(f.domain)
	if to == "" || r.BreakGlass || f.connection != nil && f.connection.ID == to {
		return ""
	}
	return to
}

// find reads all that an admission is based on.
func (s *Service) find(ctx context.Context, who signin.Identity) (*candidate, error) {
	f := &candidate{Identity: who, hash: auth.Subject(who.Pool, who.Subject)}
	keys := []store.Key{credential.SecretKey(f.hash)}
	if email, err := person.Address(who.Email, ""); err == nil {
		f.email = email
		keys = append(keys, store.IDKey(person.Emails(email)), connection.DomainKey(person.Domain(email)))
	}
	if who.Connection != "" {
		keys = append(keys, store.IDKey(connection.IDOf(who.Connection)))
	}
	items, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	f.subject = items[0]
	if f.email != "" {
		f.byEmail, f.domain = items[1], items[2]
	}
	if who.Connection != "" {
		it := items[len(items)-1]
		if it.Kind != connection.ItemKind {
			return nil, &Refusal{Reason: Unverified}
		}
		f.connection, f.account = &connection.Connection{}, it.Account
		if err := it.Decode(f.connection); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// known admits a person who has signed in before. The groups may give another role.
func (s *Service) known(ctx context.Context, f *candidate, c *credential.Credential) (a Person, err error) {
	r, it, err := s.people.Find(ctx, c.Account, c.KeyID)
	if err != nil {
		return a, err
	}
	// The issuer may have another address of the person by now. The one of the account counts.
	if domain := person.Domain(r.Email); person.Domain(f.email) != domain {
		f.domain, err = s.db.Get(ctx, connection.DomainKey(domain))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return a, err
		}
	}
	if to := s.confined(f, &r); to != "" {
		return a, elsewhere(to).of(c.Account, r.ID)
	}
	if f.connection != nil && !f.connection.Speaks(person.Domain(r.Email)) {
		return a, f.refuse(Unverified).of(c.Account, r.ID)
	}
	if f.connection != nil && !f.connection.Admits(&r) {
		return a, f.refuse(Unconfirmed).of(c.Account, r.ID)
	}
	tx := &store.Tx{}
	if s.follow(tx, f, &r, c.Account); tx.Len() > 0 {
		if err := s.people.Save(tx, &r, it); err != nil {
			return a, err
		}
		if err := s.db.Commit(ctx, tx); err != nil {
			return a, err
		}
	}
	return Person{r.Person, c.Account}, nil
}

// follow gives a person the role of the groups. Without a role for a group the role stays.
func (s *Service) follow(tx *store.Tx, f *candidate, r *person.Record, account tenant.Account) {
	if f.connection == nil || r.BreakGlass {
		return
	}
	// A directory that calls SCIM keeps the groups itself.
	groups := slices.Concat(f.Groups, r.Groups)
	if role, decided := f.connection.RoleOf(groups); decided {
		s.people.Follow(tx, r, account, role)
	}
}

// join makes a person who comes by a connection, with an address that belongs to nobody, or to an invited person of
// another account.
func (s *Service) join(ctx context.Context, f *candidate, h person.Holder) (a Person, err error) {
	if f.connection == nil {
		if to := connection.EnforcedBy(f.domain); to != "" {
			return a, elsewhere(to)
		}
		return a, &Refusal{Reason: Uninvited}
	}
	// The account may have invited the person, too.
	if r, it, err := s.people.Elsewhere(ctx, f.account, f.email); err != nil {
		return a, err
	} else if it.Kind != "" {
		return s.link(ctx, f, r, it)
	}
	role, _ := f.connection.RoleOf(f.Groups)
	tx := &store.Tx{}
	r, err := s.people.Join(ctx, tx, person.New{Account: f.account, Email: f.email, Name: person.CleanName(f.Name),
		Role: role, Connection: f.connection.ID, Holder: h}, s.subject(f), f.subject)
	return s.commit(ctx, tx, r, f.account, err)
}

// link adds the subject to a person, who accepts the invitation by it.
func (s *Service) link(ctx context.Context, f *candidate, r person.Record, it store.Item) (a Person, err error) {
	tx := &store.Tx{}
	if r.Unclaimed {
		if err := s.people.Claim(ctx, tx, &r, it.Account); err != nil {
			return a, err
		}
	}
	vouched, err := s.vouched(ctx, tx, &r, it.Account)
	switch {
	case err != nil:
		return a, err
	case r.State == person.Active:
		s.follow(tx, f, &r, it.Account)
	case !vouched && f.connection == nil:
		return a, f.refuse(Uninvited).of(it.Account, r.ID)
	case !vouched: // who comes by the connection needs no invitation
		r.Role, _ = f.connection.RoleOf(slices.Concat(f.Groups, r.Groups))
	case f.connection != nil:
		if role, decided := f.connection.RoleOf(slices.Concat(f.Groups, r.Groups)); decided && r.Role != auth.Owner {
			r.Role = role // nothing has a copy of it yet
		}
	}
	if f.connection != nil {
		r.Connection = &f.connection.ID
	}
	if r.Name == "" {
		r.Name = person.CleanName(f.Name)
	}
	err = s.people.Link(ctx, tx, &r, it, s.subject(f), f.subject)
	return s.commit(ctx, tx, r, it.Account, err)
}

// vouched reports whether who has invited a person may do so now. The transaction fails if that changes before the
// commit.
func (s *Service) vouched(ctx context.Context, tx *store.Tx, r *person.Record, account tenant.Account) (bool, error) {
	if r.State != person.Invited || r.InvitedBy == nil || !id.Valid(id.Person, *r.InvitedBy) {
		return true, nil // by the operator or a directory
	}
	by, it, err := s.people.Find(ctx, account, *r.InvitedBy)
	if errs.CodeOf(err) == errs.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	tx.Unchanged(it)
	return by.State == person.Active && by.Role.Manages() && (by.Role == auth.Owner || r.Role != auth.Owner), nil
}

func (s *Service) subject(f *candidate) person.Subject {
	subject := person.Subject{Hash: f.hash}
	if f.connection != nil {
		subject.Connection = f.connection.ID
	}
	return subject
}

func (s *Service) commit(ctx context.Context, tx *store.Tx, r person.Record, account tenant.Account,
	err error) (Person, error) {
	if err == nil {
		err = s.db.Commit(ctx, tx)
	}
	if errs.CodeOf(err) == errs.Duplicate {
		err = fmt.Errorf("%w: %w", store.ErrConflict, err) // somebody has been made with the address in between
	}
	return Person{r.Person, account}, err
}
