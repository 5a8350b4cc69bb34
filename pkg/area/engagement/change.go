package engagement

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// commentWithin bounds the duration of a reply or a change.
const commentWithin = time.Hour

// numbered is the payload of a task of the n-th request of its kind.
type numbered struct {
	Number int `json:"number"`
	// Granted reports that the call is taken out of the budget of its platform.
	Granted bool `json:"granted,omitempty"`
}

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

// changer is the handler of Adjust. Each call of the platform may be repeated, so that a lost answer is followed by the
// same call.
type changer struct{ *Worker }

// changed returns the record if it still waits for the task.
func (p numbered) changed(r *Record) *Record {
	if r == nil || r.Change == nil || r.Change.State != Pending || r.Changes != p.Number {
		return nil
	}
	return r
}

// Step makes the call of the platform once.
func (w changer) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p numbered
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, err := w.find(ctx, s)
	if err != nil {
		return o, task.Again(err)
	}
	if r = p.changed(r); r == nil {
		return task.Outcome{Done: true}, nil
	}
	ctx, a, err := w.open(ctx, s.Owner, r.SocialAccountID, r.Platform)
	if err != nil {
		return o, task.Again(err)
	}
	if a == nil {
		return w.end(s, p, absent(), false), nil
	}
	post, err := w.post(ctx, s.Owner, r)
	if err != nil {
		return o, task.Again(err)
	}
	uses := a.adapter.Capabilities().Comments.Uses
	price := uses.Hide
	if r.Change.Kind == Remove {
		price = uses.Delete
	}
	if o, ready, err := w.grant(ctx, s.Owner, a, price, &p.Granted, func() any { return p }); err == errQuota {
		return w.end(s, p, failureOf(errQuota), false), nil
	} else if err != nil || !ready {
		return o, err
	}
	if err := s.Lease(ctx, nil); err != nil { // so that two workers do not send different changes
		return o, err
	}
	err = change(ctx, a, post, r)
	var e *platform.Error
	switch {
	case err == nil:
		return w.end(s, p, nil, false), nil
	case ctx.Err() != nil || !errors.As(err, &e):
		return o, task.Again(err)
	case platform.Gone(err):
		if r.Change.Kind == Remove {
			return w.end(s, p, nil, true), nil
		}
		return w.end(s, p, failureOf(e), true), nil
	case e.Kind == platform.Expired:
		return task.Outcome{Wait: social.RefreshTime, Join: w.told(a, err)}, nil
	case e.Kind == platform.Unclear && s.Failures+1 >= mostUnclear:
	case e.Kind == platform.Unknown || !e.Kind.Final():
		return o, &task.RetryError{Err: err, After: e.RetryAfter, Most: task.NoLimit} // the same call is harmless
	}
	o = w.end(s, p, failureOf(e), false)
	o.Join = social.Both(w.told(a, err), o.Join)
	return o, nil
}

// change makes the call of a change.
func change(ctx context.Context, a *access, post platform.Published, r *Record) error {
	if r.Change.Kind == Remove {
		if d, ok := a.adapter.(platform.CommentDeleter); ok {
			return d.DeleteComment(ctx, a.account, post, r.Remote)
		}
		return lacks(a.adapter, "the deletion of comments")
	}
	if d, ok := a.adapter.(platform.CommentHider); ok {
		return d.HideComment(ctx, a.account, post, r.Remote, r.Change.Kind == Hide)
	}
	return lacks(a.adapter, "the hiding of comments")
}

// end returns the outcome of a change that is done, or has failed. The argument gone reports that the comment does not
// exist any more.
func (w changer) end(s *task.Step, p numbered, f *Failure, gone bool) task.Outcome {
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.find(ctx, s)
		if err != nil {
			return err
		}
		if r = p.changed(r); r == nil {
			return nil
		}
		done := *r.Change
		done.State, done.Failure = Done, f
		switch {
		case f != nil:
			done.State = Failed
		case done.Kind == Hide:
			r.State = Hidden
		case done.Kind == Show:
			r.State = Visible
		case done.Kind == Remove:
			r.State, r.Removed = Deleted, true
		}
		if gone {
			r.State = Deleted
		}
		r.Change = &done
		r.Touch(w.Now())
		return r.Replace(tx, it)
	}}
}

// Fail ends a change that was not done in time.
func (w changer) Fail(_ context.Context, s *task.Step, _ error) (o task.Outcome, err error) {
	var p numbered
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	return w.end(s, p, &Failure{Code: string(platform.CodeOutcomeUnknown), Retryable: true,
		Message: "The platform did not confirm the change in time. Look at the comment, and repeat the change if it " +
			"is needed."}, false), nil
}
