// Package person holds the people of an account: who they are, how they get in by an invitation or by the account's
// sign-on, and how they leave. Start with Service and Record.
package person

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/web"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// State is the state of a person.
type State string

// The states.
const (
	Invited State = "invited"
	Active  State = "active"
	Removed State = "removed"
)

// Most bounds the people of an account that are not removed.
const Most = 1000

// Person is a person of an account as callers see it.
type Person struct {
	resource.Resource
	// E-mail address, in lower case.
	Email string `json:"email" example:"ada@example.com"`
	// Name. Empty until the person has signed in, if the invitation has none.
	Name string `json:"name" example:"Ada Lovelace"`
	// owner: everything. admin: everything except changing owners. developer: everything except people and sign-on, and
	// of the API keys only their own. auditor: reads everything and changes nothing.
	Role auth.Role `json:"role" enum:"owner,admin,developer,auditor"`
	// invited: has not signed in yet. active: has signed in. removed: has no access. A removed person is listed for 90
	// days.
	State State `json:"state" enum:"invited,active,removed"`
	// Id of the sign-on connection that the person signs in with. Null: signs in without one.
	Connection *string `json:"connection"`
	// true: an owner who may sign in without the connection even if sign-on is enforced.
	BreakGlass bool `json:"break_glass"`
	// Id of the person who sent the invitation, or operator. Null: came by the sign-on connection.
	InvitedBy *string `json:"invited_by"`
	// Time at which the open invitation ends. Null: there is none.
	//
	// InvitationExpiresAt is nil unless the person is invited by a link.
	InvitationExpiresAt *resource.Time `json:"invitation_expires_at"`
	// Time of the last request, to the minute. Null: none yet.
	LastSeenAt *resource.Time `json:"last_seen_at"`
}

// Subject is a name by which the issuer knows a person.
type Subject struct {
	Hash string `json:"hash"`
	// Connection is empty for a person of the pool itself.
	Connection string `json:"connection,omitempty"`
}

// Record is the stored document of a person.
type Record struct {
	Person
	Subjects []Subject `json:"subjects,omitempty"`
	// Unclaimed reports that a person of another account has the e-mail address.
	Unclaimed bool `json:"unclaimed,omitempty"`
	// Invitation is the hash of the token of the open invitation.
	Invitation string `json:"invitation,omitempty"`
	// ExternalID is the customer's directory's id of the person.
	ExternalID string `json:"external_id,omitempty"`
	// Deleted reports that the customer's directory has deleted the person, whom it does not see any more.
	Deleted bool `json:"deleted,omitempty"`
	// Groups are the person's groups in the customer's directory.
	Groups []string `json:"groups,omitempty"`
	// Choices are what the person has chosen about e-mails.
	Choices Choices `json:"choices,omitzero"`
}

// Kind is the kind of a person's item.
const Kind = "person"

// keepRemoved is the time for which a removed person is listed.
const keepRemoved = credential.Keep

// Service makes and changes people.
type Service struct {
	db     *store.DB
	now    func() time.Time
	random io.Reader
}

// NewService makes the service. Tokens of invitations are drawn from random.
func NewService(db *store.DB, now func() time.Time, random io.Reader) *Service {
	return &Service{db, now, random}
}

// Emails, Invitations, Owners and Counts are partitions of single items: of the person with an e-mail address, of an
// invitation by the hash of its token, and of the numbers of active owners and of people of an account.
func Emails(email string) string { return "email#" + email }

// Invitations is described at Emails.
func Invitations(hash string) string { return "invitation#" + hash }

// Owners is described at Emails.
func Owners(account tenant.Account) string { return "owners#" + string(account) }

// Counts is described at Emails.
func Counts(account tenant.Account) string { return "peoplecount#" + string(account) }

// personAttribute is the attribute of the items of addresses and invitations that has the id of the person.
const personAttribute = "person"

// domain is a name of the DNS with two labels at least. An address in brackets is none.
var domain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
})

// Address returns an e-mail address in the form in which it is stored and compared, or an error that names the field.
func Address(s, param string) (string, error) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 || strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"'
	}) || !domain().MatchString(Domain(s)) || net.ParseIP(Domain(s)) != nil {
		return "", errs.Invalid(param, "is not an e-mail address; write it as ada@example.com")
	}
	return strings.ToLower(s), nil
}

// Domain returns the domain of an address in lower case.
func Domain(email string) string { return strings.ToLower(email[strings.LastIndexByte(email, '@')+1:]) }

