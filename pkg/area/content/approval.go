package content

import (
	"context"
	"reflect"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/content/publication"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// approvalOf returns the approval of a new item of a factory.
func approvalOf(f factory.Factory) item.Approval {
	if f.AutoPublish && f.Steered {
		return item.ApprovalIn(item.ApprovalPending, item.SteeredFactory)
	}
	if f.Approval == item.ApprovalRequired {
		return item.ApprovalIn(item.ApprovalPending)
	}
	return item.ApprovalIn(item.ApprovalNone)
}

// askAgain makes the approval of an item void if the texts were changed. A scheduled item waits for the new one, and
// the event of that is returned.
func (s *Service) askAgain(ctx context.Context, tx *store.Tx, o tenant.Owner, r *item.Record,
	was texts) ([]event.Type, error) {
	now := textsOf(r)
	now.Metadata = was.Metadata
	if reflect.DeepEqual(now, was) || !r.AskAgain() || r.State != item.Scheduled {
		return nil, nil
	}
	required, err := s.required(ctx, r)
	if err != nil || !required {
		return nil, err
	}
	return []event.Type{event.ContentUnscheduled}, publication.Postpone(tx, s.now(), o, r)
}

// required reports whether the factory of an item requires an approval that the item lacks.
func (s *Service) required(ctx context.Context, r *item.Record) (bool, error) {
	if r.Approval.State == item.Approved {
		return false, nil
	}
	factories, _, err := s.factories.FindAll(ctx, []string{r.FactoryID})
	return r.Blocked(factories[r.FactoryID].Approval), err
}

// orderPlanned notes that an item of a content plan is published at its planned time on the accounts of its factory, or
// that the factory has none.
func (s publisher) orderPlanned(ctx context.Context, r *item.Record) error {
	factories, _, err := s.factories.FindAll(ctx, []string{r.FactoryID})
	if err != nil {
		return err
	}
	if len(factories[r.FactoryID].SocialAccountIDs) == 0 {
		r.Stays = item.WaitsForAccount
		return nil
	}
	r.Ordered = &item.Ordered{}
	return nil
}

// Decide notes that an item was approved, or that changes were requested, and returns the item. What waited for the
// approval goes on, on behalf of by; an item of a content plan whose time is ahead is scheduled for it. Scheduled items
// whose changes were requested wait for the approval, if their factory requires it.
func (s *Service) Decide(ctx context.Context, tx *store.Tx, itemID, state, note string,
	by authority.Authority, match ...httpapi.IfMatch) (out item.Item, err error) {
	r, it, err := s.find(ctx, itemID, match...)
	if err != nil {
		return out, err
	}
	now, waited := s.now(), r.Undecided()
	clock, err := s.clock(ctx)
	if err != nil {
		return out, err
	}
	var happened []event.Type
	r.Stays = ""
	if err := r.Decide(now, state, note, auth.FromContext(ctx).Actor.ID); err != nil {
		return out, err
	}
	if state == item.Approved && r.PublishAt != nil { // it is published on behalf of who approves it
		refused := publication.Of(s.planned(ctx, it.Owner, r), publication.ReasonMandate)
		if err := publication.Refused(refused); err != nil {
			return out, err
		}
	}
	if state == item.Approved {
		if waited && r.Planned(clock) {
			err = publisher{s}.orderPlanned(ctx, r)
		}
		if err == nil && r.Stays != item.WaitsForAccount {
			err = r.PublishApproved(tx, now, it.Owner, by)
		}
	} else if r.State == item.Scheduled {
		var required bool
		if required, err = s.required(ctx, r); err == nil && required {
			happened = append(happened, event.ContentUnscheduled)
			err = publication.Postpone(tx, now, it.Owner, r)
		}
	}
	if err != nil {
		return out, err
	}
	if err := r.NotifyDecision(tx, it.Owner); err != nil {
		return out, err
	}
	return s.answer(ctx, tx, it, r, happened...)
}

// Withdraw makes the last decision of the calling actor about an item void, and returns the item. A scheduled item
// waits for its approval again, if its factory requires one. The event content.updated tells of it.
func (s *Service) Withdraw(ctx context.Context, tx *store.Tx, itemID string,
	match ...httpapi.IfMatch) (out item.Item, err error) {
	r, it, err := s.find(ctx, itemID, match...)
	if err != nil {
		return out, err
	}
	factories, _, err := s.factories.FindAll(ctx, []string{r.FactoryID})
	if err != nil {
		return out, err
	}
	now, before := s.now(), approvalOf(factories[r.FactoryID])
	if err := r.Withdraw(now, auth.FromContext(ctx).Actor.ID, before.State); err != nil {
		return out, err
	}
	happened := []event.Type{event.ContentUpdated}
	if r.State == item.Scheduled && before.State == item.ApprovalPending {
		happened = append(happened, event.ContentUnscheduled)
		if err := publication.Postpone(tx, now, it.Owner, r); err != nil {
			return out, err
		}
	}
	return s.answer(ctx, tx, it, r, happened...)
}
