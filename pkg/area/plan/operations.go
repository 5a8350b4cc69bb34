// Package plan holds the operations of content plans. Service.Register in operations.go has the operations; Handler in
// handler.go is the task that makes the topics and the items.
package plan

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/area"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/area/quote"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/craft/calendar"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Service creates and shows content plans.
type Service struct {
	db        *store.DB
	factories *factory.Service
	offer     catalog.Offer
	now       func() time.Time
}

// NewService makes the service. It makes no call.
func NewService(db *store.DB, factories *factory.Service, offer catalog.Offer, now func() time.Time) *Service {
	return &Service{db, factories, offer, now}
}

// Mount registers the operations of the area.
func Mount(r *httpapi.Router, e area.Env) {
	NewService(e.DB, factory.NewService(e.DB, e.Now), e.Offer(), e.Now).Register(r)
}

// Register puts the operations of the area into the router.
func (s *Service) Register(r *httpapi.Router) {
	const path = "/v1/factories/{factory_id}/content-plan"
	create := httpapi.Op{
		ID: "createContentPlan", Method: http.MethodPost, Path: path, Scope: auth.FactoriesWrite, Function: "factory",
		Tag:     "Factories",
		Summary: "Create a content plan",
		Description: "Plans `days` times `posts_per_day` content items, at most 900. A text model writes a topic, " +
			"an angle and a hook for each item in the background, different from those of the factory's " +
			"last 90 days. The items are then created with the current settings of the factory, as `POST " +
			"/v1/content-items` creates them, and their `publish_at` follows its schedule. The credits of " +
			"all items are reserved at once; the topics cost nothing. An item for which no new topic is " +
			"found counts as failed, and its credits are released. The event `content_plan.proposed` " +
			"reports that topics wait for approval, and `content_plan.completed` reports that all items " +
			"have ended. If another plan of the factory has some of the days, the call needs `replace`. " +
			"With `approve: topics` the plan stops at the topics: read them in its `calendar`, change " +
			"them, and approve them. With `rehearse` nothing is created: the `rehearsal` of the response has the " +
			"calendar, the price and each refusal. With a test key nothing is spent, and `sandbox` selects the " +
			"result of each item.",
		Status: http.StatusAccepted,
		Errors: []errs.Code{errs.InvalidState, errs.UnsupportedModel, errs.InsufficientBalance, errs.SpendLimitReached,
			errs.RuleViolated, errs.QuoteUsed}, Opens: httpapi.Spending | httpapi.Publishing,
	}
	httpapi.Write(r, create, s.create)

	httpapi.Read(r, httpapi.Op{
		ID: "getContentPlan", Method: http.MethodGet, Path: path, Scope: auth.FactoriesRead, Function: "factory",
		Tag:     "Factories",
		Summary: "Get a content plan", Description: "Returns the plan of the factory that was created last, or the " +
			"one in `content_plan_id`, with its progress and the calendar of its items: pillar, angle and hook. " +
			"`GET /v1/content-items` lists its items by `content_plan_id`.", Opens: httpapi.Nothing,
	}, s.get)
	s.registerTopics(r)
}

func (s *Service) get(ctx context.Context, in *TopicsPath) (p Plan, err error) {
	items, err := s.find(ctx, *in)
	if err != nil {
		return p, err
	}
	if p, err = shown(items, auth.FromContext(ctx).Owner, *in); err != nil {
		return p, err
	}
	p.Calendar, err = Calendar(ctx, s.db, p)
	return p, err
}

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
	clock      time.Time
	plan       Plan
	storedPlan store.Item // the plan as it was read, for its next version
	book       factoryrecord.Book
	recipe     Recipe
	// recipeItem is the item of the recipe, and repriced reports that the call changes it.
	recipeItem store.Item
	repriced   bool
	chunks     []chunk
	// items are the items of the chunks, and changed has the numbers of chunks that the call changes, from 0.
	items         []store.Item
	changedTopics map[int]bool
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
		case it.Kind == ItemKind && d.storedPlan.Kind == "":
			d.storedPlan = it
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
	d.recipeItem, d.items, d.beside = items[0], items[1:len(keys)], items[len(keys):]
	d.changedTopics = map[int]bool{}
	if d.chunks, err = chunksOf(d.items); err != nil {
		return d, err
	}
	if d.recipeItem.Kind == "" {
		return d, nil
	}
	return d, d.recipeItem.Decode(&d.recipe)
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
func (d *desk) topic(number int) (t *topicItem, at int, err error) {
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
	for n := range d.changedTopics {
		it := d.items[n]
		if it.Kind == "" {
			if err := d.plan.note(tx, o, chunkKey(d.plan.ID, n+1), "content_plan_items", d.chunks[n]); err != nil {
				return err
			}
			continue
		}
		if err := tx.Rewrite(it, d.chunks[n]); err != nil {
			return err
		}
	}
	if d.repriced {
		it := d.recipeItem
		if err := tx.Rewrite(it, d.recipe); err != nil {
			return err
		}
	}
	if d.plan.State = Generating; d.waiting() {
		d.plan.State = Proposed
	}
	d.plan.Touch(now)
	it := d.storedPlan
	if err := tx.Rewrite(it, d.plan); err != nil {
		return err
	}
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
	if names := calendar.Days(day, d.recipe.where()); len(names) > 0 {
		place.Occasion = names[0]
	}
	return place, nil
}

