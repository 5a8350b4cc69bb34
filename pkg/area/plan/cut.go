package plan

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// cut gives days to another plan: it cancels the items on them that are not generated yet, and drops their topics. One
// step takes those of one chunk and one reservation.
func (h *Handler) cut(ctx context.Context, j *job) error {
	zone, err := time.LoadLocation(j.plan.Timezone)
	if err != nil {
		return err
	}
	stored, err := h.DB.GetAll(ctx, chunkKeys(j.Subject, j.plan.Items.Total)...)
	if err != nil {
		return err
	}
	chunks, err := chunksOf(stored)
	if err != nil {
		return err
	}
	taken := func(t *chosen) bool {
		day := t.At.In(zone).Format(time.DateOnly)
		return slices.ContainsFunc(j.cuts[j.Cut:], func(d factory.Days) bool { return d.Has(day) })
	}
	canceler := generate.Canceler{DB: h.DB, Loaders: h.Loaders, Now: h.Now}
	for n, c := range chunks {
		var dropped []int
		for i := range c.Items {
			switch t := &c.Items[i]; {
			case !taken(t):
			case t.State == TopicCompleted:
				if err := canceler.Cancel(ctx, store.IDKey(t.ID)); err != nil {
					return err
				}
			case t.State.open() && (len(dropped) == 0 || c.Items[dropped[0]].Hold == t.Hold):
				dropped = append(dropped, i)
			}
		}
		if len(dropped) > 0 {
			return h.give(j, stored[n], c, dropped)
		}
	}
	after := j.progress
	after.Cut = len(j.cuts)
	return j.move(after)
}

// give drops topics of a chunk that have the same reservation, and releases their part of it.
func (h *Handler) give(j *job, it store.Item, c chunk, dropped []int) error {
	return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
		now, number, counts := h.Now(), c.Items[dropped[0]].Hold, factory.Counts{Canceled: int64(len(dropped))}
		all := slices.Clone(c.Items)
		for _, i := range dropped {
			if all[i].State == TopicApproved && j.hold(number).Credits > 0 {
				counts.Reserved -= j.recipe.reserved(all[i].Type)
			}
			all[i].enter(TopicDiscarded, now)
		}
		rest, err := new(batch).commit(tx, now, j, j.hold(number), -counts.Reserved)
		if err != nil {
			return err
		}
		if err := j.keep(tx, after, number, rest); err != nil {
			return err
		}
		factory.AddCounts(tx, now, j.factoryID, j.Subject, counts)
		if err := it.Encode(chunk{all}); err != nil {
			return err
		}
		tx.Replace(it)
		return j.enter(tx, now, j.plan.State, nil)
	})
}
