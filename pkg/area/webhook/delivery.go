package webhook

import (
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// DeliveryKind is the kind of a delivery's item.
const DeliveryKind = "delivery"

// KeepDeliveries is the time for which a delivery can be read, counted from its event.
const KeepDeliveries = 30 * 24 * time.Hour

// MaxAttempts bounds the attempts that are kept of one delivery: the attempts of the schedule, and those of a few
// redeliveries.
const MaxAttempts = 20

// The states of a delivery.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// The reasons for which a delivery failed.
const (
	FailedExhausted    = "exhausted"        // the last attempt of the schedule failed
	FailedGone         = "gone"             // the receiver answered 410
	FailedDisabled     = "webhook_disabled" // the webhook was disabled before the next attempt
	FailedDeleted      = "webhook_deleted"  // the webhook was deleted before the next attempt
	FailedExpired      = "event_expired"    // the event is no longer kept
	FailedNotPermitted = "not_permitted"    // the maker of the webhook may not read the event any more
)

// The reasons for which a pending delivery waits. All but WaitsDispatch and WaitsResponse are stored: the reason is
// written with the time of the next attempt.
const (
	WaitsDispatch   = "dispatch"        // the event has no delivery yet
	WaitsFirst      = "first_attempt"   // nothing was tried yet
	WaitsResponse   = "response"        // an attempt is under way
	WaitsRetry      = "retry"           // the last attempt failed
	WaitsRedelivery = "redelivery"      // a caller requested a redelivery or replay
	WaitsBreaker    = "circuit_breaker" // the receiver is down
	WaitsCapacity   = "capacity"        // too many attempts at the receiver take long
)

// Delivery is one event on its way to one webhook.
type Delivery struct {
	resource.Resource
	// Id of the webhook.
	WebhookID string `json:"webhook_id"`
	// Id of the event. Receivers get it in the header webhook-id.
	EventID string `json:"event_id"`
	// Type of the event.
	EventType event.Type `json:"event_type" example:"content.generated"`
	// State of the delivery. pending: more attempts follow. failed: none follow.
	State string `json:"state" enum:"pending,delivered,failed"`
	// Reason of the failure. exhausted: all attempts failed. gone: the receiver returned 410. not_permitted: the
	// creator of the webhook may no longer read the event. Null if it has not failed.
	FailedReason *string `json:"failed_reason" format:"delivery-failure"`
	// Attempts, oldest first.
	Attempts []Attempt `json:"attempts" nullable:"false"`
	// What a pending delivery waits for. dispatch: the event has no delivery yet. response: an attempt is under way.
	// retry: the wait after a failed attempt. redelivery: the attempt that a redelivery or replay asked for.
	// circuit_breaker: the receiver does not answer; the attempt follows when it does. capacity: too many attempts at
	// the receiver take long. Null if the delivery is not pending.
	WaitingFor *string `json:"waiting_for" format:"delivery-wait" example:"retry"`
	// Time of the next attempt. Null if none follows, or if its time is not known: see circuit_breaker.
	NextAttemptAt *resource.Time `json:"next_attempt_at"`
}

// DeliveryDetails is a delivery with its last request.
type DeliveryDetails struct {
	Delivery
	// Request of the last attempt, as it was sent. The last of attempts is its response. Null if nothing was sent yet.
	Request *DeliveryRequest `json:"request"`
}

// DeliveryRequest is the request of an attempt, as it was sent.
type DeliveryRequest struct {
	// Address that it was sent to: a URL, or the ARN of an event bus or queue.
	Address string `json:"address" example:"https://crm.example.com/hooks/content"`
	// Headers, with the signature of the body. For AWS: the attributes of the message.
	Headers map[string]string `json:"headers" example:"{\"webhook-signature\":\"v1,MEo6CJpa=\"}"`
	// Body, byte for byte, over which the signature was made. URLs of media in it were valid for an hour. Null if the
	// calling key has not the scope of the event.
	Body *string `json:"body" example:"{\"type\":\"content.generated\"}"`
}

// usualDelivery is the usual duration of an attempt that was just requested.
const usualDelivery = 2 * time.Second

// Pending returns the path of the delivery, and when to look.
func (d Delivery) Pending() (path string, after time.Duration) {
	return "/v1/webhooks/" + d.WebhookID + "/deliveries/" + d.ID, usualDelivery
}

// Attempt is one attempt at a delivery.
type Attempt struct {
	// Time of the attempt, UTC.
	At resource.Time `json:"at"`
	// HTTP status returned by the receiver or AWS. Null without a response.
	Status *int `json:"status" example:"503"`
	// Milliseconds until the response was read.
	LatencyMS int64 `json:"latency_ms"`
	// What went wrong and how to fix it. Null if the attempt succeeded.
	Error *string `json:"error"`
	// First 1 KiB of the response body. For AWS: the id of the event there, or the error. Null if it was empty.
	ResponseBody resource.Text `json:"response_body"`
}

// Outcome is the result of an attempt.
type Outcome struct {
	Attempt
	// Request is what was sent, whatever the answer was.
	Request DeliveryRequest
	// RetryAfter is the wait that the receiver asks for before the next attempt.
	RetryAfter time.Duration
}

// Succeeded reports whether the receiver took the event.
func (o Outcome) Succeeded() bool { return o.Error == nil }

// Unanswered reports whether the receiver did not answer at all.
func (o Outcome) Unanswered() bool { return o.Error != nil && o.Status == nil }

// Gone reports whether the receiver wants no more events.
func (o Outcome) Gone() bool { return o.Status != nil && *o.Status == http.StatusGone }

// StateFilter names the filter by a delivery's state.
const StateFilter = "state"

// DeliveryRecord is the stored document of a delivery. Its task makes the attempts: see task.go.
type DeliveryRecord struct {
	Delivery
	Owner tenant.Owner `json:"-"`
	// Maker is who made the webhook.
	Maker string `json:"maker,omitempty"`
	// Next is the number of the next attempt, 1 for the first.
	Next int `json:"next"`
	// Failures counts the attempts that failed since the schedule was begun.
	Failures int `json:"failures,omitempty"`
	// Schedules counts the schedules that were begun before this one. Each has a task of its own.
	Schedules int `json:"schedules,omitempty"`
	// Sent is the request of the last attempt, with its body, as the receiver got it.
	Sent *DeliveryRequest `json:"sent,omitempty"`
	// Urgent requests the next attempt at once, even if the receiver counts as down or busy: a caller waits for it.
	Urgent bool `json:"urgent,omitempty"`
	// Lease is that of the task, if ReadLeases has read it.
	Lease *task.Lease `json:"-"`
}

// NewDelivery returns the delivery to a webhook of an event that happened at the given time.
func NewDelivery(now, at time.Time, ref event.Ref, w *Webhook) DeliveryRecord {
	due := resource.Instant(now)
	return DeliveryRecord{
		Delivery: Delivery{
			Resource:  resource.New(DeliveryID(at, ref.ID, w.ID), now, nil),
			WebhookID: w.ID, EventID: ref.ID, EventType: ref.Type,
			State: DeliveryPending, Attempts: []Attempt{}, NextAttemptAt: &due, WaitingFor: new(WaitsFirst),
		},
		Owner: ref.Owner.In(w.ProfileID), Maker: w.CreatedBy, Next: 1,
	}
}

// CreateIn adds a new delivery to the transaction, and its task unless it is held back. The commit returns
// store.ErrConflict if the delivery exists.
func (d *DeliveryRecord) CreateIn(tx *store.Tx, now time.Time) error {
	it := store.Item{Key: d.Key(), Kind: DeliveryKind, Owner: d.Owner, ExpireAt: d.expireAt()}
	if err := d.WriteTo(&it); err != nil {
		return err
	}
	tx.CreateExpiring(it, now.Unix(), nil)
	if d.Held() {
		return nil
	}
	return d.begin(tx, now)
}

// expireAt returns when the delivery is no longer kept.
func (d *DeliveryRecord) expireAt() time.Time {
	at, _ := id.Time(d.ID) // of the event
	return at.Add(KeepDeliveries)
}

// typeFilter is the name of the filter by the type of the event of a delivery.
const typeFilter = "event_type"

// WriteTo writes the delivery into its item.
func (d *DeliveryRecord) WriteTo(it *store.Item) error {
	it.Filters = map[string]string{StateFilter: d.State, typeFilter: string(d.EventType)}
	it.Due = d.heldKey()
	return it.Encode(d)
}

// ReadDelivery reads a delivery from its item.
func ReadDelivery(it *store.Item) (d DeliveryRecord, err error) {
	err = it.Decode(&d)
	d.Owner, d.Version, d.State = it.Owner, it.Version, it.Filters[StateFilter]
	if d.Attempts == nil { // written before attempts were a part of the document
		d.Attempts = []Attempt{}
	}
	return d, err
}

// Webhook names the webhook that the delivery goes to.
func (d *DeliveryRecord) Webhook() Ref { return Ref{d.Owner, d.WebhookID} }

// Key is the key of the delivery.
func (d *DeliveryRecord) Key() store.Key { return d.Webhook().DeliveryKey(d.ID) }

// View returns the delivery as callers see it.
func (d *DeliveryRecord) View(now time.Time) Delivery {
	view := d.Delivery
	if d.State == DeliveryPending && d.Lease.Live(now) {
		view.WaitingFor = new(WaitsResponse)
	}
	return view
}

// Details returns the delivery with its last request as callers with the scopes see it.
func (d *DeliveryRecord) Details(now time.Time, scopes []auth.Scope) DeliveryDetails {
	out := DeliveryDetails{Delivery: d.View(now)}
	if d.Sent != nil {
		sent := *d.Sent
		if !d.EventType.Readable(scopes) {
			sent.Body = nil
		}
		out.Request = &sent
	}
	return out
}

// Scheduled reports whether the delivery has a task, which makes its next attempt. One that is held back has none, and
// one that was pending before there were such tasks has none until it is restarted.
func (d *DeliveryRecord) Scheduled() bool {
	return d.State == DeliveryPending && d.NextAttemptAt != nil
}

// retries reports whether the delivery waits after a failed attempt.
func (d *DeliveryRecord) retries() bool { return d.WaitingFor != nil && *d.WaitingFor == WaitsRetry }

// Held reports whether the open circuit breaker of the receiver holds the delivery back.
func (d *DeliveryRecord) Held() bool {
	return d.WaitingFor != nil && *d.WaitingFor == WaitsBreaker
}

// Record takes over the outcome of an attempt. After a failure that is not the last, the next attempt is due after
// wait.
func (d *DeliveryRecord) Record(o Outcome, now time.Time, wait time.Duration) {
	d.add(o)
	switch {
	case o.Succeeded():
		d.end(DeliveryDelivered, nil, now)
	case o.Gone():
		d.Fail(FailedGone, now)
	case d.Failures == len(Schedule):
		d.Fail(FailedExhausted, now)
	default:
		d.Failures++
		d.PutOff(now, now.Add(wait), WaitsRetry)
	}
}

// RecordProbe takes over an attempt that found the receiver still down: it does not count as a failure of the delivery,
// which is held back.
func (d *DeliveryRecord) RecordProbe(o Outcome, now time.Time) {
	d.add(o)
	d.Hold(now)
}

// add keeps an attempt. The oldest are dropped.
func (d *DeliveryRecord) add(o Outcome) {
	d.Next++
	d.Sent = &o.Request
	d.Attempts = append(d.Attempts, o.Attempt)
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-MaxAttempts):]
	d.Urgent = false
}

// Hold makes the delivery wait until its receiver answers. Then it is found by Ref.Held.
func (d *DeliveryRecord) Hold(now time.Time) {
	d.NextAttemptAt, d.WaitingFor = nil, new(WaitsBreaker)
	d.Touch(now)
}

// PutOff makes the next attempt due at another time, for the given reason.
func (d *DeliveryRecord) PutOff(now, until time.Time, waitsFor string) {
	due := resource.Instant(until)
	d.NextAttemptAt, d.WaitingFor = &due, &waitsFor
	d.Touch(now)
}

// Fail ends the delivery.
func (d *DeliveryRecord) Fail(reason string, now time.Time) { d.end(DeliveryFailed, &reason, now) }

func (d *DeliveryRecord) end(state string, reason *string, now time.Time) {
	d.State, d.FailedReason = state, reason
	d.NextAttemptAt, d.WaitingFor, d.Urgent = nil, nil, false
	d.Touch(now)
}
