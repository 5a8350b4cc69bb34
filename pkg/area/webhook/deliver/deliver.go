// Package deliver carries out the attempts at deliveries: one function call takes a
// batch of messages and makes all its attempts at the same time. Follow attempt.go for
// the way of one attempt.
package deliver

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/area/webhook/health"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// margin is kept back of the function's time for its answer.
const margin = time.Second

// Patience is the time that attempts wait for earlier ones at the same receiver. An attempt
// that has not begun by then is put off, so that a slow receiver keeps few attempts of a
// batch waiting.
const Patience = 2 * time.Second

// Config is the configuration of a deliverer.
type Config struct {
	DB     *store.DB
	Signer *media.Signer
	Client Caller
	AWS    AWSSender
	// Envelope opens the signing keys of webhooks.
	Envelope *seal.Envelope
	// Queue is the queue whose messages the deliverer handles.
	Queue queue.Queue
	// Slow is the queue of the deliverers for slow receivers. It is nil in those deliverers
	// themselves.
	Slow queue.Sender
	// Heartbeat is the rhythm in which messages and leases are renewed.
	Heartbeat queue.Heartbeat
	Now       func() time.Time
	// Chance returns a random number from 0 to 1, which spreads waits.
	Chance func() float64
	// Name returns a text that no other call returns, which names the holder of leases.
	Name     func() string
	Patience time.Duration
}

// Deliverer carries out attempts at deliveries.
type Deliverer struct {
	Config
	holder  *queue.Holder
	monitor *health.Monitor
}

// New returns a deliverer. Keep it: it remembers the latencies of receivers from one
// call to the next.
func New(c Config) *Deliverer {
	d := &Deliverer{Config: c, holder: queue.NewHolder(c.Queue, c.Heartbeat)}
	d.monitor = health.NewMonitor(c.DB, c.Now, c.Chance, func(ctx context.Context, to endpoint.Ref) error {
		return endpoint.Send(ctx, c.Queue, c.Now(), endpoint.NewWake(to, c.Now()))[0]
	})
	return d
}

// Handle handles a batch of messages. It sends on those that are not due yet, and
// makes the attempts of the others.
func (d *Deliverer) Handle(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
	answer := ctx
	// Leave time to report the attempts that were made in time.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	held := d.holder.Hold(ctx, in.Records)
	b := newBatch(d, in.Records)
	var early, wakes, due []int
	for place, r := range in.Records {
		m, err := endpoint.ParseMessage(r.Body)
		b.messages[place] = m
		switch {
		case err != nil:
			b.fail(place, err)
		case m.NotBefore.After(d.Now()):
			early = append(early, place)
		case m.Wake != nil:
			wakes = append(wakes, place)
		default:
			due = append(due, place)
		}
	}
	var others sync.WaitGroup
	others.Go(func() {
		b.passOn(ctx, d.Queue, early)
		for _, place := range wakes {
			b.fail(place, d.wake(ctx, b.messages[place]))
		}
	})
	b.deliver(ctx, held, due)
	others.Wait()
	b.count(ctx)
	held.End(answer, b.failed)
	return queue.Response(in.Records, b.failed), nil
}
