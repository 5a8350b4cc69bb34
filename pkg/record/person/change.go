package person

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// InvitationLifetime is the time for which an invitation can be accepted.
const InvitationLifetime = 7 * 24 * time.Hour

// MaxName bounds the characters of a name.
const MaxName = 100

// CleanName returns a name that the issuer or a directory has given: without control characters, and not too long.
func CleanName(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, name))
	if runes := []rune(name); len(runes) > MaxName {
		name = strings.TrimSpace(string(runes[:MaxName]))
	}
	return name
}

// New is a person to be made.
type New struct {
	Account tenant.Account
	Email   string // as Address returns it
	Name    string
	Role    auth.Role
	// By is the id of who invites, empty for a person who comes by a connection.
	By string
	// Connection is the id of the connection that the person must sign in with, or empty.
	Connection string
	ExternalID string
	Metadata   resource.Metadata
	// Holder has the address at present. The zero value is nobody.
	Holder Holder
}

// create adds a person to the transaction, whose record and item it returns. The caller fills in the rest and calls
// tx.Create with the item.
func (s *Service) create(tx *store.Tx, n New, state State) (Record, store.Item, error) {
	now := s.now()
	r := Record{Person: Person{Resource: resource.New(id.New(id.Person, now), now, n.Metadata), Email: n.Email,
		Name: n.Name, Role: n.Role, State: state}, ExternalID: n.ExternalID}
	if n.By != "" {
		r.InvitedBy = &n.By
	}
	if n.Connection != "" {
		r.Connection = &n.Connection
	}
	owner := tenant.Of(n.Account, "")
	it, err := store.NewItem(Kind, owner, r.ID, r)
	if err != nil {
		return r, it, err
	}
	it.Key, it.Listed = credential.KeyOf(n.Account, r.ID), store.Key{}
	s.count(tx, n.Account)
	return r, it, s.take(tx, n.Holder, &r, n.Account)
}

// ErrDuplicate refuses a second person with an address.
var ErrDuplicate = &errs.Error{Code: errs.Duplicate, Param: "/email", Message: "/email: a person with this address " +
	"exists already. Change the role of that person, or use another address."}

// Invite makes an invited person and returns the token of the invitation, which is stored as a hash only.
func (s *Service) Invite(tx *store.Tx, n New) (r Record, token string, err error) {
	r, it, err := s.create(tx, n, Invited)
	if err != nil {
		return r, "", err
	}
	if token, err = s.issue(tx, &r, n.Account); err != nil {
		return r, "", err
	}
	if err := r.put(&it); err != nil {
		return r, "", err
	}
	tx.Create(it, nil)
	return r, token, nil
}

// Reinvite replaces the invitation of an invited person by a new one.
func (s *Service) Reinvite(tx *store.Tx, r Record, it store.Item, n New) (Record, string, error) {
	s.withdraw(tx, &r)
	if r.Unclaimed {
		if err := s.take(tx, n.Holder, &r, n.Account); err != nil {
			return r, "", err
		}
	}
	r.Role, r.Name, r.InvitedBy = n.Role, n.Name, &n.By
	r.Touch(s.now())
	token, err := s.issue(tx, &r, it.Account)
	if err != nil {
		return r, "", err
	}
	if err := r.put(&it); err != nil {
		return r, "", err
	}
	tx.Replace(it)
	return r, token, nil
}

// issue makes the token of an invitation.
func (s *Service) issue(tx *store.Tx, r *Record, account tenant.Account) (string, error) {
	token, hash, err := web.NewBearer(s.random)
	if err != nil {
		return "", err
	}
	end := resource.Instant(s.now().Add(InvitationLifetime))
	r.Invitation, r.InvitationExpiresAt = hash, &end
	tx.Create(store.Item{Key: store.IDKey(Invitations(hash)), Kind: "invitation", Owner: tenant.Of(account, ""),
		Attributes: map[string]string{personAttribute: r.ID}, ExpireAt: end.Time}, nil)
	return token, nil
}

// withdraw ends the open invitation, if there is one.
func (s *Service) withdraw(tx *store.Tx, r *Record) {
	if r.Invitation == "" {
		return
	}
	tx.Expire(store.IDKey(Invitations(r.Invitation)), s.now())
	r.Invitation, r.InvitationExpiresAt = "", nil
}

