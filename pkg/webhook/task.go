package webhook

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
)

// task is one turn with all that it is about.
type task struct {
	turn
	bound
	// place is that of its message in the batch.
	place int
	key   store.Key // of the delivery
	// stored is the version that the delivery is known with; 0: it must be read.
	stored int64
	// gone tells that there is no such delivery any more.
	gone     bool
	delivery delivery
	hook     *hook
	payload  *payload
	// probe tells that it may attempt though the receiver is down.
	probe bool
	// done tells that nothing is left to do.
	done bool
	// twin is another task at the same delivery.
	twin *task
	err  error
}

// tasks gives what a message asks for. As long as the version holds, each delivery
// is as its turn tells.
func (m message) tasks(place int) []*task {
	all := make([]*task, len(m.Turns))
	to := bound{owner{m.Owner}, m.WebhookID}
	for i, t := range m.Turns {
		all[i] = &task{turn: t, bound: to, place: place, key: to.deliveryKey(m.WebhookID, t.DeliveryID), stored: t.Version}
		d := &all[i].delivery
		d.ID, d.WebhookID, d.EventID, d.State = t.DeliveryID, m.WebhookID, t.EventID, statePending
		d.Next, d.Failures = t.Attempt, t.Failures
	}
	return all
}

// read takes over the delivery's item; one without a kind is not there.
func (t *task) read(it *store.Item) (err error) {
	t.gone = it.Kind == ""
	if t.stored = it.Version; !t.gone {
		t.delivery, err = readDelivery(it)
	}
	return err
}

// payload is an event, rendered once for all tasks of a batch.
type payload struct {
	item store.Item
	once sync.Once
	body []byte
	err  error
}

// render gives the body that is sent.
func (p *payload) render(ctx context.Context, signer *media.Signer) ([]byte, error) {
	p.once.Do(func() { p.body, p.err = event.Body(ctx, p.item, signer) })
	return p.body, p.err
}

func (p *payload) eventType() event.Type { return event.RefOf(p.item).Type }

// step is what is to be done for a task.
type step int

// The steps.
const (
	stepNone   step = iota // nothing: it was done, or another message does it
	stepResend             // send the message that should follow this one
	stepWait               // come again when the claim of another has ended
	stepEnd                // end the delivery: there is nothing to attempt any more
	stepTry                // carry out the attempt
)

// next decides what is to be done for a task, by what is stored alone: so a message
// may come twice, late, or after its function died at any point.
//
//   - Outcomes are recorded before the message for the next attempt is sent. A
//     death in between leaves a delivery that waits for a message that nobody
//     sends, but its last message was not deleted from the queue. It comes again,
//     and as its attempt is the one just before the next, the next is sent then.
//     In the other order, the next message could come while the record knows
//     nothing of the attempt yet, and could not tell it from one under way.
//   - A claim is written before the request is sent, so that a message that comes
//     twice makes one request. After a death in an attempt nobody knows whether the
//     receiver got it: the claim ends, and the attempt is made again.
func (t *task) next(now time.Time) (todo step, reason string) {
	hookState := t.hook.state()
	d := &t.delivery
	switch {
	case t.gone || d.State != statePending:
		return stepNone, ""
	case t.Attempt < d.Next-1:
		return stepNone, "" // the message after this one was there already
	case t.Attempt == d.Next-1:
		return stepResend, ""
	case d.Claim != nil && now.Before(d.Claim.Until):
		return stepWait, ""
	case d.NextAttemptAt != nil && now.Before(*d.NextAttemptAt):
		return stepResend, "" // it was put off
	case hookState == "":
		return stepEnd, failedDeleted
	case hookState != stateEnabled:
		return stepEnd, failedDisabled
	case t.payload.item.Kind == "":
		return stepEnd, failedExpired
	default:
		return stepTry, ""
	}
}

// maxKeys is how many items one call of the table reads.
const maxKeys = 100

// readAll reads items, each at the place of its key.
func readAll(ctx context.Context, db *store.DB, keys []store.Key) ([]store.Item, error) {
	calls := (len(keys) + maxKeys - 1) / maxKeys
	read, failed := make([][]store.Item, calls), make([]error, calls)
	concurrently(calls, calls, func(i int) {
		read[i], failed[i] = db.GetAll(ctx, keys[i*maxKeys:min(len(keys), (i+1)*maxKeys)]...)
	})
	return slices.Concat(read...), errors.Join(failed...)
}

// load reads what the tasks are about: each item once, in as few round trips as
// there can be. Deliveries are read only where the message does not know them.
func (d *Deliverer) load(ctx context.Context, tasks []*task) error {
	at := make(map[store.Key]int, len(tasks)+1)
	keys := make([]store.Key, 0, len(tasks)+1)
	add := func(k store.Key) {
		if _, known := at[k]; !known {
			at[k] = len(keys)
			keys = append(keys, k)
		}
	}
	for _, t := range tasks {
		add(t.webhookKey(t.webhook))
		add(t.outageKey(t.webhook))
		add(t.strainKey(t.webhook))
		add(store.IDKey(t.EventID))
		if t.stored == 0 {
			add(t.key)
		}
	}
	items, err := readAll(ctx, d.db, keys)
	if err != nil {
		return err
	}
	hooks, payloads := map[bound]*hook{}, make(map[string]*payload, len(tasks))
	for _, t := range tasks {
		if hooks[t.bound] == nil {
			h := newHook(t.bound)
			h.err = errors.Join(h.read(items[at[h.key]]), h.readOutage(items[at[t.outageKey(t.webhook)]]))
			h.strain.read(items[at[h.strain.key]], d.now())
			h.strain.usual = h.record.Latencies
			hooks[t.bound] = h
		}
		if payloads[t.EventID] == nil {
			payloads[t.EventID] = &payload{item: items[at[store.IDKey(t.EventID)]]}
		}
		t.hook, t.payload = hooks[t.bound], payloads[t.EventID]
		t.err = t.hook.err
		if t.stored == 0 && t.err == nil {
			t.err = t.read(&items[at[t.key]])
		}
	}
	return nil
}

// get reads one item; one that is not there has no kind.
func (d *Deliverer) get(ctx context.Context, key store.Key) (store.Item, error) {
	it, err := d.db.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Item{Key: key}, nil
	}
	return it, err
}