// Read returns the record of an item. It adds the values that are not in the document.
func Read(it *store.Item, now time.Time) (r Record, err error) {
	if err := it.Decode(&r); err != nil {
		return r, err
	}
	if at, _ := credential.LastUsed(it); !at.IsZero() {
		r.LastSeenAt = resource.InstantOrNil(&at)
	}
	if end := r.InvitationExpiresAt; end != nil && !now.Before(end.Time) {
		r.InvitationExpiresAt = nil
	}
	return r, nil
}

// Find reads a person of an account. It returns not_found if there is none.
func (s *Service) Find(ctx context.Context, account tenant.Account, personID string) (r Record, it store.Item,
	err error) {
	if !id.Valid(id.Person, personID) {
		return r, it, errs.Missing(Kind, personID)
	}
	it, err = s.db.Get(ctx, credential.KeyOf(account, personID))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return r, it, errs.Missing(Kind, personID)
	case err != nil:
		return r, it, err
	}
	r, err = Read(&it, s.now())
	return r, it, err
}

// ByEmail reads the person with an address, whatever the account. It returns store.ErrNotFound if there is none.
func (s *Service) ByEmail(ctx context.Context, email string) (r Record, it store.Item, err error) {
	at, err := s.db.Get(ctx, store.IDKey(Emails(email)))
	if err != nil {
		return r, it, err
	}
	return s.Of(ctx, at)
}

// Of reads the person of the item of an address or of an invitation.
func (s *Service) Of(ctx context.Context, at store.Item) (r Record, it store.Item, err error) {
	if it, err = s.db.Get(ctx, credential.KeyOf(at.Account, at.Attributes[personAttribute])); err != nil {
		return r, it, err
	}
	r, err = Read(&it, s.now())
	return r, it, err
}

// Query lists the people of an account.
func Query(account tenant.Account) store.Query {
	return store.Query{Index: store.Table, Partition: credential.People(account), Filters: map[string]string{}}
}

// Each calls f with all people of an account, oldest first.
func (s *Service) Each(ctx context.Context, account tenant.Account, f func(Record, store.Item) error) error {
	q := Query(account)
	q.Limit, q.OldestFirst = 100, true
	return s.db.Each(ctx, q, func(it store.Item) error {
		r, err := Read(&it, s.now())
		if err != nil {
			return err
		}
		return f(r, it)
	})
}

// put writes the record into its item, without the values that are not stored.
func (r *Record) put(it *store.Item) error {
	stored := *r
	stored.LastSeenAt = nil
	if err := it.Encode(stored); err != nil {
		return err
	}
	it.Filters = map[string]string{"state": string(r.State), "role": string(r.Role), "email": r.Email}
	return nil
}

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
	it.Key, it.ListKey = credential.KeyOf(n.Account, r.ID), store.Key{}
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

// Follow gives a person the role that the groups of the customer's directory decide. Groups make no owner less, so that
// a mistake in one locks nobody out.
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

// Holder is the person that an e-mail address belongs to, or nobody. One person signs in with an address, even if
// several accounts have invited it.
type Holder struct {
	at     store.Item // of the address
	record Record
	item   store.Item
}

// HolderOf reads the holder of an address by its item.
func (s *Service) HolderOf(ctx context.Context, at store.Item) (h Holder, err error) {
	if at.Kind == "" {
		return h, nil
	}
	h.at = at
	h.record, h.item, err = s.Of(ctx, at)
	return h, err
}

// Taken reports whether the address belongs to a person who has signed in with it, or whom a directory expects.
func (h Holder) Taken() bool {
	return h.at.Kind != "" && (h.record.State != Invited || h.record.InvitedBy == nil)
}

// Elsewhere returns the person of an account who is invited with an address that another account's person has.
func (s *Service) Elsewhere(ctx context.Context, account tenant.Account, email string) (found Record, it store.Item,
	err error) {
	q := Query(account)
	q.Filters["email"], q.Filters["state"], q.Limit = email, string(Invited), 100
	err = s.db.Each(ctx, q, func(one store.Item) error {
		r, err := Read(&one, s.now())
		if err == nil && r.Unclaimed {
			found, it = r, one
		}
		return err
	})
	return found, it, err
}

// take gives an address to a person. A person who is only invited gives it up; one who has signed in with it keeps it,
// and the invitation comes to nothing unless it is made again after that.
func (s *Service) take(tx *store.Tx, h Holder, r *Record, account tenant.Account) error {
	it := store.Item{Key: store.IDKey(Emails(r.Email)), Kind: "email", Owner: tenant.Of(account, ""),
		Attributes: map[string]string{personAttribute: r.ID}}
	if r.Unclaimed = h.Taken(); r.Unclaimed {
		return nil
	}
	if h.at.Kind == "" {
		tx.CreateExpiring(it, s.now().Unix(), ErrDuplicate)
		return nil
	}
	it.Version = h.at.Version
	tx.Replace(it)
	h.record.Unclaimed = true
	return s.Save(tx, &h.record, h.item)
}

