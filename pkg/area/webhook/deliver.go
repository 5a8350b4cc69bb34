package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Config is the configuration of a deliverer.
type Config struct {
	DB     *store.DB
	Signer *media.Signer
	Client Caller
	AWS    AWSSender
	// Envelope opens the signing keys of webhooks.
	Envelope *seal.Envelope
	// Slow reports that the deliverer is one of those for slow receivers, to whose queue others pass deliveries on.
	Slow bool
	Now  func() time.Time
	// Chance returns a random number from 0 to 1, which spreads waits.
	Chance func() float64
	// Name returns a text that no other call returns, which names slow attempts.
	Name func() string
}

// Deliverer is the handler of the tasks of deliveries.
type Deliverer struct {
	Config
	monitor *Monitor

	mu    sync.Mutex
	ended map[tenant.Owner]ended
}

var _ task.Handler = (*Deliverer)(nil)

// NewDeliverer returns a deliverer. Keep it: it remembers the latencies of receivers from one attempt to the next.
func NewDeliverer(c Config) *Deliverer {
	return &Deliverer{Config: c, monitor: NewMonitor(c.DB, c.Now, c.Chance), ended: map[tenant.Owner]ended{}}
}

// Counting returns a handler of batches that also counts the deliveries that a batch has ended.
func (d *Deliverer) Counting(handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)) func(
	context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
		out, err := handle(ctx, in)
		d.count(ctx)
		return out, err
	}
}
