package publication

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/auditlog"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker does the tasks of publications.
type Worker struct {
	DB        *store.DB
	Platforms social.Adapters
	Vault     social.Vault
	Files     Files
	Now       func() time.Time
	// Budgets replace the defaults of the platforms in platform.Budget.
	Budgets map[string]int
	// Entries is the audit table, which has the hashes of the dossiers of posts, and EntryRegion the region that writes
	// it. If it is nil, none are noted.
	Entries     *store.DB
	EntryRegion string
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Timer: task.Func(w.begin), Post: poster{w}, Read: task.Func(w.metrics),
		Alter: task.Func(w.alter), Advance: task.Func(w.advance), social.Measure: task.Func(w.measure),
		social.Import: task.Func(w.importPast), item.AutoPublish: task.Func(w.automatic)}
}

// visits makes the visits of accounts.
func (w *Worker) visits() social.Visits {
	return social.Visits{DB: w.DB, Platforms: w.Platforms, Vault: w.Vault, Budgets: w, Now: w.Now}
}

// read reads an item with its publications, and other items with it. The record is nil if the item is gone.
func (w *Worker) read(ctx context.Context, s *task.Step, others ...store.Key) (it store.Item, r *item.Record,
	beside []store.Item, err error) {
	return item.Lookup(ctx, w.DB, s.Owner, s.Subject, others...)
}

// timing is the payload of a Timer task.
type timing struct {
	Round int `json:"round"`
}

// begin begins to publish the item, unless it was rescheduled or is no longer scheduled. An item of a paused factory is
// held until the factory is resumed. An item that is later than its account allows is not published.
func (w *Worker) begin(ctx context.Context, t *task.Run) error {
	var p timing
	if err := t.Decode(&p); err != nil {
		return err
	}
	_, r, beside, err := w.read(ctx, t.Step, testclock.Key(t.Owner))
	if err != nil {
		return task.Again(err)
	}
	if !p.waits(r) {
		return nil
	}
	moved, err := testclock.Of(&beside[0])
	if err != nil {
		return err
	}
	if wait := r.Item.PublishAt.Sub(w.Now()) - moved.Ahead(); wait > 0 {
		return t.Sleep(wait)
	}
	factory, err := w.DB.Lookup(ctx, factoryrecord.Key(r.Item.FactoryID))
	if err != nil {
		return task.Again(err)
	}
	paused := factoryrecord.Usable(factory, t.Owner) && factoryrecord.State(factory) == factoryrecord.StatePaused
	if quiet, err := w.quiet(ctx, t.Owner, r); err != nil {
		return task.Again(err)
	} else if paused || quiet {
		return w.hold(t, p)
	}
	var ids []string
	for _, pub := range r.Item.Publications {
		ids = append(ids, pub.SocialAccountID)
	}
	read, err := w.accountItems(ctx, ids)
	if err != nil {
		return task.Again(err)
	}
	return t.End(func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, t.Step)
		if err != nil || !p.waits(r) {
			return err
		}
		shown, err := look(ctx, w.DB, t.Owner, r, w.Now())
		if err != nil {
			return err
		}
		if shown.holds() {
			return hold(tx, w.Now(), t.Owner, it, r, shown.ways)
		}
		shown.hold(tx)
		r.Item.Outdated = item.Ways{}
		return w.publish(ctx, planner{tx, w.Now(), t.Owner, r}, it, read, ids)
	})
}

// publish begins the publications of an item to accounts that were read.
func (w *Worker) publish(ctx context.Context, plan planner, it store.Item, read map[string]store.Item,
	ids []string) error {
	r := plan.r
	targets, refused, err := w.ask(ctx, plan.Owner, r, plan.now, read, ids...)
	if err != nil {
		return err
	}
	if len(Of(refused, ReasonApproval)) > 0 {
		return w.await(plan, it)
	}
	if err := r.Begin(plan.tx, plan.now); err != nil {
		return err
	}
	for _, t := range targets {
		pub := r.Item.PublicationTo(t.Account.ID)
		if pub == nil || pub.State != item.PublicationPending {
			continue
		}
		if e := failed(t.Account, refused); e != nil {
			plan.fail(pub, refusal(e, again(e)))
			continue
		}
		if late := t.Account.LateAfterSeconds; late != nil &&
			plan.now.Sub(r.Item.PublishAt.Time) > time.Duration(*late)*time.Second {
			plan.fail(pub, failure(item.FailedTooLate, fmt.Sprintf("It was more than %d seconds late, which is "+
				"the late_after_seconds of the account. Publish it now, or schedule a new item.", *late), true))
			continue
		}
		plan.book(pub, Target{}, r.Item.PublishAt.Time) // again, if it was held
		if err := plan.start(pub); err != nil {
			return err
		}
	}
	if err := r.EndPublishing(plan.tx, plan.Owner, plan.now); err != nil {
		return err
	}
	return item.Replace(plan.tx, it, r)
}

