package social

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/event"
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

// Answer returns what the task does after the error of a call: see the function Answer. A reading that is refused with
// a fresh token, too, lacks a right: where the grant is not valid, its refresh is refused.
func (a *Visit) Answer(ctx context.Context, err error) error {
	beside := a.Purpose == ForReading || a.Purpose == ForComments
	if platform.KindOf(err) == platform.Expired && beside && a.Account.refusedAgain(a.Now()) {
		err = platform.NeedsReconnect(platform.CodeMissingPermission, "The platform does not let the account do this. "+
			"Connect the account again and allow all that it asks for.").Saying(platform.WordsOf(err)).Because(err)
	}
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
		return retryReading(r, tries, err)
	case known && e.Kind == platform.Unclear && r.Failures+1 >= mostUnclear:
		return task.Permanent(err)
	}
	return Again(err, 0)
}

// retryReading has a reading tried again, up to the given number of tries. Credentials that do not open have one.
func retryReading(r *task.Run, tries int, err error) error {
	failed := 0
	if bad := r.Recall("tries", &failed); bad != nil {
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

// Price is what a call takes of the budgets of its platform: of that for posts (ForPublishing), for calls that change
// comments (ForComments), or for readings (ForReading).
type Price struct {
	Of Purpose
	// Units that the platform counts. A reading is at least one.
	Units int
	// Urgent reports that a reading may use the part of the budget that is kept for the first readings of new posts.
	Urgent bool
}

// Use is what a call takes of a counter, which has a limit.
type Use struct {
	Key          store.Key
	Units, Limit int64
}

// Budgets has the budgets of platforms.
type Budgets interface {
	// Uses returns what a call for an account takes of counters, or nothing if its platform has no such budget. The
	// wait is the time until the budgets permit the call, or 0 if they do now.
	Uses(ctx context.Context, r *Record, c platform.Capabilities, p Price) (all []Use, wait time.Duration, err error)
}

// keepCount is the time for which a counter is kept.
const keepCount = 3 * 24 * time.Hour

// Spend takes a call out of the budgets of its platform, once until Over, and in a write of its own. If they do not
// permit the call, it returns a platform.Error as a permanent error, whose RetryAfter is the time until they do. A task
// that fails spends nothing.
func (a *Visit) Spend(ctx context.Context, p Price) error {
	if a.Run.Knows("budget") {
		return nil
	}
	if all, err := a.afford(ctx, p); err != nil || len(all) == 0 {
		return err
	}
	_, err := task.Commit(ctx, a.Run, "budget", func(ctx context.Context, tx *store.Tx) (bool, error) {
		all, err := a.afford(ctx, p)
		for _, u := range all {
			tx.CountUntil(u.Key, u.Units, u.Limit, a.Now().Add(keepCount), store.ErrConflict)
		}
		return true, err
	})
	if task.Waits(err) {
		err = task.Again(err) // others use the counters, too
	}
	return err
}

// Affords returns the error that Spend would. It is for a call whose price is known afterwards: see Count.
func (a *Visit) Affords(ctx context.Context, p Price) error {
	_, err := a.afford(ctx, p)
	return err
}

// Count adds to the transaction what a call has used, even if it exceeds the budgets.
func (a *Visit) Count(ctx context.Context, tx *store.Tx, p Price) error {
	all, _, err := a.uses(ctx, p)
	for _, u := range all {
		tx.CountUntil(u.Key, u.Units, math.MaxInt32, a.Now().Add(keepCount), store.ErrConflict)
	}
	return err
}

// Over ends a reading: the next one spends and is tried anew.
func (a *Visit) Over() {
	a.Run.Forget("budget")
	a.Run.Forget("tries")
}

// afford returns what a call takes of counters, or the error of Spend.
func (a *Visit) afford(ctx context.Context, p Price) ([]Use, error) {
	if p.Of == ForReading {
		p.Units = max(1, p.Units)
	}
	all, wait, err := a.uses(ctx, p)
	switch {
	case err != nil:
		return nil, task.Again(err)
	case wait > 0:
		return nil, task.Permanent((&platform.Error{Kind: platform.Quota, Code: platform.CodeQuotaReached,
			Message: "The calls of this platform have used up their share of the day. Try again " +
				"later."}).WithWait(wait))
	}
	return all, nil
}

// uses returns what Budgets.Uses does. Calls of the sandbox use nothing.
func (a *Visit) uses(ctx context.Context, p Price) (all []Use, wait time.Duration, err error) {
	if a.Run.Mode != tenant.Live || a.Adapter == nil || p.Units == 0 {
		return nil, 0, nil
	}
	return a.Budgets.Uses(ctx, &a.Account, a.Adapter.Capabilities(), p)
}

// Vault seals the tokens of accounts, and opens them.
type Vault struct {
	*seal.Envelope
	// DB has the applications of customers. It is not needed to seal, and to open a value.
	DB *store.DB
}

// Seal encrypts a value as JSON for one account. A copy of it does not open for a different account.
func (v Vault) Seal(ctx context.Context, o tenant.Owner, accountID string, value any) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("social: encode what is sealed for %s: %w", accountID, err)
	}
	sealed, err := v.Envelope.Seal(ctx, string(o.Account), plain, sealedFor(o, accountID))
	if err != nil {
		return nil, fmt.Errorf("social: seal for %s: %w", accountID, err)
	}
	return sealed, nil
}

