package crm

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Refresh is the kind of the task that refreshes the token of an integration before it ends.
const Refresh task.Kind = "crm.refresh"

const (
	// justNow is the age below which a token is not refreshed again, because several tasks may notice its end at once.
	justNow = 10 * time.Second
	// longestPause bounds the wait between two attempts at a refresh.
	longestPause = 15 * time.Minute
)

// refreshing is the payload of a Refresh task, which ends with its connection.
type refreshing struct {
	Connection int `json:"connection"`
}

func refreshMessage(o tenant.Owner, r *Record) task.Message {
	return message(Refresh, o, r.ID, task.ID(Refresh, r.ID, r.Connection))
}

// pause returns the time until the next refresh. It leaves a sixth of the token's life for failures.
func (r *Record) pause(now time.Time) time.Duration {
	life := r.ExpiresAt.Sub(r.RefreshedAt)
	return max(0, r.RefreshedAt.Add(life-life/6).Sub(now))
}

// refresher is the handler of Refresh. Only this task refreshes its integration, and its lease prevents two refreshes
// at once. The transaction that ends the step stores the new token. If the answer of a refresh is lost or the function
// dies, the next step tries the same refresh token again. A CRM for which the token is valid once refuses the repeat,
// and the integration has to be connected again.
type refresher struct{ *Worker }

// Step refreshes the token.
func (w refresher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p refreshing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	c, err := w.open(ctx, s.Owner, s.Subject)
	if err != nil {
		return o, again(err, 0)
	}
	if c == nil || c.r.Connection != p.Connection || c.r.ExpiresAt.IsZero() {
		return task.Outcome{Done: true}, nil
	}
	if w.Now().Sub(c.r.RefreshedAt) < justNow {
		return task.Outcome{Wait: max(justNow, c.r.pause(w.Now()))}, nil
	}
	if err := s.Lease(ctx, nil); err != nil {
		return o, err
	}
	token, err := c.Adapter.Refresh(ctx, c.account())
	used := c.r.Tokens
	if err != nil && platform.KindOf(err) == platform.Reconnect {
		return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
			return w.lose(ctx, tx, c.r.ID, used)
		}}, nil
	}
	if err != nil {
		return o, again(err, min(longestPause, time.Duration(s.Failures+1)*time.Minute))
	}
	c.secrets.Account.Token = token
	sealed, err := w.Vault.Seal(ctx, s.Owner, c.r.ID, c.secrets)
	if err != nil {
		return o, again(err, 0)
	}
	now := w.Now()
	c.r.stored(now, token)
	if o.Done = c.r.ExpiresAt.IsZero(); !o.Done {
		o.Wait = c.r.pause(now)
	}
	o.Join = func(ctx context.Context, tx *store.Tx) error {
		it, r, err := w.read(ctx, s.Subject)
		if err != nil || !r.Usable() || r.Tokens != used {
			return err // it was disconnected or connected again during the step
		}
		r.Sealed = sealed
		r.stored(now, token)
		return r.Save(tx, now, it.Owner, it, "")
	}
	return o, nil
}

// stored notes in the record that a token was stored.
func (r *Record) stored(now time.Time, token platform.Token) {
	r.Tokens++
	r.RefreshedAt, r.ExpiresAt = now, token.ExpiresAt
}