// await has an item whose factory has come to require an approval wait for it.
func (w *Worker) await(p planner, it store.Item) error {
	if err := Postpone(p.tx, p.now, p.Owner, p.r); err != nil {
		return err
	}
	p.r.SetWaitsFor(item.WaitsForApproval)
	return errors.Join(p.r.Notify(p.tx, p.Owner, event.ContentUnscheduled), item.Replace(p.tx, it, p.r))
}

// holdTime is the time after which an item of a paused factory is checked again. Resuming the
// factory wakes the item earlier.
const holdTime = time.Hour

// hold makes an item of a paused factory wait. It moves the publications to a later place at their accounts, so that
// later items there do not wait for the item.
func (w *Worker) hold(t *task.Run, p timing) error {
	t.Also(func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, t.Step)
		if err != nil || !p.waits(r) {
			return err
		}
		plan := planner{tx, w.Now(), t.Owner, r}
		for i := range r.Item.Publications {
			if pub := &r.Item.Publications[i]; pub.State == item.PublicationPending {
				plan.book(pub, Target{}, plan.now.Add(holdTime))
			}
		}
		return item.Replace(tx, it, r)
	})
	return t.Sleep(holdTime)
}

// WakeHeld adds to the transaction that an item whose time came while its factory was paused is
// published now. It does nothing if the item is not scheduled.
func WakeHeld(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	if r.Item.State != item.Scheduled || r.Item.PublishAt == nil || r.Item.PublishAt.After(now) {
		return nil
	}
	return task.Wake(tx, now, timerOf(o, r))
}

// timerOf returns the message of the task that begins to publish a scheduled item.
func timerOf(o tenant.Owner, r *item.Record) task.Message {
	return task.Message{ID: task.ID(Timer, r.Item.ID, r.Round), Kind: Timer, Queue: topology.Publish,
		Subject: r.Item.ID, Owner: o}
}

// waits reports whether the item waits for the timer.
func (p timing) waits(r *item.Record) bool {
	return r != nil && r.Item.State == item.Scheduled && r.Round == p.Round && r.Item.PublishAt != nil
}

func (p planner) fail(pub *item.Publication, f *item.PublicationFailure) {
	pub.State, pub.Failure = item.PublicationFailed, f
	pub.Touch(p.now)
	p.leave(pub, f.Code != string(platform.CodeOutcomeUnknown))
}

// refusal returns the failure that an error of a platform means.
func refusal(e *platform.Error, retryable bool) *item.PublicationFailure {
	f := failure(string(e.Code), e.Message, retryable)
	f.PlatformMessage = resource.OrNil(e.Words)
	return f
}

func failure(code, message string, retryable bool) *item.PublicationFailure {
	return &item.PublicationFailure{Stage: "publish", Code: code, Message: message, Retryable: retryable}
}

// advanceAtOnce is the number of items whose metrics one step of Advance reads. Each takes two writes for each of its
// publications.
const advanceAtOnce = 3

// The number of times that Advance looks whether the items of one time are published, before it goes on to the next
// time, and the wait between two looks. A rehearsed failure may take longer.
const (
	mostLooks = 60
	lookEvery = 250 * time.Millisecond
)

// indexLag is the time after which the index of the calendar shows what was scheduled just before a move.
const indexLag = 2 * time.Second

// mostDue is the number of items that one step of Advance publishes.
const mostDue = 20

// advancing is the payload of an Advance task.
type advancing struct {
	// At is the time of the call.
	At time.Time `json:"at"`
	// Due is the place in the calendar of the first item that may fall due, Woken are the items of one time that do,
	// and Looks counts the looks at them.
	Due   string   `json:"due,omitempty"`
	Woken []string `json:"woken,omitempty"`
	Looks int      `json:"looks,omitempty"`
	// SecondLook is set for the second look at the calendar, which finds what its index did not show at the first.
	SecondLook bool `json:"again,omitempty"`
	// AllPublished reports that nothing else falls due, and After is the id of the last item whose metrics were read.
	AllPublished bool   `json:"published,omitempty"`
	AfterID      string `json:"after,omitempty"`
}

