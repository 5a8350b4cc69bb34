package webhook

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/event"
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

	mu          sync.Mutex
	endedCounts map[tenant.Owner]endCounts
}

var _ task.Handler = (*Deliverer)(nil)

// NewDeliverer returns a deliverer. Keep it: it remembers the latencies of receivers from one attempt to the next.
func NewDeliverer(c Config) *Deliverer {
	return &Deliverer{Config: c, monitor: NewMonitor(c.DB, c.Now, c.Chance), endedCounts: map[tenant.Owner]endCounts{}}
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

// The metrics of deliveries that have ended.
const (
	Succeeded = "DeliveriesSucceeded"
	Failed    = "DeliveriesFailed"
)

// report writes the log line of an attempt, if one was made, and notes the delivery if it
// has ended. The line has neither the address of the receiver nor its answer.
func (a *attempt) report(d *DeliveryRecord, o *Outcome) {
	if o != nil {
		status := 0
		if o.Status != nil {
			status = *o.Status
		}
		ref := event.RefOf(a.event)
		slog.Info("delivery", "request_id", ref.Request, "account_id", d.Owner.Account, "mode", d.Owner.Mode,
			"webhook_id", d.WebhookID, "event_id", d.EventID, "delivery_id", d.ID, "attempt", d.Next-1,
			"outcome", d.State, "status", status, "ms", o.LatencyMS)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.endedCounts[d.Owner]
	switch d.State {
	case DeliveryDelivered:
		n.delivered++
	case DeliveryFailed:
		n.lost++
	default:
		return
	}
	a.endedCounts[d.Owner] = n
}

// endCounts are how many deliveries of an account have ended.
type endCounts struct{ delivered, lost int64 }

// count counts the deliveries that have ended since the last count.
func (d *Deliverer) count(ctx context.Context) {
	d.mu.Lock()
	since := d.endedCounts
	d.endedCounts = map[tenant.Owner]endCounts{}
	d.mu.Unlock()
	var all endCounts
	for _, o := range slices.SortedFunc(maps.Keys(since), tenant.Owner.Compare) {
		n := since[o]
		all.delivered += n.delivered
		all.lost += n.lost
		if err := account.Delivered(ctx, d.DB, o, d.Now(), n.delivered, n.lost); err != nil {
			slog.Error("deliveries not counted", "account_id", o.Account, "error", err) // they are done
		}
	}
	for name, n := range map[string]int64{Succeeded: all.delivered, Failed: all.lost} {
		if n > 0 {
			metric.Add(name, n)
		}
	}
}
