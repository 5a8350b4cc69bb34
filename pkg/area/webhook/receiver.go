package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/store"
)

// maxConflicts is the number of times that a change is applied again after another change came first.
const maxConflicts = 20

// Monitor watches the receivers of one function, from one attempt to the next.
type Monitor struct {
	db     *store.DB
	now    func() time.Time
	chance func() float64
	tally  tally
}

// NewMonitor returns a monitor. Random numbers from 0 to 1 come from chance.
func NewMonitor(db *store.DB, now func() time.Time, chance func() float64) *Monitor {
	return &Monitor{db: db, now: now, chance: chance}
}

// Receiver is the receiver of a webhook, as one attempt sees it.
type Receiver struct {
	*Monitor
	ref         Ref
	inFlight    inFlight
	item        store.Item
	record      WebhookRecord
	breakerItem store.Item
	breaker     breaker
	// timer is the id of the timer of the breaker if that is what makes the attempts.
	timer string
}

// HealthKeys returns the keys of the items that Receiver is made of.
func HealthKeys(ref Ref) []store.Key {
	return []store.Key{ref.Key(), breakerKey(ref), inFlightKey(ref)}
}

// Receiver returns the receiver of a webhook from the items of Keys, which are empty if they do not exist.
func (m *Monitor) Receiver(ref Ref, items []store.Item) (*Receiver, error) {
	r := &Receiver{Monitor: m, ref: ref}
	if err := errors.Join(r.read(items[0]), r.readBreaker(items[1])); err != nil {
		return nil, err
	}
	r.inFlight = newInFlight(inFlightKey(ref), r.record.Latencies, items[2], m.now())
	return r, nil
}

// read takes over the webhook's item; one without a kind does not exist.
func (r *Receiver) read(it store.Item) error {
	r.item, r.record = it, WebhookRecord{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&r.record)
}

// Record returns the webhook as it is known. It has no state if the webhook was deleted.
func (r *Receiver) Record() WebhookRecord { return r.record }

// MayHang reports whether an attempt now would be made and could take long: attempts of other functions do, or the
// receiver is down and due for a probe. An attempt that would only be put off takes no time, and queues and buses in
// AWS do not hang. An urgent attempt is never put off.
func (r *Receiver) MayHang(now time.Time, urgent bool) bool {
	switch {
	case r.record.Destination != nil || r.record.State != StateEnabled:
		return false
	case r.breaker.open(&r.record):
		return urgent || !now.Before(*r.breaker.ProbeAt)
	default:
		return r.inFlight.slow > 0 && (urgent || !r.inFlight.full())
	}
}

// Note takes over the outcome of an attempt: into the circuit breaker, and into the webhook's health. It comes before
// the attempt's own record: after a crash in between the attempt is made again, with the same lesson. For the same
// reason a failure to note is logged only.
func (r *Receiver) Note(ctx context.Context, o Outcome) {
	r.noteReach(ctx, o)
	r.noteHealth(ctx, o)
}

// get reads one item; one that does not exist has no kind.
func (m *Monitor) get(ctx context.Context, key store.Key) (store.Item, error) {
	it, err := m.db.Lookup(ctx, key)
	it.Key = key
	return it, err
}