type approveBody struct {
	// Numbers of the topics. Absent: all that wait.
	Numbers []int `json:"numbers,omitempty" minItems:"1" maxItems:"1000" uniqueItems:"true" nullable:"false"`
	// First day, in the time zone of the plan, of those whose topics are approved. Absent: that of the plan.
	From string `json:"from,omitempty" format:"date" example:"2026-12-07"`
	// Last day of them. Absent: that of the plan.
	To string `json:"to,omitempty" format:"date" example:"2026-12-13"`
}

// Rules refuses numbers together with days.
func (b approveBody) Rules() error {
	switch {
	case b.Numbers != nil && b.From+b.To != "":
		return errs.Invalid("/numbers", "goes without from and to: name the topics, or their days")
	case b.From != "" && b.To != "" && b.To < b.From:
		return errs.Invalid("/to", "is before from")
	}
	return nil
}

type approveInput struct {
	TopicsPath
	httpapi.IfMatch
	Body approveBody
}

// mostHolds is the number of reservations that a plan has at most at a time.
const mostHolds = 100

func (s *Service) approve(ctx context.Context, tx *store.Tx, in *approveInput) (out Plan, err error) {
	p, now := auth.FromContext(ctx), s.now()
	d, err := s.desk(ctx, in.TopicsPath, ledger.FundsKeys(p.Account, now)...)
	if err != nil {
		return out, err
	}
	if err := errs.All(in.Check(d.plan.Version), in.Body.Rules()); err != nil {
		return out, err
	}
	if err := d.open(); err != nil {
		return out, err
	}
	credits, approved, err := d.pick(in.Body, now)
	if err != nil {
		return out, err
	}
	number, err := d.reserve(tx, now, credits, ledger.PayerOf(now, p))
	if err != nil {
		return out, err
	}
	if d.plan.QuoteID != "" && credits > 0 {
		it, err := s.db.Get(ctx, quote.Key(string(d.plan.QuoteID)))
		if err != nil {
			return out, err
		}
		if err := quote.Spend(tx, now, it, credits); err != nil {
			return out, err
		}
	}
	for _, t := range approved {
		t.Hold, t.By = number, authority.Of(p, auth.ContentPublish)
		t.enter(TopicApproved, now)
	}
	if err := d.save(tx, now, d.storedPlan.Owner, factoryrecord.Counts{Reserved: credits}); err != nil {
		return out, err
	}
	out = d.plan
	out.ReservedCredits += credits
	for _, c := range d.chunks {
		for _, one := range c.Items {
			out.Calendar = append(out.Calendar, one.shown(out.ID))
		}
	}
	return out, nil
}

// pick returns the topics that a call approves, and the price of their items. It refuses numbers of topics that do
// not wait, but for those that were approved before.
func (d *desk) pick(b approveBody, now time.Time) (credits int64, approved []*topicItem, err error) {
	zone, err := time.LoadLocation(d.plan.Timezone)
	if err != nil {
		return 0, nil, err
	}
	var found []error
	numbers := b.Numbers
	take := func(t *topicItem, n int) {
		approved, d.changedTopics[n] = append(approved, t), true
		credits += d.recipe.reserved(t.Type)
	}
	for i, number := range numbers {
		at := "/numbers/" + strconv.Itoa(i)
		t, n, err := d.topic(number)
		switch {
		case err != nil:
			found = append(found, errs.Invalid(at, "is not the number of a topic of the plan"))
		case t.State == TopicProposed && t.Again:
			found = append(found, errs.Invalid(at, "is that of a topic that is being written anew. Read it first"))
		case t.State == TopicProposed && !t.At.After(now):
			found = append(found, errs.Invalid(at, "is that of a topic whose time is past. Change its publish_at "+
				"first"))
		case t.State == TopicProposed:
			take(t, n)
		case t.State != TopicApproved && t.State != TopicCompleted:
			found = append(found, errs.Invalid(at, "is that of a topic that is %s", t.State))
		}
	}
	for n := range d.chunks {
		for i := range d.chunks[n].Items {
			t := &d.chunks[n].Items[i]
			day := t.At.In(zone).Format(time.DateOnly)
			if numbers == nil && t.State == TopicProposed && !t.Again && t.At.After(now) && day >= b.From &&
				(b.To == "" || day <= b.To) {
				take(t, n)
			}
		}
	}
	if err := errs.All(found...); err != nil {
		return 0, nil, err
	}
	if numbers == nil && len(approved) == 0 {
		return 0, nil, errs.New(errs.InvalidState, "No topic of the content plan %s waits for an approval on these "+
			"days.", d.plan.ID).
			In(string(d.plan.State), "add", "replace")
	}
	return credits, approved, nil
}

