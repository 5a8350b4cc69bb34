package webhook

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
)

// message asks the deliver function for one attempt. It is a job whose subject
// is the delivery, so that a transaction can ask for one, too; beside the job it
// carries the keys of all that an attempt reads, which then is one round trip.
type message struct {
	job.Job
	WebhookID string `json:"webhook_id"`
	EventID   string `json:"event_id"`
	// NotBefore is when the attempt is due: a queue holds a message back for 15
	// minutes only, so that one for later is sent on from there.
	NotBefore time.Time `json:"not_before,omitzero"`
}

// message asks for the next attempt at the delivery, not before the given time.
func (d *delivery) message(it *store.Item, notBefore time.Time) message {
	return message{
		Job: job.Job{
			ID:    "job#" + d.ID + "#" + strconv.Itoa(d.Next),
			Queue: job.Deliver, Subject: d.ID, Attempt: d.Next, Account: it.Account, Mode: it.Mode,
		},
		WebhookID: d.WebhookID, EventID: d.EventID, NotBefore: notBefore,
	}
}

// job gives the item of a job that asks for the next attempt at once, for a
// transaction to create: the relay sends it on.
func (d *delivery) job(it *store.Item, now time.Time) (store.Item, error) {
	m := d.message(it, time.Time{})
	// One delivery may be asked for twice before its next attempt.
	m.ID += "#" + strconv.FormatInt(d.Version, 10)
	return job.Item(now, m.Job, m)
}

func parseMessage(body string) (message, error) {
	var m message
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, fmt.Errorf("webhook: not a message of ours: %w", err)
	}
	if m.Subject == "" || m.WebhookID == "" || m.EventID == "" || m.Account == "" || m.Mode == "" || m.Attempt < 1 {
		return m, fmt.Errorf("webhook: message %q is incomplete", m.ID)
	}
	return m, nil
}

// keys are the items that the attempt reads.
func (m message) keys() (delivery, webhook, event store.Key) {
	o := owner{m.Account, m.Mode}
	return o.deliveryKey(m.WebhookID, m.Subject), o.webhookKey(m.WebhookID), store.IDKey(m.EventID)
}

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