// Claim gives a person, who is invited or removed, the address again.
func (s *Service) Claim(ctx context.Context, tx *store.Tx, r *Record, account tenant.Account) error {
	at, err := s.db.Lookup(ctx, store.IDKey(Emails(r.Email)))
	if err != nil {
		return err
	}
	h, err := s.HolderOf(ctx, at)
	if err != nil {
		return err
	}
	if h.Taken() || at.Kind != "" && at.Account == account && h.record.ID != r.ID {
		return ErrDuplicate
	}
	return s.take(tx, h, r, account)
}

// maxSubjects bounds the subjects of a person.
const maxSubjects = 5

// Open reports whether the invitation of an invited person can be accepted.
func (r *Record) Open() bool { return r.State == Invited && r.InvitationExpiresAt != nil }

// account is the part of an account that a credential has a copy of.
type account struct {
	Plan       string `json:"plan"`
	RateLimits struct {
		Live int `json:"live"`
	} `json:"rate_limits"`
}

// Join adds an active person who comes by a connection. Ended is the item of the subject's earlier credential, or the
// zero Item.
func (s *Service) Join(ctx context.Context, tx *store.Tx, n New, subject Subject, ended store.Item) (Record, error) {
	r, it, err := s.create(tx, n, Active)
	if err != nil {
		return r, err
	}
	if err := s.connect(ctx, tx, &r, n.Account, subject, ended); err != nil {
		return r, err
	}
	owners(tx, n.Account, false, r.owns())
	if err := r.put(&it); err != nil {
		return r, err
	}
	tx.Create(it, nil)
	return r, nil
}

// Link adds a subject to a person, who is active then. It accepts the open invitation.
func (s *Service) Link(ctx context.Context, tx *store.Tx, r *Record, it store.Item, subject Subject,
	ended store.Item) error {
	if len(r.Subjects) >= maxSubjects {
		return errs.New(errs.InvalidState, "The person signs in by %d ways already, which is the maximum.", maxSubjects)
	}
	before := r.owns()
	r.State = Active
	owners(tx, it.Account, before, r.owns())
	s.withdraw(tx, r)
	if err := s.connect(ctx, tx, r, it.Account, subject, ended); err != nil {
		return err
	}
	return s.Save(tx, r, it)
}

// connect adds the credential of a subject. It has a copy of its account's settings, which must be the latest.
func (s *Service) connect(ctx context.Context, tx *store.Tx, r *Record, accountID tenant.Account, subject Subject,
	ended store.Item) error {
	owner, err := s.db.Get(ctx, store.IDKey(string(accountID)))
	if err != nil {
		return err
	}
	var a account
	if err := owner.Decode(&a); err != nil {
		return err
	}
	tx.Unchanged(owner)
	c := credential.Credential{Hash: subject.Hash, KeyID: r.ID, Owner: tenant.Of(accountID, tenant.Live), Plan: a.Plan,
		Role: string(r.Role), Scopes: credential.ScopesOf(r.Role), Limit: a.RateLimits.Live}
	if ended.Kind == "" {
		credential.Create(tx, c)
	} else {
		credential.Readmit(tx, ended, c)
	}
	r.Subjects = append(r.Subjects, subject)
	return nil
}

// ChangeAccount rewrites the copies of an account's settings in the credentials of its people. It is called after each
// change of the account, whose item must not change meanwhile: the later change rewrites them again.
func (s *Service) ChangeAccount(ctx context.Context, owner store.Item) error {
	var a account
	if err := owner.Decode(&a); err != nil {
		return err
	}
	const most = 80 // writes of a transaction
	tx := &store.Tx{}
	tx.Unchanged(owner)
	err := s.Each(ctx, owner.Account, func(r Record, _ store.Item) error {
		for _, subject := range r.Subjects {
			credential.ChangeAccount(tx, subject.Hash, a.Plan, nil, a.RateLimits.Live)
		}
		if tx.Len() < most {
			return nil
		}
		err := s.db.Commit(ctx, tx)
		tx = &store.Tx{}
		tx.Unchanged(owner)
		return err
	})
	if err != nil || tx.Len() == 1 {
		return err
	}
	return s.db.Commit(ctx, tx)
}

