package webhook

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/kind"
	"github.com/content-automation/api/pkg/media"
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

// Delivery is an event for a webhook, with the attempts to send it.
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
	// Age is that of the schedule at the attempt.
	Age time.Duration
}

// Succeeded reports whether the receiver took the event.
func (o Outcome) Succeeded() bool { return o.Error == nil }

// Unanswered reports whether the receiver did not answer at all.
func (o Outcome) Unanswered() bool { return o.Error != nil && o.Status == nil }

// Gone reports whether the receiver wants no more events.
func (o Outcome) Gone() bool { return o.Status != nil && *o.Status == http.StatusGone }

// StateFilter names the filter by a delivery's state.
const StateFilter = "state"

// DeliveryRecord is the stored document of a delivery. Its task makes the attempts.
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
	// RestartedAt is when the schedule was begun, unless it is the first.
	RestartedAt *resource.Time `json:"restarted_at,omitempty"`
	// LastRequest is the request of the last attempt, with its body, as the receiver got it.
	LastRequest *DeliveryRequest `json:"sent,omitempty"`
	// Urgent requests the next attempt at once, even if the receiver counts as down or busy: a caller waits for it.
	Urgent bool `json:"urgent,omitempty"`
	// Lease is the lease of the task, if ReadLeases has read it.
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

// Key is where the delivery is stored.
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
	if d.LastRequest != nil {
		sent := *d.LastRequest
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
	d.LastRequest = &o.Request
	d.Attempts = append(d.Attempts, o.Attempt)
	d.Attempts = d.Attempts[max(0, len(d.Attempts)-MaxAttempts):]
	d.Urgent = false
}

// Hold makes the delivery wait until its receiver answers. Then it is found by Ref.HeldPartitions.
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

// Fail ends the delivery as failed, for a reason such as FailedDeleted.
func (d *DeliveryRecord) Fail(reason string, now time.Time) { d.end(DeliveryFailed, &reason, now) }

func (d *DeliveryRecord) end(state string, reason *string, now time.Time) {
	d.State, d.FailedReason = state, reason
	d.NextAttemptAt, d.WaitingFor, d.Urgent = nil, nil, false
	d.Touch(now)
}

// DeliverKind is the kind of the tasks that deliver. Each is one schedule of attempts at a delivery, its subject, and
// runs until the delivery has ended or is held back.
const DeliverKind task.Kind = "deliver"

// Errand is the payload of such a task. It names what an attempt reads, so that one round trip suffices.
type Errand struct {
	WebhookID string `json:"webhook_id"`
	EventID   string `json:"event_id"`
	Maker     string `json:"maker,omitempty"`
}

// message returns a message to the task of the running schedule.
func (d *DeliveryRecord) message() task.Message {
	return task.Message{
		ID: task.ID(DeliverKind, d.ID, d.Schedules), Kind: DeliverKind, Queue: topology.Deliver, Subject: d.ID,
		Owner: d.Owner, Group: d.WebhookID,
	}
}

// begin adds the task of a new schedule to the transaction. It ends with the delivery's item, whatever fails.
func (d *DeliveryRecord) begin(tx *store.Tx, now time.Time) error {
	t := task.Task{Message: d.message(), Deadline: d.expireAt(), DueAt: d.NextAttemptAt.Time}
	return task.Create(tx, now, t, Errand{d.WebhookID, d.EventID, d.Maker})
}

// RestartIn starts the schedule of a delivery, whose item was read, from the beginning. An attempt under way stays: if
// it succeeds, nothing more is sent.
func (d *DeliveryRecord) RestartIn(tx *store.Tx, it store.Item, now time.Time, urgent bool) error {
	waited := d.Scheduled()
	d.State, d.FailedReason, d.Failures, d.Urgent = DeliveryPending, nil, 0, urgent
	restarted := resource.Instant(now)
	d.RestartedAt = &restarted
	d.PutOff(now, now, WaitsRedelivery)
	var err error
	if waited {
		err = task.Wake(tx, now, d.message())
	} else {
		d.Schedules++
		err = d.begin(tx, now)
	}
	if err := errors.Join(err, d.WriteTo(&it)); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// Task is the key of the task of the running or last schedule.
func (d *DeliveryRecord) Task() store.Key {
	m := d.message()
	return store.IDKey(m.ID)
}

// ReadLeases reads the leases of those deliveries that are due: only at them an attempt of a task can be under way.
func ReadLeases(ctx context.Context, db *store.DB, now time.Time, all ...*DeliveryRecord) error {
	var pending []*DeliveryRecord
	var keys []store.Key
	for _, d := range all {
		if d.NextAttemptAt != nil && !d.NextAttemptAt.After(now) {
			pending, keys = append(pending, d), append(keys, d.Task())
		}
	}
	items, err := db.GetAll(ctx, keys...)
	for i, it := range items {
		var t task.Task
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&t); err != nil {
			return err
		}
		pending[i].Lease = t.Lease
	}
	return err
}

