package resource

import (
	"context"
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/store"
)

// Find reads a resource of the caller's account and mode by the id in the path. It answers not_found alike for a
// malformed id, one that does not exist, another account's and the other mode's.
func Find(ctx context.Context, db *store.DB, prefix, noun, resourceID string) (store.Item, error) {
	if !id.Valid(prefix, resourceID) {
		return store.Item{}, errs.Missing(noun, resourceID)
	}
	it, err := db.Lookup(ctx, store.IDKey(resourceID))
	if err != nil {
		return store.Item{}, err
	}
	return visible(ctx, it, noun, resourceID)
}

// FindWith is Find, and reads other items in the same round trip. Beside has them in the order of their keys.
func FindWith(ctx context.Context, db *store.DB, prefix, noun, resourceID string,
	others ...store.Key) (it store.Item, beside []store.Item, err error) {
	if !id.Valid(prefix, resourceID) {
		return it, nil, errs.Missing(noun, resourceID)
	}
	items, err := db.GetAll(ctx, append([]store.Key{store.IDKey(resourceID)}, others...)...)
	if err != nil {
		return it, nil, err
	}
	it, err = visible(ctx, items[0], noun, resourceID)
	return it, items[1:], err
}

// FindUnder is Find for a resource that has rows of the table under it, in one query: under has the resource first, and
// then its rows.
func FindUnder(ctx context.Context, db *store.DB, prefix, noun, resourceID string) (under []store.Item, err error) {
	if !id.Valid(prefix, resourceID) {
		return nil, errs.Missing(noun, resourceID)
	}
	if under, err = db.Under(ctx, resourceID); err != nil {
		return nil, err
	}
	if len(under) == 0 {
		return nil, errs.Missing(noun, resourceID)
	}
	_, err = visible(ctx, under[0], noun, resourceID)
	return under, err
}

// visible returns the item of a resource, or an error if the caller may not see it. The zero Item does not exist.
func visible(ctx context.Context, it store.Item, noun, resourceID string) (store.Item, error) {
	p := auth.FromContext(ctx)
	switch {
	case it.PK != "" && it.Account == p.Account && it.Mode != p.Mode:
		return store.Item{}, errs.OfOtherMode(noun, resourceID, string(it.Mode))
	case it.PK == "" || !owns(p, it):
		return store.Item{}, errs.Missing(noun, resourceID)
	}
	Reads(ctx, it)
	return it, nil
}

func owns(p *auth.Principal, it store.Item) bool {
	return p.Owner.Sees(it.Owner)
}

// FindAll reads several resources of the caller's account and mode by their ids, and other items, in one round trip.
// Found has the resources that Find would find, and beside has the other items in the order of their keys.
func FindAll(ctx context.Context, db *store.DB, prefix string, ids []string,
	others ...store.Key) (found map[string]store.Item, beside []store.Item, err error) {
	var known []string
	for _, resourceID := range ids {
		if id.Valid(prefix, resourceID) && !slices.Contains(known, resourceID) {
			known = append(known, resourceID)
		}
	}
	keys := make([]store.Key, 0, len(known)+len(others))
	for _, resourceID := range known {
		keys = append(keys, store.IDKey(resourceID))
	}
	items, err := db.GetAll(ctx, append(keys, others...)...)
	if err != nil {
		return nil, nil, err
	}
	p := auth.FromContext(ctx)
	found = map[string]store.Item{}
	for i, resourceID := range known {
		if items[i].Kind != "" && owns(p, items[i]) {
			found[resourceID] = items[i]
			Reads(ctx, items[i])
		}
	}
	return found, items[len(known):], nil
}
