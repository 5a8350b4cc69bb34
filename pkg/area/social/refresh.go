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
	return map[task.Kind]task.Handler{Refresh: refresher{w}, Disconnect: disconnector{w}}
}

// refreshTimeout bounds the call of a platform, during which the lease is renewed.
const refreshTimeout = 40 * time.Second

// justNow is the age below which a token is not refreshed again. It exists because several
// publications may notice at once that the token has ended.
const justNow = 10 * time.Second

// longestPause bounds the wait between two attempts at a refresh.
const longestPause = 15 * time.Minute

// refreshing is the payload of a Refresh task. The task ends with its connection.
type refreshing struct {
	Connection int `json:"connection"`
}

// refresher is the handler of Refresh. Only this task refreshes its account, and its lease prevents
// two refreshes at once. The transaction that ends the step replaces the token by the new one. If
// the answer of a refresh is lost or the function dies, the next step tries the same refresh token
// again. A platform that has rotated the token refuses the repeat, and the account has to be
// connected again.
type refresher struct{ *Worker }

// Step refreshes the token.
func (w refresher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p refreshing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, err := w.read(ctx, s.Subject)
	if err != nil {
		return o, again(err, 0)
	}
	if !r.Usable() || r.Connection != p.Connection || r.TokenExpiresAt == nil {
		return task.Outcome{Done: true}, nil
	}
	if ends := r.ReconnectBefore; ends != nil {
		switch now := w.Now(); {
		case !now.Before(ends.Time):
			return w.lose(&r), nil
		case !r.Told && !now.Before(ends.Add(-notice)):
			return w.tell(r), nil
		}
	}
	if w.Now().Sub(r.RefreshedAt) < justNow {
		return task.Outcome{Wait: max(justNow, r.pause(w.Now()))}, nil
	}
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	return w.refresh(ctx, s, &r)
}

// lose returns the outcome of a token that has ended for good.
func (w refresher) lose(r *Record) task.Outcome {
	return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
		it, _, err := w.read(ctx, r.ID)
		if err != nil {
			return err
		}
		return Lose(tx, w.Now(), it, r.Tokens)
	}}
}

// tell sends the event that the owner has to connect the account again, while the account is still
// connected.
func (w refresher) tell(r Record) task.Outcome {
	now, used := w.Now(), r.Tokens
	r.Told = true
	return task.Outcome{Wait: r.pause(now), Join: func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, r.ID)
		if err != nil || !r.Usable() || r.Tokens != used || r.Told {
			return err
		}
		r.Told = true
		return r.Replace(tx, now, it, event.SocialAccountNeedsReconnect)
	}}
}

func (w refresher) refresh(ctx context.Context, s *task.Step, r *Record) (o task.Outcome, err error) {
	adapter, ok := w.Platforms.Of(s.Mode, r.Platform)
	if !ok {
		return task.Outcome{Done: true}, nil
	}
	account, err := w.Vault.Token(ctx, s.Owner, r)
	if errors.Is(err, seal.ErrOpen) {
		// The account stays, since an operator can set the right key again.
		return o, again(err, longestPause)
	}
	if err != nil {
		return o, again(err, 0)
	}
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	token, err := adapter.Refresh(bounded, account)
	if platform.KindOf(err) == platform.Reconnect && err != nil {
		return w.lose(r), nil
	}
	if err != nil {
		return o, again(err, min(longestPause, time.Duration(s.Failures+1)*time.Minute))
	}
	account.Token = token
	sealed, err := w.Vault.Seal(ctx, s.Owner, r.ID, account)
	if err != nil {
		return o, again(err, 0)
	}
	now := w.Now()
	next := *r
	next.stored(now, token)
	if o.Done = next.TokenExpiresAt == nil; !o.Done {
		o.Wait = next.pause(now)
	}
	used := r.Tokens
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, r.ID)
		if err != nil {
			return err
		}
		if !r.Usable() || r.Tokens != used {
			// The account was disconnected or connected again during the step.
			return revokeSpare(tx, now, it.Owner, &r, used, sealed)
		}
		r.Sealed = sealed
		r.stored(now, token)
		return r.Replace(tx, now, it, "")
	}
	return o, nil
}

// again returns the error after which a step is repeated until it succeeds.
func again(err error, after time.Duration) error {
	var e *platform.Error
	if errors.As(err, &e) {
		after = max(after, e.RetryAfter)
	}
	return &task.RetryError{Err: err, After: after, Most: task.NoLimit}
}

// read reads an account. The record is the zero value if there is none.
func (w *Worker) read(ctx context.Context, accountID string) (it store.Item, r Record, err error) {
	it, err = w.DB.Get(ctx, store.IDKey(accountID))
	if errors.Is(err, store.ErrNotFound) {
		return store.Item{}, Record{}, nil
	}
	if err != nil {
		return it, r, err
	}
	r, err = Decode(&it)
	return it, r, err
}
