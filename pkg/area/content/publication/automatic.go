package publication

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/law"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/record/profile"
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
	if r == nil || r.State != item.Generated || r.ContentPlanID != nil && r.PublishAt == nil {
		return nil // an item of a plan that has no time any more was unscheduled
	}
	p, err := w.principal(ctx, t.Owner, r)
	if err != nil {
		return task.Again(err)
	}
	if end := p.QuietUntil(w.Now()); r.PublishAt == nil && !end.IsZero() {
		return t.Sleep(end.Sub(w.Now()))
	}
	targets, omitted, lacks, err := w.wanted(ctx, t.Owner, r, p)
	if err != nil {
		return task.Again(err)
	}
	if news := lacks != "" && r.Lack(lacks); !news && len(targets)+len(omitted) == 0 {
		return nil
	}
	return t.End(func(ctx context.Context, tx *store.Tx) error {
		it, r, _, err := w.read(ctx, t.Step)
		if err != nil || r == nil || r.State != item.Generated || r.ContentPlanID != nil && r.PublishAt == nil {
			return err
		}
		now := w.Now()
		if lacks == "" || lacks == item.WaitsForAccount {
			r.OmittedAccounts = append([]item.OmittedAccount{}, omitted...)
		}
		if len(targets) == 0 {
			r.Lack(lacks)
			r.Touch(now)
			return item.Replace(tx, it, r)
		}
		r.Ordered, r.SocialAccountIDs = nil, nil
		for _, t := range targets {
			r.SocialAccountIDs = append(r.SocialAccountIDs, t.Account.ID)
		}
		if r.PublishAt != nil {
			err = errors.Join(Schedule(tx, now, t.Owner, r, targets, r.PublishAt.Time),
				WarnOfOthers(ctx, w.DB, r, r.PublishAt.Time))
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

// principal returns the principal on whose behalf an item is published, with its present mandates. It has none if its
// authority has ended: then its publications say so.
func (w *Worker) principal(ctx context.Context, o tenant.Owner, r *item.Record) (*auth.Principal, error) {
	h, err := r.Authority.Find(ctx, w.DB, o, w.Now())
	if errors.As(err, new(*authority.EndedError)) {
		return &auth.Principal{}, nil
	}
	return h.Principal, err
}

// Omit returns why an account cannot publish items of a kind, or nil if it can.
func Omit(a *social.Record, limits platform.Capabilities, kind item.Kind) *item.OmittedAccount {
	o := &item.OmittedAccount{SocialAccountID: a.ID}
	if !a.Usable() {
		o.Code = string(a.State)
		o.Message = fmt.Sprintf("the account %s is %s, not connected: connect it first, by POST "+
			"/v1/social/accounts with its social_account_id", a.ID, a.State)
		return o
	}
	if _, takes := limits.Kinds[platform.Kind(kind)]; !takes {
		o.Code = item.OmittedKind
		o.Message = fmt.Sprintf("%s does not take the kind %s", limits.Label, kind)
		return o
	}
	return nil
}

// wanted returns the accounts to which an item is published without a further call, and those that are left out. If
// its creation named none, they are those of its factory. If there are none, lacks is what the item waits for. The
// mandates of the principal bound them.
func (w *Worker) wanted(ctx context.Context, o tenant.Owner, r *item.Record, p *auth.Principal) (targets []Target,
	omitted []item.OmittedAccount, lacks string, err error) {
	of, err := w.DB.Lookup(ctx, factoryrecord.Key(r.FactoryID))
	if err != nil || !factoryrecord.Usable(of, o) {
		return nil, nil, "", err
	}
	var factory struct {
		AutoPublish bool     `json:"auto_publish"`
		Approval    string   `json:"approval"`
		Accounts    []string `json:"social_account_ids"`
	}
	if err := of.Decode(&factory); err != nil {
		return nil, nil, "", err
	}
	if r.Blocked(factory.Approval) {
		return nil, nil, item.WaitsForApproval, nil // its approval starts another such task
	}
	legal, err := profile.LegalOf(ctx, w.DB, of)
	if err != nil {
		return nil, nil, "", err
	}
	item.Obey(r, legal)
	ids := factory.Accounts
	switch paused := factoryrecord.State(of) == factoryrecord.StatePaused; {
	case r.Ordered != nil: // the timer holds it while the factory is paused
		if len(r.SocialAccountIDs) > 0 {
			ids = r.SocialAccountIDs
		}
	case paused || !factory.AutoPublish:
		return nil, nil, item.WaitsForSlot, nil
	}
	if len(ids) == 0 {
		return nil, nil, item.WaitsForAccount, nil
	}
	if r.PublishAt != nil && p.RequireHour(r.PublishAt.Time) != nil {
		return nil, nil, item.WaitsForSlot, nil
	}
	accounts, err := w.accounts(ctx, o, ids)
	if err != nil {
		return nil, nil, "", err
	}
	for _, id := range ids {
		acct, found := accounts[id]
		adapter, ok := w.Platforms.Of(o.Mode, acct.Platform)
		if !found || !ok || len(targets) == MaxAccounts {
			continue
		}
		limits := adapter.Capabilities()
		if out := Omit(&acct, limits, r.Kind); out != nil {
			omitted = append(omitted, *out)
			continue
		}
		if err := p.RequirePlatform(acct.Platform); err != nil {
			omitted = append(omitted, Outside(id, err))
			continue
		}
		t := Target{Account: acct, Limits: limits}
		if r.Ordered != nil {
			t.Options = r.Ordered.Options[acct.Platform]
		}
		pub := item.Publication{Platform: acct.Platform, SocialAccountID: acct.ID, Options: t.Options}
		if out := Unchosen(r, &pub, limits); out != nil {
			omitted = append(omitted, *out)
			continue
		}
		if all := law.Check(item.FactsOf(r, &pub, cmp.Or(r.PlannedAt(), w.Now()))); len(all) > 0 {
			omitted = append(omitted, Forbidden(id, all[0]))
			continue
		}
		targets = append(targets, t)
	}
	if len(targets) == 0 {
		lacks = item.WaitsForAccount
	}
	return targets, omitted, lacks, nil
}
