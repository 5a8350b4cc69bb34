package engagement

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
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// mostLooks is the number of looks for a reply whose answer was lost. They take about 15 minutes.
const mostLooks = 8

// The failures of a reply that was not written in time, and of one whose answer was lost.
var (
	lateReply = &Failure{Code: item.FailedTimeout, Retryable: true,
		Message: "The platform did not take the reply in time. Send it again."}
	lostReply = &Failure{Code: string(platform.CodeOutcomeUnknown), Message: "The platform's answer was lost. Look at " +
		"the comments of the post: the reply may exist."}
)

// StartReply adds to the transaction that a reply to a comment is written. The caller has checked that the platform
// can, and writes the comment.
func StartReply(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, text string) error {
	r.Replies++
	r.Reply = &Answer{Text: text, State: Pending, At: resource.Instant(now)}
	r.Touch(now)
	return task.Create(tx, now, task.Task{
		Message: task.Message{ID: task.ID(Reply, r.ID, r.Replies), Kind: Reply, Queue: topology.Publish, Subject: r.ID,
			Owner: o},
		Deadline: now.Add(commentWithin),
	}, numbered{Number: r.Replies})
}

// reply writes a reply once. If the answer is lost, it looks for the reply and never writes it again.
func (w *Worker) reply(ctx context.Context, r *task.Run) error {
	_, c, err := w.waiting(ctx, r)
	if err != nil || c == nil {
		return err
	}
	a, post, err := w.visit(ctx, r, c)
	if err != nil {
		return err
	}
	begun, kept := w.Now(), platform.Handle("") // what an attempt leaves to the next one
	var refusal *Failure                        // for a reason that the adapter does not know
	if err := errors.Join(r.Kept("begun", &begun), r.Keep("begun", begun), r.Kept("kept", &kept),
		r.Kept("refusal", &refusal)); err != nil {
		return err
	}
	writer, writes := a.Adapter.(platform.Replier)
	reply := platform.Reply{Key: fmt.Sprint(c.ID, "-", c.Replies), Post: post, To: c.remote(), Text: c.Reply.Text,
		At: begun, Kept: &kept}
	id, absent := "", false
	err = a.Spend(ctx, social.Price{Of: social.ForComments, Units: a.Limits().Comments.Uses.OfReply(reply.Text)})
	if err == nil {
		id, err = social.Once(ctx, a, "reply", func(ctx context.Context, token platform.Account) (string, error) {
			if !writes {
				return "", platform.Reject(platform.CodeUnsupported, "The platform takes no replies of applications.")
			}
			id, err := writer.Reply(ctx, token, reply)
			if platform.Refuses(err) {
				refusal = failure(r, err, nil)
			}
			return id, errors.Join(err, r.Keep("kept", kept), r.Keep("refusal", refusal))
		})
	}
	if errors.Is(err, task.ErrLost) {
		id, err = task.Look(ctx, r, "reply", mostLooks, func(ctx context.Context) (id string, found bool, err error) {
			err = a.Call(ctx, func(ctx context.Context, token platform.Account) (err error) {
				id, err = platform.FindReply(ctx, writer, token, reply)
				return err
			})
			absent = err == nil && id == ""
			return id, id != "", err
		})
	}
	if task.Waits(err) {
		return err
	}
	gone, f := platform.Gone(err), failure(r, err, lateReply)
	switch {
	case absent && refusal != nil: // the platform has refused the reply, and does not have it
		f = refusal
	case errors.Is(err, task.ErrLost):
		f = lostReply
	}
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, c, err := w.waiting(ctx, r)
		if err != nil || c == nil {
			return err
		}
		now, done := w.Now(), *c.Reply
		done.State, done.Failure, done.RemoteID = Done, f, resource.OrNil(id)
		if c.Reply = &done; gone {
			c.State = Deleted
		}
		c.Touch(now)
		if f != nil {
			done.State = Failed
		} else if err := c.notify(tx, now, r.Owner, event.CommentReplied); err != nil {
			return err
		}
		return c.Replace(tx, it)
	})
}
