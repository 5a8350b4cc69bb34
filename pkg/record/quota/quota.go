// Package quota bounds the number of resources of a kind that an owner has. A resource that counts says so, so that
// those that were made before the bound do not.
package quota

import (
	"math"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// counted is the attribute of items that count.
const counted = "counted"

// key is the key of the count of a kind of an owner: of an account and mode, or of a profile in it.
func key(kind string, o tenant.Owner) store.Key {
	name := "quota#" + kind + "#" + o.String()
	if o.Profile != "" {
		name += "#" + string(o.Profile)
	}
	return store.IDKey(name)
}

// MostInSandbox bounds the resources of a kind in a sandbox, which is free.
const MostInSandbox = 500

// Take counts a new item, which the caller creates afterwards in the same transaction. If its owner has the most
// already, the commit is refused. Name is the plural of the kind.
func Take(tx *store.Tx, it *store.Item, most int64, name string) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[counted] = "yes"
	tx.Count(key(it.Kind, it.Owner), 1, most, errs.New(errs.InvalidState, "There are already %d %s in this mode or "+
		"profile, which is the maximum. Delete one first.", most, name))
}

// Free counts an item no more. The caller deletes it in the same transaction, or replaces it by what is left of it.
func Free(tx *store.Tx, it store.Item) {
	if it.Attributes[counted] != "" {
		tx.Count(key(it.Kind, it.Owner), -1, math.MaxInt64, store.ErrConflict)
		delete(it.Attributes, counted)
	}
}
