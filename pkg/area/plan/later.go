package plan

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// longestSleep bounds the wait of a plan for the time of its next item. Changes of topics wake it.
const longestSleep = 12 * time.Hour

// agenda is what a plan whose items are made later has to do now.
type agenda struct {
	// stored is the item of the chunk that is changed.
	stored store.Item
	chunk  chunk
	due    []int // places in the chunk of approved topics of one reservation, whose items are made
	missed []int // places of topics that nobody approved in time
	next   time.Time
	// open is the number of topics whose items are not made yet, in all chunks, and proposed how many of them wait.
	open, proposed int
}

// later makes the items of approved topics whose time has come, or waits for the next one.
func (h *Handler) later(ctx context.Context, j *job) error {
	stored, err := h.DB.GetAll(ctx, chunkKeys(j.Subject, j.plan.Items.Total)...)
	if err != nil {
		return err
	}
	now, err := testclock.Now(ctx, h.DB, j.Owner, h.Now())
	if err != nil {
		return err
	}
	a, err := j.agenda(stored, now)
	switch {
	case err != nil:
		return err
	case len(a.due) > 0 && j.room < chunkSlots+spare:
		return j.Sleep(task.Jitter(fullWait))
	case len(a.due) > 0 || len(a.missed) > 0:
		return h.fill(ctx, j, a)
	case a.open > 0:
		return j.Sleep(min(max(a.next.Sub(now), time.Second), longestSleep))
	case !j.Since.IsZero(): // topics may still be added until the plan has ended
		return h.watch(j)
	}
	return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
		after.Since = h.Now()
		return j.enter(tx, after.Since, Generating, nil)
	})
}

// agenda finds what is due at a time: topics of the first chunk that has some.
func (j *job) agenda(stored []store.Item, now time.Time) (a agenda, err error) {
	lead := time.Duration(*j.plan.WriteAheadHours) * time.Hour
	chunks, err := chunksOf(stored)
	if err != nil {
		return a, err
	}
	for n, c := range chunks {
		var due, missed []int
		for i, topic := range c.Items {
			at := topic.At
			if topic.State == TopicApproved {
				at = at.Add(-lead)
			}
			if !topic.State.open() {
				continue
			}
			if a.open++; topic.State == TopicProposed {
				a.proposed++
			}
			switch ready := !at.After(now); {
			case !ready && (a.next.IsZero() || at.Before(a.next)):
				a.next = at
			case ready && topic.State == TopicProposed:
				missed = append(missed, i)
			case ready && (len(due) == 0 || c.Items[due[0]].Hold == topic.Hold):
				due = append(due, i)
			}
		}
		if len(a.due)+len(a.missed) == 0 && len(due)+len(missed) > 0 {
			a.stored, a.chunk, a.due, a.missed = stored[n], c, due, missed
		}
	}
	return a, nil
}

// fill makes the items that are due, and notes what was missed.
func (h *Handler) fill(ctx context.Context, j *job, a agenda) error {
	var keys []store.Key
	for _, i := range a.due {
		if id := a.chunk.Items[i].Product; id != "" {
			keys = append(keys, store.IDKey(id))
		}
	}
	products, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	if _, err := j.stock(products); err != nil {
		return err
	}
	return j.then(func(ctx context.Context, tx *store.Tx, after *progress) error {
		r, it, err := h.trial(ctx, j)
		if err != nil {
			return err
		}
		now := h.Now()
		var b batch
		c := chunk{Items: append([]chosen{}, a.chunk.Items...)}
		for _, i := range a.missed {
			c.Items[i].enter(TopicExpired, now)
		}
		number := 0
		for _, i := range a.due {
			one := &c.Items[i]
			number = one.Hold
			if err := j.write(&b, one, j.shop[one.Product], j.drawLate(r, one, now), one.Type, now); err != nil {
				return err
			}
			one.touch(now)
		}
		if b.spend(r); r != nil {
			if err := keepTrial(tx, r, it); err != nil {
				return err
			}
		}
		rest, err := b.commit(tx, now, j, j.hold(number), 0)
		if err != nil {
			return err
		}
		if err := j.keep(tx, after, number, rest); err != nil {
			return err
		}
		after.Items += len(b.records)
		factory.AddCounts(tx, now, j.factoryID, j.Subject, factory.Counts{Canceled: int64(len(a.missed)),
			Reserved: -b.saved})
		stored := a.stored
		if err := stored.Encode(c); err != nil {
			return err
		}
		tx.Replace(stored)
		state := j.plan.State
		if a.proposed == len(a.missed) {
			state = Generating
		}
		return j.enter(tx, now, state, nil)
	})
}

