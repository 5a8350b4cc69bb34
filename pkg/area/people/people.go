// Package people has the operations by which owners and admins manage the people of their account. Service.Register in
// people.go has the operations; SCIM in scim.go serves the directories of customers.
package people

import (
	"context"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Person is a person as callers see it.
type Person = person.Person

// Invited is a person with the link of a new invitation.
type Invited struct {
	Person
	// Link by which the person accepts the invitation, once and within 7 days. Send it to the person, unless
	// invitation_mailed is true. It is not shown again. Null in a repeat later than 10 minutes.
	InvitationURL string `json:"invitation_url" nullable:"true"`
	// true: the service sends the invitation by e-mail. false: it sends no e-mails, or the person wants none.
	InvitationMailed bool `json:"invitation_mailed"`
	// Time at which the link was made and shown. Only in a repeat that leaves it out.
	InvitationShownAt *resource.Time `json:"invitation_shown_at,omitempty"`
}

// Concealed returns the person without the link.
func (i Invited) Concealed(made resource.Time) any {
	i.InvitationShownAt = &made
	return struct {
		Invited
		InvitationURL *string `json:"invitation_url"`
	}{Invited: i}
}

// Grants returns the scopes that the link gives: none, because its holder must also own the address.
func (i Invited) Grants() []auth.Scope { return nil }

// Service has the operations.
type Service struct {
	db     *store.DB
	people *person.Service
	now    func() time.Time
	// mails reports that invitations are sent by e-mail.
	mails bool
}

// NewService makes the service. Tokens of invitations are drawn from random.
func NewService(db *store.DB, now func() time.Time, random io.Reader) *Service {
	return &Service{db: db, people: person.NewService(db, now, random), now: now}
}

// Mailing sets whether invitations are sent by e-mail.
func (s *Service) Mailing(mails bool) *Service {
	s.mails = mails
	return s
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, e.Now, e.Random).Mailing(e.Mails).Register(r)
}

type inviteBody struct {
	// E-mail address of the person.
	Email string `json:"email" minLength:"3" maxLength:"254" example:"ada@example.com"`
	// Name of the person. Absent: the name that the person signs in with.
	Name string `json:"name,omitempty" format:"line" maxLength:"100" example:"Ada Lovelace"`
	// Role of the person. Only an owner can make an owner.
	Role auth.Role `json:"role" enum:"owner,admin,developer,auditor" example:"developer"`
	// Up to 20 key-value pairs of your own.
	Metadata resource.Metadata `json:"metadata,omitempty"`
}

// Rules refuses bodies that the schema cannot rule out.
func (b inviteBody) Rules() error {
	_, err := person.Address(b.Email, "/email")
	return err
}

type patchBody struct {
	// Role of the person. Only an owner can make an owner, or change one.
	Role auth.Role `json:"role,omitempty" enum:"owner,admin,developer,auditor" example:"auditor"`
	// Pairs to set. A null value removes that pair; null removes all.
	Metadata resource.MetadataPatch `json:"metadata,omitempty" nullable:"true"`
}

type inviteInput struct{ Body inviteBody }

type patchInput struct {
	httpapi.IfMatch
	Body patchBody
}

type listInput struct {
	httpapi.PageInput
	// Only people in these states, separated by commas.
	State []person.State `query:"state" enum:"invited,active,removed" nullable:"false"`
	// Only people with these roles, separated by commas.
	Role []auth.Role `query:"role" enum:"owner,admin,developer,auditor" nullable:"false"`
}

