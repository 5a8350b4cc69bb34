package engagement

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// The kinds of tasks.
const (
	Reply  task.Kind = "comments.reply"  // writes a reply
	Adjust task.Kind = "comments.change" // hides, shows or deletes a comment
)

// commentWithin bounds the duration of a reply or a change.
const commentWithin = time.Hour

// Worker does the tasks of comments.
type Worker struct {
	Budgets   social.Budgets
	DB        *store.DB
	Platforms social.Adapters
	Vault     social.Vault
	Now       func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{item.ReadComments: task.Func(w.read), Reply: task.Func(w.reply),
		Adjust: task.Func(w.change)}
}

// numbered is the payload of a task of the n-th request of its kind.
type numbered struct {
	Number int `json:"number"`
}

// waiting reads the comment of a reply or a change. The record is nil if it does not wait for the task any more.
func (w *Worker) waiting(ctx context.Context, r *task.Run) (it store.Item, c *Record, err error) {
	var p numbered
	if err := r.Decode(&p); err != nil {
		return it, nil, err
	}
	if it, err = w.DB.Lookup(ctx, store.IDKey(r.Subject)); err != nil {
		return it, nil, task.Again(err)
	}
	if it.Kind != Kind || it.Owner != r.Owner {
		return it, nil, nil
	}
	if c, err = Decode(&it); err != nil {
		return it, nil, err
	}
	if r.Kind == Reply && (c.Reply == nil || c.Reply.State != Pending || c.Replies != p.Number) ||
		r.Kind == Adjust && (c.Change == nil || c.Change.State != Pending || c.Changes != p.Number) {
		c = nil
	}
	return it, c, nil
}

// visit visits the account that has published the post of a comment, with the post.
func (w *Worker) visit(ctx context.Context, r *task.Run, c *Record) (a *social.Visit, p platform.Published, err error) {
	of, err := w.item(ctx, r.Owner, c.ContentItemID)
	if err != nil {
		return nil, p, err
	}
	if of != nil {
		p = postOf(of.Item.Publication(c.PublicationID)) // adapters refuse a post without an id
	}
	a, err = w.visits().Visit(ctx, r, c.SocialAccountID, social.ForComments)
	return a, p, err
}

func (w *Worker) visits() social.Visits {
	return social.Visits{DB: w.DB, Platforms: w.Platforms, Vault: w.Vault, Budgets: w.Budgets, Now: w.Now}
}

// item reads a content item, or returns nil if it is gone.
func (w *Worker) item(ctx context.Context, o tenant.Owner, itemID string) (*item.Record, error) {
	_, of, _, err := item.Lookup(ctx, w.DB, o, itemID)
	if err != nil {
		return nil, task.Again(err)
	}
	return of, nil
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

// failure returns the failure that an error of a visit means. It returns nil for nil, and late if the task has failed.
func failure(r *task.Run, err error, late *Failure) *Failure {
	var e *platform.Error
	switch {
	case err == nil:
		return nil
	case r.Cause() != nil || !errors.As(err, &e):
		return late
	}
	return &Failure{Code: string(e.Code), Message: e.Message, PlatformMessage: resource.OrNil(e.Words),
		Retryable: e.Retryable()}
}
