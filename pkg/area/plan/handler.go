package plan

import (
	"context"
	"errors"
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

// progress is the payload of the task.
type progress struct {
	FactoryID string `json:"factory_id"`
	// Hold is the reservation for items that were not made yet.
	Hold ledger.Hold `json:"hold,omitzero"`
	// Replaces are the plans that have to end first.
	Replaces []string `json:"replaces,omitempty"`
	// Past reports that the topics of earlier items are noted, and Chunks is the number of
	// chunks whose items were made.
	Past   bool `json:"past,omitempty"`
	Chunks int  `json:"chunks,omitempty"`
	// Round is the number of times that topics were requested for the next chunk, Chosen
	// the topics of its slots so far, and Refused those that were too much like others.
	Round   int            `json:"round,omitempty"`
	Chosen  map[int]string `json:"chosen,omitempty"`
	Refused []string       `json:"refused,omitempty"`
	// Views are the angles and hooks of the chosen topics.
	Views map[int]view `json:"views,omitempty"`
	// Trials are the arms of the slots of the next chunk, and Drawn reports that they were drawn.
	Trials map[int]*item.Trial `json:"trials,omitempty"`
	Drawn  bool                `json:"drawn,omitempty"`
	// Products are those that the items of the next chunk present, in turn.
	Products []string `json:"products,omitempty"`
	// Items is the number of items that were made, and Since the time of the last one, or
	// zero if there are more to make.
	Items int       `json:"items,omitempty"`
	Since time.Time `json:"since,omitzero"`
	// Hours are the best hours of the factory's accounts, once the topics of earlier items are noted.
	Hours Hours `json:"hours,omitzero"`
	// Writing reports that all topics are chosen, and that items are made of them at their times.
	Writing bool `json:"writing,omitempty"`
	// Cut is the number of times that another plan took days of the plan, as far as it has given them.
	Cut int `json:"cut,omitempty"`
	// Canceled is the number of chunks whose items were canceled.
	Canceled int `json:"canceled,omitempty"`
}

// Handler is the handler of Task.
type Handler struct {
	DB        *store.DB
	Loaders   map[string]generate.Loader
	Providers generate.Providers
	Now       func() time.Time
}

var _ task.Handler = (*Handler)(nil)

// job is one step in the hands of the handler.
type job struct {
	*task.Step
	progress
	plan    Plan
	item    store.Item // of the plan
	recipe  Recipe
	written store.Item // the recipe as it was read, to be replaced
	counts  factoryrecord.Counts
	factory string // the state of the factory
	// factoryItem is the factory as it was read, for its accounts.
	factoryItem store.Item
	ends        bool // the plan is to end
	// cuts are the days that other plans have taken.
	cuts   []factoryrecord.Days
	room   int
	slots  []Slot
	places []place                           // of the slots
	shop   map[string]*product.StoredProduct // the products of the chunk
}

// Step takes the next step of a plan: it notes earlier topics, requests new ones and makes
// the items of a chunk, or looks whether all items have ended.
func (h *Handler) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	j := &job{Step: s}
	if err := s.Decode(&j.progress); err != nil {
		return o, err
	}
	found, err := h.read(ctx, j)
	switch {
	case err != nil:
		return o, again(err)
	case !found:
		return h.abandon(j), nil
	case j.plan.State.Final():
		return task.Outcome{Done: true}, nil
	}
	switch {
	case j.ends:
		o, err = h.cancel(ctx, j)
	case !j.Since.IsZero() && !j.Writing:
		o = h.watch(j)
	case j.factory == factoryrecord.StatePaused:
		o.Wait = pausedWait
	case len(j.Replaces) > 0:
		o, err = h.await(ctx, j)
	case !j.Past:
		o, err = h.remember(ctx, j)
	case j.Writing && len(j.cuts) > j.Cut:
		o, err = h.cut(ctx, j)
	case j.Writing:
		o, err = h.later(ctx, j)
	case j.room < chunkSlots+spare:
		o.Wait = task.Jitter(fullWait)
	case j.plan.ExperimentID != "" && j.plan.WriteAheadHours == nil && !j.Drawn:
		o, err = h.draw(ctx, j)
	default:
		o, err = h.choose(ctx, j)
	}
	if err != nil && !errors.Is(err, task.ErrMoved) && ctx.Err() == nil {
		err = again(err)
	}
	return o, err
}

// again has a step tried until it succeeds: a plan ends by its own rules.
func again(err error) error {
	retry := &task.RetryError{Err: err, Most: task.NoLimit}
	var e *provider.Error
	if errors.As(err, &e) {
		retry.After = min(e.RetryAfter, time.Minute)
	}
	return retry
}

// read reads the items that a step depends on, in one round trip, and reports whether the plan still exists.
func (h *Handler) read(ctx context.Context, j *job) (bool, error) {
	keys := []store.Key{Key(j.FactoryID, j.Subject), factoryrecord.CountsKey(j.FactoryID, j.Subject),
		recipeKey(j.Subject),
		factoryrecord.BookKey(j.FactoryID), factoryrecord.Key(j.FactoryID)}
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
	if j.slots, err = j.plan.Slots(j.recipe, j.Hours); err != nil {
		return true, err
	}
	return true, j.place()
}

// await waits for the plans that this one replaces.
func (h *Handler) await(ctx context.Context, j *job) (o task.Outcome, err error) {
	keys := make([]store.Key, len(j.Replaces))
	for i, planID := range j.Replaces {
		keys[i] = Key(j.FactoryID, planID)
	}
	items, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return o, err
	}
	for _, it := range items {
		var p Plan
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&p); err != nil {
			return o, err
		}
		if !p.State.Final() {
			o.Wait = replacedWait
			return o, nil
		}
	}
	j.Replaces = nil
	o.Payload = j.progress
	return o, nil
}

// next returns the first and last slot, this one excluded, of the next chunk.
func (j *job) next() (from, to int) {
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
func (h *Handler) watch(j *job) (o task.Outcome) {
	now := h.Now()
	if j.counts.Ended() < j.plan.Items.Total {
		o.Wait = task.Jitter(min(max(firstLook, now.Sub(j.Since)/8), longestLook))
		return o
	}
	o.Done = true
	o.Join = func(_ context.Context, tx *store.Tx) error {
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
	}
	return o
}

// abandon ends the task of a plan that is no more.
func (h *Handler) abandon(j *job) task.Outcome {
	return task.Outcome{Done: true, Join: func(_ context.Context, tx *store.Tx) error {
		return ledger.Release(tx, h.Now(), j.Owner.Account, j.Hold, 0)
	}}
}

// Fail is not reached: there is no deadline, and no limit of failures.
func (*Handler) Fail(_ context.Context, _ *task.Step, cause error) (o task.Outcome, err error) {
	return o, cause
}
