package publication

import (
	"context"
	"errors"
	"slices"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/testclock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

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
	if news := lacks != "" && r.Lack(lacks); !news && len(targets)+len(omitted) == 0 {
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
			r.Lack(lacks)
			r.Item.Touch(now)
			return item.Replace(tx, it, r)
		}
		r.Ordered, r.Item.SocialAccountIDs = nil, nil
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
	case r.Ordered != nil: // the timer holds it while the factory is paused
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