// StartAdvance moves the clock of a sandbox forward, and adds the task that has happen what falls due. It returns the
// time by which the clock is then ahead of the real one.
func StartAdvance(ctx context.Context, db *store.DB, tx *store.Tx, now time.Time, account tenant.Account,
	seconds int64) (ahead time.Duration, err error) {
	o := tenant.Of(account, tenant.Test)
	if ahead, err = testclock.Add(ctx, db, tx, o, testclock.Move{At: now, Seconds: seconds}); err != nil {
		return 0, err
	}
	return ahead, task.Create(tx, now, task.Task{Message: task.Message{ID: task.ID(Advance, id.New("advance", now), 1),
		Kind: Advance, Queue: topology.Publish, Subject: string(account), Owner: o},
	}, advancing{At: now, Due: resource.SortableTime(now)})
}

// advance publishes the items whose time has come, one time after another, and then reads the metrics of all posts.
func (w *Worker) advance(ctx context.Context, r *task.Run) error {
	if r.Mode != tenant.Test {
		return task.Permanent(fmt.Errorf("publication: %s is not a sandbox", r.Owner))
	}
	var p advancing
	if err := errors.Join(r.Decode(&p), r.Recall("progress", &p)); err != nil {
		return err
	}
	c, err := testclock.Read(ctx, w.DB, r.Owner)
	if err == nil && !p.AllPublished {
		err = w.fallDue(ctx, r, p, c)
	} else if err == nil {
		err = w.rereadNext(ctx, r, p, c)
	}
	if err != nil {
		return task.Again(err)
	}
	return nil
}

// then ends the step.
func (p advancing) then(r *task.Run, wait time.Duration) error {
	return errors.Join(r.Keep("progress", p), r.Sleep(wait))
}

// fallDue publishes the items of the next time that has come, once those of the time before are published.
func (w *Worker) fallDue(ctx context.Context, r *task.Run, p advancing, c testclock.Clock) error {
	if len(p.Woken) > 0 {
		items, err := w.DB.GetAll(ctx, store.IDKeys(p.Woken)...)
		if err != nil {
			return err
		}
		if p.Looks++; p.Looks < mostLooks && slices.ContainsFunc(items, underWay) {
			return p.then(r, lookEvery)
		}
	}
	p.Looks, p.Woken = 0, nil
	clock := w.Now().Add(c.Ahead())
	page, err := w.DB.List(ctx, store.Query{Index: store.ByDue, Partition: item.CalendarPartition(r.Owner), From: p.Due,
		To: resource.SortableTime(clock) + "~", OldestFirst: true, Limit: mostDue})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		if p.AllPublished = p.SecondLook; !p.SecondLook {
			p.SecondLook, p.Due = true, resource.SortableTime(p.At)
			return p.then(r, indexLag)
		}
		return p.then(r, 0)
	}
	var timers []task.Message
	at := ""
	for _, it := range page.Items {
		of, err := item.Decode(&it)
		if err != nil {
			return err
		}
		waits := of.Item.State == item.Scheduled && of.Item.PublishAt != nil && !of.Item.PublishAt.After(clock)
		if waits && at != "" && at != resource.SortableTime(of.Item.PublishAt.Time) {
			break
		}
		p.Due = it.Due.SK + "0" // what follows it: ids are of one length
		if waits {
			at = resource.SortableTime(of.Item.PublishAt.Time)
			p.Woken = append(p.Woken, of.Item.ID)
			timers = append(timers, timerOf(it.Owner, of))
		}
	}
	r.Also(func(_ context.Context, tx *store.Tx) error {
		for _, m := range timers {
			if err := task.Wake(tx, w.Now(), m); err != nil {
				return err
			}
		}
		return nil
	})
	return p.then(r, 0)
}

// underWay reports whether an item is still to be published.
func underWay(it store.Item) bool {
	if it.Kind != item.ItemKind {
		return false
	}
	r, err := item.Decode(&it)
	return err == nil && (r.Item.State == item.Scheduled || r.Item.State == item.Publishing)
}

