package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
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

// payload is the payload of the task.
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
	// Cuts is the number of times that another plan took days of the plan, as far as it has given them.
	Cuts int `json:"cut,omitempty"`
	// CanceledChunks is the number of chunks whose items were canceled.
	CanceledChunks int `json:"canceled,omitempty"`
}

// Handler takes the steps of Task.
type Handler struct {
	DB        *store.DB
	Loaders   map[string]generate.Loader
	Providers generate.Providers
	// Sources reads the feeds of news. It may be nil.
	Sources item.Reader
	Now     func() time.Time
}

// job is one step in the hands of the handler.
type job struct {
	*task.Run
	progress
	choice
	factoryID  string
	plan       Plan
	item       store.Item // of the plan
	recipe     Recipe
	recipeItem store.Item // the recipe as it was read, to be replaced
	counts     factoryrecord.Counts
	factory    string // the state of the factory
	// factoryItem is the factory as it was read, for its accounts.
	factoryItem store.Item
	endsPlan    bool // the plan is to end
	// cuts are the days that other plans have taken.
	cuts []factoryrecord.Days
	room int
	// hours are the best hours of the factory's accounts, once the topics of earlier items are noted.
	hours  *Hours
	slots  []Slot
	places []place // of the slots
	// trials are the arms of the slots of the next chunk, nil before they are drawn.
	trials map[int]*item.Trial
	// exhibits are what the slots of the next chunk present, by their numbers, and the shop has the products.
	exhibits map[int]exhibit
	shop     map[string]*product.StoredProduct
	// posts are the figures of the channel from when the planning began.
	posts posts
	// again are the slots whose topics are written again, or nil.
	again []opening
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
	retry := &task.RetryError{Err: err, MaxFailures: task.NoLimit}
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
	case j.endsPlan:
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
		if len(j.cuts) > j.Cuts {
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
	if j.plan.fromFeeds(&j.recipe) {
		return h.propose(j)
	}
	if err := h.choose(ctx, j); task.Waits(err) {
		return err
	} else if err != nil {
		return h.drop(j, provider.RefusalOf(err))
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
	if err := errors.Join(j.Recall("progress", &j.progress), j.Recall("hours", &j.hours), j.Recall("trials", &j.trials),
		j.Recall("products", &j.exhibits)); err != nil {
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
	j.factoryItem, j.recipeItem = items[4], items[2]
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
	j.endsPlan, j.cuts = book.Ended(j.Subject), book.Cuts(j.Subject)
	if j.slots, err = j.plan.Slots(j.recipe, hours); err != nil {
		return true, err
	}
	if err := j.place(); err != nil {
		return true, err
	}
	j.tellOffers()
	return true, nil
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
	if err := tx.Rewrite(it, p); err != nil {
		return err
	}
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
		if err := tx.Rewrite(it, p); err != nil {
			return err
		}
		if p.State == Failed {
			return p.notify(tx, now, j.Owner, event.ContentPlanFailed)
		}
		return p.notify(tx, now, j.Owner, event.ContentPlanCompleted)
	})
}

// topicOf returns the topic of slot i of the next chunk, from 0: a failed one if none was found.
func (j *job) topicOf(i int, now time.Time) topicItem {
	from, _ := j.chunk()
	slot, at, told := j.slots[from+i], j.places[from+i], j.Views[i+1]
	place := at.Plan
	place.Angle, place.Hook = told.Angle, told.Hook
	c := topicItem{Number: from + i + 1, Topic: j.Topics[i+1], Type: slot.Type, At: slot.At,
		Slot: content.Placed(&place, j.trials[i+1]), About: at.about,
		State: TopicApproved, Version: 1, CreatedAt: now, UpdatedAt: now}
	if p := j.productOf(from + i); p != nil {
		c.Product = p.ID
	}
	switch {
	case c.Topic != "" || j.plan.fromFeeds(&j.recipe):
	case j.plan.WriteAheadHours != nil:
		c.Again = true // its item is not due yet: another topic is looked for
	default:
		c.State = TopicFailed
	}
	return c
}

// batch is the items that one transaction makes of topics.
type batch struct {
	records []*item.Record
	orders  []generate.Order
	// savedCredits is the number of reserved credits that they do not need.
	savedCredits int64
}

// write adds the item of a topic to the batch. shop is the product that it presents, or nil, t has its arms, or is nil,
// and held is the type whose price is reserved for it.
func (j *job) write(b *batch, c *topicItem, shop *product.StoredProduct, t *item.Trial, held string,
	now time.Time) error {
	r := *j.recipe.record(c.Type, t)
	r.Item.Experiment = t
	content.Restyle(&r.Brief, t)
	c.Slot = content.Placed(c.Slot, t)
	// Each has a millisecond of its own, so that lists have them in the order of the plan.
	made := now.Add(time.Duration(len(b.records)) * time.Millisecond)
	r.Item.Resource = resource.New(id.New(id.ContentItem, made), made, nil)
	r.Item.Prompt, r.Item.ContentPlanID, r.Item.PublishAt, r.Attempt.AcceptedAt = c.Topic, &j.plan.ID,
		resource.InstantOrNil(&c.At), now
	inPlan := *c.Slot
	if inPlan.Brief = string(j.plan.Brief); c.About != "" {
		inPlan.Campaign += ". " + c.About
	}
	if r.Slot = &inPlan; c.By.Actor.ID != "" {
		r.Authority = c.By
	}
	rest := j.recipe.reserved(held) - r.Attempt.Credits
	saved, err := j.present(&r, shop, c.At)
	if err != nil {
		return err
	}
	b.savedCredits += rest + saved
	b.records, b.orders = append(b.records, &r), append(b.orders, item.PlannerOf(&r).Order(j.Owner))
	c.ID, c.State = r.Item.ID, TopicCompleted
	return nil
}

// commit adds the items of a batch to the transaction, with their work and their part of a reservation. dropped are the
// credits of topics without an item, which are released. It returns what is left of the reservation.
func (b *batch) commit(tx *store.Tx, now time.Time, j *job, hold ledger.Hold, dropped int64) (ledger.Hold, error) {
	rest, tickets, err := generate.Begin(tx, now, j.Owner, hold, b.orders, b.savedCredits+dropped)
	if err != nil {
		return hold, err
	}
	for i, r := range b.records {
		r.Attempt.Ticket = tickets[i]
		if err := r.Create(tx, j.Owner); err != nil {
			return hold, err
		}
	}
	return rest, nil
}

// make makes the items of the chunk, with their work and their part of the reservation. Slots without a topic are
// dropped: they count as failed.
func (h *Handler) make(j *job) error {
	return j.then(func(ctx context.Context, tx *store.Tx, after *progress) error {
		now := h.Now()
		from, to := j.chunk()
		var c chunk
		var b batch
		var dropped factoryrecord.Counts
		for i := range to - from {
			one, held := j.topicOf(i, now), j.slots[from+i].HeldType
			if one.State == TopicFailed {
				dropped.Failed++
				dropped.Reserved -= j.recipe.reserved(held)
			} else if err := j.write(&b, &one, j.shop[one.Product], j.trials[i+1], held, now); err != nil {
				return err
			}
			c.Items = append(c.Items, one)
		}
		rest, err := b.commit(tx, now, j, j.Hold, -dropped.Reserved)
		if err != nil {
			return err
		}
		if len(j.trials) > 0 {
			r, it, err := h.trial(ctx, j)
			if err != nil {
				return err
			}
			if b.spend(r); r != nil {
				if err := keepTrial(tx, r, it); err != nil {
					return err
				}
			}
		}
		dropped.Reserved -= b.savedCredits
		factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject, dropped)
		after.Items += len(b.records)
		state := Planning
		if to == len(j.slots) {
			state, after.Since = Generating, now
		}
		return errors.Join(j.chosen(tx, after, rest, c), j.enter(tx, now, state, nil))
	})
}

