package item

import (
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/authority"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The reasons for which an item waits that its inputs give, not its texts.
const (
	SteeredFactory = "a caller without the scope content:publish has changed the factory, which publishes automatically"
	SteeredProduct = "a caller without the scope content:publish has changed the product, and its factory publishes " +
		"automatically"
)

// Blocked reports whether an item waits for its approval, given the setting of its factory, or is held
// for what the guards have found in its texts.
func (r *Item) Blocked(setting string) bool {
	return (setting == ApprovalRequired || len(r.Approval.Reasons) > 0) && r.Approval.State != Approved
}

// Unapproved returns the error of publishing an item that waits for its approval.
func (r *Item) Unapproved() error {
	return errs.New(errs.InvalidState, "The content item waits for its approval: its factory requires one, or "+
		"approval.reasons says why it waits. Call POST /v1/approvals/{content_item_id}/approve first.").
		In(string(r.State), string(Approve), string(RequestChanges))
}

// AskAgain makes a decision void after a change. It reports whether the item was approved.
func (r *Item) AskAgain() (was bool) {
	switch was = r.Approval.State == Approved; r.Approval.State {
	case Approved:
		r.Approval = ApprovalIn(ApprovalPending)
	case ChangesRequested:
		r.Approval = ApprovalIn(ApprovalPending, r.Approval.Reasons...)
	}
	return was
}

// Decide notes a decision about a generated item. If it was decided so before, the error says by whom.
func (r *Item) Decide(now time.Time, state, note, by string) error {
	action := map[string]Action{Approved: Approve, ChangesRequested: RequestChanges}[state]
	if err := r.Permit(action); err != nil {
		return err
	}
	if a := r.Approval; a.State == state && state == Approved {
		return errs.New(errs.InvalidState, "The content item was approved already, by %s at %s.", *a.By,
			resource.SortableTime(a.At.Time)).In(string(r.State), string(RequestChanges))
	}
	at := resource.Instant(now)
	r.Approval = Approval{State: state, Reasons: r.Approval.Reasons, By: &by, At: &at}
	if note != "" {
		r.Approval.Note = &note
	}
	r.Touch(now)
	return nil
}

// Withdraw makes the decision that an actor has made void: the item has the given approval again. It is refused if
// others have decided since, or if the item is being published.
func (r *Item) Withdraw(now time.Time, by, approval string) error {
	if err := r.Permit(RequestChanges); err != nil {
		return err
	}
	if r.Approval.By == nil || *r.Approval.By != by {
		return errs.New(errs.InvalidState, "Others have decided about the content item since. Read it again.").
			In(string(r.State), string(Approve), string(RequestChanges))
	}
	r.Approval = Approval{State: approval}
	r.Touch(now)
	return nil
}

// PublishApproved adds to the transaction that an item that was approved is published as it was planned before, on
// behalf of who has approved it.
func (r *Record) PublishApproved(tx *store.Tx, now time.Time, o tenant.Owner, by authority.Authority) error {
	r.Authority = by
	if r.Item.State != Generated || !r.Automatic && r.RequestedSchedule == nil && r.Item.ContentPlanID == nil {
		return nil
	}
	return r.startAutoPublish(tx, now, o, task.ID(AutoPublish, r.Item.ID+"#"+strconv.FormatInt(r.Item.Version, 10),
		r.Item.Attempt))
}

// NotifyDecision adds the event of the decision to the transaction.
func (r *Record) NotifyDecision(tx *store.Tx, o tenant.Owner) error {
	if r.Item.Approval.State == Approved {
		return r.Notify(tx, o, event.ContentApproved)
	}
	return r.Notify(tx, o, event.ContentChangesRequested)
}