// Open decrypts a value that was sealed for the account into value. Its error wraps seal.ErrOpen if that can never
// succeed.
func (v Vault) Open(ctx context.Context, o tenant.Owner, accountID string, sealed []byte, value any) error {
	plain, err := v.Envelope.Open(ctx, string(o.Account), sealed, sealedFor(o, accountID))
	if err != nil {
		return fmt.Errorf("social: open what is sealed for %s: %w", accountID, err)
	}
	if err := json.Unmarshal(plain, value); err != nil {
		// The cause could show a token.
		return fmt.Errorf("social: decode what is sealed for %s: %w", accountID, seal.ErrOpen)
	}
	return nil
}

func sealedFor(o tenant.Owner, accountID string) string { return o.String() + "#" + accountID }

// Token opens the account of the platform with its token. Calls of the platform that take the token need the returned
// context, which has the application that the token was made with if it is not the operator's. The error is a
// platform.Error of the kind Reconnect if that application was deleted, and provider_unavailable while a token that the
// platform has refused is renewed: no call is made with such a token.
func (v Vault) Token(ctx context.Context, o tenant.Owner, r *Record) (context.Context, platform.Account, error) {
	if r.refused() {
		return ctx, platform.Account{}, errs.New(errs.ProviderUnavailable, "The access to the account is being "+
			"renewed. Try again in a few seconds.")
	}
	return v.account(ctx, o, r)
}

// account opens the account of the platform with its token, for a refresh.
func (v Vault) account(ctx context.Context, o tenant.Owner, r *Record) (context.Context, platform.Account, error) {
	var a platform.Account
	if err := v.Open(ctx, o, r.ID, r.SealedAccount, &a); err != nil {
		return ctx, a, err
	}
	with, err := v.with(ctx, o, r.ApplicationID)
	return with, a, err
}

// with returns a context with an application of a customer, or the context itself without one.
func (v Vault) with(ctx context.Context, o tenant.Owner, applicationID *string) (context.Context, error) {
	if applicationID == nil {
		return ctx, nil
	}
	it, err := v.DB.Get(tenant.Unconfined(ctx), store.IDKey(*applicationID))
	var r applicationRecord
	if err == nil && it.Kind == ApplicationKind && o.Uses(it.Owner) {
		if r, err = applicationOf(&it); err != nil {
			return ctx, err
		}
	}
	if errors.Is(err, store.ErrNotFound) || err == nil && (r.ID == "" || r.Deleted) {
		return ctx, platform.NeedsReconnect(platform.CodeNeedsReconnect,
			"The application that the account was connected with was deleted. Connect the account again.")
	}
	if err != nil {
		return ctx, err
	}
	app := platform.App{ID: r.ClientID, Scopes: strings.Join(r.Scopes, " ")}
	if len(r.SealedSecret) > 0 {
		err = v.Open(ctx, it.Owner, r.ID, r.SealedSecret, &app.Secret)
	}
	return platform.WithApp(ctx, app), err
}

// Worker has the dependencies of the tasks of accounts.
type Worker struct {
	DB        *store.DB
	Platforms Adapters
	Vault     Vault
	Now       func() time.Time
	// Cleaners end the pending work for an account that was disconnected.
	Cleaners []Cleaner
}

// Handlers returns the handler of each kind of task of social accounts.
func (w *Worker) Handlers() map[task.Kind]task.Handler {
	return map[task.Kind]task.Handler{Refresh: task.Func(w.refresh), Disconnect: task.Func(w.disconnect)}
}

const (
	// refreshTimeout bounds the call of a platform, during which the lease is renewed.
	refreshTimeout = 40 * time.Second
	// JustNow is the age below which a token is not refreshed again, because several tasks may notice its end at once.
	JustNow = 10 * time.Second
	// longestPause bounds the wait between two attempts at a refresh.
	longestPause = 15 * time.Minute
)