// chosen stores the topics of a chunk, and moves the progress to the next one, with what is left of the reservation.
func (j *job) chosen(tx *store.Tx, after *progress, rest ledger.Hold, c chunk) error {
	after.Chunks, after.Hold = j.Chunks+1, rest
	j.forget()
	return j.plan.note(tx, j.Owner, chunkKey(j.Subject, after.Chunks), "content_plan_items", c)
}

// forget removes what was chosen for a chunk from the memory.
func (j *job) forget() {
	for _, name := range []string{"topics", "products", "trials"} {
		j.Forget(name)
	}
}

// open is the state of a plan whose topics are all chosen.
func (j *job) open() State {
	if j.plan.Approve == ApproveTopics && j.Chunks > 0 {
		return Proposed
	}
	return Generating
}

// propose stores the topics of the chunk, whose items are made later. Those that wait for an approval hold no money
// yet. The reservation of others moves to the recipe with the last chunk.
func (h *Handler) propose(j *job) error {
	return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
		now := h.Now()
		from, to := j.chunk()
		var c chunk
		for i := range to - from {
			one := j.topicOf(i, now)
			if j.plan.Approve == ApproveTopics {
				one.State = TopicProposed
			}
			c.Items = append(c.Items, one)
		}
		state := Planning
		if to == len(j.slots) {
			state, after.Writing = Generating, true
			if j.plan.Approve == ApproveTopics {
				state = Proposed
			}
		}
		return errors.Join(j.chosen(tx, after, j.Hold, c), j.enter(tx, now, state, nil))
	})
}

