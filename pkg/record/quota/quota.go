// Package quota bounds the number of resources of a kind that an owner has, or that an account makes in a day. A
// resource that counts says so, so that those that were made before the bound do not. Limit.Begin counts an attempt;
// Bound.Take counts resources.
package quota

import (
	"math"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// counted is the attribute of items that count. Its value tells where: with their owner, with their account, or with
// their account on a day, which it names.
const (
	counted   = "counted"
	byOwner   = "yes"
	byAccount = "account"
)

// key is the key of the count of a kind of an owner: of an account and mode, or of a profile in it.
func key(kind string, o tenant.Owner) store.Key {
	name := "quota#" + kind + "#" + o.String()
	if o.Profile != "" {
		name += "#" + string(o.Profile)
	}
	return store.IDKey(name)
}

// dayKey is the key of the count of a kind on a day of an account and mode.
func dayKey(kind string, o tenant.Owner, day string) store.Key {
	return store.IDKey("quota#" + kind + "#" + o.String() + "#" + day)
}

// wide returns the owner without its profile.
func wide(o tenant.Owner) tenant.Owner { return o.Of("") }

// keepDay is the time from the beginning of a day to the end of its count. It is more than a day, because an item may
// be counted and taken back in the last moment, by functions whose clocks differ.
const keepDay = 48 * time.Hour

// Take counts a new item, which the caller creates afterwards in the same transaction. If its owner has the most
// already, the commit is refused. Name is the plural of the kind.
func Take(tx *store.Tx, it *store.Item, most int64, name string) {
	mark(it, byOwner)
	tx.Count(key(it.Kind, it.Owner), 1, most, errs.New(errs.InvalidState, "There are already %d %s in this mode or "+
		"profile, which is the maximum. Delete one first.", most, name))
}

// Take counts a new item, as the function Take does, with the account and mode of its owner.
func (b Bound) Take(tx *store.Tx, now time.Time, it *store.Item) {
	most, where := b.Live, "The account"
	if it.Owner.Mode == tenant.Test {
		most, where = b.Test, "The sandbox"
	}
	if !b.Daily {
		mark(it, byAccount)
		tx.Count(key(it.Kind, wide(it.Owner)), 1, most, errs.New(errs.InvalidState, "%s already has %d %s, which is "+
			"the maximum. %s.", where, most, b.Name, b.Remedy))
		return
	}
	day := now.UTC().Truncate(24 * time.Hour)
	name := day.Format(time.DateOnly)
	mark(it, name)
	tx.CountUntil(dayKey(it.Kind, it.Owner, name), 1, most, day.Add(keepDay), errs.New(errs.InvalidState, "%s already "+
		"has %d %s of today (UTC), which is the maximum. %s, or wait until tomorrow.", where, most, b.Name, b.Remedy))
}

func mark(it *store.Item, where string) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[counted] = where
}

// Free counts an item no more. The caller deletes it in the same transaction, or replaces it by what is left of it.
func Free(tx *store.Tx, now time.Time, it store.Item) {
	var at store.Key
	switch where := it.Attributes[counted]; where {
	case "":
		return
	case byOwner:
		at = key(it.Kind, it.Owner)
	case byAccount:
		at = key(it.Kind, wide(it.Owner))
	case now.UTC().Format(time.DateOnly):
		at = dayKey(it.Kind, it.Owner, where)
	}
	delete(it.Attributes, counted)
	if at != (store.Key{}) { // an earlier day is over, and with it its count
		tx.Count(at, -1, math.MaxInt64, store.ErrConflict)
	}
}
