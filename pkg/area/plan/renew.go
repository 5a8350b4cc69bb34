package plan

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

const (
	// againRounds is the number of answers that one try for other topics takes, mostTries the number of tries, and
	// tryWait the time between two of them, which grows.
	againRounds, mostTries = 4, 3
	tryWait                = 10 * time.Minute
	// newsWait is the time after which a feed is looked at again for a slot of news that found no story.
	newsWait = source.Fresh
)

// nextTry is the time at which another topic is looked for.
func (c *topicItem) nextTry() time.Time { return c.UpdatedAt.Add(time.Duration(c.Tries) * tryWait) }

// renew has the model write other topics for those that a person did not want and those that were not found, and gives
// up those for which none is found. It reports whether the step has done so.
func (h *Handler) renew(ctx context.Context, j *job, stored []store.Item, now time.Time) (done bool, err error) {
	chunks, err := chunksOf(stored)
	if err != nil {
		return false, err
	}
	for n, c := range chunks {
		var lost, again []int
		for i := range c.Items {
			t := &c.Items[i]
			switch {
			case !t.State.open() || t.Topic != "":
			case t.Again && t.Tries >= mostTries, t.State == TopicApproved && !t.At.After(now):
				if len(lost) == 0 || c.Items[lost[0]].Hold == t.Hold {
					lost = append(lost, i)
				}
			case t.Again && !t.nextTry().After(h.Now()) && t.At.After(now):
				again = append(again, i)
			}
		}
		switch {
		case len(lost) > 0:
			return true, h.give(j, stored[n], c, lost, TopicFailed)
		case len(again) > 0:
			return true, h.rewrite(ctx, j, stored[n], c, again)
		}
	}
	return false, nil
}

// rewrite asks for other topics of some places of a chunk.
func (h *Handler) rewrite(ctx context.Context, j *job, it store.Item, c chunk, places []int) error {
	var named []string
	for _, i := range places {
		if c.Items[i].Product != "" && !slices.Contains(named, c.Items[i].Product) {
			named = append(named, c.Items[i].Product)
		}
	}
	products, err := h.DB.GetAll(ctx, store.IDKeys(named)...)
	if err != nil {
		return err
	}
	if _, err := j.stock(products); err != nil {
		return err
	}
	for _, i := range places {
		t := &c.Items[i]
		o := opening{number: t.Number - 1, contentType: t.Type, at: t.At, about: t.About, product: j.shop[t.Product]}
		if t.Slot != nil {
			o.place = *t.Slot
		}
		if n := len(t.Refused); n > 0 {
			o.wanted = t.Refused[n-1].Reason
		}
		j.again = append(j.again, o)
	}
	if err := h.talk(ctx, j, "again", againRounds); task.Waits(err) {
		return err
	} // an error of the model is one more try
	return j.then(func(_ context.Context, tx *store.Tx, _ *progress) error {
		now := h.Now()
		all := slices.Clone(c.Items)
		for n, i := range places {
			t := &all[i]
			if t.Topic = j.Topics[n+1]; t.Topic == "" {
				t.Tries++
				t.UpdatedAt = now
				continue
			}
			slot := prompt.Plan{}
			if t.Slot != nil {
				slot = *t.Slot
			}
			slot.Angle, slot.Hook = j.Views[n+1].Angle, j.Views[n+1].Hook
			t.Slot, t.Again, t.Tries = &slot, false, 0
			t.touch(now)
		}
		j.Forget("again")
		if err := tx.Rewrite(it, chunk{all}); err != nil {
			return err
		}
		return j.enter(tx, now, j.plan.State, nil)
	})
}

// fromFeeds reports whether the topics of a plan are the news of its feeds: they are not known before their hours.
func (p *Plan) fromFeeds(r *Recipe) bool {
	return r.Trade == string(factory.News) && p.WriteAheadHours != nil && len(r.feeds()) > 0
}

// feeds returns the sources of the items of a plan.
func (r *Recipe) feeds() []source.Source {
	for _, one := range r.Items {
		return one.Brief.Sources // the same for all
	}
	return nil
}

// report gives the slots of news that are due the latest stories of their feeds that no other item has. Those without a
// story are not due.
func (h *Handler) report(ctx context.Context, j *job, a *agenda, now time.Time) error {
	empty := func(i int) bool { return a.chunk.Items[i].Topic == "" }
	if !slices.ContainsFunc(a.due, empty) {
		return nil
	}
	used, _, err := h.used(ctx, j)
	if err != nil {
		return err
	}
	var taken knownTopics
	for _, topic := range used {
		taken = append(taken, shapeOf(topic))
	}
	var stories []source.Article
	if h.Sources != nil {
		reading := item.SourceReading{DB: h.DB, Owner: j.Owner, FactoryID: j.factoryID, Reader: h.Sources}
		all, err := reading.Read(ctx, h.Now(), j.recipe.feeds())
		if err != nil {
			return err
		}
		var most time.Duration
		for _, r := range j.recipe.Items {
			most = time.Duration(r.Brief.MaxAge) * time.Hour
		}
		stories = source.Latest(all, h.Now(), most)
	}
	for _, i := range slices.Clone(a.due) {
		if !empty(i) {
			continue
		}
		t := &a.chunk.Items[i]
		at := slices.IndexFunc(stories, func(s source.Article) bool { return !taken.has(shapeOf(clean(s.Title))) })
		if at < 0 {
			a.due = slices.DeleteFunc(a.due, func(n int) bool { return n == i })
			if again := now.Add(newsWait); a.next.IsZero() || again.Before(a.next) {
				a.next = again
			}
			continue
		}
		t.Topic = clean(stories[at].Title)
		if t.Slot != nil && t.Slot.Pillar == "" {
			slot := *t.Slot
			slot.Pillar = j.plan.pillarFor(t.Topic + " " + stories[at].Text)
			t.Slot = &slot
		}
		taken = append(taken, shapeOf(t.Topic))
	}
	return nil
}
