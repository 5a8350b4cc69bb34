package endpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// Message asks a deliver function for attempts at deliveries of one webhook: events
// that happen at the same time travel together.
type Message struct {
	ID    string         `json:"id"`
	Queue topology.Queue `json:"queue"`
	tenant.Owner
	// Subject and Attempt are taken from the first request, for operators who look at dead
	// letters.
	Subject   string `json:"subject"`
	Attempt   int    `json:"attempt"`
	WebhookID string `json:"webhook_id"`
	// Maker is who made the webhook: its scopes are read together with the webhook.
	Maker    string    `json:"maker,omitempty"`
	Requests []Request `json:"requests,omitempty"`
	// Wake requests all deliveries that the circuit breaker has held back, in place of
	// Requests.
	Wake *Wake `json:"wake,omitempty"`
	// NotBefore is when the attempts are due: a queue delays a message for 15 minutes
	// at most, so that one for later is sent on from there.
	NotBefore time.Time `json:"not_before,omitzero"`
}

// Request requests one attempt at one delivery. It carries the state of the delivery that
// the attempt needs, so that the delivery need not be read: the lease is taken on condition
// that the version still holds.
type Request struct {
	DeliveryID string `json:"delivery_id"`
	EventID    string `json:"event_id"`
	Attempt    int    `json:"attempt"`
	Failures   int    `json:"failures,omitempty"`
	Version    int64  `json:"version"`
	// Urgent requests the attempt at once, even if the receiver counts as down or busy: a
	// caller waits for it.
	Urgent bool `json:"urgent,omitempty"`
}

// Wake requests the deliveries that the circuit breaker of a webhook has held back.
type Wake struct {
	// At is when the receiver was back.
	At time.Time `json:"at"`
	// After is the end of the page before.
	After *store.Cursor `json:"after,omitempty"`
	// Round counts the passes over the held deliveries.
	Round int `json:"round,omitempty"`
}

// maxRequests bounds the requests in a message: one that fails comes again as a whole.
const maxRequests = 20

// ParseMessage reads the body of a message.
func ParseMessage(body string) (Message, error) {
	var m Message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, fmt.Errorf("webhook: parse message: %w", err)
	}
	incomplete := func(r Request) bool { return r.DeliveryID == "" || r.EventID == "" || r.Attempt < 1 }
	if m.WebhookID == "" || m.Account == "" || m.Mode == "" || len(m.Requests) == 0 && m.Wake == nil ||
		slices.ContainsFunc(m.Requests, incomplete) {
		return m, fmt.Errorf("webhook: message %q is incomplete", m.ID)
	}
	return m, nil
}

// Urgent reports whether the message requests an urgent attempt.
func (m *Message) Urgent() bool {
	return slices.ContainsFunc(m.Requests, func(r Request) bool { return r.Urgent })
}

// Webhook names the webhook of the deliveries.
func (m *Message) Webhook() Ref { return Ref{m.Owner, m.WebhookID} }

// Delivery returns the delivery of a request, as far as the message describes it. The
// message holds as long as the version does.
func (m *Message) Delivery(r Request) DeliveryRecord {
	d := DeliveryRecord{Owner: m.Owner, Maker: m.Maker, Stored: r.Version, Next: r.Attempt, Failures: r.Failures}
	d.ID, d.WebhookID, d.EventID, d.State = r.DeliveryID, m.WebhookID, r.EventID, DeliveryPending
	return d
}

// request returns the request for the next attempt at the delivery, stored with the given
// version.
func (d *DeliveryRecord) request(version int64, urgent bool) Request {
	return Request{DeliveryID: d.ID, EventID: d.EventID, Attempt: d.Next, Failures: d.Failures, Version: version,
		Urgent: urgent}
}

// newMessage returns a message that requests attempts at deliveries of one webhook.
func newMessage(to Ref, maker string, notBefore time.Time, requests ...Request) Message {
	first := requests[0]
	return Message{
		ID:    "deliver#" + first.DeliveryID + "#" + strconv.Itoa(first.Attempt),
		Queue: topology.Deliver, Owner: to.Owner, Subject: first.DeliveryID, Attempt: first.Attempt,
		WebhookID: to.ID, Maker: maker, Requests: requests, NotBefore: notBefore,
	}
}

