package plan

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// TopicState is the state of a topic of a plan.
type TopicState string

// The states of topics. The last four are final.
const (
	TopicProposed  TopicState = "proposed"
	TopicApproved  TopicState = "approved"
	TopicCompleted TopicState = "completed"
	TopicDiscarded TopicState = "discarded"
	TopicExpired   TopicState = "expired"
	TopicFailed    TopicState = "failed"
)

// open reports whether the item of a topic may still be written.
func (s TopicState) open() bool { return s == TopicProposed || s == TopicApproved }

// Topic is a topic of a plan, and the item that is made of it.
type Topic struct {
	// Number of the topic in its plan, from 1. It never changes.
	Number int `json:"number" example:"1"`
	// Time at which it was chosen or added.
	CreatedAt resource.Time `json:"created_at"`
	// Time of its last change.
	UpdatedAt resource.Time `json:"updated_at"`
	// Id of the content plan that it belongs to.
	ContentPlanID string `json:"content_plan_id"`
	// State of the topic. proposed: it waits for an approval; approved: its item is written at its time; completed:
	// its item was made; discarded: it was removed; expired: it was not approved before its time; failed: no new topic
	// was found.
	State TopicState `json:"state" enum:"proposed,approved,completed,discarded,expired,failed"`
	// Id of its item. Null until it is written.
	ContentItemID resource.Text `json:"content_item_id"`
	// Type of the item that is made of it.
	ContentType string `json:"content_type" example:"post"`
	// Planned time. That of the item may have been changed since.
	PublishAt resource.Time `json:"publish_at"`
	// What the item is about, in the language of the factory.
	Topic string `json:"topic"`
	// Its pillar: a recurring subject of the plan. Null: none.
	Pillar resource.Text `json:"pillar"`
	// Angle from which the item presents its topic. Null: none.
	Angle resource.Text `json:"angle" example:"a mistake that we made"`
	// Idea of its first line. Null: none.
	Hook resource.Text `json:"hook"`
	// What it is to lead to, in English. Null: none.
	Goal resource.Text `json:"goal" example:"readers answer in a comment"`
	// Day that is celebrated at that time, in English. Null: none.
	Occasion resource.Text `json:"occasion" example:"Mother's Day (in 2 days)"`
	// Its place in a campaign. Null: none.
	Campaign resource.Text `json:"campaign" example:"2 of 3: Launch of the trail shoe"`
	// Id of the product that it presents. Null: none.
	ProductID resource.Text `json:"product_id"`
	// Version of the topic, which each change raises. It is the ETag of GET, for If-Match.
	Version int64 `json:"version" example:"1"`
}

// ResourceVersion returns the version of the topic, for its ETag.
func (t Topic) ResourceVersion() int64 { return t.Version }

// chunk is some topics of a plan, which one transaction chose; number 0 has the topics of earlier items of the factory.
type chunk struct {
	Items []chosen `json:"items"`
}

// chosen is a topic that was chosen, and its item once that is made.
type chosen struct {
	// Number is the place in the plan, from 1.
	Number int    `json:"number,omitempty"`
	ID     string `json:"id,omitempty"`
	Topic  string `json:"topic"`
	// Type, At and Slot are those of the item. Topics of earlier items have none.
	Type string       `json:"type,omitempty"`
	At   time.Time    `json:"at,omitzero"`
	Slot *prompt.Plan `json:"slot,omitempty"`
	// State is the state, Product the product that it presents, and About what its campaign is about.
	State   TopicState `json:"state,omitempty"`
	Product string     `json:"product,omitempty"`
	About   string     `json:"about,omitempty"`
	// By is on whose behalf its item is published: who has last changed or approved it. Nobody: who has made the plan.
	By authority.Authority `json:"by,omitzero"`
	// Hold is the number of the reservation of its item in the recipe, once it is approved.
	Hold    int   `json:"hold,omitempty"`
	Version int64 `json:"version,omitempty"`
	// Created and Updated are the times at which it was chosen and last changed.
	Created time.Time `json:"created,omitzero"`
	Updated time.Time `json:"updated,omitzero"`
}

// enter moves the topic to a state, in its next version.
func (c *chosen) enter(to TopicState, now time.Time) {
	c.State = to
	c.touch(now)
}

// touch begins the next version of the topic.
func (c *chosen) touch(now time.Time) {
	c.Version++
	c.Updated = now
}

// shown returns the topic as callers see it.
func (c *chosen) shown(planID string) Topic {
	slot := c.Slot
	if slot == nil {
		slot = &prompt.Plan{} // it is older than the member
	}
	return Topic{
		Number: c.Number, CreatedAt: resource.Instant(c.Created), UpdatedAt: resource.Instant(c.Updated),
		ContentPlanID: planID, State: c.State, ContentItemID: resource.Text(c.ID),
		ContentType: c.Type, PublishAt: resource.Instant(c.At), Topic: c.Topic, Pillar: resource.Text(slot.Pillar),
		Angle: resource.Text(slot.Angle), Hook: resource.Text(slot.Hook), Goal: resource.Text(slot.Goal),
		Occasion: resource.Text(slot.Occasion), Campaign: resource.Text(slot.Campaign),
		ProductID: resource.Text(c.Product), Version: c.Version,
	}
}

// chunkOf returns the number of the chunk of a topic, from 1, and its place there.
func chunkOf(number int) (n, at int) { return (number-1)/chunkSlots + 1, (number - 1) % chunkSlots }

// chunkKeys returns the keys of the chunks of a plan with so many topics.
func chunkKeys(planID string, topics int64) []store.Key {
	keys := make([]store.Key, (topics+chunkSlots-1)/chunkSlots)
	for n := range keys {
		keys[n] = chunkKey(planID, n+1)
	}
	return keys
}

// Calendar returns the topics of a plan that were chosen.
func Calendar(ctx context.Context, db *store.DB, p Plan) ([]Topic, error) {
	all := []Topic{}
	items, err := db.GetAll(ctx, chunkKeys(p.ID, p.Items.Total)...)
	if err != nil {
		return nil, err
	}
	chunks, err := chunksOf(items)
	for _, c := range chunks {
		for _, m := range c.Items {
			all = append(all, m.shown(p.ID))
		}
	}
	return all, err
}

// chunksOf returns the chunks of items that were read. One whose topics are not chosen yet, or never were, has none.
func chunksOf(items []store.Item) ([]chunk, error) {
	chunks := make([]chunk, len(items))
	for n, it := range items {
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&chunks[n]); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}