// rereadNext reads the metrics of the posts of the next items.
func (w *Worker) rereadNext(ctx context.Context, r *task.Run, p advancing, c testclock.Clock) error {
	page, err := w.DB.List(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(r.Owner, item.ItemKind), Limit: advanceAtOnce,
		OldestFirst: true, From: p.AfterID, To: id.First(id.ContentItem, p.At.Add(time.Millisecond)),
	})
	if err != nil {
		return err
	}
	if len(page.Items) == 0 {
		return nil
	}
	p.AfterID = page.Items[len(page.Items)-1].PK + "0" // ids are of one length
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			if err := w.reread(ctx, tx, it, c); err != nil {
				return err
			}
		}
		return nil
	})
	return p.then(r, 0)
}

// reread reads the metrics of the posts of an item.
func (w *Worker) reread(ctx context.Context, tx *store.Tx, listed store.Item, c testclock.Clock) error {
	found, r, _, err := item.Lookup(ctx, w.DB, listed.Owner, listed.PK)
	if err != nil || r == nil {
		return err
	}
	keys := []store.Key{}
	for _, pub := range r.Item.Publications {
		keys = append(keys, item.ReadingsKey(pub.ID))
	}
	histories, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return err
	}
	now, changed := w.Now(), false
	for i := range r.Item.Publications {
		pub := &r.Item.Publications[i]
		adapter, ok := w.Platforms.Of(tenant.Test, pub.Platform)
		if !ok || pub.State != item.PublicationPublished {
			continue
		}
		read, err := adapter.Metrics(ctx, platform.Account{}, published(r, pub, c))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // the platform has none
		}
		pub.Metrics, changed = item.ReadMetrics(read, pub.Metrics, now), true
		if err := item.NoteMetrics(tx, found.Owner, pub, histories[i]); err != nil {
			return err
		}
		pub.Touch(now)
	}
	if !changed {
		return nil
	}
	r.Item.Touch(now)
	return item.Replace(tx, found, r)
}

// automatic schedules an item that was generated, or publishes it, on the accounts that its creation named, or else
// those of its factory as they are now. It stays generated if neither its creation nor its factory wants it published,
// or if no connected account takes its kind.
func (w *Worker) automatic(ctx context.Context, t *task.Run) error {
	_, r, _, err := w.read(ctx, t.Step)
	if err != nil {
		return task.Again(err)
	}
	if r == nil || r.Item.State != item.Generated || r.Item.ContentPlanID != nil && r.Item.PublishAt == nil {
		return nil // an item of a plan that has no time any more was unscheduled
	}
	at, err := testclock.Now(ctx, w.DB, t.Owner, w.Now())
	if err != nil {
		return task.Again(err)
	}
	if r.Item.PublishAt != nil {
		at = r.Item.PublishAt.Time
	}
	g, of, err := w.gate(ctx, t.Owner, r, at)
	if err != nil {
		return task.Again(err)
	}
	if end := g.By.QuietUntil(at); r.Item.PublishAt == nil && !end.IsZero() {
		return t.Sleep(end.Sub(at))
	}
	targets, omitted, lacks, err := w.wanted(ctx, t.Owner, g, of)
	if err != nil {
		return task.Again(err)
	}
	if news := lacks != "" && r.SetWaitsFor(lacks); !news && len(targets)+len(omitted) == 0 {
		return nil
	}
	return t.End(func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, t.Step)
		if err != nil || r == nil || r.Item.State != item.Generated || r.Item.ContentPlanID != nil &&
			r.Item.PublishAt == nil {
			return err
		}
		now := w.Now()
		if lacks == "" || lacks == item.WaitsForAccount {
			r.Item.OmittedAccounts = append([]item.OmittedAccount{}, omitted...)
		}
		if len(targets) == 0 {
			r.SetWaitsFor(lacks)
			r.Item.Touch(now)
			return item.Replace(tx, it, r)
		}
		shown, err := look(ctx, w.DB, t.Owner, r, now)
		if err != nil {
			return err
		}
		if shown.holds() {
			return hold(tx, now, t.Owner, it, r, shown.ways)
		}
		shown.hold(tx)
		r.RequestedSchedule, r.Item.SocialAccountIDs, r.Item.Outdated = nil, nil, item.Ways{}
		for _, t := range targets {
			r.Item.SocialAccountIDs = append(r.Item.SocialAccountIDs, t.Account.ID)
		}
		if r.Item.PublishAt != nil {
			err = errors.Join(Schedule(tx, now, t.Owner, r, targets, r.Item.PublishAt.Time),
				WarnOfOthers(ctx, w.DB, r, r.Item.PublishAt.Time))
			if err == nil {
				err = r.Notify(tx, t.Owner, event.ContentScheduled)
			}
		} else {
			err = Publish(tx, now, t.Owner, r, targets)
		}
		if err != nil {
			return err
		}
		return item.Replace(tx, it, r)
	})
}

