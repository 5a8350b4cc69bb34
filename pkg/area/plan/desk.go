package plan

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/prompt"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// mostTopics is the number of topics that a plan has at most, those that were dropped among them.
const mostTopics = 1000

// TopicsPath names the plan of a call that is about topics.
type TopicsPath struct {
	factory.FactoryPath
	// Id of the plan. Absent: the latest plan of the factory.
	PlanID string `query:"content_plan_id" example:"pln_01h455vb4pex5vsknk084sn02q"`
}

// desk is a plan with all its topics, and what a call changes of them.
type desk struct {
	// clock is the time of the caller.
	clock  time.Time
	plan   Plan
	stored store.Item // the plan as it was read, for its next version
	book   factoryrecord.Book
	recipe Recipe
	// written is the item of the recipe, and repriced reports that the call changes it.
	written  store.Item
	repriced bool
	chunks   []chunk
	// items are those of the chunks, and changed has the numbers of chunks that the call changes, from 0.
	items   []store.Item
	changed map[int]bool
	// beside are the items of other keys that were read with them.
	beside []store.Item
}

// desk reads the plan of a call with its topics, and other items with them.
func (s *Service) desk(ctx context.Context, in TopicsPath, others ...store.Key) (d desk, err error) {
	found, err := s.find(ctx, in)
	if err != nil {
		return d, err
	}
	o := auth.FromContext(ctx).Owner
	if d.clock, err = testclock.Now(ctx, s.db, o, s.now()); err != nil {
		return d, err
	}
	if d.plan, err = shown(found, o, in); err != nil {
		return d, err
	}
	for _, it := range found {
		switch {
		case it.Kind == ItemKind && d.stored.Kind == "":
			d.stored = it
		case it.Kind == factoryrecord.BookKind:
			if d.book, err = factoryrecord.BookOf(it); err != nil {
				return d, err
			}
		}
	}
	chunks := chunkKeys(d.plan.ID, d.plan.Items.Total+1) // one more, because a topic may be added
	keys := append([]store.Key{recipeKey(d.plan.ID)}, chunks...)
	items, err := s.db.GetAll(ctx, append(keys, others...)...)
	if err != nil {
		return d, err
	}
	d.written, d.items, d.beside = items[0], items[1:len(keys)], items[len(keys):]
	d.changed = map[int]bool{}
	if d.chunks, err = chunksOf(d.items); err != nil {
		return d, err
	}
	if d.written.Kind == "" {
		return d, nil
	}
	return d, d.written.Decode(&d.recipe)
}

// find reads the items of the plan of a call.
func (s *Service) find(ctx context.Context, in TopicsPath) ([]store.Item, error) {
	switch {
	case !id.Valid(id.Factory, in.ID):
		return nil, errs.Missing(factory.Kind, in.ID)
	case in.PlanID == "":
		page, err := s.db.List(ctx, Latest(in.ID))
		return page.Items, err
	}
	return The(ctx, s.db, in.ID, in.PlanID)
}

// shown returns the plan of a call, whose items were read.
func shown(items []store.Item, o tenant.Owner, in TopicsPath) (Plan, error) {
	p, ok, err := Found(items, o)
	switch {
	case err == nil && !ok && in.PlanID != "":
		err = errs.New(errs.NotFound, "The factory %s has no content plan %s, or there is no such factory for this "+
			"key's account and mode.", in.ID, in.PlanID)
	case err == nil && !ok:
		err = errs.New(errs.NotFound, "The factory %s has no content plan, or there is no such factory for this "+
			"key's account and mode.", in.ID)
	}
	return p, err
}

// open refuses a plan whose topics cannot be changed.
func (d *desk) open() error {
	refuse := func(state State, message string, allowed ...string) error {
		return errs.New(errs.InvalidState, "%s", message).With(errs.StateContext{State: string(state),
			Allowed: append([]string{}, allowed...)})
	}
	switch p := d.plan; {
	case d.book.Ended(p.ID):
		return refuse(Canceled, "The content plan "+p.ID+" was replaced by another one. Change the topics of that one.")
	case p.State == Queued || p.State == Planning:
		return refuse(p.State, "The topics of the content plan "+p.ID+" are still being written. Try again in some "+
			"seconds, once its state is proposed.", "get")
	case p.State.Final():
		return refuse(p.State, "The content plan "+p.ID+" has ended. Create another one.", "create")
	case p.WriteAheadHours == nil:
		return refuse(p.State, "The content plan "+p.ID+" makes all its items at once. Change the items, or plan with "+
			"approve: topics.", "replace")
	}
	return nil
}

// topic returns a topic by its number, and its chunk from 0.
func (d *desk) topic(number int) (t *chosen, at int, err error) {
	if n, _ := chunkOf(number); number > 0 && n <= len(d.chunks) {
		for i := range d.chunks[n-1].Items {
			if one := &d.chunks[n-1].Items[i]; one.Number == number {
				return one, n - 1, nil
			}
		}
	}
	return nil, 0, errs.New(errs.NotFound, "The content plan has no topic with this number. GET the plan for its "+
		"calendar.")
}

// waiting reports whether a topic waits for an approval.
func (d *desk) waiting() bool {
	for _, c := range d.chunks {
		for _, one := range c.Items {
			if one.State == TopicProposed {
				return true
			}
		}
	}
	return false
}

// save adds what has changed to the transaction. All changes of topics write the plan, so that two of the same moment
// conflict, and the one that is tried again reads the other.
func (d *desk) save(tx *store.Tx, now time.Time, o tenant.Owner, counts factoryrecord.Counts) error {
	for n := range d.changed {
		it := d.items[n]
		if it.Kind == "" {
			if err := d.plan.note(tx, o, chunkKey(d.plan.ID, n+1), "content_plan_items", d.chunks[n]); err != nil {
				return err
			}
			continue
		}
		if err := it.Encode(d.chunks[n]); err != nil {
			return err
		}
		tx.Replace(it)
	}
	if d.repriced {
		it := d.written
		if err := it.Encode(d.recipe); err != nil {
			return err
		}
		tx.Replace(it)
	}
	if d.plan.State = Generating; d.waiting() {
		d.plan.State = Proposed
	}
	d.plan.Touch(now)
	it := d.stored
	if err := it.Encode(d.plan); err != nil {
		return err
	}
	tx.Replace(it)
	factoryrecord.AddCounts(tx, now, d.plan.FactoryID, d.plan.ID, counts)
	return task.Wake(tx, now, message(o, d.plan.ID))
}

// on returns the place of a topic at a time in the plan: its day, its season and what is celebrated then.
func (d *desk) on(at time.Time) (prompt.Plan, error) {
	zone, err := time.LoadLocation(d.plan.Timezone)
	if err != nil {
		return prompt.Plan{}, err
	}
	local := at.In(zone)
	day := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	place := prompt.Plan{Day: dayText(day), Season: calendar.Season(day, d.recipe.Country)}
	if names := calendar.Days(day, d.recipe.Country, d.recipe.Trade); len(names) > 0 {
		place.Occasion = names[0]
	}
	return place, nil
}
