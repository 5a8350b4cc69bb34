package plan

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/content"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/product"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// topicOf returns the topic of slot i of the next chunk, from 0: a failed one if none was found.
func (j *job) topicOf(i int, now time.Time) chosen {
	from, _ := j.chunk()
	slot, at, told := j.slots[from+i], j.places[from+i], j.Views[i+1]
	place := at.Plan
	place.Angle, place.Hook = told.Angle, told.Hook
	c := chosen{Number: from + i + 1, Topic: j.Chosen[i+1], Type: slot.Type, At: slot.At,
		Slot: content.Placed(&place, j.trials[i+1]), About: at.about,
		State: TopicApproved, Version: 1, Created: now, Updated: now}
	if p := j.productOf(from + i); p != nil {
		c.Product = p.ID
	}
	if c.Topic == "" {
		c.State = TopicFailed
	}
	return c
}

// batch is the items that one transaction makes of topics.
type batch struct {
	records []*item.Record
	orders  []generate.Order
	// saved is the number of reserved credits that they do not need.
	saved int64
}

// write adds the item of a topic to the batch. shop is the product that it presents, or nil, t has its arms, or is nil,
// and held is the type whose price is reserved for it.
func (j *job) write(b *batch, c *chosen, shop *product.StoredProduct, t *item.Trial, held string, now time.Time) error {
	r := *j.recipe.record(c.Type, t)
	r.Experiment = t
	content.Restyle(&r.Brief, t)
	c.Slot = content.Placed(c.Slot, t)
	// Each has a millisecond of its own, so that lists have them in the order of the plan.
	made := now.Add(time.Duration(len(b.records)) * time.Millisecond)
	r.Resource = resource.New(id.New(id.ContentItem, made), made, nil)
	r.Prompt, r.ContentPlanID, r.PublishAt, r.Accepted = c.Topic, &j.plan.ID, resource.InstantOrNil(&c.At), now
	inPlan := *c.Slot
	if inPlan.Brief = string(j.plan.Brief); c.About != "" {
		inPlan.Campaign += ". " + c.About
	}
	if r.Slot = &inPlan; c.By.Actor.ID != "" {
		r.Authority = c.By
	}
	rest := j.recipe.reserved(held) - r.Credits
	saved, err := j.present(&r, shop, c.At)
	if err != nil {
		return err
	}
	b.saved += rest + saved
	b.records, b.orders = append(b.records, &r), append(b.orders, item.AttemptAt(&r).Order(j.Owner))
	c.ID, c.State = r.ID, TopicCompleted
	return nil
}

// commit adds the items of a batch to the transaction, with their work and their part of a reservation. dropped are the
// credits of topics without an item, which are released. It returns what is left of the reservation.
func (b *batch) commit(tx *store.Tx, now time.Time, j *job, hold ledger.Hold, dropped int64) (ledger.Hold, error) {
	rest, tickets, err := generate.Begin(tx, now, j.Owner, hold, b.orders, b.saved+dropped)
	if err != nil {
		return hold, err
	}
	for i, r := range b.records {
		r.Ticket = tickets[i]
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
		var dropped factory.Counts
		for i := range to - from {
			one, held := j.topicOf(i, now), j.slots[from+i].Held
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
		dropped.Reserved -= b.saved
		factory.AddCounts(tx, now, j.factoryID, j.Subject, dropped)
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
		var dropped factory.Counts
		for i := range to - from {
			one := j.topicOf(i, now)
			switch {
			case one.State == TopicFailed:
				dropped.Failed++
				if j.Hold.Credits > 0 {
					dropped.Reserved -= j.recipe.reserved(one.Type)
				}
			case j.plan.Approve == ApproveTopics:
				one.State = TopicProposed
			}
			c.Items = append(c.Items, one)
		}
		rest, err := new(batch).commit(tx, now, j, j.Hold, -dropped.Reserved)
		if err != nil {
			return err
		}
		factory.AddCounts(tx, now, j.factoryID, j.Subject, dropped)
		state := Planning
		if to == len(j.slots) {
			state, after.Writing = Generating, true
			if j.plan.Approve == ApproveTopics {
				state = Proposed
			}
		}
		return errors.Join(j.chosen(tx, after, rest, c), j.enter(tx, now, state, nil))
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
				freed += j.recipe.reserved(slot.Held)
			}
		}
		var err error
		if after.Hold, err = new(batch).commit(tx, now, j, j.Hold, freed); err != nil {
			return err
		}
		j.forget()
		factory.AddCounts(tx, now, j.factoryID, j.Subject, factory.Counts{Failed: int64(len(j.slots) - from),
			Reserved: -freed})
		return j.enter(tx, now, j.open(), &failure)
	})
}
