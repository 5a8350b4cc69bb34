package person

import (
	"context"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

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
