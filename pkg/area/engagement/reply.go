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

// How a task looks for a reply whose answer was lost: mostLooks times, with growing pauses between. They take about 15
// minutes.
const (
	firstLook = 5 * time.Second
	mostLooks = 8
)

// answering is the payload of a Reply task.
type answering struct {
	Number int `json:"number"`
	// SentAt is the start of the call that writes the reply. It is stored before the call, which is made once.
	SentAt time.Time `json:"sent_at,omitzero"`
	// Granted reports that the call is taken out of the budget of its platform.
	Granted bool `json:"granted,omitempty"`
	// Looks counts the looks for the reply after its answer was lost, or after Refusal, whose reason is not known.
	Looks   int      `json:"looks,omitempty"`
	Refusal *Failure `json:"refusal,omitempty"`
	// Kept is what an attempt has left to the next one.
	Kept platform.Handle `json:"kept,omitempty"`
	// ID is the id of the reply once it is known, and Sent reports that it is published.
	ID   string `json:"id,omitempty"`
	Sent bool   `json:"sent,omitempty"`
}

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
	}, answering{Number: r.Replies})
}

// replier is the handler of Reply. The lease of its task is the right to write the reply.
type replier struct{ *Worker }

// of returns the record if it still waits for the task.
func (p answering) of(r *Record) *Record {
	if r == nil || r.Reply == nil || r.Reply.State != Pending || r.Replies != p.Number {
		return nil
	}
	return r
}

// Step writes the reply, or looks for one whose answer was lost.
func (w replier) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p answering
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	if p.Sent {
		return w.end(s, p, nil, false), nil
	}
	_, r, err := w.find(ctx, s)
	if err != nil {
		return o, task.Again(err)
	}
	if r = p.of(r); r == nil {
		return task.Outcome{Done: true}, nil
	}
	ctx, a, err := w.open(ctx, s.Owner, r.SocialAccountID, r.Platform)
	if err != nil {
		return o, task.Again(err)
	}
	if a == nil {
		if !p.SentAt.IsZero() {
			return w.end(s, p, lost(), false), nil
		}
		return w.end(s, p, absent(), false), nil
	}
	writer, ok := a.adapter.(platform.Replier)
	if !ok {
		return w.end(s, p, &Failure{Code: string(platform.CodeUnsupported),
			Message: "The platform takes no replies of applications."}, false), nil
	}
	post, err := w.post(ctx, s.Owner, r)
	if err != nil {
		return o, task.Again(err)
	}
	reply := platform.Reply{Key: fmt.Sprint(r.ID, "-", p.Number), Post: post, To: r.remote(), Text: r.Reply.Text,
		At: p.SentAt, Kept: &p.Kept}
	if !p.SentAt.IsZero() {
		return w.look(ctx, s, p, a, writer, reply)
	}
	price := a.adapter.Capabilities().Comments.Uses.OfReply(reply.Text)
	if o, ready, err := w.grant(ctx, s.Owner, a, price, &p.Granted, func() any { return p }); err == errQuota {
		return w.end(s, p, failureOf(errQuota), false), nil
	} else if err != nil || !ready {
		return o, err
	}
	p.SentAt, reply.At = w.Now(), w.Now()
	if err := s.Lease(ctx, p); err != nil {
		return o, err
	}
	id, err := writer.Reply(ctx, a.account, reply)
	return w.written(ctx, s, p, a, id, err)
}

// written returns the outcome of the call that writes a reply.
func (w replier) written(ctx context.Context, s *task.Step, p answering, a *access, id string,
	err error) (o task.Outcome, _ error) {
	if err == nil {
		p.ID, p.Sent = id, true
		return task.Outcome{Payload: p}, nil // the result is safe before the comment changes
	}
	var e *platform.Error
	if !errors.As(err, &e) || e.Kind == platform.Unknown || e.Kind == platform.Restart || e.Kind == platform.Unclear {
		if e != nil && e.Kind == platform.Unclear {
			p.Refusal = failureOf(e)
		}
		return task.Outcome{Payload: p, Wait: firstLook}, nil
	}
	p.SentAt = time.Time{} // the call had no effect
	switch {
	case platform.Gone(err):
		return w.end(s, p, failureOf(e), true), nil
	case e.Kind == platform.Expired:
		return task.Outcome{Payload: p, Wait: social.RefreshTime, Join: w.told(a, err)}, nil
	case e.Kind.Final():
		o = w.end(s, p, failureOf(e), false)
		o.Join = social.Both(w.told(a, err), o.Join)
		return o, nil
	}
	return task.Outcome{Payload: p}, &task.RetryError{Err: err, After: e.RetryAfter, Most: task.NoLimit}
}

