package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

// message asks the deliver function for attempts at deliveries of one webhook: the
// events that come at the same time travel together. It is a job whose subject is
// the first delivery, so that a transaction can ask for one, too.
type message struct {
	job.Job
	WebhookID string `json:"webhook_id"`
	Turns     []turn `json:"turns,omitempty"`
	// Wake asks for all that an outage has held back, in place of turns.
	Wake *wake `json:"wake,omitempty"`
	// NotBefore is when the attempts are due: a queue holds a message back for 15
	// minutes only, so that one for later is sent on from there.
	NotBefore time.Time `json:"not_before,omitzero"`
}

// turn asks for one attempt at one delivery. It carries what the attempt needs to
// know of the delivery, which then need not be read: that all is still so follows
// from the version, which the claim is conditional on.
type turn struct {
	DeliveryID string `json:"delivery_id"`
	EventID    string `json:"event_id"`
	Attempt    int    `json:"attempt"`
	Failures   int    `json:"failures,omitempty"`
	Version    int64  `json:"version"`
}

// maxTurns is how many deliveries travel in one message: a message that fails comes
// again as a whole.
const maxTurns = 20

// turn asks for the next attempt at the delivery, which is stored with the given
// version.
func (d *delivery) turn(version int64) turn {
	return turn{DeliveryID: d.ID, EventID: d.EventID, Attempt: d.Next, Failures: d.Failures, Version: version}
}

// newMessage asks for attempts at deliveries of one webhook, not before the given
// time.
func newMessage(o owner, webhookID string, notBefore time.Time, turns ...turn) message {
	first := turns[0]
	return message{
		Job: job.Job{
			ID:    "job#" + first.DeliveryID + "#" + strconv.Itoa(first.Attempt),
			Queue: job.Deliver, Subject: first.DeliveryID, Attempt: first.Attempt, Owner: o.Owner,
		},
		WebhookID: webhookID, Turns: turns, NotBefore: notBefore,
	}
}

// message asks for the next attempt at the delivery alone.
func (d *delivery) message(o owner, version int64, notBefore time.Time) message {
	return newMessage(o, d.WebhookID, notBefore, d.turn(version))
}

// job gives the item of a job that asks for the next attempt at once, for the
// transaction that also writes the delivery: the relay sends it on.
func (d *delivery) job(it *store.Item, now time.Time) (store.Item, error) {
	m := d.message(owner{it.Owner}, it.Version+1, time.Time{})
	// One delivery may be asked for twice before its next attempt.
	m.ID += "#" + strconv.FormatInt(it.Version+1, 10)
	return job.Item(now, m.Job, m)
}

func parseMessage(body string) (message, error) {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, fmt.Errorf("webhook: not a message of ours: %w", err)
	}
	if m.WebhookID == "" || m.Account == "" || m.Mode == "" || len(m.Turns) == 0 && m.Wake == nil || slices.ContainsFunc(m.Turns, turn.incomplete) {
		return m, fmt.Errorf("webhook: message %q is incomplete", m.ID)
	}
	return m, nil
}

func (t turn) incomplete() bool { return t.DeliveryID == "" || t.EventID == "" || t.Attempt < 1 }

// queued writes the message for the queue. Its group is the webhook, so that one
// with many messages does not hold back the others.
func (m message) queued(now time.Time) (queue.Message, error) {
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

// bound names the webhook that deliveries go to.
type bound struct {
	owner
	webhook string
}

// together sends turns that are due at the given time, those to the same webhook in
// as few messages as there can be. It gives at the place of each its error or nil.
func together(ctx context.Context, q queue.Sender, now, due time.Time, to []bound, turns []turn) []error {
	places := map[bound][]int{}
	var order []bound
	for i, b := range to {
		if places[b] == nil {
			order = append(order, b)
		}
		places[b] = append(places[b], i)
	}
	failed := make([]error, len(turns))
	var messages []queue.Message
	var of [][]int
	for _, b := range order {
		for part := range slices.Chunk(places[b], maxTurns) {
			some := make([]turn, len(part))
			for i, place := range part {
				some[i] = turns[place]
			}
			m, err := newMessage(b.owner, b.webhook, due, some...).queued(now)
			if err != nil {
				return repeat(err, len(turns))
			}
			messages, of = append(messages, m), append(of, part)
		}
	}
	for i, err := range q.Send(ctx, messages...) {
		for _, place := range of[i] {
			failed[place] = err
		}
	}
	return failed
}

// response tells SQS which messages of a batch failed and shall come again. An
// empty list means that all went well; null would mean that none did.
func response(batch []events.SQSMessage, failed []error) events.SQSEventResponse {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range failed {
		if err != nil {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: batch[i].MessageId})
		}
	}
	return out
}