// people are declared for their operations: the caller's role, which may change, is read with each of them.
var people = kind.Kind[person.Record]{Name: person.Kind, ID: id.Person, Path: "/v1/people/{person_id}",
	Function: "apikey", Tag: "People", Reads: auth.PersonScope, Writes: auth.PersonScope}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	op := func(method, at string, op httpapi.Op) httpapi.Op {
		op.Errors = append(op.Errors, errs.PersonRequired)
		op.Description += " For people with the role owner or admin who have signed in, not for API keys: " +
			"`person_required`."
		return people.Op(op, method, at)
	}
	list := path.Dir(people.Path)
	httpapi.List(r, op(http.MethodGet, list, httpapi.Op{ID: "listPeople", Summary: "List the people",
		Description: "Everybody who has access to the account, those who are invited, and those who were removed in " +
			"the last 90 days. The role auditor may list them too."}), s.list)
	httpapi.Write(r, op(http.MethodPost, list, httpapi.Op{ID: "invitePerson", Summary: "Invite a person",
		Description: "Only this response has the link of the invitation, which works once and for 7 days. Who opens " +
			"it must sign in with the invited e-mail address. Inviting an invited person again replaces the " +
			"invitation, the name and the role.",
		Opens: httpapi.Right, Errors: []errs.Code{errs.Duplicate, errs.InvalidState}}), s.invite)
	httpapi.Write(r, op(http.MethodPatch, people.Path, httpapi.Op{ID: "updatePerson",
		Summary: "Change the role of a person",
		Description: "Takes a JSON merge patch (RFC 7396). The role takes effect on the person's next request. The " +
			"last owner stays an owner.",
		Opens: httpapi.Right, Errors: []errs.Code{errs.InvalidState},
		FixedMembers: map[string]string{"email": "invite the other address",
			"name":  "it comes from the person's sign-in",
			"state": "DELETE /v1/people/{person_id} removes the person"}}), s.update)
	httpapi.Write(r, op(http.MethodDelete, people.Path, httpapi.Op{ID: "removePerson", Summary: "Remove a person",
		Description: "Ends the access of the person on the next request, and an open invitation. The last owner " +
			"stays. API keys that the person has created go on working, but manage no keys any more: revoke those " +
			"that are not needed.", Errors: []errs.Code{errs.InvalidState}}), s.remove)
}

func (s *Service) list(ctx context.Context, in *listInput) (httpapi.Page[Person], error) {
	p := auth.FromContext(ctx)
	if p.Role != auth.Auditor {
		if err := mayManage(p.Role); err != nil {
			return httpapi.Page[Person]{}, err
		}
	}
	q := person.Query(p.Account)
	q.Filters["state"], q.Filters["role"] = httpapi.AnyOf(in.State), httpapi.AnyOf(in.Role)
	return httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (Person, error) {
		r, err := person.Read(&it, s.now())
		return r.Person, err
	})
}

func mayManage(r auth.Role) error {
	if r.Manages() {
		return nil
	}
	return errs.New(errs.InsufficientScope, "Your role, %s, does not permit managing people. Ask an owner or an "+
		"admin of the account.", r)
}

var errOwners = errs.New(errs.InsufficientScope, "Only an owner may make, change or remove an owner.")

// caller reads the calling person, whose role counts now: it may have changed since the call was authorized. The
// transaction fails if it changes before the commit, unless it is the person that is changed. It reads other items in
// the same round trip.
func (s *Service) caller(ctx context.Context, tx *store.Tx, changed string, others ...store.Key) (auth.Role,
	[]store.Item, error) {
	p := auth.FromContext(ctx)
	items, err := s.db.GetAll(ctx, append([]store.Key{credential.KeyOf(p.Account, p.Actor.ID)}, others...)...)
	if err != nil {
		return "", nil, err
	}
	it := items[0]
	if it.Kind != person.Kind {
		return "", nil, errs.New(errs.InvalidAPIKey, "%s", auth.MessageEnded)
	}
	r, err := person.Read(&it, s.now())
	switch {
	case err != nil:
		return "", nil, err
	case r.State != person.Active:
		return "", nil, errs.New(errs.InvalidAPIKey, "%s", auth.MessageEnded)
	case changed != r.ID:
		tx.Unchanged(it)
	}
	return r.Role, items, mayManage(r.Role)
}

func (s *Service) invite(ctx context.Context, tx *store.Tx, in *inviteInput) (out Invited, err error) {
	p, b := auth.FromContext(ctx), in.Body
	email, err := person.Address(b.Email, "/email")
	if err != nil {
		return out, err
	}
	by, items, err := s.caller(ctx, tx, "", store.IDKey(person.Emails(email)),
		connection.DomainKey(person.Domain(email)))
	if err != nil {
		return out, err
	}
	if domain := items[2]; domain.Kind != "" && domain.Account != p.Account {
		return out, errs.Invalid("/email", "the domain %s is verified by the sign-on of another account, which alone "+
			"invites its people", person.Domain(email))
	}
	if b.Role == auth.Owner && by != auth.Owner {
		return out, errOwners
	}
	n := person.New{Account: p.Account, Email: email, Name: person.CleanName(b.Name), Role: b.Role, By: p.Actor.ID,
		Metadata: b.Metadata}
	r, token, err := s.invited(ctx, tx, n, items[1], by)
	mailed := s.mails && r.Wants(person.NoticeInvitation)
	if err == nil && mailed {
		err = s.mail(tx, p.Account, &r, items[0])
	}
	return Invited{Person: r.Person, InvitationURL: URL(httpapi.PublicURL(ctx), token), InvitationMailed: mailed}, err
}

