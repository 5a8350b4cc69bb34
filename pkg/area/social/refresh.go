package social

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Worker has the dependencies of the tasks of accounts.
type Worker struct {
	DB        *store.DB
	Platforms Adapters
	Vault     Vault
	Now       func() time.Time
	// Cleaners end the pending work for an account that was disconnected.
	Cleaners []Cleaner
}

// Handlers returns the handlers of the tasks.
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
	case ends != nil && !acct.Told && !now.Before(ends.Add(-notice)):
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
		present.Sealed = sealed
		present.stored(now, token)
		return present.Replace(tx, now, it, "")
	})
	after := acct
	if after.stored(now, token); after.TokenExpiresAt == nil {
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
		if err != nil || !present.Usable() || present.Tokens != used || present.Told {
			return err
		}
		present.Told = true
		return present.Replace(tx, now, it, event.SocialAccountNeedsReconnect)
	})
	acct.Told = true
	return r.Sleep(acct.pause(now))
}

// Again returns the error after which a step is repeated until it succeeds, or until the deadline of its task.
func Again(err error, after time.Duration) error {
	return &task.RetryError{Err: err, After: max(after, platform.WaitOf(err)), Most: task.NoLimit}
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
