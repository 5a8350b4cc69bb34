package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// rounds is the number of times that topics are requested for a chunk: slots without a new topic are then dropped.
	rounds = 4
	// maxFailures is the number of times in a row that a question may fail before the rest is dropped.
	maxFailures = 7
	// longestBusy is the age of a plan from which on its topics do not wait for a busy provider.
	longestBusy = time.Hour
	// pastTime is the time for which topics may not be repeated, and pastItems the number
	// of items that are read for that.
	pastTime  = 90 * 24 * time.Hour
	pastItems = 500
)

// remember notes the topics of earlier items of the factory.
func (h *Handler) remember(ctx context.Context, j *job) (o task.Outcome, err error) {
	past := chunk{Items: []chosen{}}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(j.Owner, j.FactoryID),
		From: id.First(id.ContentItem, j.plan.CreatedAt.Add(-pastTime)), Limit: 100,
		OneOf: map[string][]string{"state": {string(item.Queued), string(item.Generating), string(item.Generated),
			string(item.Scheduled), string(item.Publishing), string(item.Published)}},
	}
	for len(past.Items) < pastItems {
		page, err := h.DB.List(ctx, q)
		if err != nil {
			return o, err
		}
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return o, err
			}
			past.Items = append(past.Items, chosen{Topic: clean(r.Prompt)})
		}
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	if j.Hours, err = h.hours(ctx, j); err != nil {
		return o, err
	}
	if err := h.learned(ctx, j); err != nil {
		return o, err
	}
	j.Past = true
	o.Payload = j.progress
	o.Join = func(_ context.Context, tx *store.Tx) error {
		return errors.Join(j.plan.note(tx, j.Owner, chunkKey(j.Subject, 0), "content_plan_items", past),
			j.enter(tx, h.Now(), Planning, nil))
	}
	return o, nil
}

// hours returns the best hours for the accounts of the factory.
func (h *Handler) hours(ctx context.Context, j *job) (all Hours, err error) {
	return hoursOf(ctx, h.DB, h.Now, j.factoryItem, j.plan.Timezone)
}

// hoursOf returns the best hours in a time zone for the accounts of a factory.
func hoursOf(ctx context.Context, db *store.DB, now func() time.Time, factory store.Item, zoneName string) (all Hours,
	err error) {
	zone, err := time.LoadLocation(zoneName)
	if err != nil {
		return all, err
	}
	habits, err := analytics.NewService(db, now).HabitsOf(ctx, factory, zone)
	if err != nil {
		return all, err
	}
	all = hoursOn(habits.Platforms)
	for day, better := range habits.Better {
		all.measured(time.Weekday(day), better)
	}
	return all, nil
}

// choose requests topics of the next chunk, and makes its items once all slots have one or the rounds are over.
func (h *Handler) choose(ctx context.Context, j *job) (o task.Outcome, err error) {
	used, err := h.used(ctx, j)
	if err != nil {
		return o, err
	}
	if err := h.offer(ctx, j); err != nil {
		return o, err
	}
	if err := h.ask(ctx, j, used); err != nil {
		var e *provider.Error
		switch final := errors.As(err, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected); {
		case errors.Is(err, task.ErrMoved) || ctx.Err() != nil:
			return o, err
		case !final && (j.Failures+1 < maxFailures || task.Throttled(err) && h.Now().Sub(j.Began) < longestBusy):
			return o, err
		}
		slog.Warn("topics of a plan not written", "plan", j.Subject, "chunk", j.Chunks, "error", err)
		return h.drop(j, e), nil
	}
	from, to := j.next()
	if j.Round++; len(j.Chosen) < to-from && j.Round < rounds {
		o.Payload = j.progress
		return o, nil
	}
	after := &progress{}
	o.Payload = after
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		*after = j.progress
		if j.plan.WriteAheadHours != nil {
			return h.propose(tx, j, after)
		}
		return h.make(ctx, tx, j, after)
	}
	return o, nil
}