// AttemptTimeout bounds an attempt, from looking the name up to the last byte of the answer.
const AttemptTimeout = 15 * time.Second

// Schedule lists the waits after failed attempts. After the attempt that follows the
// last wait, the delivery has failed.
var Schedule = []time.Duration{
	5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 10 * time.Hour,
}

// Jitter is the part of a wait by which it may differ from the schedule, so that deliveries
// that failed together are not repeated together.
const Jitter = 0.1

// Wait returns how long after the failure with the given number (0 for the first) the
// next attempt follows. chance is a random number from 0 to 1. A receiver that asks
// for more time gets it: it is never called before the time that it names, but for one after more than a day.
func Wait(failures int, asked time.Duration, chance float64) time.Duration {
	if failures >= len(Schedule) {
		return 0
	}
	later := min(time.Duration(float64(asked)*(1+Jitter*chance)), 24*time.Hour)
	return max(Spread(Schedule[failures], Jitter, chance), later)
}

// Spread makes a wait longer or shorter by up to a part of it. chance is a random number from 0 to 1.
func Spread(wait time.Duration, part, chance float64) time.Duration {
	return time.Duration(float64(wait) * (1 - part + 2*part*chance))
}

// Path is the path of one webhook. It is exported because parameters of embedded types are found in exported ones only.
type Path struct {
	// Id of the webhook.
	ID string `path:"webhook_id" example:"whk_01h455vb4pex5vsknk084sn02q"`
}

type deliveriesInput struct {
	Path
	httpapi.PageInput
	httpapi.Period
	// Only deliveries in these states, separated by commas. undelivered stands alone: every event that matches the
	// webhook and has not been delivered, including events without a delivery.
	State []string `query:"state" enum:"pending,delivered,failed,undelivered" nullable:"false" example:"failed"`
	// Only deliveries of events of these types, separated by commas.
	EventType []event.Type `query:"event_type" nullable:"false" example:"content.generated"`
	// Only the delivery of this event.
	EventID string `query:"event_id" example:"evt_01h455vb4pex5vsknk084sn02q"`
}

// DeliveryPath has the parameters of the path of a delivery.
type DeliveryPath struct {
	Path
	// Id of the delivery.
	DeliveryID string `path:"delivery_id" example:"dlv_01h455vb4pex5vsknk084sn02q"`
}

var deliveries = kind.Kind[DeliveryRecord]{Name: DeliveryKind, ID: id.Delivery,
	Path: "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", Function: "webhook", Tag: "Webhooks",
	Reads: auth.WebhooksManage}

// registerDeliveries puts the operations on deliveries into the router.
func (s *Service) registerDeliveries(r *httpapi.Router,
	op func(id, method, path, summary, description string) httpapi.Op) {
	httpapi.List(r, deliveries.Op(httpapi.Op{ID: "listDeliveries", Summary: "List the deliveries of a webhook",
		Description: "Lists the deliveries of the last 30 days, newest event first, each with its attempts, their " +
			"status, latency and the start of the response. The creation time of a delivery is the time of its " +
			"event. `state=undelivered` lists the events that never arrived, from the creation of the webhook on, or " +
			"from `from` if it is sent. It searches the events themselves, so a page may be short or even empty " +
			"before the end of the list. An entry whose `waiting_for` is `dispatch` has no delivery yet. New events " +
			"get one within minutes; events from before the webhook was created or while it was disabled get one " +
			"only on redelivery or replay. The log of a deleted webhook is kept for 30 days too."},
		http.MethodGet, path.Dir(deliveries.Path)), s.listDeliveries)
	httpapi.Read(r, deliveries.Op(httpapi.Op{ID: "getDelivery", Summary: "Get a delivery",
		Description: "Includes the last request as it was sent: the address, the headers with the signature, and the " +
			"body. The scope of the event is needed for the body. Entries of `state=undelivered` without a delivery " +
			"can be read too."}, http.MethodGet, deliveries.Path), s.getDelivery)

	again := op("redeliver", http.MethodPost, deliveries.Path+"/redeliver", "Deliver an event again",
		"Sends the event at once, even while the receiver counts as down or the delivery waits for a later attempt. "+
			"Retries follow as for a new event. The `webhook-id` stays the same. Entries of `state=undelivered` "+
			"without a delivery can be redelivered too. A webhook takes 60 redeliveries a minute.").
		Opening(httpapi.Nothing)
	again.Status = http.StatusAccepted
	again.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, again, s.redeliver)
}