// drop ends the planning without topics for the slots that are left. The cause is nil if the model could not be
// reached.
func (h *Handler) drop(j *job, cause *provider.Error) error {
	failure := Failure{Code: provider.FailedProviderUnavailable, Message: "The text model could not be reached after " +
		"several attempts. Nothing was charged for the items that are missing. Plan again, perhaps with another text " +
		"model."}
	if cause != nil {
		failure = Failure{Code: provider.FailureCode(cause.Code), Message: cause.Message +
			" Nothing was charged for the items that are missing. Change the brief or the factory, or choose another " +
			"text model."}
	}
	return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
		now := h.Now()
		from, _ := j.chunk()
		if after.Writing = j.plan.WriteAheadHours != nil && j.Chunks > 0; !after.Writing {
			after.Since = now
		}
		var freed int64
		for _, slot := range j.slots[from:] {
			if j.Hold.Credits > 0 {
				freed += j.recipe.reserved(slot.HeldType)
			}
		}
		var err error
		if after.Hold, err = new(batch).commit(tx, now, j, j.Hold, freed); err != nil {
			return err
		}
		j.forget()
		factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject,
			factoryrecord.Counts{Failed: int64(len(j.slots) - from), Reserved: -freed})
		return j.enter(tx, now, j.open(), &failure)
	})
}

// longestSleep bounds the wait of a plan for the time of its next item. Changes of topics wake it.
const longestSleep = 12 * time.Hour

