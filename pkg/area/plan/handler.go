package plan

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// chunkSlots is the number of items that one transaction makes: each takes three
	// writes, and a transaction has a hundred.
	chunkSlots = 25
	// pausedWait is the time after which a plan of a paused factory looks again.
	pausedWait = time.Minute
	// fullWait is the time that a plan waits if its account has too much work waiting.
	fullWait = 10 * time.Second
	// replacedWait is the time that a plan waits for the plans that it replaces.
	replacedWait = 2 * time.Second
	// The shortest and longest wait between two looks at the counts of a plan whose items are all made.
	firstLook, longestLook = 2 * time.Second, 30 * time.Second
	// spare is the amount of work of an account that a plan leaves room for.
	spare = 50
)

// payload is that of the task.
type payload struct {
	FactoryID string `json:"factory_id"`
	// Hold is the reservation for all items.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Replaces are the plans that have to end first.
	Replaces []string `json:"replaces,omitempty"`
}

// progress is what the task remembers of what it has done.
type progress struct {
	// Hold is the reservation for items that were not made yet.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Chunks is the number of chunks whose topics are chosen, and Items the number of items that were made.
	Chunks int `json:"chunks,omitempty"`
	Items  int `json:"items,omitempty"`
	// Since is the time of the last item, or zero if there are more to make.
	Since time.Time `json:"since,omitzero"`
	// Writing reports that all topics are chosen, and that items are made of them at their times.
	Writing bool `json:"writing,omitempty"`
	// Cut is the number of times that another plan took days of the plan, as far as it has given them.
	Cut int `json:"cut,omitempty"`
	// Canceled is the number of chunks whose items were canceled.
	Canceled int `json:"canceled,omitempty"`
}

// Handler takes the steps of Task.
type Handler struct {
	DB        *store.DB
	Loaders   map[string]generate.Loader
	Providers generate.Providers
	Now       func() time.Time
}

// job is one step in the hands of the handler.
type job struct {
	*task.Run
	progress
	choice
	factoryID string
	plan      Plan
	item      store.Item // of the plan
	recipe    Recipe
	written   store.Item // the recipe as it was read, to be replaced
	counts    factoryrecord.Counts
	factory   string // the state of the factory
	// factoryItem is the factory as it was read, for its accounts.
	factoryItem store.Item
	ends        bool // the plan is to end
	// cuts are the days that other plans have taken.
	cuts []factoryrecord.Days
	room int
	// hours are the best hours of the factory's accounts, once the topics of earlier items are noted.
	hours  *Hours
	slots  []Slot
	places []place // of the slots
	// trials are the arms of the slots of the next chunk, nil before they are drawn.
	trials map[int]*item.Trial
	// products are those that the items of the next chunk present, in turn, and the shop has them.
	products []string
	shop     map[string]*product.StoredProduct
}

// Plan makes the items of a plan: it notes the topics of earlier items, chooses topics chunk by chunk, makes their
// items at once or at their times, and completes the plan when all have ended. One call does the next of these. It is
// tried until it succeeds: a plan ends by its own rules.
func (h *Handler) Plan(ctx context.Context, r *task.Run) error {
	if cause := r.Cause(); cause != nil { // there is no deadline, and no limit of failures
		return fmt.Errorf("plan: %s does not fail: %s", r.Subject, cause.Error())
	}
	var p payload
	if err := r.Decode(&p); err != nil {
		return err
	}
	j := &job{Run: r, factoryID: p.FactoryID, progress: progress{Hold: p.Hold}}
	err := h.next(ctx, j, p.Replaces)
	if err == nil {
		return nil
	}
	retry := &task.RetryError{Err: err, Most: task.NoLimit}
	var e *provider.Error
	if errors.As(err, &e) {
		retry.After = min(e.RetryAfter, time.Minute)
	}
	return retry
}

func (h *Handler) next(ctx context.Context, j *job, replaced []string) error {
	found, err := h.read(ctx, j)
	switch {
	case err != nil:
		return err
	case !found:
		return j.End(func(_ context.Context, tx *store.Tx) error {
			return ledger.Release(tx, h.Now(), j.Owner.Account, j.Hold, 0)
		})
	case j.plan.State.Final():
		return nil
	case j.ends:
		return h.cancel(ctx, j)
	case !j.Since.IsZero() && !j.Writing:
		return h.watch(j)
	case j.factory == factoryrecord.StatePaused:
		return j.Sleep(pausedWait)
	}
	if j.hours == nil {
		if ended, err := h.ended(ctx, j.factoryID, replaced); err != nil || !ended {
			return errors.Join(err, j.Sleep(replacedWait))
		}
		return h.remember(ctx, j)
	}
	if j.Writing {
		if len(j.cuts) > j.Cut {
			return h.cut(ctx, j)
		}
		return h.later(ctx, j)
	}
	if j.room < chunkSlots+spare {
		return j.Sleep(task.Jitter(fullWait))
	}
	if j.plan.ExperimentID != "" && j.plan.WriteAheadHours == nil && j.trials == nil {
		return h.draw(j)
	}
	if err := h.choose(ctx, j); task.Waits(err) {
		return err
	} else if err != nil {
		return h.drop(j, provider.Refused(err))
	}
	if j.plan.WriteAheadHours != nil {
		return h.propose(j)
	}
	return h.make(j)
}

