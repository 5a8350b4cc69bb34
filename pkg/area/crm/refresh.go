package crm

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Refresh is the kind of the task that refreshes the token of an integration before it ends.
const Refresh task.Kind = "crm.refresh"

func refreshMessage(o tenant.Owner, r *Record) task.Message {
	return message(Refresh, o, r.ID, task.ID(Refresh, r.ID, r.Connection))
}

// pause returns the time until the next refresh. It leaves a sixth of the token's life for failures.
func (r *Record) pause(now time.Time) time.Duration {
	life := r.ExpiresAt.Sub(r.RefreshedAt)
	return max(0, r.RefreshedAt.Add(life-life/6).Sub(now))
}

// refresher is the handler of Refresh.
type refresher struct{ *Worker }

// Step refreshes the token.
func (w refresher) Step(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
	var p social.Refreshing
	if err := s.Decode(&p); err != nil {
		return o, err
	}
	c, err := w.open(ctx, s.Owner, s.Subject)
	if err != nil {
		return o, social.Again(err, 0)
	}
	if c == nil || c.r.Connection != p.Connection || c.r.ExpiresAt.IsZero() {
		return task.Outcome{Done: true}, nil
	}
	used := c.r.Tokens
	return social.Renewal{Refused: used > 0 && c.r.RefusedToken == used, RefreshedAt: c.r.RefreshedAt,
		Pause:   c.r.pause(w.Now()),
		Refresh: func(ctx context.Context) (platform.Token, error) { return c.Adapter.Refresh(ctx, c.account()) },
		Lose: func(error) func(context.Context, *store.Tx) error {
			return func(ctx context.Context, tx *store.Tx) error { return w.lose(ctx, tx, c.r.ID, used) }
		},
		Keep: func(ctx context.Context, token platform.Token) (task.Outcome, error) {
			return w.renewed(ctx, s, c, token)
		}}.Step(ctx, s, w.Now())
}

// renewed returns the outcome that stores the new token of an integration.
func (w refresher) renewed(ctx context.Context, s *task.Step, c *connection, token platform.Token) (o task.Outcome,
	err error) {
	c.secrets.Account.Token = token
	sealed, err := w.Vault.Seal(ctx, s.Owner, c.r.ID, c.secrets)
	if err != nil {
		return o, social.Again(err, 0)
	}
	used, now := c.r.Tokens, w.Now()
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
