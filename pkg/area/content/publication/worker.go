package publication

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
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
	p.r.Lack(item.WaitsForApproval)
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
