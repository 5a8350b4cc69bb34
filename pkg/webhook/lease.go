package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// renewTimeout bounds a renewal of the leases: the next one follows soon.
const renewTimeout = time.Second

// leases are the claims that a worker holds. They are renewed as long as it lives.
type leases struct {
	// mu is held while they are renewed, so that none is that has been given up.
	mu   sync.Mutex
	held map[*task]bool
}

func (l *leases) hold(t *task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[t] = true
}

func (l *leases) holds(t *task) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[t]
}

// release ends the renewals of a task's claim.
func (l *leases) release(t *task) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, t)
}

// renew renews all claims that the worker holds. One that somebody has taken over is
// not taken back: settle sees to what the attempt has come to then.
func (w *worker) renew(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	w.leases.mu.Lock()
	defer w.leases.mu.Unlock()
	var tasks []*task
	var updates []store.Update
	for t := range w.leases.held {
		if w.claims(t) {
			tasks, updates = append(tasks, t), append(updates, w.claimed(t))
		}
	}
	for i, err := range w.db.UpdateAll(ctx, updates...) {
		if err := w.take(tasks[i], err); err != nil && !errors.Is(err, store.ErrConflict) && ctx.Err() == nil {
			slog.Warn("claim not renewed", "delivery", tasks[i].DeliveryID, "error", err)
		}
	}
}
