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

// refresh refreshes the token of an integration again and again.
func (w *Worker) refresh(ctx context.Context, r *task.Run) error {
	var p social.Refreshing
	if err := r.Decode(&p); err != nil {
		return err
	}
	c, err := w.open(ctx, r)
	if err != nil {
		return social.Again(err, 0)
	}
	if c == nil || c.r.Connection != p.Connection || c.r.ExpiresAt.IsZero() {
		return nil
	}
	used, now := c.r.Tokens, w.Now()
	if refused := used > 0 && c.r.RefusedToken == used; !refused && now.Sub(c.r.RefreshedAt) < social.JustNow {
		return r.Sleep(max(social.JustNow, c.r.pause(now)))
	}
	token, err := social.Renew(ctx, r, func(ctx context.Context) (platform.Token, error) {
		return c.Adapter.Refresh(ctx, c.account())
	})
	if task.Waits(err) {
		return err
	}
	if err != nil {
		return r.End(func(ctx context.Context, tx *store.Tx) error { return c.Lost(ctx, tx, err) })
	}
	c.secrets.Account.Token = token
	sealed, err := w.Vault.Seal(ctx, r.Owner, c.r.ID, c.secrets)
	if err != nil {
		return social.Again(err, 0)
	}
	now = w.Now()
	r.Also(func(ctx context.Context, tx *store.Tx) error {
		it, present, err := w.read(ctx, r.Subject)
		if err != nil || !present.Usable() || present.Tokens != used {
			return err // it was disconnected or connected again during the step
		}
		present.Sealed = sealed
		present.stored(now, token)
		return present.Save(tx, now, it.Owner, it, "")
	})
	after := c.r
	if after.stored(now, token); after.ExpiresAt.IsZero() {
		return nil
	}
	return r.Sleep(after.pause(now))
}

// stored notes in the record that a token was stored.
func (r *Record) stored(now time.Time, token platform.Token) {
	r.Tokens++
	r.RefreshedAt, r.ExpiresAt = now, token.ExpiresAt
}