// mail adds the e-mail of an invitation. The item is that of the inviting person.
func (s *Service) mail(tx *store.Tx, account tenant.Account, r *person.Record, it store.Item) error {
	by, err := person.Read(&it, s.now())
	if err != nil {
		return err
	}
	return s.people.MailInvitation(tx, account, r, &by)
}

// invited makes an invitation, again for a person who has not accepted the earlier one. At is the item of the address.
func (s *Service) invited(ctx context.Context, tx *store.Tx, n person.New, at store.Item, by auth.Role) (person.Record,
	string, error) {
	var r person.Record
	var it store.Item
	var err error
	if at.Kind != "" && at.Account == n.Account {
		r, it, err = s.people.Of(ctx, at)
	} else if n.Holder, err = s.people.HolderOf(ctx, at); err == nil {
		// The answer must not show whether a person of another account has the address.
		r, it, err = s.people.Elsewhere(ctx, n.Account, n.Email)
	}
	switch {
	case err == nil && it.Kind == "":
		return s.people.Invite(tx, n)
	case err != nil:
		return r, "", err
	case r.State != person.Invited:
		return r, "", person.ErrDuplicate
	case r.Role == auth.Owner && by != auth.Owner:
		return r, "", errOwners
	}
	return s.people.Reinvite(tx, r, it, n)
}

// URL returns the link of an invitation. Its token is in the fragment, which browsers do not send: no log has it.
func URL(base, token string) string {
	return strings.TrimSuffix(base, "/") + "/auth/invitations#" + token
}

// hold reads the person of a path whom the caller may change.
func (s *Service) hold(ctx context.Context, tx *store.Tx, match httpapi.IfMatch) (r person.Record, it store.Item,
	by auth.Role, err error) {
	p, personID := auth.FromContext(ctx), httpapi.PathID(ctx)
	var keys []store.Key
	if id.Valid(id.Person, personID) && personID != p.Actor.ID {
		keys = append(keys, credential.KeyOf(p.Account, personID))
	}
	by, items, err := s.caller(ctx, tx, personID, keys...)
	if err != nil {
		return r, it, by, err
	}
	if it = items[len(items)-1]; it.SK != personID {
		return r, it, by, errs.Missing(person.Kind, personID)
	}
	if r, err = person.Read(&it, s.now()); err != nil {
		return r, it, by, err
	}
	if r.Role == auth.Owner && by != auth.Owner {
		return r, it, by, errOwners
	}
	return r, it, by, match.Check(r.Version)
}

func (s *Service) update(ctx context.Context, tx *store.Tx, in *patchInput) (out Person, err error) {
	r, it, by, err := s.hold(ctx, tx, in.IfMatch)
	if err != nil {
		return out, err
	}
	set, err := httpapi.MergeRecord(ctx, r)
	switch {
	case err != nil:
		return out, err
	case r.State == person.Removed:
		return out, errs.New(errs.InvalidState, "The person is removed and cannot be changed. Invite the person "+
			"again.").In(string(r.State))
	case set.Role == auth.Owner && by != auth.Owner:
		return out, errOwners
	case !set.Role.Known():
		return out, errs.Invalid("/role", "%s", text.NotOneOf(string(set.Role), []string{"owner", "admin", "developer",
			"auditor"}))
	}
	s.people.SetRole(tx, &r, it.Account, set.Role)
	r.Metadata = set.Metadata.OrEmpty()
	err = s.people.Save(tx, &r, it)
	return r.Person, err
}

func (s *Service) remove(ctx context.Context, tx *store.Tx, in *httpapi.IfMatch) (out Person, err error) {
	r, it, _, err := s.hold(ctx, tx, *in)
	if err != nil {
		return out, err
	}
	err = s.people.Remove(tx, &r, it)
	return r.Person, err
}
