package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

// lease is how long a claim holds: longer than an attempt with its outcome takes,
// and shorter than the queue hides a message. So the message of a function that
// died in an attempt finds the claim ended when it comes again.
const lease = 30 * time.Second

// margin is kept back of the function's time for its answer.
const margin = time.Second

// maxUnderWay bounds the attempts that one call of the function carries out at a time.
const maxUnderWay = 64

// maxTurns bounds how often a message is looked at anew, because its delivery was
// changed by another between reading and writing.
const maxTurns = 6

// Deliverer carries out attempts at deliveries.
type Deliverer struct {
	db     *store.DB
	signer *media.Signer
	client Caller
	aws    AWSSender
	queue  queue.Sender
	now    func() time.Time
	random Randomness
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

// NewDeliverer makes a deliverer whose queue is the one that it is called by.
func NewDeliverer(db *store.DB, signer *media.Signer, client Caller, aws AWSSender, q queue.Sender, now func() time.Time, random Randomness) *Deliverer {
	return &Deliverer{db, signer, client, aws, q, now, random, tallies{}}
}

// task is one message with all that it is about.
type task struct {
	message
	item     store.Item // of the delivery
	delivery delivery
	hook     *hook
	payload  *payload
}

// payload is an event, rendered once for all messages of a batch.
type payload struct {
	item store.Item
	once sync.Once
	body []byte
	err  error
}

// Handle takes a batch of messages. Those that are not due yet are sent on; the
// others are read together, and then attempted at the same time.
func (d *Deliverer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	// What cannot be done in time must not keep what was done from being told.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	failed := make([]error, len(batch.Records))
	var due, early []message
	var dueAt, earlyAt []int
	for i, r := range batch.Records {
		m, err := parseMessage(r.Body)
		switch {
		case err != nil:
			failed[i] = err
		case m.NotBefore.After(d.now()):
			early, earlyAt = append(early, m), append(earlyAt, i)
		default:
			due, dueAt = append(due, m), append(dueAt, i)
		}
	}
	for i, err := range d.send(ctx, early...) {
		failed[earlyAt[i]] = err
	}
	tasks, err := d.load(ctx, due)
	concurrently(len(due), maxUnderWay, func(i int) {
		if err != nil {
			failed[dueAt[i]] = err
			return
		}
		failed[dueAt[i]] = d.deliver(ctx, tasks[i])
	})
	for i, err := range failed {
		if err != nil {
			slog.Error("message of a delivery failed", "message_id", batch.Records[i].MessageId, "error", err)
		}
	}
	return response(batch.Records, failed), nil
}

// send sends messages, and gives at the place of each its error or nil.
func (d *Deliverer) send(ctx context.Context, all ...message) []error {
	out := make([]queue.Message, len(all))
	for i, m := range all {
		var err error
		if out[i], err = m.queued(d.now()); err != nil {
			return repeat(err, len(all))
		}
	}
	return d.queue.Send(ctx, out...)
}

func repeat(err error, n int) []error {
	all := make([]error, n)
	for i := range all {
		all[i] = err
	}
	return all
}

// maxKeys is how many items one call of the table reads.
const maxKeys = 100

// readAll reads items, each at the place of its key.
func readAll(ctx context.Context, db *store.DB, keys []store.Key) ([]store.Item, error) {
	items := make([]store.Item, 0, len(keys))
	for rest := keys; len(rest) > 0; rest = rest[min(maxKeys, len(rest)):] {
		some, err := db.GetAll(ctx, rest[:min(maxKeys, len(rest))]...)
		if err != nil {
			return nil, err
		}
		items = append(items, some...)
	}
	return items, nil
}

// load reads what the messages are about: each item once, in as few round trips
// as there can be.
func (d *Deliverer) load(ctx context.Context, messages []message) ([]*task, error) {
	at := map[store.Key]int{}
	var keys []store.Key
	add := func(k store.Key) {
		if _, known := at[k]; !known {
			at[k] = len(keys)
			keys = append(keys, k)
		}
	}
	for _, m := range messages {
		delivery, webhook, event := m.keys()
		add(delivery)
		add(webhook)
		add(event)
	}
	items, err := readAll(ctx, d.db, keys)
	if err != nil {
		return nil, err
	}
	hooks, payloads := map[store.Key]*hook{}, map[store.Key]*payload{}
	tasks := make([]*task, len(messages))
	for i, m := range messages {
		delivery, webhook, event := m.keys()
		if hooks[webhook] == nil {
			hooks[webhook] = &hook{key: webhook}
			if err := hooks[webhook].read(items[at[webhook]]); err != nil {
				return nil, err
			}
		}
		if payloads[event] == nil {
			payloads[event] = &payload{item: items[at[event]]}
		}
		tasks[i] = &task{message: m, hook: hooks[webhook], payload: payloads[event]}
		if err := tasks[i].read(items[at[delivery]]); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// read takes over the delivery's item; one without a kind is not there.
func (t *task) read(it store.Item) error {
	t.item, t.delivery = it, delivery{}
	if it.Kind == "" {
		return nil
	}
	return it.Decode(&t.delivery)
}

// step is what is to be done with a message.
type step int

// The steps.
const (
	stepNone   step = iota // nothing: it was done, or another message does it
	stepResend             // send the message that should follow this one
	stepWait               // come again when the claim of another has ended
	stepEnd                // end the delivery: there is nothing to attempt any more
	stepTry                // carry out the attempt
)

// next decides what is to be done with a message, by what is stored alone: so a
// message may come twice, late, or after its function died at any point.
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
	switch {
	case t.item.Kind == "" || t.delivery.State != statePending:
		return stepNone, ""
	case t.Attempt < t.delivery.Next-1:
		return stepNone, "" // the message after this one was there already
	case t.Attempt == t.delivery.Next-1:
		return stepResend, ""
	case t.delivery.Claim != nil && now.Before(t.delivery.Claim.Until):
		return stepWait, ""
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

// deliver does what is to be done with a message. An error makes it come again.
func (d *Deliverer) deliver(ctx context.Context, t *task) error {
	for range maxTurns {
		err := d.turn(ctx, t)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
		// Another changed the delivery first: what is to be done may differ now.
		if err := d.reread(ctx, t); err != nil {
			return err
		}
	}
	return errs.New(errs.ProviderUnavailable, "The delivery %s keeps changing.", t.delivery.ID)
}

func (d *Deliverer) turn(ctx context.Context, t *task) error {
	now := d.now()
	switch todo, reason := t.next(now); todo {
	case stepResend:
		return d.sendNext(ctx, t)
	case stepWait:
		again := t.message
		again.NotBefore = t.delivery.Claim.Until
		return d.send(ctx, again)[0]
	case stepEnd:
		t.delivery.fail(reason)
		t.delivery.Touch(now)
		return d.replace(ctx, t)
	case stepTry:
		return d.try(ctx, t)
	default:
		return nil
	}
}

// sendNext sends the message for the delivery's next attempt.
func (d *Deliverer) sendNext(ctx context.Context, t *task) error {
	var due time.Time
	if at := t.delivery.NextAttemptAt; at != nil {
		due = *at
	}
	return d.send(ctx, t.delivery.message(&t.item, due))[0]
}

// try claims the attempt, carries it out, and records what came of it.
func (d *Deliverer) try(ctx context.Context, t *task) error {
	body, err := t.payload.render(ctx, d.signer)
	if err != nil {
		return err
	}
	mine := &claim{By: d.random.Name(), Until: d.now().Add(lease)}
	t.delivery.Claim = mine
	if err := d.replace(ctx, t); err != nil {
		return err
	}
	w, signing := t.hook.target()
	o, err := d.destination(&w).send(ctx, outgoing{t.EventID, t.delivery.EventType, body, signing})
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // our time was over, not the receiver's
	}
	d.noteHealth(ctx, t.hook, o)
	if err := d.settle(ctx, t, mine, o); err != nil {
		return fmt.Errorf("webhook: outcome of %s not recorded: %w", t.ID, err)
	}
	return nil
}

// render gives the body that is sent.
func (p *payload) render(ctx context.Context, signer *media.Signer) ([]byte, error) {
	p.once.Do(func() {
		var e event.Event
		if e, p.err = event.Render(ctx, p.item, signer); p.err != nil {
			return
		}
		p.body, p.err = json.Marshal(e)
	})
	return p.body, p.err
}

// replace writes the delivery, which must be as it was read.
func (d *Deliverer) replace(ctx context.Context, t *task) error {
	if err := t.delivery.write(&t.item); err != nil {
		return err
	}
	tx := &store.Tx{}
	tx.Replace(t.item)
	if err := d.db.Commit(ctx, tx); err != nil {
		return err
	}
	t.item.Version++
	return nil
}

// reread takes over what is stored of the delivery now.
func (d *Deliverer) reread(ctx context.Context, t *task) error {
	key, _, _ := t.keys()
	it, err := d.get(ctx, key)
	if err != nil {
		return err
	}
	return t.read(it)
}

// get reads one item; one that is not there has no kind.
func (d *Deliverer) get(ctx context.Context, key store.Key) (store.Item, error) {
	it, err := d.db.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) {
		return store.Item{Key: key}, nil
	}
	return it, err
}
