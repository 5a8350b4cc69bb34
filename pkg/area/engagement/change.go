package engagement

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// lateChange is the failure of a change that was not done in time.
var lateChange = &Failure{Code: string(platform.CodeOutcomeUnknown), Retryable: true,
	Message: "The platform did not confirm the change in time. Look at the comment, and repeat the change if it is " +
		"needed."}

// StartChange adds to the transaction that a comment is hidden, shown or deleted at its platform. The caller has
// checked that the platform can, and writes the comment.
func StartChange(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, kind string) error {
	r.Changes++
	r.Change = &Change{Kind: kind, State: Pending, At: resource.Instant(now)}
	r.Touch(now)
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(Adjust, r.ID, r.Changes), Kind: Adjust, Queue: topology.Publish,
			Subject: r.ID, Owner: o},
		Deadline: now.Add(commentWithin),
	}, numbered{Number: r.Changes})
}

// change hides, shows or deletes a comment. A lost answer is followed by the same call, which is harmless.
func (w *Worker) change(ctx context.Context, r *task.Run) error {
	_, c, err := w.waiting(ctx, r)
	if err != nil || c == nil {
		return err
	}
	a, post, err := w.visit(ctx, r, c)
	if err != nil {
		return err
	}
	uses, removes := a.Limits().Comments.Uses, c.Change.Kind == Remove
	price := social.Price{Of: social.ForComments, Units: uses.Hide}
	if removes {
		price.Units = uses.Delete
	}
	if err = a.Spend(ctx, price); err == nil {
		err = a.Call(ctx, func(ctx context.Context, token platform.Account) error {
			if err := r.Lease(ctx, nil); err != nil { // so that two workers do not send different changes
				return err
			}
			hider, hides := a.Adapter.(platform.CommentHider)
			deleter, deletes := a.Adapter.(platform.CommentDeleter)
			switch {
			case removes && deletes:
				return deleter.DeleteComment(ctx, token, post, c.Remote)
			case !removes && hides:
				return hider.HideComment(ctx, token, post, c.Remote, c.Change.Kind == Hide)
			}
			return platform.Unsupported("this change of comments")
		})
	}
	if task.Waits(err) {
		return err
	}
	gone, f := platform.Gone(err), failure(r, err, lateChange)
	if gone && removes {
		f = nil
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, c, err := w.waiting(ctx, r)
		if err != nil || c == nil {
			return err
		}
		done := *c.Change
		done.State, done.Failure = Done, f
		switch {
		case f != nil:
			done.State = Failed
		case done.Kind == Hide:
			c.State = Hidden
		case done.Kind == Show:
			c.State = Visible
		default:
			c.State, c.Removed = Deleted, true
		}
		if c.Change = &done; gone {
			c.State = Deleted
		}
		c.Touch(w.Now())
		return c.Replace(tx, it)
	})
}
