package plan

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// removeAtOnce is about how many content items one call of Remove removes.
const removeAtOnce = 50

// Remove removes a plan of a sandbox, whose item was read, with its content items, which
// remove deletes. It removes some at a time, and is called until the plan is gone. The
// items may be younger than the other records that are removed with the plan.
func Remove(ctx context.Context, db *store.DB, now time.Time, it store.Item,
	remove func(ctx context.Context, key store.Key) (found bool, err error)) error {
	var p Plan
	if err := it.Decode(&p); err != nil {
		return err
	}
	tx := &store.Tx{}
	if !p.State.Final() { // its task ends
		p.State = Canceled
		p.Touch(now)
		if err := it.Encode(p); err != nil {
			return err
		}
		tx.Replace(it)
		return db.Commit(ctx, tx)
	}
	keys := []store.Key{factory.CountsKey(p.FactoryID, p.ID), recipeKey(p.ID), chunkKey(p.ID, 0)}
	keys = append(keys, chunkKeys(p.ID, p.Items.Total)...)
	parts, err := db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	chunks, err := chunksOf(parts[3:])
	if err != nil {
		return err
	}
	removed := 0
	for _, c := range chunks {
		for _, m := range c.Items {
			if m.ID == "" {
				continue // no item was made of it, or not yet
			}
			if removed >= removeAtOnce {
				return nil
			}
			found, err := remove(ctx, store.IDKey(m.ID))
			if err != nil {
				return err
			}
			if found {
				removed++
			}
		}
	}
	tx.Delete(it)
	for _, part := range parts {
		if part.PK != "" {
			tx.Delete(part)
		}
	}
	return db.Commit(ctx, tx)
}
