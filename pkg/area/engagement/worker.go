package engagement

import (
	"context"
	"fmt"
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

// Platforms finds the adapters of platforms.
type Platforms interface {
	// Of returns the adapter of a platform for a mode, and reports whether there is one.
	Of(mode tenant.Mode, platform string) (platform.Adapter, bool)
}

// Budgets has the budgets of platforms for calls about comments; see publication.Worker.
type Budgets interface {
	MayRead(ctx context.Context, name string, c platform.Capabilities) (bool, error)
	CountRead(ctx context.Context, tx *store.Tx, name string, c platform.Capabilities, uses int) error
	AllowWrite(ctx context.Context, name string, c platform.Capabilities, price int, granted func(bool) any) (
		out task.Outcome, within bool, err error)
}

// Worker does the tasks of comments.
type Worker struct {
	Budgets   Budgets
	DB        *store.DB
	Platforms Platforms
	Vault     social.Vault
	Now       func() time.Time
}

// Handlers returns the handlers of the kinds of tasks.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{item.ReadComments: reader{w}, Reply: replier{w}, Adjust: changer{w}}
}

// find reads the comment of a task. The record is nil if the comment is gone.
func (w *Worker) find(ctx context.Context, s *task.Step) (it store.Item, r *Record, err error) {
	it, err = w.DB.Lookup(ctx, store.IDKey(s.Subject))
	if err != nil || it.Kind != Kind || it.Owner != s.Owner {
		return it, nil, err
	}
	r, err = Decode(&it)
	return it, r, err
}

// access is an account with its token and its adapter.
type access struct {
	adapter platform.Adapter
	account platform.Account
	key     store.Key
	tokens  int // of the account, when the token was read
	meter   string
}

// open returns the access to an account, or nil if it is not connected, and the context of its calls.
func (w *Worker) open(ctx context.Context, o tenant.Owner, accountID, name string) (context.Context, *access, error) {
	it, err := w.DB.Lookup(ctx, store.IDKey(accountID))
	if err != nil || !social.Is(it, o) {
		return ctx, nil, err
	}
	r, err := social.Decode(&it)
	if err != nil {
		return ctx, nil, err
	}
	adapter, ok := w.Platforms.Of(o.Mode, name)
	if !ok || !r.Usable() {
		return ctx, nil, nil
	}
	with, token, err := w.Vault.Token(ctx, o, &r)
	if platform.KindOf(err) == platform.Reconnect {
		return ctx, nil, nil
	}
	if err != nil {
		return ctx, nil, err
	}
	return with, &access{adapter, token, it.Key, r.Tokens, r.Meter()}, nil
}

// grant takes a call out of the budget of its platform, in a step of its own. It reports whether nothing is left to
// take. The error is quota for a call beyond the budget.
func (w *Worker) grant(ctx context.Context, o tenant.Owner, a *access, price int, granted *bool, payload func() any) (
	out task.Outcome, ready bool, err error) {
	c := a.adapter.Capabilities()
	if o.Mode != tenant.Live || c.Reads == nil || price == 0 || *granted {
		return out, true, nil
	}
	out, within, err := w.Budgets.AllowWrite(ctx, a.meter, c, price, func(is bool) any {
		*granted = is
		return payload()
	})
	switch {
	case err != nil:
		return out, false, task.Again(err)
	case !within:
		return out, false, errQuota
	}
	return out, false, nil
}

// errQuota is the error of a call beyond the budget of its platform.
var errQuota = &platform.Error{Kind: platform.Quota, Code: platform.CodeQuotaReached,
	Message: "The calls of this platform have used up their share of the day. Try again later."}

// told returns the Outcome.Join that adds to the account what an error says about it, or nil.
func (w *Worker) told(a *access, err error) func(context.Context, *store.Tx) error {
	if !social.ForComments.Concerns(err) {
		return nil
	}
	return func(ctx context.Context, tx *store.Tx) error {
		it, failed := w.DB.Lookup(ctx, a.key)
		if failed != nil || it.PK == "" {
			return failed
		}
		return social.ForComments.Note(tx, w.Now(), it, a.tokens, err)
	}
}

// mostUnclear bounds how often a change is tried that the platform refuses for a reason that its adapter does not know.
const mostUnclear = 3

// absent is the failure of an account that is not connected.
func absent() *Failure {
	return &Failure{Code: string(platform.CodeNeedsReconnect), Message: "The account is not connected.",
		Retryable: true}
}

// failureOf returns the failure that an error of a platform means.
func failureOf(e *platform.Error) *Failure {
	return &Failure{Code: string(e.Code), Message: e.Message, PlatformMessage: resource.OrNil(e.Words),
		Retryable: e.Kind == platform.Reconnect || e.Kind == platform.Quota}
}

// lacks is the error of an adapter without an operation that its capabilities have.
func lacks(a platform.Adapter, what string) error {
	return fmt.Errorf("comment: %s has no %s: %w", a.Name(), what, platform.Unsupported(what))
}