// hold returns the reservation with a number: that of the plan as a whole is 0.
func (j *job) hold(number int) ledger.Hold {
	if number == 0 {
		return j.Hold
	}
	return j.recipe.Holds[number-1]
}

// keep stores what is left of a reservation.
func (j *job) keep(tx *store.Tx, after *progress, number int, rest ledger.Hold) error {
	if number == 0 {
		after.Hold = rest
		return nil
	}
	r := j.recipe
	r.Holds = append([]ledger.Hold{}, r.Holds...)
	r.Holds[number-1] = rest
	it := j.written
	if err := it.Encode(r); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// cancel ends a plan that a new one replaces, or whose factory was deleted: chunk by chunk
// it cancels the items that are not generated yet, and then releases what is left of the reservations.
func (h *Handler) cancel(ctx context.Context, j *job) error {
	chunks := j.Chunks
	if j.Writing { // topics may have been added in more chunks
		chunks = len(chunkKeys(j.Subject, j.plan.Items.Total))
	}
	if j.Canceled < chunks {
		return h.cancelChunk(ctx, j)
	}
	for i, hold := range j.recipe.Holds {
		if hold.Credits == 0 {
			continue
		}
		return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
			now := h.Now()
			factory.AddCounts(tx, now, j.factoryID, j.Subject, factory.Counts{Reserved: -hold.Credits})
			return errors.Join(ledger.Release(tx, now, j.Owner.Account, hold, 0),
				j.keep(tx, after, i+1, ledger.Hold{}))
		})
	}
	return j.End(func(_ context.Context, tx *store.Tx) error {
		now, c := h.Now(), factory.Counts{Reserved: -j.Hold.Credits}
		if j.Since.IsZero() && !j.Writing {
			from, _ := j.chunk()
			c.Canceled = int64(len(j.slots) - from)
		}
		factory.AddCounts(tx, now, j.factoryID, j.Subject, c)
		if err := ledger.Release(tx, now, j.Owner.Account, j.Hold, 0); err != nil {
			return err
		}
		return j.enter(tx, now, Canceled, nil)
	})
}

// cancelChunk cancels the items of the next chunk that are not generated yet, and drops its topics without an item.
func (h *Handler) cancelChunk(ctx context.Context, j *job) error {
	it, err := h.DB.Lookup(ctx, chunkKey(j.Subject, j.Canceled+1))
	if err != nil {
		return err
	}
	after := j.progress
	after.Canceled++
	if it.Kind == "" { // the model has failed before its topics were chosen
		return j.move(after)
	}
	var c chunk
	if err := it.Decode(&c); err != nil {
		return err
	}
	canceler := generate.Canceler{DB: h.DB, Loaders: h.Loaders, Now: h.Now}
	var dropped int64
	for i := range c.Items {
		one := &c.Items[i]
		if one.State.open() {
			one.enter(TopicDiscarded, h.Now())
			dropped++
		}
		if one.ID == "" {
			continue
		}
		if err := canceler.Cancel(ctx, store.IDKey(one.ID)); err != nil {
			return err
		}
	}
	if dropped > 0 {
		j.Also(func(_ context.Context, tx *store.Tx) error {
			factory.AddCounts(tx, h.Now(), j.factoryID, j.Subject, factory.Counts{Canceled: dropped})
			if err := it.Encode(c); err != nil {
				return err
			}
			tx.Replace(it)
			return nil
		})
	}
	return j.move(after)
}
