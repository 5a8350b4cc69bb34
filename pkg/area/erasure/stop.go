package erasure

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/area/crm"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/tenant"
	keyrecord "github.com/content-automation/api/pkg/record/apikey"
	"github.com/content-automation/api/pkg/record/connection"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// stop ends what acts by itself: first what is scheduled on social accounts. What keeps being refused is left to the
// sweep, as in remove.
func (w *Worker) stop(ctx context.Context, s *task.Run, r *Record) (err error) {
	for _, of := range r.owners() {
		err = errors.Join(err, w.disconnect(ctx, of))
	}
	err = errors.Join(err, w.revokeKeys(ctx, r))
	if r.Whole() {
		err = errors.Join(err, w.endSignOn(ctx, r.Scope.Account))
	}
	if err != nil && s.Failures < mostFailures {
		return err
	} else if err != nil {
		slog.Warn("not all is stopped as its operation does", "task", s.ID, "error", err)
	}
	return nil
}

// revokeKeys revokes the keys of the account, or those that are bound to the profile alone.
func (w *Worker) revokeKeys(ctx context.Context, r *Record) error {
	keys := apikey.NewService(w.DB, account.NewService(w.DB, w.Now), w.Now, rand.Reader)
	q := store.Query{Index: store.Table, Partition: credential.Keys(r.Scope.Account), Limit: 100}
	return w.DB.Each(ctx, q, func(it store.Item) error {
		k, err := keyrecord.Read(&it, w.Now())
		bound := r.Whole() || slices.Equal(k.ProfileIDs, []tenant.Profile{r.Scope.Profile})
		if err != nil || k.State == keyrecord.Revoked || !bound {
			return err
		}
		_, err = keys.End(ctx, r.Scope.Account, k.ID)
		return err
	})
}

// endSignOn removes the sign-on connections of the account, with their providers.
func (w *Worker) endSignOn(ctx context.Context, account tenant.Account) error {
	connections := connection.NewService(w.DB, w.Now, rand.Reader, nil, nil)
	all, err := connections.List(ctx, account)
	for _, c := range all {
		if err == nil {
			err = connections.Remove(ctx, account, c.ID)
		}
	}
	return err
}

// listed lists the items of a kind of an owner.
func listed(o tenant.Owner, kind string) store.Query {
	return store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, kind), Limit: 100,
		Filters: map[string]string{store.ProfileFilter: string(o.Profile)}}
}

// disconnect disconnects the social accounts and CRMs of an owner, as their operations do: what is scheduled on them is
// withdrawn, and their tokens are revoked.
func (w *Worker) disconnect(ctx context.Context, of tenant.Owner) error {
	err := w.changeAll(ctx, listed(of, social.Kind), func(tx *store.Tx, it store.Item) error {
		r, err := social.Decode(&it)
		if err != nil || r.State == social.Disconnected {
			return err
		}
		return r.Disconnect(tx, w.Now(), it)
	})
	if err != nil {
		return err
	}
	return w.changeAll(ctx, listed(of, crm.Kind), func(tx *store.Tx, it store.Item) error {
		r, err := crm.Decode(&it)
		if err != nil || r.State == crm.Disconnected {
			return err
		}
		return r.Disconnect(ctx, w.DB, tx, w.Now(), it)
	})
}

// changeAll commits what add puts into a transaction for each item of a list, as it is stored now.
func (w *Worker) changeAll(ctx context.Context, list store.Query, add func(*store.Tx, store.Item) error) error {
	return w.DB.Each(ctx, list, func(listed store.Item) error {
		it, err := w.DB.Get(ctx, listed.Key)
		if err != nil {
			return err
		}
		tx := &store.Tx{}
		if err := add(tx, it); err != nil || tx.Len() == 0 {
			return err
		}
		return w.DB.Commit(ctx, tx)
	})
}

// settle waits until the tasks of the disconnections have ended: each has withdrawn what was scheduled, and has revoked
// a token, or has tried to for a day.
func (w *Worker) settle(ctx context.Context, r *Record, p *progress) (pause time.Duration, err error) {
	var tasks []store.Key
	for _, of := range r.owners() {
		err := w.DB.Each(ctx, listed(of, social.Kind), func(it store.Item) error {
			a, err := social.Decode(&it)
			tasks = append(tasks, store.IDKey(task.ID(social.Disconnect, a.ID, a.Connection-1)))
			return err
		})
		if err != nil {
			return 0, err
		}
		err = w.DB.Each(ctx, listed(of, crm.Kind), func(it store.Item) error {
			i, err := crm.Decode(&it)
			tasks = append(tasks, store.IDKey(task.ID(crm.Disconnect, i.ID, i.Connection-1)))
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	items, err := w.DB.GetAll(ctx, tasks...)
	if err != nil {
		return 0, err
	}
	for _, it := range items {
		if it.Kind != "" && !task.Over(it) {
			return lag, nil
		}
	}
	p.enter(remove, w.Now())
	return 0, nil
}
