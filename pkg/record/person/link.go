package person

import (
	"context"

	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

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
