package deliver

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/health"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// maxAsks is the number of requests for attempts that are sent together.
const maxAsks = 200

// batch is the work of one call. Writes and messages of its attempts at about the same time
// go together.
type batch struct {
	*Deliverer
	// by names the batch as the holder of leases.
	by       string
	records  []events.SQSMessage
	messages []endpoint.Message // at the places of their records
	// receivers and payloads are the receivers and events of the attempts.
	receivers map[endpoint.Ref]*receiver
	payloads  map[string]*payload
	leases    leases
	updates   *batcher[store.Update]
	asks      *batcher[endpoint.Ask]
	// impatient is closed when no attempt waits for its receiver any more.
	impatient chan struct{}

	mu     sync.Mutex
	failed []error // at the places of the messages
	ended  map[tenant.Owner]ended
}

func newBatch(d *Deliverer, records []events.SQSMessage) *batch {
	return &batch{
		Deliverer: d, by: d.Name(), records: records, messages: make([]endpoint.Message, len(records)),
		failed: make([]error, len(records)), ended: map[tenant.Owner]ended{},
		receivers: map[endpoint.Ref]*receiver{}, payloads: map[string]*payload{},
		leases:    leases{held: map[*attempt]bool{}},
		impatient: make(chan struct{}),
	}
}

// receiver is the receiver of a webhook, with the keys that sign for it and the scopes of
// its maker.
type receiver struct {
	*health.Receiver
	keys   endpoint.Keys
	reader endpoint.Reader
}

// fail records the error that makes a message come again, if it is one.
func (b *batch) fail(place int, err error) {
	if err == nil {
		return
	}
	slog.Error("message of deliveries failed", "message_id", b.records[place].MessageId, "error", err)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed[place] = err
}

// deliver makes the attempts of messages, those at the same delivery one after the
// other.
func (b *batch) deliver(ctx context.Context, held *queue.Hold, due []int) {
	due = b.passOnSlow(ctx, b.load(ctx, due))
	chains := b.chains(due)
	if len(chains) == 0 {
		return
	}
	b.updates = newBatcher(len(chains), store.UpdateBatch,
		func(all []store.Update) []error { return b.DB.UpdateAll(ctx, all...) })
	b.asks = newBatcher(len(chains), maxAsks,
		func(all []endpoint.Ask) []error { return endpoint.SendAsks(ctx, b.Queue, b.Now(), all...) })
	held.Renew(b.renew)
	defer time.AfterFunc(b.Patience, func() { close(b.impatient) }).Stop()
	var all sync.WaitGroup
	for _, chain := range chains {
		all.Go(func() {
			for _, a := range chain {
				if err := b.run(ctx, a); err != nil {
					b.fail(a.place, fmt.Errorf("webhook: attempt at %s: %w", a.delivery.ID, err))
				}
			}
			b.updates.leave()
			b.asks.leave()
		})
	}
	all.Wait()
	for _, r := range b.receivers {
		r.Wait()
	}
}

// load reads the webhooks, their makers and the events of messages, each item once, in one round trip. It
// reads no deliveries: the messages describe them. It returns the places of the
// messages whose items could be read.
func (b *batch) load(ctx context.Context, due []int) (loaded []int) {
	at := map[store.Key]int{}
	var keys []store.Key
	add := func(k store.Key) {
		if _, known := at[k]; !known {
			at[k] = len(keys)
			keys = append(keys, k)
		}
	}
	for _, place := range due {
		m := &b.messages[place]
		for _, k := range health.Keys(m.Webhook()) {
			add(k)
		}
		add(endpoint.MakerKey(m.Account, m.Maker))
		for _, r := range m.Requests {
			add(store.IDKey(r.EventID))
		}
	}
	var items []store.Item
	err := persist(ctx, func() (err error) {
		items, err = b.DB.GetAll(ctx, keys...)
		return err
	})
	for _, place := range due {
		if err != nil {
			b.fail(place, err)
			continue
		}
		m := &b.messages[place]
		to := m.Webhook()
		if b.receivers[to] == nil {
			var about []store.Item
			for _, k := range health.Keys(to) {
				about = append(about, items[at[k]])
			}
			r, broken := b.newReceiver(ctx, to, about, items[at[endpoint.MakerKey(m.Account, m.Maker)]])
			if broken != nil {
				b.fail(place, broken)
				continue
			}
			b.receivers[to] = r
		}
		for _, r := range m.Requests {
			if b.payloads[r.EventID] == nil {
				b.payloads[r.EventID] = &payload{item: items[at[store.IDKey(r.EventID)]]}
			}
		}
		loaded = append(loaded, place)
	}
	return loaded
}

func (b *batch) newReceiver(ctx context.Context, to endpoint.Ref, items []store.Item,
	maker store.Item) (*receiver, error) {
	r, err := b.monitor.Receiver(to, b.by, items)
	if err != nil {
		return nil, err
	}
	w := r.Record()
	reader, err := w.Reader(maker)
	if err != nil {
		return nil, err
	}
	keys, err := w.Secrets.Keys(ctx, b.Envelope, to, b.Now())
	return &receiver{r, keys, reader}, err
}

// passOnSlow sends the messages for slow receivers to the deliverers for those, and
// returns the places of the others. A slow receiver occupies a call of the function
// until it answers: in a call of its own, it delays no other receiver's events.
func (b *batch) passOnSlow(ctx context.Context, due []int) (others []int) {
	if b.Slow == nil {
		return due // this is one of those deliverers
	}
	var slow []int
	for _, place := range due {
		m := &b.messages[place]
		if b.receivers[m.Webhook()].MayHang(b.Now(), m.Urgent()) {
			slow = append(slow, place)
		} else {
			others = append(others, place)
		}
	}
	b.passOn(ctx, b.Slow, slow)
	return others
}

// passOn sends messages to a queue as they are.
func (b *batch) passOn(ctx context.Context, to queue.Sender, places []int) {
	messages := make([]endpoint.Message, len(places))
	for i, place := range places {
		messages[i] = b.messages[place]
	}
	for i, err := range endpoint.Send(ctx, to, b.Now(), messages...) {
		b.fail(places[i], err)
	}
}

// chains returns the attempts of messages, those at the same delivery together.
func (b *batch) chains(due []int) [][]*attempt {
	at := map[store.Key]int{}
	var chains [][]*attempt
	for _, place := range due {
		m := &b.messages[place]
		for _, r := range m.Requests {
			a := &attempt{place: place, number: r.Attempt, urgent: r.Urgent, receiver: b.receivers[m.Webhook()],
				payload: b.payloads[r.EventID], delivery: m.Delivery(r)}
			key := a.delivery.Key()
			if i, twin := at[key]; twin {
				chains[i] = append(chains[i], a)
				continue
			}
			at[key] = len(chains)
			chains = append(chains, []*attempt{a})
		}
	}
	return chains
}
