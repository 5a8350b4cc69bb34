package apikey

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

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
	return "", errs.New(errs.InvalidState, "The key was made through more than %d other keys. Create it anew.", maxDepth)
}