// look looks for a reply whose answer was lost. The reply is not written again.
func (w replier) look(ctx context.Context, s *task.Step, p answering, a *access, c platform.CommentReader,
	reply platform.Reply) (o task.Outcome, _ error) {
	found, err := platform.FindReply(ctx, c, a.account, reply)
	if ctx.Err() != nil {
		return o, task.Again(err)
	}
	if found != "" {
		p.ID, p.Sent = found, true
		return task.Outcome{Payload: p}, nil
	}
	var e *platform.Error
	p.Looks++
	switch {
	case errors.As(err, &e) && e.Kind == platform.Expired && p.Looks < mostLooks:
		return task.Outcome{Payload: p, Wait: social.RefreshTime, Join: w.told(a, err)}, nil
	case p.Looks >= mostLooks && err == nil && p.Refusal != nil:
		return w.end(s, p, p.Refusal, false), nil // the platform has refused the reply, and does not have it
	case p.Looks >= mostLooks, errors.As(err, &e) && e.Kind.Final():
		return w.end(s, p, lost(), false), nil
	}
	o = task.Outcome{Payload: p, Wait: firstLook << p.Looks}
	if e != nil {
		o.Wait = max(o.Wait, e.RetryAfter)
	}
	return o, nil
}

// lost is the failure of a reply whose answer was lost.
func lost() *Failure {
	return &Failure{Code: string(platform.CodeOutcomeUnknown), Message: "The platform's answer was lost. Look at the " +
		"comments of the post: the reply may exist."}
}

// end returns the outcome of a reply that is published, or has failed.
func (w replier) end(s *task.Step, p answering, f *Failure, gone bool) task.Outcome {
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.find(ctx, s)
		if err != nil {
			return err
		}
		if r = p.of(r); r == nil {
			return nil
		}
		now, done := w.Now(), *r.Reply
		done.State, done.Failure = Done, f
		if f != nil {
			done.State = Failed
		} else if p.ID != "" {
			done.RemoteID = &p.ID
		}
		if gone {
			r.State = Deleted
		}
		r.Reply = &done
		r.Touch(now)
		if f == nil {
			if err := r.notify(tx, now, s.Owner, event.CommentReplied); err != nil {
				return err
			}
		}
		return r.Replace(tx, it)
	}}
}

// Fail ends a reply that was not written in time.
func (w replier) Fail(_ context.Context, s *task.Step, _ error) (o task.Outcome, err error) {
	var p answering
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	switch {
	case p.Sent:
		return w.end(s, p, nil, false), nil
	case !p.SentAt.IsZero():
		return w.end(s, p, lost(), false), nil
	}
	return w.end(s, p, &Failure{Code: item.FailedTimeout, Retryable: true,
		Message: "The platform did not take the reply in time. Send it again."}, false), nil
}

// post returns the post of a comment at its platform.
func (w *Worker) post(ctx context.Context, o tenant.Owner, r *Record) (p platform.Published, err error) {
	it, of, _, err := item.Lookup(ctx, w.DB, r.ContentItemID)
	if err != nil || of == nil || it.Owner != o {
		return p, err // the adapter refuses a post without an id
	}
	return postOf(of.Publication(r.PublicationID)), nil
}

func postOf(pub *item.Publication) (p platform.Published) {
	if pub == nil {
		return p
	}
	if pub.PlatformPostID != nil {
		p.ID = *pub.PlatformPostID
	}
	if pub.URL != nil {
		p.URL = *pub.URL
	}
	return p
}
