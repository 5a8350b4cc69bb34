package deliver

import (
	"log/slog"

	"github.com/content-automation/api/pkg/metric"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// The metrics of deliveries that have ended.
const (
	Succeeded = "DeliveriesSucceeded"
	Failed    = "DeliveriesFailed"
)

// report writes the line of the log that each attempt has, and counts the delivery if that
// was its last. It has neither the address of the receiver nor what it answered.
func (b *batch) report(a *attempt, o hook.Outcome) {
	status := 0
	if o.Status != nil {
		status = *o.Status
	}
	ref := a.payload.ref()
	slog.Info("delivery", "request_id", ref.Request, "account_id", ref.Account, "mode", ref.Mode, "webhook_id", a.delivery.WebhookID,
		"event_id", a.delivery.EventID, "delivery_id", a.delivery.ID, "attempt", a.number, "outcome", a.delivery.State, "status", status, "ms", o.LatencyMS)
	switch a.delivery.State {
	case hook.DeliveryDelivered:
		b.delivered.Add(1)
	case hook.DeliveryFailed:
		b.lost.Add(1)
	}
}

// count counts the deliveries of the batch that have ended.
func (b *batch) count() {
	for name, n := range map[string]int64{Succeeded: b.delivered.Load(), Failed: b.lost.Load()} {
		if n > 0 {
			metric.Add(name, n)
		}
	}
}