// reserve adds a reservation of the plan to the transaction, and returns its number. The number is 0 if there is
// nothing to reserve.
func (d *desk) reserve(tx *store.Tx, now time.Time, credits int64, payer ledger.Payer) (number int, err error) {
	if credits == 0 {
		return 0, nil
	}
	o, open := d.storedPlan.Owner, 0
	for i, h := range d.recipe.Reservations {
		if h.Credits > 0 {
			open++
		} else if number == 0 {
			number = i + 1
		}
	}
	if open >= mostHolds {
		return 0, errs.New(errs.InvalidState, "Topics of the content plan %s were approved in %d calls whose items "+
			"are not written yet. Approve more topics in one call, or wait.", d.plan.ID, open).
			In(string(d.plan.State), "get")
	}
	hold, err := ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: d.plan.ID,
		About: d.plan.about(), Credits: credits, Payer: payer}, ledger.FundsOf(d.beside))
	if err != nil {
		return 0, err
	}
	if d.repriced = true; number == 0 {
		d.recipe.Reservations = append(d.recipe.Reservations, hold)
		return len(d.recipe.Reservations), nil
	}
	d.recipe.Reservations[number-1] = hold
	return number, nil
}

// Task is the kind of the task that makes the items of a plan.
const Task task.Kind = "content_plan"

func message(o tenant.Owner, planID string) task.Message {
	return task.Message{ID: task.ID(Task, planID, 1), Kind: Task, Queue: topology.GenerateText,
		Subject: planID, Owner: o}
}

// Accept adds a new plan to the transaction: its item, its counts, its recipe, its task, and the reservation of its
// price, the credits of all items together. The factory's book is written by the caller. replaced are the plans that
// lose days to the new one, and canceled those of them that the new one waits for. b is the result of ledger.FundsOf.
// Accept and the commit refuse as ledger.Reserve does.
func Accept(tx *store.Tx, now time.Time, o tenant.Owner, p Plan, r Recipe, credits int64, payer ledger.Payer,
	b ledger.Balance, replaced, canceled []string) error {
	hold, err := ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: p.ID,
		About: p.about(), Credits: credits, Payer: payer}, b)
	if err != nil {
		return err
	}
	it, err := p.Entry(o)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	factoryrecord.AddCounts(tx, now, p.FactoryID, p.ID, factoryrecord.Counts{Reserved: credits})
	if err := p.note(tx, o, recipeKey(p.ID), "content_plan_recipe", r); err != nil {
		return err
	}
	for _, planID := range replaced {
		if err := task.Wake(tx, now, message(o, planID)); err != nil {
			return err
		}
	}
	return task.Create(tx, now, task.Task{Message: message(o, p.ID)}, payload{FactoryID: p.FactoryID, Hold: hold,
		Replaces: canceled})
}

// Advance is the kind of the task that wakes the plans of a sandbox whose clock was moved.
const Advance task.Kind = "content_plan.advance"

// StartAdvance adds the task to the transaction that wakes the plans of a sandbox whose clock was moved, so that
// the items whose time comes are written.
func StartAdvance(tx *store.Tx, now time.Time, account tenant.Account) error {
	return testclock.StartWaking(tx, now, account, Advance, topology.GenerateText)
}

// Advancer returns the function that takes the next step of a plan.
func Advancer(db *store.DB, now func() time.Time) task.Func {
	return testclock.Waking(db, now, ItemKind, func(it store.Item) (*task.Message, error) {
		var p Plan
		if err := it.Decode(&p); err != nil || p.State.Final() || p.WriteAheadHours == nil {
			return nil, err
		}
		m := message(it.Owner, p.ID)
		return &m, nil
	})
}

// removeAtOnce is about how many content items one call of Remove removes.
const removeAtOnce = 50

// Remove removes a plan of a sandbox, whose item was read, with its content items, which
// remove deletes. It removes some at a time, and is called until the plan is gone. The
// items may be younger than the other records that are removed with the plan.
func Remove(ctx context.Context, db *store.DB, now time.Time, it store.Item,
	remove func(ctx context.Context, key store.Key) (found bool, err error)) error {
	var p Plan
	if err := it.Decode(&p); err != nil {
		return err
	}
	tx := &store.Tx{}
	if !p.State.Final() { // its task ends
		p.State = Canceled
		p.Touch(now)
		if err := tx.Rewrite(it, p); err != nil {
			return err
		}
		return db.Commit(ctx, tx)
	}
	keys := []store.Key{factoryrecord.CountsKey(p.FactoryID, p.ID), recipeKey(p.ID), chunkKey(p.ID, 0)}
	keys = append(keys, chunkKeys(p.ID, p.Items.Total)...)
	parts, err := db.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	chunks, err := chunksOf(parts[3:])
	if err != nil {
		return err
	}
	removed := 0
	for _, c := range chunks {
		for _, m := range c.Items {
			if m.ID == "" {
				continue // no item was made of it, or not yet
			}
			if removed >= removeAtOnce {
				return nil
			}
			found, err := remove(ctx, store.IDKey(m.ID))
			if err != nil {
				return err
			}
			if found {
				removed++
			}
		}
	}
	tx.Delete(it)
	for _, part := range parts {
		if part.PK != "" {
			tx.Delete(part)
		}
	}
	return db.Commit(ctx, tx)
}
