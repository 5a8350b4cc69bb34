package deliver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/base/lock"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// leaseTime is the time after which a lease ends unless it is renewed: a little shorter
// than the message of a dead function stays invisible. So when that message comes again,
// the lease has ended.
const leaseTime = queue.HiddenFor - time.Second

// renewTimeout bounds a renewal of the leases: the next one follows soon.
const renewTimeout = time.Second

// leases are the attempts whose leases the heartbeat renews.
type leases struct {
	// mu is held during a renewal, so that no lease is renewed that was given up.
	mu   lock.Mutex
	held map[*attempt]bool
}

func (l *leases) hold(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[a] = true
}

func (l *leases) release(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, a)
}

// lease puts a lease of this batch into the delivery, and returns the update that
// writes it.
func (b *batch) lease(a *attempt) store.Update {
	a.delivery.Lease = &task.Lease{By: b.by, Until: b.Now().Add(leaseTime)}
	return a.delivery.UpdateLease()
}

// leased reports whether this batch holds the lease. Even if the answer to its write
// was lost, no other attempt can have written it.
func (b *batch) leased(a *attempt) bool {
	l := a.delivery.Lease
	return l != nil && l.By == b.by && a.delivery.State == endpoint.DeliveryPending
}

// renew renews all leases. A lease that another function has taken over is left alone:
// settle decides about the outcome.
func (b *batch) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	b.leases.mu.Lock()
	defer b.leases.mu.Unlock()
	var attempts []*attempt
	var updates []store.Update
	for a := range b.leases.held {
		if b.leased(a) {
			attempts, updates = append(attempts, a), append(updates, b.lease(a))
		}
	}
	for i, err := range b.DB.UpdateAll(ctx, updates...) {
		if err := attempts[i].applyUpdate(err); err != nil && !errors.Is(err, store.ErrConflict) && ctx.Err() == nil {
			slog.Warn("lease not renewed", "delivery", attempts[i].delivery.ID, "error", err)
		}
	}
}