// Change changes a person of an account by edit, and again after a concurrent change.
func (s *Service) Change(ctx context.Context, account tenant.Account, personID string,
	edit func(tx *store.Tx, r *Record, it store.Item) error) (r Record, err error) {
	err = s.db.Change(ctx, func(tx *store.Tx) (err error) {
		var it store.Item
		if r, it, err = s.Find(ctx, account, personID); err != nil {
			return err
		}
		return edit(tx, &r, it)
	})
	if errors.Is(err, store.ErrConflict) {
		err = errs.Wrap(err, errs.ProviderUnavailable, "The person is being changed by others. Try again.")
	}
	return r, err
}

// Confine ends the access of people with an address of the domains who have signed in by another way than the
// connection. An owner who may sign in without it keeps the access.
func (s *Service) Confine(ctx context.Context, account tenant.Account, connection string, domains []string) error {
	return s.drop(ctx, account, func(r *Record, subject Subject) bool {
		return subject.Connection != connection && !r.BreakGlass && slices.Contains(domains, Domain(r.Email))
	}, "")
}

// Disown ends the access by a connection that is removed.
func (s *Service) Disown(ctx context.Context, account tenant.Account, connection string) error {
	return s.drop(ctx, account, func(_ *Record, subject Subject) bool { return subject.Connection == connection },
		connection)
}

// drop ends the subjects of people for which which returns true, and the tie to the connection gone.
func (s *Service) drop(ctx context.Context, account tenant.Account, which func(*Record, Subject) bool,
	gone string) error {
	var ids []string
	matches := func(r *Record) bool {
		return gone != "" && r.Connection != nil && *r.Connection == gone ||
			slices.ContainsFunc(r.Subjects, func(subject Subject) bool { return which(r, subject) })
	}
	err := s.Each(ctx, account, func(r Record, _ store.Item) error {
		if r.State != Removed && matches(&r) {
			ids = append(ids, r.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, personID := range ids {
		_, err := s.Change(ctx, account, personID, func(tx *store.Tx, r *Record, it store.Item) error {
			if r.State == Removed || !matches(r) {
				return nil
			}
			s.Disconnect(tx, r, func(subject Subject) bool { return which(r, subject) })
			if gone != "" && r.Connection != nil && *r.Connection == gone {
				r.Connection = nil
			}
			return s.Save(tx, r, it)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SetBreakGlass decides whether an active owner may sign in without the connection. An owner who has not signed in
// otherwise yet cannot.
func (s *Service) SetBreakGlass(ctx context.Context, account tenant.Account, personID string, on bool) (Record, error) {
	return s.Change(ctx, account, personID, func(tx *store.Tx, r *Record, it store.Item) error {
		native := slices.ContainsFunc(r.Subjects, func(subject Subject) bool { return subject.Connection == "" })
		if on && (!r.owns() || !native) {
			return errs.New(errs.InvalidState, "Only an owner who has signed in without the connection can be the one "+
				"who may sign in without it when sign-on is enforced.")
		}
		r.BreakGlass = on
		return s.Save(tx, r, it)
	})
}

// RecheckKind is the kind of the task that looks for what acts on behalf of a principal.
const RecheckKind task.Kind = "authority.recheck"

// StartRecheck adds the tasks to the transaction that takes rights from a key or person: one for each mode in which the
// principal may have made something. The version is that of the changed record, so that each change has its own tasks.
func StartRecheck(tx *store.Tx, now time.Time, account tenant.Account, actorID string, version int64,
	modes ...tenant.Mode) error {
	for _, mode := range modes {
		m := task.Message{ID: task.ID(RecheckKind, actorID+"#"+string(mode)+"#"+strconv.FormatInt(version, 10), 1),
			Kind:  RecheckKind,
			Queue: topology.Settle, Subject: actorID, Owner: tenant.Of(account, mode)}
		if err := task.Create(tx, now, task.Task{Message: m}, struct{}{}); err != nil {
			return err
		}
	}
	return nil
}

// Recheck looks at one item that acts on behalf of the principal, and ends it if its authority has ended. It returns
// store.ErrConflict if the item has changed in the meantime.
type Recheck func(ctx context.Context, it store.Item) error

// Rechecks returns the function of the tasks: it checks all items of the owner whose authority is the principal, by the
// check of their kind.
func Rechecks(db *store.DB, checks map[string]Recheck) task.Func {
	return func(ctx context.Context, r *task.Run) error {
		for kind, check := range checks {
			q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, kind), Limit: 100}
			err := db.Each(ctx, q, func(it store.Item) error {
				var doc struct {
					Authority struct{ Actor auth.Actor }
				}
				if err := it.Decode(&doc); err != nil || doc.Authority.Actor.ID != r.Subject {
					return err
				}
				return check(ctx, it)
			})
			if err != nil {
				return task.Again(fmt.Errorf("recheck: %s of %s: %w", kind, r.Subject, err))
			}
		}
		return nil
	}
}