// AskIn requests the next attempt at once, in the transaction that also writes the
// delivery. The attempt is urgent: a caller waits for it.
func (d *DeliveryRecord) AskIn(tx *store.Tx, now time.Time) error {
	return newMessage(d.Webhook(), d.Maker, time.Time{}, d.request(d.Stored+1, true)).outbox(tx, now, d.Stored+1)
}

// outbox adds the message to a transaction that makes the given version of its subject:
// there may be two messages for a subject before its next attempt.
func (m Message) outbox(tx *store.Tx, now time.Time, version int64) error {
	m.ID += "#" + strconv.FormatInt(version, 10)
	return task.Outbox(tx, now, m.Owner, m.ID, m)
}

// NewWake returns the message that requests all held deliveries of a webhook.
func NewWake(to Ref, at time.Time) Message {
	return Message{
		ID: "wake#" + to.ID, Queue: topology.Deliver, Owner: to.Owner, Subject: to.ID, Attempt: 1,
		WebhookID: to.ID, Wake: &Wake{At: at},
	}
}

// WakeIn adds to the transaction a message that requests all held deliveries of the webhook
// that it writes.
func WakeIn(tx *store.Tx, it *store.Item, now time.Time) error {
	return NewWake(Ref{it.Owner, it.SK}, now).outbox(tx, now, it.Version+1)
}

// queued returns the message for the queue. Its group is the webhook, so that one with
// many messages does not hold back the others.
func (m *Message) queued(now time.Time) (queue.Message, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return queue.Message{}, fmt.Errorf("webhook: encode message %s: %w", m.ID, err)
	}
	q := queue.Message{Body: string(b), Group: m.WebhookID}
	if !m.NotBefore.IsZero() {
		q.Delay = max(0, m.NotBefore.Sub(now))
	}
	return q, nil
}

// Send sends messages. It returns at the place of each its error or nil.
func Send(ctx context.Context, q queue.Sender, now time.Time, all ...Message) []error {
	out := make([]queue.Message, len(all))
	for i, m := range all {
		var err error
		if out[i], err = m.queued(now); err != nil {
			return slices.Repeat([]error{err}, len(all))
		}
	}
	return q.Send(ctx, out...)
}

// Ask is a request for the next attempt at a delivery.
type Ask struct {
	to      Ref
	maker   string
	due     time.Time
	request Request
}

// Ask returns a request for the next attempt at the stored delivery, not before the given
// time.
func (d *DeliveryRecord) Ask(due time.Time) Ask {
	return Ask{d.Webhook(), d.Maker, due, d.request(d.Stored, false)}
}

// Urgently returns the ask with an urgent attempt.
func (a Ask) Urgently() Ask {
	a.request.Urgent = true
	return a
}

// SendAsks sends asks, those at the same webhook and time in as few messages as
// possible. It returns at the place of each its error or nil.
func SendAsks(ctx context.Context, q queue.Sender, now time.Time, asks ...Ask) []error {
	type group struct {
		to    Ref
		maker string
		due   time.Time
	}
	places := map[group][]int{}
	var groups []group
	for i, a := range asks {
		g := group{a.to, a.maker, a.due}
		if places[g] == nil {
			groups = append(groups, g)
		}
		places[g] = append(places[g], i)
	}
	var messages []Message
	var of [][]int
	for _, g := range groups {
		for some := range slices.Chunk(places[g], maxRequests) {
			requests := make([]Request, len(some))
			for i, place := range some {
				requests[i] = asks[place].request
			}
			messages, of = append(messages, newMessage(g.to, g.maker, g.due, requests...)), append(of, some)
		}
	}
	failed := make([]error, len(asks))
	for i, err := range Send(ctx, q, now, messages...) {
		for _, place := range of[i] {
			failed[place] = err
		}
	}
	return failed
}
