package person

import (
	"context"
	"errors"
	"slices"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

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
