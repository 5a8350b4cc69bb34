package apikey

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/store"
)

// lineage has the keys that have made a key, directly or through others, whose limits count what the key spends.
type lineage struct {
	makers []string
	limits []auth.KeyLimit
	items  []store.Item // of the makers, without the grantor's, which is bound already
}

// lineageOf reads the lineage of a key with the makers. Known are items of keys that were read already.
func (s *Service) lineageOf(ctx context.Context, accountID tenant.Account, makers []string,
	known ...store.Item) (l lineage, err error) {
	l.makers = makers
	l.limits, l.items, err = keyrecord.MakersOf(ctx, s.db, accountID, makers, known...)
	return l, err
}

// unchanged makes the transaction fail if the limit of a maker has changed since it was read.
func (l lineage) unchanged(tx *store.Tx) {
	for _, it := range l.items {
		if it.Kind != "" {
			tx.Unchanged(it)
		}
	}
}

// limitMade gives the keys that a key has made, directly or through others, its new limits. The transaction fails if a
// key or secret is made at the same time: it would have the limit before.
func (s *Service) limitMade(ctx context.Context, tx *store.Tx, accountID tenant.Account,
	limit auth.KeyLimit) error {
	counter, err := s.db.Lookup(ctx, account.SecretsKey(accountID))
	if err != nil {
		return err
	}
	limits, made := map[string]auth.KeyLimit{}, []*ending{}
	q := store.Query{Index: store.Table, Partition: credential.Keys(accountID), Limit: 100, OldestFirst: true}
	err = s.db.Each(ctx, q, func(it store.Item) error {
		r, err := keyrecord.Read(&it, s.now())
		limits[r.ID] = r.Limits()
		if slices.Contains(r.Makers, limit.Key) && r.State != keyrecord.Revoked {
			made = append(made, &ending{r, it})
		}
		return err
	})
	if err != nil || len(made) == 0 {
		tx.Counted(account.SecretsKey(accountID), counter.Count())
		return err
	}
	limits[limit.Key] = limit
	for _, k := range made {
		var all []auth.KeyLimit
		for _, maker := range k.Makers {
			one := limits[maker]
			one.Key = maker // also of a key that is gone
			all = append(all, one)
		}
		credential.ChangeMakers(tx, k.item.Attributes[account.SecretAttribute], all)
	}
	tx.Counted(account.SecretsKey(accountID), counter.Count())
	return nil
}