var errLastOwner = errs.New(errs.InvalidState, "This is the last owner of the account. Make another person an owner "+
	"first, who has to have signed in.").In(string(Active))

// owners counts an active owner who comes or goes. The last one stays.
func owners(tx *store.Tx, account tenant.Account, before, after bool) {
	at := store.IDKey(Owners(account))
	switch {
	case after && !before:
		tx.Count(at, 1, math.MaxInt64, store.ErrConflict)
	case before && !after:
		tx.CountDown(at, 1, errLastOwner)
	}
}

func (r *Record) owns() bool { return r.State == Active && r.Role == auth.Owner }

// SetRole changes the role of a person who is not removed.
func (s *Service) SetRole(tx *store.Tx, r *Record, account tenant.Account, role auth.Role) {
	if r.Role == role {
		return
	}
	before := r.owns()
	if r.Role = role; role != auth.Owner {
		r.BreakGlass = false
	}
	owners(tx, account, before, r.owns())
	for _, subject := range r.Subjects {
		credential.ChangeRole(tx, subject.Hash, role)
	}
}

// Follow gives a person the role that the groups of the customer's directory decide. Directories make no owner less, so
// that a mistake in one locks nobody out.
func (s *Service) Follow(tx *store.Tx, r *Record, account tenant.Account, role auth.Role) {
	if r.Role != auth.Owner {
		s.SetRole(tx, r, account, role)
	}
}

// Save adds the changed record to the transaction. A person who has lost a role loses what acts on their behalf.
func (s *Service) Save(tx *store.Tx, r *Record, it store.Item) error {
	var before Record
	if err := it.Decode(&before); err != nil {
		return err
	}
	if before.State == Active && (r.State != before.State || r.Role != before.Role) {
		err := StartRecheck(tx, s.now(), it.Account, r.ID, it.Version, tenant.Live, tenant.Test)
		if err != nil {
			return err
		}
	}
	r.Touch(s.now())
	if err := r.put(&it); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// Expect lets a removed person come back by a connection, who is active after the next sign-in.
func (s *Service) Expect(ctx context.Context, tx *store.Tx, r *Record, it store.Item, connection string) error {
	s.count(tx, it.Account)
	if err := s.Claim(ctx, tx, r, it.Account); err != nil {
		return err
	}
	r.InvitedBy = nil
	r.State, r.Connection = Invited, &connection
	it.ExpireAt = time.Time{}
	return s.Save(tx, r, it)
}

func (s *Service) count(tx *store.Tx, account tenant.Account) {
	tx.Count(store.IDKey(Counts(account)), 1, Most, errs.New(errs.InvalidState, "The account has %d people, which is "+
		"the maximum. Remove one first.", Most))
}

// Provision adds a person who is expected to come by a connection.
func (s *Service) Provision(tx *store.Tx, n New) (Record, error) {
	r, it, err := s.create(tx, n, Invited)
	if err == nil {
		err = r.put(&it)
	}
	tx.Create(it, nil)
	return r, err
}

// Remove takes all access from a person at once. Removing a removed person has no effect.
func (s *Service) Remove(tx *store.Tx, r *Record, it store.Item) error {
	if r.State == Removed {
		return nil
	}
	before := r.owns()
	r.State, r.BreakGlass = Removed, false
	owners(tx, it.Account, before, false)
	s.Disconnect(tx, r, func(Subject) bool { return true })
	s.withdraw(tx, r)
	if !r.Unclaimed {
		tx.Expire(store.IDKey(Emails(r.Email)), s.now())
	}
	tx.Count(store.IDKey(Counts(it.Account)), -1, Most, store.ErrConflict)
	it.ExpireAt = s.now().Add(keepRemoved)
	return s.Save(tx, r, it)
}

// Disconnect ends the credentials of a person's subjects for which which returns true.
func (s *Service) Disconnect(tx *store.Tx, r *Record, which func(Subject) bool) {
	r.Subjects = slices.DeleteFunc(r.Subjects, func(subject Subject) bool {
		if which(subject) {
			credential.Revoke(tx, subject.Hash, s.now())
			return true
		}
		return false
	})
}
