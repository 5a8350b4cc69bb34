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

// Platforms finds the adapters of platforms.
type Platforms interface {
	// Of returns the adapter of a platform for a mode, and reports whether there is one.
	Of(mode tenant.Mode, platform string) (platform.Adapter, bool)
}

var _ Platforms = (social.Adapters)(nil)

// Worker does the tasks of publications.
type Worker struct {
	DB        *store.DB
	Platforms Platforms
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
	return map[task.Kind]task.Handler{Timer: timer{Worker: w}, Post: poster{w}, Read: reader{Worker: w},
		Alter:            alterer{w},
		Advance:          advancer{Worker: w},
		social.Measure:   measurer{Worker: w},
		social.Import:    importer{Worker: w},
		item.AutoPublish: automatic{Worker: w}}
}

// read reads an item with its publications, and other items with it. The record is nil if the item is gone.
func (w *Worker) read(ctx context.Context, s *task.Step, others ...store.Key) (it store.Item, r *item.Record,
	beside []store.Item, err error) {
	return item.Lookup(ctx, w.DB, s.Owner, s.Subject, others...)
}

// accounts reads the owner's accounts among the accounts of an item's publications, by id.
func (w *Worker) accounts(ctx context.Context, o tenant.Owner, ids []string) (map[string]social.Record, error) {
	items, err := w.DB.GetAll(ctx, store.IDKeys(ids)...)
	if err != nil {
		return nil, err
	}
	found := map[string]social.Record{}
	for i, it := range items {
		if !social.Is(it, o) {
			continue
		}
		if found[ids[i]], err = social.Decode(&it); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// timing is the payload of a Timer task.
type timing struct {
	Round int `json:"round"`
}

// timer is the handler of Timer.
type timer struct{ *Worker }

// Step begins to publish the item, unless it was rescheduled or is no longer scheduled. An item of a paused factory is
// held until the factory is resumed. An item that is later than its account allows is not published.
func (w timer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p timing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, beside, err := w.read(ctx, s, testclock.Key(s.Owner))
	if err != nil {
		return o, task.Again(err)
	}
	if !p.waits(r) {
		return task.Outcome{Done: true}, nil
	}
	moved, err := testclock.Of(&beside[0])
	if err != nil {
		return o, err
	}
	if wait := r.PublishAt.Sub(w.Now()) - moved.Ahead(); wait > 0 {
		return task.Outcome{Wait: wait}, nil
	}
	factory, err := w.DB.Lookup(ctx, factoryrecord.Key(r.FactoryID))
	if err != nil {
		return o, task.Again(err)
	}
	paused := factoryrecord.Usable(factory, s.Owner) && factoryrecord.State(factory) == factoryrecord.StatePaused
	if quiet, err := w.quiet(ctx, s.Owner, r); err != nil {
		return o, task.Again(err)
	} else if paused || quiet {
		return w.hold(s, p), nil
	}
	var ids []string
	for _, pub := range r.Publications {
		ids = append(ids, pub.SocialAccountID)
	}
	read, err := w.accountItems(ctx, ids)
	if err != nil {
		return o, task.Again(err)
	}
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, s)
		if err != nil || !p.waits(r) {
			return err
		}
		return w.begin(ctx, planner{tx, w.Now(), s.Owner, r}, it, read, ids)
	}}, nil
}

// begin begins the publications of an item to accounts that were read.
func (w timer) begin(ctx context.Context, plan planner, it store.Item, read map[string]store.Item, ids []string) error {
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
		pub := r.PublicationTo(t.Account.ID)
		if pub == nil || pub.State != item.PublicationPending {
			continue
		}
		if e := failed(t.Account, refused); e != nil {
			plan.fail(pub, refusal(e, again(e)))
			continue
		}
		if late := t.Account.LateAfterSeconds; late != nil &&
			plan.now.Sub(r.PublishAt.Time) > time.Duration(*late)*time.Second {
			plan.fail(pub, failure(item.FailedTooLate, fmt.Sprintf("It was more than %d seconds late, which is "+
				"the late_after_seconds of the account. Publish it now, or schedule a new item.", *late), true))
			continue
		}
		plan.book(pub, Target{}, r.PublishAt.Time) // again, if it was held
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
func (w timer) await(p planner, it store.Item) error {
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
func (w timer) hold(s *task.Step, p timing) task.Outcome {
	return task.Outcome{Wait: holdTime, Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, s)
		if err != nil || !p.waits(r) {
			return err
		}
		plan := planner{tx, w.Now(), s.Owner, r}
		for i := range r.Publications {
			if pub := &r.Publications[i]; pub.State == item.PublicationPending {
				plan.book(pub, Target{}, plan.now.Add(holdTime))
			}
		}
		return item.Replace(tx, it, r)
	}}
}

// WakeHeld adds to the transaction that an item whose time came while its factory was paused is
// published now. It does nothing if the item is not scheduled.
func WakeHeld(tx *store.Tx, now time.Time, o tenant.Owner, r *item.Record) error {
	if r.State != item.Scheduled || r.PublishAt == nil || r.PublishAt.After(now) {
		return nil
	}
	return task.Wake(tx, now, timerOf(o, r))
}

// timerOf returns the message of the task that begins to publish a scheduled item.
func timerOf(o tenant.Owner, r *item.Record) task.Message {
	return task.Message{ID: task.ID(Timer, r.ID, r.Round), Kind: Timer, Queue: topology.Publish, Subject: r.ID,
		Owner: o}
}

// waits reports whether the item waits for the timer.
func (p timing) waits(r *item.Record) bool {
	return r != nil && r.State == item.Scheduled && r.Round == p.Round && r.PublishAt != nil
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