func (s *Service) listDeliveries(ctx context.Context, in *deliveriesInput) (httpapi.Page[Delivery], error) {
	switch {
	case !slices.Contains(in.State, undeliveredFilter):
		return s.listLog(ctx, in, in.State)
	case len(in.State) > 1:
		return httpapi.Page[Delivery]{},
			errs.Invalid("state", "takes undelivered alone: it includes pending and failed")
	}
	w, err := s.webhooks.Find(ctx, in.ID)
	switch {
	case err == nil:
		return s.listUndelivered(ctx, in, *w.Record)
	case errs.CodeOf(err) != errs.NotFound:
		return httpapi.Page[Delivery]{}, err
	}
	// Only the log of a deleted webhook is kept, not its settings.
	page, err := s.listLog(ctx, in, nil)
	page.Items = slices.DeleteFunc(page.Items, func(d Delivery) bool { return d.State == DeliveryDelivered })
	return page, err
}

// listLog lists the deliveries that exist, in the given states if there are any. They are kept for 30 days, also when
// their webhook is deleted in between.
func (s *Service) listLog(ctx context.Context, in *deliveriesInput, states []string) (httpapi.Page[Delivery], error) {
	from, to, err := in.Bounds(id.Delivery)
	if err != nil {
		return httpapi.Page[Delivery]{}, err
	}
	if at, ok := id.Time(in.EventID); ok {
		from, to = only(DeliveryID(at, in.EventID, in.ID), from, to)
	}
	q := store.Query{
		Index: store.Table, Partition: refOf(ctx, in.ID).Deliveries(), From: from, To: to,
		Filters: map[string]string{StateFilter: httpapi.AnyOf(states), typeFilter: httpapi.AnyOf(in.EventType)},
	}
	found, err := httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (*DeliveryRecord, error) {
		d, err := ReadDelivery(&it)
		return &d, err
	})
	if err == nil {
		err = ReadLeases(ctx, s.db, s.now(), found.Items...)
	}
	page := httpapi.Page[Delivery]{Items: make([]Delivery, len(found.Items)), Next: found.Next}
	for i, d := range found.Items {
		page.Items[i] = d.View(s.now())
	}
	// The log is the caller's own. Only if it is empty, the webhook must be looked up.
	if err == nil && len(page.Items) == 0 {
		err = s.requireLog(ctx, in.ID)
	}
	return page, err
}

// only returns the bounds of a list that has no more than one id, and that within the bounds that it has.
func only(one, from, to string) (string, string) {
	if to == "" {
		return max(one, from), one
	}
	return max(one, from), min(one, to)
}

// requireLog refuses a webhook that does not exist and of which no log is kept.
func (s *Service) requireLog(ctx context.Context, webhookID string) error {
	_, missing := s.webhooks.Find(ctx, webhookID)
	if errs.CodeOf(missing) != errs.NotFound {
		return missing
	}
	page, err := s.db.List(ctx, store.Query{Index: store.Table,
		Partition: refOf(ctx, webhookID).Deliveries(), Limit: 1})
	if err == nil && len(page.Items) == 0 {
		err = missing
	}
	return err
}

func (s *Service) getDelivery(ctx context.Context, in *DeliveryPath) (out DeliveryDetails, err error) {
	_, it, d, err := s.findDelivery(ctx, in)
	if err != nil {
		return out, err
	}
	if it.Version == 0 {
		d.NextAttemptAt, d.WaitingFor = nil, new(WaitsDispatch)
	}
	return d.Details(s.now(), auth.FromContext(ctx).Scopes), nil
}

func (s *Service) redeliver(ctx context.Context, tx *store.Tx, in *DeliveryPath) (out Delivery, err error) {
	w, it, d, err := s.findDelivery(ctx, in)
	if err != nil {
		return out, err
	}
	if w.ID == "" {
		return out, errs.Missing(Kind, in.ID)
	}
	if err := requireEnabled(&w); err != nil {
		return out, err
	}
	if now := s.now(); it.Version == 0 {
		d.Urgent = true
		err = d.CreateIn(tx, now)
	} else {
		err = d.RestartIn(tx, it, now, true)
	}
	if err != nil {
		return out, err
	}
	s.count(tx, refOf(ctx, w.ID), redeliverLimit)
	return d.View(s.now()), nil
}

