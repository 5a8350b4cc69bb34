package deliver

import (
	"context"
	"log/slog"

	"github.com/content-automation/api/pkg/area/account/level"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/cloud/metric"
)

// The metrics of deliveries that have ended.
const (
	Succeeded = "DeliveriesSucceeded"
	Failed    = "DeliveriesFailed"
)

// report writes the log line of an attempt, and notes the delivery if that was its last
// one. The line has neither the address of the receiver nor its answer.
func (b *batch) report(a *attempt, o endpoint.Outcome) {
	status := 0
	if o.Status != nil {
		status = *o.Status
	}
	ref := a.payload.ref()
	slog.Info("delivery", "request_id", ref.Request, "account_id", ref.Account, "mode", ref.Mode, "webhook_id",
		a.delivery.WebhookID,
		"event_id", a.delivery.EventID, "delivery_id", a.delivery.ID, "attempt", a.number, "outcome", a.delivery.State,
		"status", status, "ms", o.LatencyMS)
	b.note(a)
}

// note counts the delivery of an attempt if it has ended.
func (b *batch) note(a *attempt) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.ended[a.payload.ref().Owner]
	switch a.delivery.State {
	case endpoint.DeliveryDelivered:
		n.delivered++
	case endpoint.DeliveryFailed:
		n.lost++
	default:
		return
	}
	b.ended[a.payload.ref().Owner] = n
}

// ended are how many deliveries of an account have ended.
type ended struct{ delivered, lost int64 }

// count counts the deliveries of the batch that have ended.
func (b *batch) count(ctx context.Context) {
	var all ended
	for o, n := range b.ended {
		all.delivered += n.delivered
		all.lost += n.lost
		if err := level.Delivered(ctx, b.DB, o, b.Now(), n.delivered, n.lost); err != nil {
			slog.Error("deliveries not counted", "account_id", o.Account, "error", err) // they are done
		}
	}
	for name, n := range map[string]int64{Succeeded: all.delivered, Failed: all.lost} {
		if n > 0 {
			metric.Add(name, n)
		}
	}
}