// Refreshing is the payload of a task that refreshes a token. The task ends with its connection.
type Refreshing struct {
	Connection int `json:"connection"`
}

// Renew refreshes a token. Only the task of a connection does so, and its lease prevents two refreshes at once. If the
// answer is lost or the function dies, the next step tries the same refresh token again. A platform that has rotated
// the token refuses the repeat, and the owner has to connect again. The error is permanent if the access has ended.
func Renew(ctx context.Context, r *task.Run, refresh func(context.Context) (platform.Token, error)) (
	token platform.Token, err error) {
	if err := r.Lease(ctx, nil); err != nil {
		return token, Again(err, 0)
	}
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	token, err = refresh(bounded)
	switch {
	case err == nil:
		return token, nil
	case platform.Ended(err):
		return token, task.Permanent(err)
	case errors.Is(err, seal.ErrOpen):
		return token, Again(err, longestPause) // an operator can set the right key again
	}
	return token, Again(err, min(longestPause, time.Duration(r.Failures+1)*time.Minute))
}

// refresh refreshes the token of an account again and again, and acts on the end of the access.
func (w *Worker) refresh(ctx context.Context, r *task.Run) error {
	var p Refreshing
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, acct, err := w.read(ctx, r.Subject)
	if err != nil {
		return Again(err, 0)
	}
	if !acct.Usable() || acct.Connection != p.Connection || acct.TokenExpiresAt == nil {
		return nil
	}
	adapter, ok := w.Platforms.Of(r.Mode, acct.Platform)
	ends, now := acct.ReconnectDueAt, w.Now()
	switch {
	case ends != nil && !now.Before(ends.Time):
		return w.lose(r, acct, platform.Disconnected())
	case ends != nil && !acct.Announced && !now.Before(ends.Add(-notice)):
		return w.tell(r, acct)
	case !ok:
		return nil
	case !acct.refused() && now.Sub(acct.RefreshedAt) < JustNow:
		return r.Sleep(max(JustNow, acct.pause(now)))
	}
	var account platform.Account
	token, err := Renew(ctx, r, func(ctx context.Context) (token platform.Token, err error) {
		if ctx, account, err = w.Vault.account(ctx, r.Owner, &acct); err != nil {
			return token, err
		}
		return adapter.Refresh(ctx, account)
	})
	if task.Waits(err) {
		return err
	}
	if err != nil {
		return w.lose(r, acct, err)
	}
	account.Token = token
	sealed, err := w.Vault.Seal(ctx, r.Owner, acct.ID, account)
	if err != nil {
		return Again(err, 0)
	}
	now = w.Now()
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, acct.ID)
		switch {
		case err != nil:
			return err
		case !present.Usable() || present.Tokens != acct.Tokens:
			// The account was disconnected or connected again during the step.
			return revokeSpare(tx, now, it.Owner, &present, acct.Tokens, sealed, acct.ApplicationID)
		}
		present.SealedAccount = sealed
		present.noteToken(now, token)
		return present.Replace(tx, now, it, "")
	})
	after := acct
	if after.noteToken(now, token); after.TokenExpiresAt == nil {
		return nil
	}
	return r.Sleep(after.pause(now))
}

// lose ends the refreshes of an account whose access has ended.
func (w *Worker) lose(r *task.Run, acct Record, cause error) error {
	return r.End(func(ctx context.Context, tx *store.Tx) error {
		it, _, err := w.read(ctx, acct.ID)
		if err != nil {
			return err
		}
		return Lose(tx, w.Now(), it, acct.Tokens, cause)
	})
}

// tell sends the event that the owner has to connect the account again, while the account is still connected.
func (w *Worker) tell(r *task.Run, acct Record) error {
	now, used := w.Now(), acct.Tokens
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, acct.ID)
		if err != nil || !present.Usable() || present.Tokens != used || present.Announced {
			return err
		}
		present.Announced = true
		return present.Replace(tx, now, it, event.SocialAccountNeedsReconnect)
	})
	acct.Announced = true
	return r.Sleep(acct.pause(now))
}

// Again returns the error after which a step is repeated until it succeeds, or until the deadline of its task.
func Again(err error, after time.Duration) error {
	return &task.RetryError{Err: err, After: max(after, platform.WaitOf(err)), MaxFailures: task.NoLimit}
}

// read reads an account. The record is the zero value if there is none.
func (w *Worker) read(ctx context.Context, accountID string) (it store.Item, r Record, err error) {
	it, err = w.DB.Lookup(ctx, store.IDKey(accountID))
	if err != nil || it.PK == "" {
		return it, r, err
	}
	r, err = Decode(&it)
	return it, r, err
}