// findDelivery reads a delivery of the caller with its webhook, which has no id if it was deleted: the log is kept. It
// makes a delivery that does not exist but is listed as undelivered; any other is not_found.
func (s *Service) findDelivery(ctx context.Context, in *DeliveryPath) (w Webhook, it store.Item,
	d DeliveryRecord, err error) {
	if !id.Valid(id.Webhook, in.ID) {
		return w, it, d, errs.Missing(Kind, in.ID)
	}
	if !id.Valid(id.Delivery, in.DeliveryID) {
		return w, it, d, errs.Missing(DeliveryKind, in.DeliveryID)
	}
	to := refOf(ctx, in.ID)
	items, err := s.db.GetAll(ctx, to.Key(), to.DeliveryKey(in.DeliveryID))
	if err != nil {
		return w, it, d, err
	}
	kept := items[1].Kind != "" && items[1].ExpireAt.After(s.now())
	switch {
	case items[0].Kind != "":
		if err := items[0].Decode(&w); err != nil {
			return w, it, d, err
		}
	case !kept:
		return w, it, d, errs.Missing(Kind, in.ID)
	}
	if !kept {
		d, err = s.makeLost(ctx, &w, in.DeliveryID)
		return w, it, d, err
	}
	it = items[1]
	if d, err = ReadDelivery(&it); err == nil {
		err = ReadLeases(ctx, s.db, s.now(), &d)
	}
	return w, it, d, err
}

// undeliveredFilter is the filter that selects events that never arrived.
const undeliveredFilter = "undelivered"

// eventPage is the number of events that are read at a time to find the one of a delivery.
const eventPage = 100

// listUndelivered goes through the events since the webhook was made, or since the caller's from: earlier ones can be
// replayed. It returns a delivery for each event that the webhook subscribes to, that its maker may read and that no
// attempt has delivered. It does not rely on the deliveries that exist: an event without one got lost on the way, and
// is shown as a delivery that is not yet made.
func (s *Service) listUndelivered(ctx context.Context, in *deliveriesInput,
	w WebhookRecord) (httpapi.Page[Delivery], error) {
	var none httpapi.Page[Delivery]
	from, until, err := in.Bounds(id.Event)
	if err != nil {
		return none, err
	}
	if from == "" {
		from = id.First(id.Event, w.CreatedAt.Time)
	}
	if in.EventID != "" {
		from, until = only(in.EventID, from, until)
	}
	to := refOf(ctx, w.ID)
	events, err := httpapi.ListItems(ctx, s.db, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(to.Owner, event.Kind),
		From: from, To: until,
	}, in.PageInput, func(it store.Item) (event.Ref, error) { return event.RefOf(it), nil })
	if err != nil {
		return none, err
	}
	var made []*DeliveryRecord
	keys := []store.Key{MakerKey(to.Account, w.CreatedBy)}
	for _, ref := range events.Items {
		at, ok := id.Time(ref.ID)
		if !ok || !w.Wants(ref) || len(in.EventType) > 0 && !slices.Contains(in.EventType, ref.Type) {
			continue
		}
		d := NewDelivery(at, at, ref, &w.Webhook)
		d.NextAttemptAt, d.WaitingFor = nil, new(WaitsDispatch) // no attempt was requested yet
		made = append(made, &d)
		keys = append(keys, to.DeliveryKey(d.ID))
	}
	there, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return none, err
	}
	reader, err := w.Reader(there[0])
	if err != nil {
		return none, err
	}
	var stored []*DeliveryRecord
	for i, it := range there[1:] {
		if it.Kind != "" {
			if *made[i], err = ReadDelivery(&it); err != nil {
				return none, err
			}
			stored = append(stored, made[i])
		}
	}
	if err := ReadLeases(ctx, s.db, s.now(), stored...); err != nil {
		return none, err
	}
	page := httpapi.Page[Delivery]{Items: []Delivery{}, Next: events.Next}
	for _, d := range made {
		if d.State != DeliveryDelivered && reader.May(d.EventType) {
			page.Items = append(page.Items, d.View(s.now()))
		}
	}
	return page, nil
}

// makeLost makes the delivery with the given id that listUndelivered has shown although it does not exist: of an event
// that got lost on the way, or that happened while the webhook was disabled or before it was made.
func (s *Service) makeLost(ctx context.Context, w *Webhook, wanted string) (d DeliveryRecord, err error) {
	at, _ := id.Time(wanted) // it has the time of its event
	err = s.db.Each(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(ownerOf(ctx), event.Kind),
		From: id.First(id.Event, at), To: id.First(id.Event, at.Add(time.Millisecond)), Limit: eventPage,
	}, func(e store.Item) error {
		if ref := event.RefOf(e); d.ID == "" && w.Wants(ref) && DeliveryID(at, ref.ID, w.ID) == wanted {
			d = NewDelivery(s.now(), at, ref, w)
		}
		return nil
	})
	if err == nil && d.ID == "" {
		err = errs.Missing(DeliveryKind, wanted)
	}
	return d, err
}

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