// agenda is what a plan whose items are made later has to do now.
type agenda struct {
	// storedItem is the item of the chunk that is changed.
	storedItem  store.Item
	chunk       chunk
	due         []int // places in the chunk of approved topics of one reservation, whose items are made
	missedSlots []int // places of topics that nobody approved in time
	next        time.Time
	// open is the number of topics whose items are not made yet, in all chunks, and proposed how many of them wait.
	open, proposals int
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
	if err != nil {
		return err
	}
	if done, err := h.renew(ctx, j, stored, now); done || err != nil {
		return err
	}
	if err := h.report(ctx, j, &a, now); err != nil {
		return err
	}
	switch {
	case len(a.due) > 0 && j.room < chunkSlots+spare:
		return j.Sleep(task.Jitter(fullWait))
	case len(a.due) > 0 || len(a.missedSlots) > 0:
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
				a.proposals++
			}
			switch ready := !at.After(now); {
			case topic.Again: // it has no topic yet
				if again := topic.nextTry(); a.next.IsZero() || again.Before(a.next) {
					a.next = again
				}
			case !ready && (a.next.IsZero() || at.Before(a.next)):
				a.next = at
			case ready && topic.State == TopicProposed:
				missed = append(missed, i)
			case ready && (len(due) == 0 || c.Items[due[0]].Hold == topic.Hold):
				due = append(due, i)
			}
		}
		if len(a.due)+len(a.missedSlots) == 0 && len(due)+len(missed) > 0 {
			a.storedItem, a.chunk, a.due, a.missedSlots = stored[n], c, due, missed
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
		c := chunk{Items: append([]topicItem{}, a.chunk.Items...)}
		for _, i := range a.missedSlots {
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
		factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject,
			factoryrecord.Counts{Canceled: int64(len(a.missedSlots)),
				Reserved: -b.savedCredits})
		stored := a.storedItem
		if err := tx.Rewrite(stored, c); err != nil {
			return err
		}
		state := j.plan.State
		if a.proposals == len(a.missedSlots) {
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
	return j.recipe.Reservations[number-1]
}

// keep stores what is left of a reservation.
func (j *job) keep(tx *store.Tx, after *progress, number int, rest ledger.Hold) error {
	if number == 0 {
		after.Hold = rest
		return nil
	}
	r := j.recipe
	r.Reservations = append([]ledger.Hold{}, r.Reservations...)
	r.Reservations[number-1] = rest
	it := j.recipeItem
	return tx.Rewrite(it, r)
}

// cancel ends a plan that a new one replaces, or whose factory was deleted: chunk by chunk
// it cancels the items that are not generated yet, and then releases what is left of the reservations.
func (h *Handler) cancel(ctx context.Context, j *job) error {
	chunks := j.Chunks
	if j.Writing { // topics may have been added in more chunks
		chunks = len(chunkKeys(j.Subject, j.plan.Items.Total))
	}
	if j.CanceledChunks < chunks {
		return h.cancelChunk(ctx, j)
	}
	for i, hold := range j.recipe.Reservations {
		if hold.Credits == 0 {
			continue
		}
		return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
			now := h.Now()
			factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject, factoryrecord.Counts{Reserved: -hold.Credits})
			return errors.Join(ledger.Release(tx, now, j.Owner.Account, hold, 0),
				j.keep(tx, after, i+1, ledger.Hold{}))
		})
	}
	return j.End(func(_ context.Context, tx *store.Tx) error {
		now, c := h.Now(), factoryrecord.Counts{Reserved: -j.Hold.Credits}
		if j.Since.IsZero() && !j.Writing {
			from, _ := j.chunk()
			c.Canceled = int64(len(j.slots) - from)
		}
		factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject, c)
		if err := ledger.Release(tx, now, j.Owner.Account, j.Hold, 0); err != nil {
			return err
		}
		return j.enter(tx, now, Canceled, nil)
	})
}

// cancelChunk cancels the items of the next chunk that are not generated yet, and drops its topics without an item.
func (h *Handler) cancelChunk(ctx context.Context, j *job) error {
	it, err := h.DB.Lookup(ctx, chunkKey(j.Subject, j.CanceledChunks+1))
	if err != nil {
		return err
	}
	after := j.progress
	after.CanceledChunks++
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
			factoryrecord.AddCounts(tx, h.Now(), j.factoryID, j.Subject, factoryrecord.Counts{Canceled: dropped})
			return tx.Rewrite(it, c)
		})
	}
	return j.move(after)
}

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
	taken := func(t *topicItem) bool {
		day := t.At.In(zone).Format(time.DateOnly)
		return slices.ContainsFunc(j.cuts[j.Cuts:], func(d factoryrecord.Days) bool { return d.Has(day) })
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
			return h.give(j, stored[n], c, dropped, TopicDiscarded)
		}
	}
	after := j.progress
	after.Cuts = len(j.cuts)
	return j.move(after)
}

// give ends topics of a chunk that have the same reservation, and releases their part of it.
func (h *Handler) give(j *job, it store.Item, c chunk, dropped []int, to TopicState) error {
	return j.then(func(_ context.Context, tx *store.Tx, after *progress) error {
		now, number, counts := h.Now(), c.Items[dropped[0]].Hold, factoryrecord.Counts{Canceled: int64(len(dropped))}
		if to == TopicFailed {
			counts = factoryrecord.Counts{Failed: counts.Canceled}
		}
		all := slices.Clone(c.Items)
		for _, i := range dropped {
			if all[i].State == TopicApproved && j.hold(number).Credits > 0 {
				counts.Reserved -= j.recipe.reserved(all[i].Type)
			}
			all[i].enter(to, now)
		}
		rest, err := new(batch).commit(tx, now, j, j.hold(number), -counts.Reserved)
		if err != nil {
			return err
		}
		if err := j.keep(tx, after, number, rest); err != nil {
			return err
		}
		factoryrecord.AddCounts(tx, now, j.factoryID, j.Subject, counts)
		if err := tx.Rewrite(it, chunk{all}); err != nil {
			return err
		}
		return j.enter(tx, now, j.plan.State, nil)
	})
}
