package webhook

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/gather"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

// lease is how long a claim holds that is not renewed: a little shorter than the
// queue hides the message of a function that has died. So when that comes again, it
// finds the claim ended.
const lease = queue.HiddenFor - time.Second

// margin is kept back of the function's time for its answer.
const margin = time.Second

// Deliverer carries out attempts at deliveries.
type Deliverer struct {
	db     *store.DB
	signer *media.Signer
	client Caller
	aws    AWSSender
	queue  queue.Sender
	// slow is the queue of the deliverers for slow receivers; nil in those themselves.
	slow   queue.Sender
	holder *queue.Holder
	now    func() time.Time
	random Randomness
	// patience is the constant of that name, which tests do not have.
	patience time.Duration
	// tallies are kept from one call of the function to the next.
	tallies tallies
}

// Randomness is what the deliverer leaves to chance.
type Randomness struct {
	// Chance gives a number from 0 to 1: it spreads waits.
	Chance func() float64
	// Name gives a text that no other call gives: it tells claims apart.
	Name func() string
}

// NewDeliverer makes a deliverer whose queue is the one that it is called by. It
// passes what goes to slow receivers on to the queue slow; where that is nil, it is a
// deliverer for them itself.
func NewDeliverer(db *store.DB, signer *media.Signer, client Caller, aws AWSSender, q queue.Queue, slow queue.Sender, pulse queue.Pulse, now func() time.Time, random Randomness) *Deliverer {
	return &Deliverer{db, signer, client, aws, q, slow, queue.NewHolder(q, pulse), now, random, patience, tallies{}}
}

// Handle takes a batch of messages. Those that are not due yet are sent on; what
// the others ask for is read together, claimed together, and then carried out at
// the same time.
func (d *Deliverer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	answer := ctx
	// What cannot be done in time must not keep what was done from being told.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	held := d.holder.Hold(ctx, batch.Records)
	failed := make([]error, len(batch.Records))
	messages := make([]message, len(batch.Records))
	var tasks []*task
	var early, wakes []message
	var earlyAt, wakesAt []int
	for i, r := range batch.Records {
		m, err := parseMessage(r.Body)
		switch {
		case err != nil:
			failed[i] = err
		case m.NotBefore.After(d.now()):
			early, earlyAt = append(early, m), append(earlyAt, i)
		case m.Wake != nil:
			wakes, wakesAt = append(wakes, m), append(wakesAt, i)
		default:
			messages[i] = m
			tasks = append(tasks, m.tasks(i)...)
		}
	}
	var parts sync.WaitGroup
	parts.Go(func() {
		for i, err := range d.send(ctx, early...) {
			failed[earlyAt[i]] = err
		}
		for i, m := range wakes {
			failed[wakesAt[i]] = d.wake(ctx, m)
		}
	})
	if len(tasks) > 0 {
		d.work(ctx, held, messages, tasks)
	}
	parts.Wait()
	for _, t := range tasks {
		if t.err != nil {
			failed[t.place] = t.err
			slog.Error("attempt failed", "delivery", t.DeliveryID, "error", t.err)
		}
	}
	held.End(answer, failed)
	for i, err := range failed {
		if err != nil {
			slog.Error("message of deliveries failed", "message_id", batch.Records[i].MessageId, "error", err)
		}
	}
	return response(batch.Records, failed), nil
}

// work does what the tasks ask for, which are those of the messages. Of those at the
// same delivery one comes after the other.
func (d *Deliverer) work(ctx context.Context, held *queue.Held, messages []message, tasks []*task) {
	if err := persist(ctx, func() error { return d.load(ctx, tasks) }); err != nil {
		for _, t := range tasks {
			t.err = err
		}
		return
	}
	if tasks = d.passOn(ctx, messages, tasks); len(tasks) == 0 {
		return
	}
	first := make(map[store.Key]*task, len(tasks))
	distinct := make([]*task, 0, len(tasks))
	for _, t := range tasks {
		if twin := first[t.key]; twin != nil {
			t.twin, twin.twin = twin.twin, t
			continue
		}
		first[t.key] = t
		distinct = append(distinct, t)
	}
	w := &worker{
		Deliverer: d, by: d.random.Name(), leases: leases{held: map[*task]bool{}}, impatient: make(chan struct{}),
		updates:  gather.New(len(distinct), store.UpdateBatch, func(all []store.Update) []error { return d.db.UpdateAll(ctx, all...) }),
		messages: gather.New(len(distinct), queue.BatchSize, func(all []message) []error { return d.send(ctx, all...) }),
	}
	held.Renew(w.renew)
	w.claim(ctx, distinct)
	defer time.AfterFunc(d.patience, func() { close(w.impatient) }).Stop()
	concurrently(len(distinct), len(distinct), func(i int) {
		for t := distinct[i]; t != nil; t = t.twin {
			t.err = w.deliver(ctx, t)
		}
		w.updates.Leave()
		w.messages.Leave()
	})
	w.background.Wait()
}

// send sends messages to the deliverer's own queue.
func (d *Deliverer) send(ctx context.Context, all ...message) []error {
	return sendTo(ctx, d.queue, d.now(), all...)
}

// sendTo sends messages, and gives at the place of each its error or nil.
func sendTo(ctx context.Context, q queue.Sender, now time.Time, all ...message) []error {
	out := make([]queue.Message, len(all))
	for i, m := range all {
		var err error
		if out[i], err = m.queued(now); err != nil {
			return repeat(err, len(all))
		}
	}
	return q.Send(ctx, out...)
}

func repeat(err error, n int) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = err
	}
	return all
}
