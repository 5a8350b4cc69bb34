package apikey

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// MostMakers bounds the keys through which a key can be made: each of them is a write of every transaction that spends.
const MostMakers = 4

// MakersOf returns the limits of the keys that have made a key, and the items that it has read for it. Known are items
// of keys that were read already.
func MakersOf(ctx context.Context, db *store.DB, account tenant.Account, ids []string,
	known ...store.Item) (all []auth.KeyLimit, items []store.Item, err error) {
	var keys []store.Key
	found := map[string]store.Item{}
	for _, it := range known {
		found[it.SK] = it
	}
	for _, maker := range ids {
		if _, ok := found[maker]; !ok {
			keys = append(keys, credential.KeyOf(account, maker))
		}
	}
	if len(keys) > 0 {
		if items, err = db.GetAll(ctx, keys...); err != nil {
			return nil, nil, err
		}
	}
	for _, it := range items {
		found[it.SK] = it
	}
	for _, maker := range ids {
		var r Record
		if it := found[maker]; it.Kind != "" {
			err = it.Decode(&r)
		}
		r.ID = maker // also of a key that is gone
		if err != nil {
			return nil, nil, err
		}
		all = append(all, r.Limits())
	}
	return all, items, nil
}

// maxDepth bounds the keys that are followed from a key to who made the first of them.
const maxDepth = 100

// RootOf returns the id of the person who has made a key, directly or through other keys, or operator. Keys that were
// made before it was stored are followed from maker to maker.
func RootOf(ctx context.Context, db *store.DB, account tenant.Account, r *Record) (string, error) {
	root, by := r.Root, r.CreatedBy
	for range maxDepth {
		if root != "" {
			return root, nil
		}
		if !id.Valid(id.APIKey, by) {
			return by, nil
		}
		it, err := db.Get(ctx, credential.KeyOf(account, by))
		if errors.Is(err, store.ErrNotFound) {
			return by, nil // nobody's: no person and no key has its id
		}
		if err != nil {
			return "", err
		}
		var maker Record
		if err := it.Decode(&maker); err != nil {
			return "", err
		}
		root, by = maker.Root, maker.CreatedBy
	}
	return "", errs.New(errs.InvalidState, "The key was made through more than %d other keys. Create it anew.",
		maxDepth)
}
