package plan

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate/ask"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

const (
	// rounds is the number of times that topics are requested for a chunk: slots without a new topic are then dropped.
	rounds = 4
	// maxFailures is the number of times in a row that a question may fail before the rest is dropped.
	maxFailures = 7
	// mostRefused is the number of topics that a chunk remembers as too much like others.
	mostRefused = 50
	// pastTime is the time for which topics may not be repeated, and pastItems the number
	// of items that are read for that.
	pastTime  = 90 * 24 * time.Hour
	pastItems = 500
)

// choice is what was chosen for the next chunk.
type choice struct {
	// Round is the number of answers, Chosen has the topics of the slots so far, and Refused are those that were too
	// much like others.
	Round   int            `json:"round,omitempty"`
	Chosen  map[int]string `json:"chosen,omitempty"`
	Refused []string       `json:"refused,omitempty"`
	// Views are the angles and hooks of the chosen topics.
	Views map[int]view `json:"views,omitempty"`
}

// remember notes the topics of earlier items of the factory.
func (h *Handler) remember(ctx context.Context, j *job) error {
	past := chunk{Items: []chosen{}}
	q := store.Query{
		Index: store.ByParent, Partition: item.ParentPartition(j.Owner, j.factoryID),
		From: id.First(id.ContentItem, j.plan.CreatedAt.Add(-pastTime)), Limit: 100,
		OneOf: map[string][]string{"state": {string(item.Queued), string(item.Generating), string(item.Generated),
			string(item.Scheduled), string(item.Publishing), string(item.Published)}},
	}
	for len(past.Items) < pastItems {
		page, err := h.DB.List(ctx, q)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			r, err := item.Decode(&it)
			if err != nil {
				return err
			}
			past.Items = append(past.Items, chosen{Topic: clean(r.Prompt)})
		}
		if page.Next == nil {
			break
		}
		q.After = page.Next
	}
	hours, err := hoursOf(ctx, h.DB, h.Now, j.factoryItem, j.plan.Timezone)
	if err != nil {
		return err
	}
	if err := h.learned(ctx, j); err != nil {
		return err
	}
	j.Also(func(_ context.Context, tx *store.Tx) error {
		return errors.Join(j.plan.note(tx, j.Owner, chunkKey(j.Subject, 0), "content_plan_items", past),
			j.enter(tx, h.Now(), Planning, nil))
	})
	return errors.Join(j.Keep("hours", hours), j.Sleep(0))
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

// choose asks the text model for topics of the next chunk, until all slots have one or the rounds are over.
func (h *Handler) choose(ctx context.Context, j *job) error {
	used, err := h.used(ctx, j)
	if err != nil {
		return err
	}
	if err := h.offer(ctx, j); err != nil {
		return err
	}
	from, to := j.chunk()
	j.choice, err = ask.Talk[choice]{Models: h.Providers, Name: "topics", Questions: rounds, Failures: maxFailures,
		Put: func(_ context.Context, known choice) (ask.Question, error) {
			j.choice = known
			return j.question(used), nil
		},
		Take: func(known *choice, answer json.RawMessage) (bool, error) {
			if err := j.take(answer, used); err != nil {
				return false, err
			}
			j.Round++
			*known = j.choice
			return len(j.Chosen) == to-from, nil
		}}.In(ctx, j.Run)
	return err
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
	from, to := j.chunk()
	for _, t := range topics {
		s := shapeOf(t.Topic)
		switch {
		case t.Slot < 1 || t.Slot > to-from || j.Chosen[t.Slot] != "":
		case taken.has(s), j.besides(t), j.invents(from, t):
			j.Refused = append(j.Refused[max(0, len(j.Refused)+1-mostRefused):], t.Topic)
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
