package httpapi

import (
	"context"
	"errors"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
)

// Find reads a resource of the caller's account and mode by the id in the path.
// Everything else is not_found, not told apart: a malformed id, one that does
// not exist, another account's, the other mode's.
func Find(ctx context.Context, db *store.DB, prefix, noun, resourceID string) (store.Item, error) {
	if !id.Valid(prefix, resourceID) {
		return store.Item{}, errs.Missing(noun, resourceID)
	}
	it, err := db.Get(ctx, store.IDKey(resourceID))
	p := auth.FromContext(ctx)
	if errors.Is(err, store.ErrNotFound) || err == nil && (it.Account != p.Account || it.Mode != string(p.Mode)) {
		return store.Item{}, errs.Missing(noun, resourceID)
	}
	return it, err
}