// then ends the step with a change of the table and of the progress.
func (j *job) then(change func(ctx context.Context, tx *store.Tx, after *progress) error) error {
	j.Also(func(ctx context.Context, tx *store.Tx) error {
		after := j.progress
		if err := change(ctx, tx, &after); err != nil {
			return err
		}
		return j.Keep("progress", after)
	})
	return j.Sleep(0)
}

// move ends the step with a change of the progress alone.
func (j *job) move(after progress) error { return errors.Join(j.Keep("progress", after), j.Sleep(0)) }

// read reads the items that a step depends on, in one round trip, and reports whether the plan still exists.
func (h *Handler) read(ctx context.Context, j *job) (bool, error) {
	var hours Hours
	if err := errors.Join(j.Kept("progress", &j.progress), j.Kept("hours", &j.hours), j.Kept("trials", &j.trials),
		j.Kept("products", &j.products)); err != nil {
		return false, err
	}
	if j.hours != nil {
		hours = *j.hours
	}
	keys := []store.Key{Key(j.factoryID, j.Subject), factoryrecord.CountsKey(j.factoryID, j.Subject),
		recipeKey(j.Subject),
		factoryrecord.BookKey(j.factoryID), factoryrecord.Key(j.factoryID)}
	own := len(keys)
	items, err := h.DB.GetAll(ctx, append(keys, generate.RoomKeys(j.Owner, h.Now())...)...)
	if err != nil || items[0].Kind == "" || items[2].Kind == "" {
		return false, err
	}
	j.factoryItem, j.written = items[4], items[2]
	j.item, j.counts, j.room, j.factory = items[0], factoryrecord.CountsOf(items[1]), generate.Room(j.Owner,
		items[own:]),
		factoryrecord.State(items[4])
	if err := errors.Join(items[0].Decode(&j.plan), items[2].Decode(&j.recipe)); err != nil {
		return false, err
	}
	book, err := factoryrecord.BookOf(items[3])
	if err != nil {
		return false, err
	}
	j.ends, j.cuts = book.Ended(j.Subject), book.Cuts(j.Subject)
	if j.slots, err = j.plan.Slots(j.recipe, hours); err != nil {
		return true, err
	}
	return true, j.place()
}

// ended reports whether the plans that this one replaces have ended.
func (h *Handler) ended(ctx context.Context, factoryID string, replaced []string) (bool, error) {
	keys := make([]store.Key, len(replaced))
	for i, planID := range replaced {
		keys[i] = Key(factoryID, planID)
	}
	items, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return false, err
	}
	for _, it := range items {
		var p Plan
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&p); err != nil || !p.State.Final() {
			return false, err
		}
	}
	return true, nil
}

// chunk returns the first and last slot, this one excluded, of the next chunk.
func (j *job) chunk() (from, to int) {
	from = j.Chunks * chunkSlots
	return from, min(from+chunkSlots, len(j.slots))
}

// enter adds to the transaction that the plan, unless something else has changed it, is in
// a state. why is the reason if it lacks topics.
func (j *job) enter(tx *store.Tx, now time.Time, state State, why *Failure) error {
	if j.plan.State == state {
		tx.Replace(j.item) // as it was read
		return nil
	}
	p := j.plan
	p.State = state
	if why != nil {
		p.Failure = why
	}
	p.Touch(now)
	it := j.item
	if state == Canceled {
		it.ExpireAt = now.Add(keep) // it is not shown any more
	}
	if err := it.Encode(p); err != nil {
		return err
	}
	tx.Replace(it)
	if state != Proposed {
		return nil
	}
	p = p.With(j.counts)
	return p.notify(tx, now, j.Owner, event.ContentPlanProposed)
}

// watch looks whether all items have ended, and completes the plan.
func (h *Handler) watch(j *job) error {
	now := h.Now()
	if j.counts.Ended() < j.plan.Items.Total {
		return j.Sleep(task.Jitter(min(max(firstLook, now.Sub(j.Since)/8), longestLook)))
	}
	return j.End(func(_ context.Context, tx *store.Tx) error {
		p := j.plan.With(j.counts)
		p.State = Completed
		if j.Items == 0 || j.counts.Failed > 0 && j.counts.Generated == 0 {
			p.State = Failed
		}
		if j.counts.Canceled == p.Items.Total && j.Writing { // all topics were dropped, or nobody approved them
			p.State = Canceled
		}
		at := resource.Instant(now)
		p.CompletedAt = &at
		p.Touch(now)
		it := j.item
		if err := it.Encode(p); err != nil {
			return err
		}
		tx.Replace(it)
		if p.State == Failed {
			return p.notify(tx, now, j.Owner, event.ContentPlanFailed)
		}
		return p.notify(tx, now, j.Owner, event.ContentPlanCompleted)
	})
}
