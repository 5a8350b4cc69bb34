package social

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/factory"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Disconnect is the kind of the task that follows the disconnection of an account. It detaches the
// account from its factories, and revokes its token at the platform.
const Disconnect task.Kind = "social.disconnect"

// revokeWithin bounds the time for which the task tries to revoke a token.
const revokeWithin = 24 * time.Hour

// lag is the wait until an index shows recent writes.
const lag = 2 * time.Second

// Cleaner ends the pending work for an account that was disconnected, as factory.Cleaner does for a factory.
type Cleaner interface {
	// Clean ends a bounded number of items of work, and reports whether there may be more. It is idempotent, and is
	// called until none is left. Work that could not be ended is tried again.
	Clean(ctx context.Context, o tenant.Owner, accountID string) (more bool, err error)
}

// disconnecting is the payload of a Disconnect task.
type disconnecting struct {
	Platform  string   `json:"platform,omitempty"`
	Factories []string `json:"factories,omitempty"`
	// Sealed is the platform.Account whose token is revoked. It is dropped at the end.
	Sealed []byte `json:"sealed,omitempty"`
	// Application is the customer's application that the token was made with, or nil.
	Application *string `json:"application,omitempty"`
}

// Disconnect adds the disconnection of an account, whose item was read, to the transaction. The
// transaction forgets the account's tokens, and a task does the rest.
func (r *Record) Disconnect(tx *store.Tx, now time.Time, it store.Item) error {
	p := disconnecting{Platform: r.Platform, Factories: r.FactoryIDs, Sealed: r.Sealed,
		Application: r.ApplicationID}
	if err := startDisconnect(tx, now, it.Owner, r.ID, task.ID(Disconnect, r.ID, r.Connection), p); err != nil {
		return err
	}
	r.State, r.FactoryIDs, r.Sealed, r.TokenExpiresAt, r.ReconnectDueAt = Disconnected, []string{}, nil, nil, nil
	r.Consent, r.AuthorizationURL = nil, nil
	r.Connection++
	return r.Replace(tx, now, it, "")
}

// revokeSpare adds to the transaction the revocation of a token that came too late.
func revokeSpare(tx *store.Tx, now time.Time, o tenant.Owner, r *Record, used int, sealed []byte,
	made *string) error {
	return startDisconnect(tx, now, o, r.ID, task.ID(Disconnect, r.ID+"#token", used),
		disconnecting{Platform: r.Platform, Sealed: sealed, Application: made})
}

func startDisconnect(tx *store.Tx, now time.Time, o tenant.Owner, accountID, taskID string, p disconnecting) error {
	return task.Create(tx, now, task.Task{
		Message:  task.Message{ID: taskID, Kind: Disconnect, Queue: topology.Publish, Subject: accountID, Owner: o},
		Deadline: now.Add(revokeWithin),
	}, p)
}

// disconnect detaches the account from its factories, ends its pending work, and revokes its token.
func (w *Worker) disconnect(ctx context.Context, r *task.Run) error {
	var p disconnecting
	if err := r.Decode(&p); err != nil {
		return err
	}
	if r.Cause() != nil {
		// The token is already forgotten here, and expires at the platform.
		slog.Warn("token not revoked", "social_account_id", r.Subject, "error", r.Cause())
		r.Forget("sealed")
		return nil
	}
	if !r.Knows("cleaned") {
		for _, factoryID := range p.Factories {
			if err := w.detach(ctx, r.Owner, factoryID, r.Subject); err != nil {
				return Again(fmt.Errorf("social: detach %s: %w", r.Subject, err), 0)
			}
		}
	}
	cleaned := 0
	if err := r.Kept("cleaned", &cleaned); err != nil {
		return err
	}
	for ; cleaned < len(w.Cleaners); cleaned++ {
		more, err := w.Cleaners[cleaned].Clean(ctx, r.Owner, r.Subject)
		if err != nil {
			return Again(fmt.Errorf("social: end %s: %w", r.Subject, err), 0)
		}
		if more {
			return errors.Join(r.Keep("cleaned", cleaned), r.Sleep(lag))
		}
	}
	if err := w.revoke(ctx, r, p); err != nil {
		return Again(err, time.Minute)
	}
	r.Forget("sealed")
	return nil
}

// revoke ends the token at the platform, unless the account was connected again, because some platforms would end the
// new connection, too.
func (w *Worker) revoke(ctx context.Context, r *task.Run, p disconnecting) error {
	adapter, ok := w.Platforms.Of(r.Mode, p.Platform)
	if !ok || len(p.Sealed) == 0 {
		return nil
	}
	_, acct, err := w.read(ctx, r.Subject)
	if err != nil || acct.Usable() {
		return err
	}
	var account platform.Account
	if err := w.Vault.Open(ctx, r.Owner, r.Subject, p.Sealed, &account); err != nil {
		return err
	}
	ctx, err = w.Vault.with(ctx, r.Owner, p.Application)
	if platform.Ended(err) {
		return nil // the application is gone, and no call without it ends the token
	}
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	return adapter.Revoke(bounded, account)
}

// detach finishes the detachment of an account from a factory.
func (w *Worker) detach(ctx context.Context, o tenant.Owner, factoryID, accountID string) error {
	items, err := w.DB.GetAll(ctx, factoryrecord.Key(factoryID), store.IDKey(accountID))
	if err != nil {
		return err
	}
	r, it := Record{}, items[0]
	if Is(items[1], o) {
		if r, err = Decode(&items[1]); err != nil {
			return err
		}
	}
	if !factoryrecord.Usable(it, o) || r.serves(factoryID) {
		return nil // it was attached again
	}
	changed, err := factoryrecord.Detach(&it, accountID, w.Now())
	if err != nil || !changed {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(it)
	if err := factory.NotifyItem(tx, it); err != nil {
		return err
	}
	return w.DB.Commit(ctx, tx)
}

// FactoryCleaner detaches the accounts of a factory that was deleted. It implements factory.Cleaner.
type FactoryCleaner struct {
	DB  *store.DB
	Now func() time.Time
}

// detachAtOnce bounds the accounts that one call detaches.
const detachAtOnce = 25

// Clean implements factory.Cleaner.
func (c FactoryCleaner) Clean(ctx context.Context, o tenant.Owner, factoryID string) (more bool, err error) {
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(o, Kind), Limit: detachAtOnce,
		Filters: map[string]string{FactoryFilter(factoryID): "yes"}}
	return c.DB.Some(ctx, q, func(listed store.Item) error {
		it, err := c.DB.Get(ctx, listed.Key)
		if err != nil {
			return err
		}
		r, err := Decode(&it)
		if err != nil || !r.Detach(factoryID) {
			return err // the index may not show it yet
		}
		tx := &store.Tx{}
		if err := r.Replace(tx, c.Now(), it, ""); err != nil {
			return err
		}
		return c.DB.Commit(ctx, tx)
	})
}
