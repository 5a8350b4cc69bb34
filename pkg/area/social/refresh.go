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

const (
	// refreshTimeout bounds the call of a platform, during which the lease is renewed.
	refreshTimeout = 40 * time.Second
	// justNow is the age below which a token is not refreshed again, because several tasks may notice its end at once.
	justNow = 10 * time.Second
	// longestPause bounds the wait between two attempts at a refresh.
	longestPause = 15 * time.Minute
)

// Refreshing is the payload of a task that refreshes a token. The task ends with its connection.
type Refreshing struct {
	Connection int `json:"connection"`
}

// Renewal is the step of a task that refreshes the token of an account or an integration. Only this task refreshes it,
// and its lease prevents two refreshes at once. The transaction that ends the step replaces the token by the new one.
// If the answer of a refresh is lost or the function dies, the next step tries the same refresh token again. A platform
// that has rotated the token refuses the repeat, and the owner has to connect again.
type Renewal struct {
	// Refused reports that the present token is known to be refused, however new it is.
	Refused     bool
	RefreshedAt time.Time
	Pause       time.Duration // until the next action for the token
	Refresh     func(context.Context) (platform.Token, error)
	// Lose returns the Outcome.Join that adds that the platform has refused the token for good.
	Lose func(cause error) func(context.Context, *store.Tx) error
	// Keep returns the outcome that stores the new token.
	Keep func(context.Context, platform.Token) (task.Outcome, error)
}

// Step refreshes the token.
func (r Renewal) Step(ctx context.Context, s *task.Step, now time.Time) (o task.Outcome, err error) {
	if !r.Refused && now.Sub(r.RefreshedAt) < justNow {
		return task.Outcome{Wait: max(justNow, r.Pause)}, nil
	}
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	token, err := r.Refresh(bounded)
	switch {
	case err == nil:
		return r.Keep(ctx, token)
	case platform.KindOf(err) == platform.Reconnect:
		return task.Outcome{Done: true, Join: r.Lose(err)}, nil
	}
	return o, Again(err, min(longestPause, time.Duration(s.Failures+1)*time.Minute))
}

// refresher is the handler of Refresh.
type refresher struct{ *Worker }

// Step refreshes the token, or acts on the end of the access.
func (w refresher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p Refreshing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	_, r, err := w.read(ctx, s.Subject)
	if err != nil {
		return o, Again(err, 0)
	}
	if !r.Usable() || r.Connection != p.Connection || r.TokenExpiresAt == nil {
		return task.Outcome{Done: true}, nil
	}
	lose := func(cause error) func(context.Context, *store.Tx) error {
		return func(ctx context.Context, tx *store.Tx) error {
			it, _, err := w.read(ctx, r.ID)
			if err != nil {
				return err
			}
			return Lose(tx, w.Now(), it, r.Tokens, cause)
		}
	}
	if ends := r.ReconnectDueAt; ends != nil {
		switch now := w.Now(); {
		case !now.Before(ends.Time):
			return task.Outcome{Done: true, Join: lose(platform.Disconnected())}, nil
		case !r.Told && !now.Before(ends.Add(-notice)):
			return w.tell(r), nil
		}
	}
	adapter, ok := w.Platforms.Of(s.Mode, r.Platform)
	if !ok {
		return task.Outcome{Done: true}, nil
	}
	ctx, account, err := w.Vault.account(ctx, s.Owner, &r)
	if platform.KindOf(err) == platform.Reconnect {
		return task.Outcome{Done: true, Join: lose(err)}, nil
	}
	if errors.Is(err, seal.ErrOpen) {
		// The account stays, since an operator can set the right key again.
		return o, Again(err, longestPause)
	}
	if err != nil {
		return o, Again(err, 0)
	}
	return Renewal{Refused: r.refused(), RefreshedAt: r.RefreshedAt, Pause: r.pause(w.Now()), Lose: lose,
		Refresh: func(ctx context.Context) (platform.Token, error) { return adapter.Refresh(ctx, account) },
		Keep: func(ctx context.Context, token platform.Token) (task.Outcome, error) {
			account.Token = token
			return w.keep(ctx, s, r, account)
		}}.Step(ctx, s, w.Now())
}

// tell sends the event that the owner has to connect the account again, while the account is still connected.
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

// keep returns the outcome that stores the new token of an account.
func (w refresher) keep(ctx context.Context, s *task.Step, r Record, a platform.Account) (o task.Outcome, err error) {
	sealed, err := w.Vault.Seal(ctx, s.Owner, r.ID, a)
	if err != nil {
		return o, Again(err, 0)
	}
	used, now, token, made := r.Tokens, w.Now(), a.Token, r.ApplicationID
	r.stored(now, token)
	if o.Done = r.TokenExpiresAt == nil; !o.Done {
		o.Wait = r.pause(now)
	}
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, r.ID)
		if err != nil {
			return err
		}
		if !r.Usable() || r.Tokens != used {
			// The account was disconnected or connected again during the step.
			return revokeSpare(tx, now, it.Owner, &r, used, sealed, made)
		}
		r.Sealed = sealed
		r.stored(now, token)
		return r.Replace(tx, now, it, "")
	}
	return o, nil
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
