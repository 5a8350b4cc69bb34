// Package person holds the people of an account: who they are, how they get in by an invitation or by the account's
// sign-on, and how they leave. Start with Service and Record.
package person

import (
	"context"
	"errors"
	"io"
	"net"
	"net/mail"
	"regexp"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
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
var domain = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// Address returns an e-mail address in the form in which it is stored and compared, or an error that names the field.
func Address(s, param string) (string, error) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Address != s || len(s) > 254 || strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r > '~' || r == '"'
	}) || !domain.MatchString(Domain(s)) || net.ParseIP(Domain(s)) != nil {
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
