package apikey

import (
	"context"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// operator is who makes a key that no key has made.
const operator = "operator"

// Issue makes a key on behalf of the operator, and commits it.
func (s *Service) Issue(ctx context.Context, accountID tenant.Account, kind tenant.Mode, set Settings) (NewKey, error) {
	if err := s.validate(&set, nil); err != nil {
		return NewKey{}, err
	}
	h, err := s.hold(ctx, accountID, kind, "", nil)
	if err != nil {
		return NewKey{}, err
	}
	tx := &store.Tx{}
	k, err := s.create(tx, h, kind, set, operator)
	if err != nil {
		return NewKey{}, err
	}
	return k, s.db.Commit(ctx, tx)
}

// End revokes a key on behalf of the operator, and commits it.
func (s *Service) End(ctx context.Context, accountID tenant.Account, keyID string) (Key, error) {
	r, it, err := s.Find(ctx, accountID, tenant.Live, keyID)
	if err != nil {
		return Key{}, err
	}
	tx, k := &store.Tx{}, &ending{r, it}
	if err := s.revoke(tx, k); err != nil {
		return Key{}, err
	}
	return k.Key, s.db.Commit(ctx, tx)
}

// FindSecret returns the account and the key that a secret belongs to. It returns
// store.ErrNotFound if it belongs to none.
func (s *Service) FindSecret(ctx context.Context, secret string) (tenant.Account, Key, error) {
	c, err := credential.Find(ctx, s.db, auth.HashKey(secret))
	if err != nil {
		return "", Key{}, err
	}
	r, _, err := s.Find(ctx, c.Account, tenant.Live, c.KeyID)
	return c.Account, r.Key, err
}

// All returns every key of an account, oldest first.
func (s *Service) All(ctx context.Context, accountID tenant.Account, each func(Key) error) error {
	q := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100, OldestFirst: true}
	return s.db.Each(ctx, q, func(it store.Item) error {
		r, err := keyrecord.Read(&it, s.now())
		if err != nil {
			return err
		}
		return each(r.Key)
	})
}