// used returns the topics that new ones must differ from, the latest first.
func (h *Handler) used(ctx context.Context, j *job) (topics []string, err error) {
	keys := make([]store.Key, j.Chunks+1)
	for n := range keys {
		keys[n] = chunkKey(j.Subject, j.Chunks-n)
	}
	items, err := h.DB.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		var c chunk
		if err := it.Decode(&c); err != nil {
			return nil, err
		}
		for _, m := range c.Items {
			if m.Topic != "" {
				topics = append(topics, m.Topic)
			}
		}
	}
	return topics, nil
}

// ask asks the text model once, and takes over the topics that are new.
func (h *Handler) ask(ctx context.Context, j *job, used []string) error {
	m, ok := catalog.Find(j.recipe.Model)
	if !ok {
		return fmt.Errorf("plan: the catalog has lost the model %q", j.recipe.Model)
	}
	p, err := h.Providers.For(m.Provider, j.Mode)
	if err != nil {
		return &provider.Error{Kind: provider.Rejected, Code: "provider_unavailable",
			Message: "The provider of the model is no longer available.", Cause: err}
	}
	req, err := j.request(used)
	if err != nil {
		return err
	}
	req.Model, req.Options, req.ClientToken = m.ProviderModel, m.ProviderOptions,
		fmt.Sprintf("%s-%d", j.Subject, j.Task.Step)
	if err := j.Lease(ctx, nil); err != nil {
		return err
	}
	answer, err := provider.Ask(ctx, p, req)
	if err != nil {
		return err
	}
	return j.take(answer, used)
}

// take takes over the topics of an answer that are new.
func (j *job) take(answer json.RawMessage, used []string) error {
	topics, err := parse(answer)
	if err != nil {
		return &provider.Error{Kind: provider.Transient, Code: "text_unreadable",
			Message: "The model's topics could not be read.", Cause: err}
	}
	var taken known
	for _, topic := range used {
		taken = append(taken, shapeOf(topic))
	}
	for _, topic := range j.Chosen {
		taken = append(taken, shapeOf(topic))
	}
	if j.Chosen == nil {
		j.Chosen = map[int]string{}
	}
	if j.Views == nil {
		j.Views = map[int]view{}
	}
	from, to := j.next()
	for _, t := range topics {
		s := shapeOf(t.Topic)
		switch {
		case t.Slot < 1 || t.Slot > to-from || j.Chosen[t.Slot] != "":
		case taken.has(s), j.besides(t), j.invents(from, t):
			j.Refused = append(j.Refused, t.Topic)
		default:
			j.Chosen[t.Slot], j.Views[t.Slot] = t.Topic, t.view
			taken = append(taken, s)
		}
	}
	return nil
}

// besides reports whether the topic before or after a topic has the same angle.
func (j *job) besides(t topic) bool {
	for _, n := range []int{t.Slot - 1, t.Slot + 1} {
		if other := j.Views[n]; j.Chosen[n] != "" && t.Angle != "" && similarity(shapeOf(t.Angle),
			shapeOf(other.Angle)) >= sameAngle {
			return true
		}
	}
	return false
}

// invents reports whether a topic states what none of the inputs of its item has, or has a forbidden word. The item
// takes its topic for an input, so nothing else would find it.
func (j *job) invents(from int, t topic) bool {
	slot := j.slots[from+t.Slot-1]
	recipe := j.recipe.Items[slot.Type]
	if recipe == nil || j.Mode == tenant.Test {
		return false
	}
	r := *recipe
	at := j.places[from+t.Slot-1]
	place := at.Plan
	place.Brief = string(j.plan.Brief) + "\n" + at.about
	r.Prompt, r.Slot, r.PublishAt = "", &place, resource.InstantOrNil(&slot.At)
	if _, err := j.present(&r, j.productOf(from+t.Slot-1), slot.At); err != nil {
		return false // making the item returns the error
	}
	return item.AttemptAt(&r).Invents(slot.At, t.Topic, t.Angle, t.Hook)
}

// sameAngle is the similarity from which on two angles count as the same.
const sameAngle = 0.8