// wanted returns the accounts to which an item is published without a further call, and those that are left out. If
// its creation named none, they are those of its factory. If there are none, lacks is what the item waits for. What an
// account does not take is left to the poster, whose failure tells it.
func (w *Worker) wanted(ctx context.Context, o tenant.Owner, g Gate, of store.Item) (targets []Target,
	omitted []item.OmittedAccount, lacks string, err error) {
	var factory struct {
		AutoPublish bool     `json:"auto_publish"`
		Accounts    []string `json:"social_account_ids"`
	}
	if of.PK == "" {
		return nil, nil, "", nil
	}
	if err := of.Decode(&factory); err != nil {
		return nil, nil, "", err
	}
	r, ids, refused := g.Record, factory.Accounts, g.Ask()
	if len(Of(refused, ReasonApproval)) > 0 {
		return nil, nil, item.WaitsForApproval, nil // its approval starts another such task
	}
	switch paused := factoryrecord.State(of) == factoryrecord.StatePaused; {
	case r.RequestedSchedule != nil: // the timer holds it while the factory is paused
		if len(r.Item.SocialAccountIDs) > 0 {
			ids = r.Item.SocialAccountIDs
		}
	case paused || !factory.AutoPublish:
		return nil, nil, item.WaitsForSlot, nil
	}
	if len(ids) > 0 && len(Of(refused, ReasonMandate)) > 0 {
		return nil, nil, item.WaitsForSlot, nil
	}
	read, err := w.accountItems(ctx, ids)
	if err != nil {
		return nil, nil, "", err
	}
	if targets, err = g.Targets(o, ids, false, read, w.limits(o.Mode), nil); err != nil {
		return nil, nil, "", err
	}
	targets = slices.DeleteFunc(targets, func(t Target) bool { return t.Account.Platform == "" })
	targets, omitted, _ = Leave(targets, g.Ask(targets...), ReasonRule)
	if len(targets) == 0 {
		lacks = item.WaitsForAccount
	}
	return targets[:min(len(targets), MaxAccounts)], omitted, lacks, nil
}

// deciding are the operations that decide about an item, by the decision. The paths of all but bulkPublishing name it.
var deciding = map[string][]string{
	item.Approved:         {"approveContentItem", bulk, "review.decide"},
	item.ChangesRequested: {"requestChanges", "review.decide"},
}

const bulk = "bulkPublishing"

// decideTime is the longest time between the arrival of a call and its decision.
const decideTime = time.Minute

// approvals returns the decision in force about an item, if the audit log has the call that has made it: a record could
// come by another door. Without an audit log the record is all there is.
func (w *Worker) approvals(ctx context.Context, o tenant.Owner, r *item.Record) ([]DossierApproval, error) {
	a := r.Item.Approval
	if a.By == nil || a.At == nil {
		return nil, nil
	}
	one := DossierApproval{State: a.State, By: *a.By, At: *a.At}
	if a.Note != nil {
		one.Note = resource.Text(*a.Note)
	}
	if w.Entries == nil {
		return []DossierApproval{one}, nil
	}
	q := store.Query{Index: store.Table, Partition: o.String(), Limit: 100, OldestFirst: true,
		From:  id.First(id.AuditEntry, a.At.Add(-decideTime)),
		To:    id.First(id.AuditEntry, a.At.Add(2*time.Millisecond)),
		OneOf: map[string][]string{"operation_id": deciding[a.State]}}
	for {
		page, err := w.Entries.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, it := range page.Items {
			var e auditlog.Entry
			if err := it.Decode(&e); err != nil {
				return nil, err
			}
			ofItem := e.OperationID == bulk || strings.Contains(e.Path+"/", "/"+r.Item.ID+"/")
			if e.Actor.ID == one.By && e.Status < http.StatusBadRequest && ofItem {
				return []DossierApproval{one}, nil
			}
		}
		if q.After = page.Next; q.After == nil {
			slog.Warn("a decision about an item is in no entry of the audit log", "content_item_id", r.Item.ID, "by",
				one.By)
			return nil, nil
		}
	}
}
