package social

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Visits makes the visits of a worker. Budgets may be nil if they spend nothing.
type Visits struct {
	DB        *store.DB
	Platforms Adapters
	Vault     Vault
	Budgets   Budgets
	Now       func() time.Time
}

// Visit is an account that a task calls, for example in engagement.Worker.reply. Only Open, Call and Once open its
// token, so that a task whose account is gone still learns from Once what it has done before.
//
// A task returns an error of Spend, Open, Call or Once for which task.Waits is true. With nil or a permanent error it
// ends. If it reads again and again, it sets Tries, and after nil or a permanent error it calls Over and sleeps until
// its next reading.
type Visit struct {
	Visits
	Run     *task.Run
	Purpose Purpose
	// Account is the account as it was read, and Adapter that of its platform: the zero value and nil if it is gone.
	Account Record
	Adapter platform.Adapter
	// Tries bounds how often the calls of a reading fail. With 0, calls are repeated until the deadline of the task.
	Tries int
}

// Visit reads an account for a task. Its error is one of the table.
func (v Visits) Visit(ctx context.Context, r *task.Run, accountID string, p Purpose) (*Visit, error) {
	it, err := v.DB.Lookup(ctx, store.IDKey(accountID))
	if err != nil {
		return nil, task.Again(err)
	}
	return v.Of(r, it, p)
}

// Of is Visit with the item of the account, which may be the zero value.
func (v Visits) Of(r *task.Run, it store.Item, p Purpose) (a *Visit, err error) {
	a = &Visit{Visits: v, Run: r, Purpose: p}
	if Is(it, r.Owner) {
		if a.Account, err = Decode(&it); err != nil {
			return nil, task.Again(err)
		}
		a.Adapter, _ = v.Platforms.Of(r.Mode, a.Account.Platform)
	}
	return a, nil
}

// Limits returns the capabilities of the platform, or the zero value if the account is gone.
func (a *Visit) Limits() (c platform.Capabilities) {
	if a.Adapter != nil {
		c = a.Adapter.Capabilities()
	}
	return c
}

// Open returns the token of the account, and the context of calls with it. The error is permanent if the account is not
// connected or the task fails. Other errors are those of Answer.
func (a *Visit) Open(ctx context.Context) (with context.Context, token platform.Account, err error) {
	switch {
	case a.Run.Cause() != nil:
		return ctx, token, task.Permanent(a.Run.Cause())
	case a.Adapter == nil || !a.Account.Usable():
		return ctx, token, task.Permanent(a.Account.Unusable())
	}
	with, token, err = a.Vault.Token(ctx, a.Run.Owner, &a.Account)
	return with, token, a.Answer(ctx, err)
}

// Call makes a call that may be repeated. The error is one of Open and Answer.
func (a *Visit) Call(ctx context.Context, call func(context.Context, platform.Account) error) error {
	with, token, err := a.Open(ctx)
	if err != nil {
		return err
	}
	return a.Answer(ctx, call(with, token))
}

// Once is task.Once for a call of the platform. The error is task.ErrLost, or one of Open and Answer.
func Once[T any](ctx context.Context, a *Visit, name string,
	call func(context.Context, platform.Account) (T, error)) (result T, err error) {
	var token platform.Account
	if !a.Run.Knows(name) {
		if ctx, token, err = a.Open(ctx); err != nil {
			return result, err
		}
	}
	result, err = task.Once(ctx, a.Run, name, func(ctx context.Context) (T, error) { return call(ctx, token) })
	return result, a.Answer(ctx, err)
}

// Answer returns what the task does after the error of a call: see the function Answer.
func (a *Visit) Answer(ctx context.Context, err error) error {
	return Answer(ctx, a.Run, a, a.Tries, err)
}

// Access is what a task calls: an account, or an integration. Its methods add to the transaction what the error of a
// call says about it: that its token has ended, that the access has, or that it lacks a right.
type Access interface {
	Expired(ctx context.Context, tx *store.Tx, cause error) error
	Lost(ctx context.Context, tx *store.Tx, cause error) error
	Denied(ctx context.Context, tx *store.Tx, cause error) error
}

// mostUnclear bounds how often a call is made that the platform refuses for a reason that its adapter does not know.
const mostUnclear = 3

// Answer turns the error of a call into what the task does next, and tells the access. It returns
//   - nil;
//   - an error for which the task waits: until the token is refreshed, for the time that the platform asks for, or
//     before a repeat. A reading is repeated up to the number of tries, and all else until the deadline of the task;
//   - a permanent error, with which the task or the reading ends: the access has ended, the platform refuses the call,
//     or the tries are used up. An error that is permanent already, such as task.ErrLost, stays.
func Answer(ctx context.Context, r *task.Run, to Access, tries int, err error) error {
	tell := func(change func(context.Context, *store.Tx, error) error) {
		r.Also(func(ctx context.Context, tx *store.Tx) error { return change(ctx, tx, err) })
	}
	var e *platform.Error
	switch known := errors.As(err, &e); {
	case err == nil || !task.Waits(err) || errors.Is(err, task.ErrMoved):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case known && e.Kind == platform.Expired:
		tell(to.Expired)
		return r.Sleep(RefreshTime)
	case known && e.Kind == platform.Reconnect:
		tell(to.Lost)
		return task.Permanent(err)
	case known && e.Kind == platform.BadContent:
		if platform.Denied(e) {
			tell(to.Denied)
		}
		return task.Permanent(err)
	case tries > 0:
		return again(r, tries, err)
	case known && e.Kind == platform.Unclear && r.Failures+1 >= mostUnclear:
		return task.Permanent(err)
	}
	return Again(err, 0)
}

// again has a reading tried again, up to the given number of tries. Credentials that do not open have one.
func again(r *task.Run, tries int, err error) error {
	failed := 0
	if bad := r.Kept("tries", &failed); bad != nil {
		return bad
	}
	if failed++; failed >= tries || errors.Is(err, seal.ErrOpen) {
		slog.Warn("reading left out", "task", r.ID, "subject", r.Subject, "error", err)
		return task.Permanent(err)
	}
	if bad := r.Keep("tries", failed); bad != nil {
		return bad
	}
	return r.Sleep(max(platform.WaitOf(err), task.Jitter(time.Duration(failed)*time.Minute)))
}

// Expired adds to the transaction that the token of the call has ended.
func (a *Visit) Expired(ctx context.Context, tx *store.Tx, cause error) error {
	return a.change(ctx, func(it store.Item) error { return Expired(tx, a.Now(), it, a.Account.Tokens, cause) })
}

// Lost adds to the transaction that the access has ended. A right that the owner of the account has not granted ends it
// only if the account cannot publish without the right.
func (a *Visit) Lost(ctx context.Context, tx *store.Tx, cause error) error {
	if platform.Denied(cause) && a.Purpose != ForPublishing {
		return a.Denied(ctx, tx, cause)
	}
	return a.change(ctx, func(it store.Item) error { return Lose(tx, a.Now(), it, a.Account.Tokens, cause) })
}

// Denied adds to the transaction that the account lacks the right for figures, or that for comments.
func (a *Visit) Denied(ctx context.Context, tx *store.Tx, _ error) error {
	return a.change(ctx, func(it store.Item) error { return a.Purpose.bar(tx, a.Now(), it, a.Account.Tokens) })
}

// change calls do with the present item of the account, if there is one.
func (a *Visit) change(ctx context.Context, do func(store.Item) error) error {
	it, err := a.DB.Lookup(ctx, store.IDKey(a.Account.ID))
	if err != nil || it.PK == "" {
		return err
	}
	return do(it)
}
