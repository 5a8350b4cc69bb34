package apikey

import (
	"context"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/person"
	"github.com/content-automation/api/pkg/store"

	keyrecord "github.com/content-automation/api/pkg/record/apikey"
)

// manager is the person for whom a call about keys is made. For example, a key that the person has made, directly or
// through other keys, acts for that person.
type manager struct {
	// root is the id of the person, or operator.
	root string
	// role is the role that the person has now. It is empty for a person who was removed.
	role auth.Role
	// person is the item of the person, if the call is made with a key.
	person *store.Item
}

// manager reads the person for whom a call is made.
func (s *Service) manager(ctx context.Context, p *auth.Principal) (m manager, err error) {
	caller := store.Item{}
	if p.KeyID() != "" {
		if caller, err = s.db.Lookup(ctx, credential.KeyOf(p.Account, p.KeyID())); err != nil {
			return m, err
		}
	}
	return s.managerBy(ctx, p, caller)
}

// managerBy is manager for the item of the calling key. The role of a person who calls was read with the call.
func (s *Service) managerBy(ctx context.Context, p *auth.Principal, caller store.Item) (m manager, err error) {
	if p.KeyID() == "" {
		return manager{root: p.Actor.ID, role: p.Role}, nil
	}
	if caller.Kind == "" {
		return manager{root: p.KeyID()}, nil // the key is gone, and sees nothing
	}
	r, err := keyrecord.Read(&caller, s.now())
	if err != nil {
		return m, err
	}
	if m.root, err = keyrecord.RootOf(ctx, s.db, p.Account, &r); err != nil || !id.Valid(id.Person, m.root) {
		m.role = auth.Owner // the operator's keys manage all
		return m, err
	}
	found, err := s.db.Lookup(ctx, credential.KeyOf(p.Account, m.root))
	if err != nil || found.Kind != person.Kind {
		return m, err
	}
	m.person = &found
	of, err := person.Read(m.person, s.now())
	if of.State == person.Active {
		m.role = of.Role
	}
	return m, err
}

// all reports whether the manager sees all keys. Others see those that they have made, directly or through other keys.
func (m manager) all(p *auth.Principal) bool {
	return m.role.Manages() || m.role == auth.Auditor && p.Actor.Kind == auth.Person
}

// own refuses a key that the manager does not see, as if there were none.
func (s *Service) own(ctx context.Context, p *auth.Principal, m manager, r *keyrecord.Record) error {
	if m.all(p) {
		return nil
	}
	root, err := keyrecord.RootOf(ctx, s.db, p.Account, r)
	if err == nil && root != m.root {
		err = errs.Missing("API key", r.ID)
	}
	return err
}

// mayManage refuses changes with a key whose maker may not change keys any more.
func (m manager) mayManage() error {
	if m.role == "" || m.role == auth.Auditor {
		return errs.New(errs.InsufficientScope, "The person who made this key, directly or through other keys, may "+
			"not manage API keys any more. Use another key, or ask an owner of the account.")
	}
	return nil
}

// bind makes the transaction fail if the person of a key has changed since.
func (m manager) bind(tx *store.Tx) {
	if m.person != nil {
		tx.Unchanged(*m.person)
	}
}
