package connection

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// OfferKind is the kind of the task after a provider was set or removed: people can choose it from then on, or cannot
// any more.
const OfferKind task.Kind = "sign_on.offer"

// Client is the client of the user pool that people sign in by.
type Client interface {
	// OfferAll lets people choose all providers of the pool.
	OfferAll(ctx context.Context) error
	// RemoveProvider removes a provider from the choice of people and from the pool. Removing an unknown one has no
	// effect.
	RemoveProvider(ctx context.Context, name string) error
}

// clientChange is the payload of a task.
type clientChange struct {
	Remove string `json:"remove,omitempty"`
}

// offer adds the task that changes the client of the pool to the transaction that makes it necessary. Remove is the
// name of a provider that goes, or empty.
func (s *Service) offer(tx *store.Tx, account tenant.Account, c *Connection, remove string) error {
	c.Offers++
	m := task.Message{ID: c.offerID(), Kind: OfferKind, Queue: topology.Settle, Subject: c.ID,
		Owner: tenant.Of(account, tenant.Live)}
	return task.Create(tx, s.now(), task.Task{Message: m}, clientChange{remove})
}

// offerID is the id of the task of the last change.
func (c *Connection) offerID() string { return task.ID(OfferKind, c.ID, c.Offers) }

// offered returns invalid_state while people cannot choose the provider yet.
func (s *Service) offered(ctx context.Context, c *Connection) error {
	it, err := s.db.Get(ctx, store.IDKey(c.offerID()))
	if errors.Is(err, store.ErrNotFound) {
		return nil // it ended long ago, or the provider was set before there were tasks
	}
	if err == nil && !task.Over(it) {
		err = errs.New(errs.InvalidState, "People cannot choose the provider yet. Try again in a minute.")
	}
	return err
}

// The client is changed by one task at a time: Cognito has no condition for a change, so that the later of two would
// undo the earlier. A function that dies leaves the lock, which ends by itself. It outlives every call of a function
// that does not die.
const (
	offerLock     = "offer#client"
	offerLockKind = "offer_lock"
	offerTime     = 25 * time.Second
	offerLockTime = time.Minute
	offerWait     = 3 * time.Second
)

var errLocked = errors.New("connection: another task changes the client of the pool")

// Offerer carries out the tasks of OfferKind, one at a time.
type Offerer struct {
	DB     *store.DB
	Client Client
	Now    func() time.Time
}

// Offer changes the client of the pool, once no other task does. A repetition has no further effect.
func (h Offerer) Offer(ctx context.Context, s *task.Run) error {
	var change clientChange
	if err := s.Decode(&change); err != nil {
		return task.Permanent(err)
	}
	if h.Client == nil {
		return nil
	}
	// The name keeps the table from taking the lock of another task in the same second for a repeated write of this.
	it := store.Item{Key: store.IDKey(offerLock), Kind: offerLockKind, ExpireAt: h.Now().Add(offerLockTime),
		Attributes: map[string]string{"by": rand.Text()}}
	tx := &store.Tx{}
	tx.CreateExpiring(it, h.Now().Unix(), errLocked)
	switch err := h.DB.Commit(ctx, tx); {
	case errors.Is(err, errLocked):
		return s.Sleep(task.Jitter(offerWait))
	case err != nil:
		return task.Again(err)
	}
	ctx, cancel := context.WithTimeout(ctx, offerTime)
	defer cancel()
	offer := h.Client.OfferAll
	if change.Remove != "" {
		offer = func(ctx context.Context) error { return h.Client.RemoveProvider(ctx, change.Remove) }
	}
	if err := offer(ctx); err != nil {
		// The lock stays until it ends: Cognito may still work on a call whose answer was lost.
		return task.Again(fmt.Errorf("connection: offer the providers after %s: %w", s.Subject, err))
	}
	return s.End(func(_ context.Context, tx *store.Tx) error {
		tx.Expire(it.Key, h.Now())
		return nil
	})
}
