package webhook

import (
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
)

// deliveryKind is the kind of a delivery's item.
const deliveryKind = "delivery"

// keepDeliveries is how long a delivery can be read, counted from its event.
const keepDeliveries = 30 * 24 * time.Hour

// maxAttempts bounds the attempts that are kept of one delivery: those of the
// schedule, and those of a few redeliveries.
const maxAttempts = 20

// The states of a delivery.
const (
	statePending   = "pending"
	stateDelivered = "delivered"
	stateFailed    = "failed"
)

// Why a delivery failed.
const (
	failedExhausted = "exhausted"        // the last attempt of the schedule failed
	failedGone      = "gone"             // the receiver answered 410
	failedDisabled  = "webhook_disabled" // the webhook was disabled before the next attempt
	failedDeleted   = "webhook_deleted"  // likewise deleted
	failedExpired   = "event_expired"    // the event is no longer kept
)

// Delivery is one event on its way to one webhook.
type Delivery struct {
	resource.Resource
	WebhookID     string     `json:"webhook_id" doc:"The webhook that it goes to"`
	EventID       string     `json:"event_id" doc:"The event; receivers see it as the header webhook-id"`
	EventType     event.Type `json:"event_type" doc:"Type of the event" example:"content.generated"`
	State         string     `json:"state" enum:"pending,delivered,failed" doc:"pending while attempts are to come, failed once none are"`
	FailedReason  *string    `json:"failed_reason" enum:"exhausted,gone,webhook_disabled,webhook_deleted,event_expired" doc:"exhausted: all attempts failed; gone: the receiver answered 410; null unless it failed"`
	Attempts      []Attempt  `json:"attempts" nullable:"false" doc:"The attempts, oldest first"`
	NextAttemptAt *time.Time `json:"next_attempt_at" doc:"When the next attempt is due; null where none follows"`
}

// SchemaName names the schema in the OpenAPI document.
func (Delivery) SchemaName() string { return "Delivery" }

// Attempt is one attempt at a delivery.
type Attempt struct {
	At           time.Time `json:"at" doc:"When it was sent, UTC"`
	Status       *int      `json:"status" doc:"HTTP status of the answer of the receiver, or of AWS; null where there was none" example:"503"`
	LatencyMS    int64     `json:"latency_ms" doc:"Milliseconds until the answer was read"`
	Error        *string   `json:"error" doc:"What went wrong, and what to mend; null where it succeeded"`
	ResponseBody string    `json:"response_body" doc:"The first 1 KiB of the answer's body; of AWS, the id that it gave the event, or its error"`
}

// SchemaName names the schema in the OpenAPI document.
func (Attempt) SchemaName() string { return "DeliveryAttempt" }

// delivery is what is kept of a delivery. What an attempt changes lies beside the
// document, in values of its own: so an attempt writes little, and need not read
// what was before it.
type delivery struct {
	Delivery
	// Next is the number of the next attempt, 1 for the first. It grows with each
	// outcome that is recorded, and tells a message that is due from a repeat.
	Next int
	// Failures counts the attempts that failed since the schedule was begun.
	Failures int
	// Claim is the attempt that somebody is carrying out.
	Claim *claim
	// Held tells that an outage of the receiver holds it back.
	Held bool
}

// claim is the right to carry out the next attempt.
type claim struct {
	// By tells claims apart, so that nobody takes another's for its own.
	By string
	// Until is when whoever holds it must have died, and another may take over.
	Until time.Time
}

// newDelivery makes the delivery of an event that happened at the given time.
func newDelivery(now, at time.Time, ref event.Ref, webhookID string) (delivery, store.Item, error) {
	due := resource.Instant(now)
	d := delivery{
		Delivery: Delivery{
			Resource:  resource.New(deliveryID(at, ref.ID, webhookID), now, nil),
			WebhookID: webhookID, EventID: ref.ID, EventType: ref.Type,
			State: statePending, Attempts: []Attempt{}, NextAttemptAt: &due,
		},
		Next: 1,
	}
	it, err := store.NewItem(deliveryKind, ref.Owner, d.ID, document{
		ID: d.ID, CreatedAt: d.CreatedAt, WebhookID: webhookID, EventID: ref.ID, EventType: ref.Type,
	})
	if err != nil {
		return d, it, err
	}
	it.Key, it.Listed = owner{ref.Owner}.deliveryKey(webhookID, d.ID), store.Key{}
	it.ExpireAt = at.Add(keepDeliveries)
	d.write(&it)
	return d, it, nil
}

// record takes over the outcome of an attempt. After a failure that is not the
// last, the next attempt is due after wait.
func (d *delivery) record(o outcome, now time.Time, wait time.Duration) {
	d.Next++
	d.Claim, d.NextAttemptAt, d.Held = nil, nil, false
	d.Touch(now)
	switch {
	case o.succeeded():
		d.State, d.FailedReason = stateDelivered, nil
	case o.gone():
		d.fail(failedGone)
	case d.Failures == len(schedule):
		d.fail(failedExhausted)
	default:
		d.Failures++
		due := resource.Instant(now.Add(wait))
		d.NextAttemptAt = &due
	}
}

// recordProbe takes over an attempt that has found the receiver still down: it does
// not count as a failure of the delivery, which is the one to probe again.
func (d *delivery) recordProbe(now, again time.Time) {
	d.Next++
	d.putOff(now, again, true)
}

// restart begins the schedule anew. An attempt that is under way stays it: where
// it succeeds, nothing more is sent.
func (d *delivery) restart(now time.Time) {
	d.Touch(now)
	due := d.UpdatedAt
	d.State, d.FailedReason, d.NextAttemptAt, d.Failures, d.Held = statePending, nil, &due, 0, false
}

// putOff gives the claim up, if there is one: the attempt is made later. It counts
// for nothing. What an outage holds back is found by it when that is over.
func (d *delivery) putOff(now, until time.Time, held bool) {
	due := resource.Instant(until)
	d.Claim, d.NextAttemptAt, d.Held = nil, &due, held
	d.Touch(now)
}

func (d *delivery) fail(reason string) {
	d.State, d.FailedReason = stateFailed, &reason
	d.Claim, d.NextAttemptAt, d.Held = nil, nil, false
}
