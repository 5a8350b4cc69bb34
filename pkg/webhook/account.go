package webhook

import (
	"bytes"
	"context"
	"time"

	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/resource"
)

// AWSSender sends events to AWS accounts of customers.
type AWSSender interface {
	// Send makes one attempt within the time of its context. It gives no error:
	// whatever goes wrong is told by the answer.
	Send(ctx context.Context, to AWSTarget, e SignedEvent) AWSAnswer
}

// AWSTarget is a destination in an AWS account, and how it is reached.
type AWSTarget struct {
	Type, ARN, RoleARN, ExternalID string
	// Session names us in the logs of the account.
	Session string
}

// SignedEvent is an event as it is sent.
type SignedEvent struct {
	Type string
	// At is when it happened.
	At time.Time
	// Headers are those of Standard Webhooks.
	Headers map[string]string
	Body    []byte
}

// AWSAnswer is what came of an attempt.
type AWSAnswer struct {
	// Status is the HTTP status of AWS; nil: it did not answer.
	Status *int
	// Body is what is kept of what AWS said.
	Body string
	// Error says what is to be mended; empty: the event was taken.
	Error string
}

// account is a destination in a customer's AWS account.
type account struct {
	sender AWSSender
	now    func() time.Time
	target AWSTarget
}

var _ destination = account{}

// send hands the event to AWS, signed as it is for an address.
func (a account) send(ctx context.Context, e outgoing) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	at, body := a.now(), withoutNoncharacters(e.body)
	happened, _ := id.Time(e.id) // event.New has made the id
	answer := a.sender.Send(ctx, a.target, SignedEvent{
		Type: string(e.eventType), At: happened, Body: body,
		Headers: map[string]string{
			"webhook-id": e.id, "webhook-timestamp": timestamp(at), "webhook-signature": e.signing.sign(e.id, at, body),
		},
	})
	o := outcome{Attempt: Attempt{
		At: resource.Instant(at), Status: answer.Status, ResponseBody: text([]byte(answer.Body[:min(keptBody, len(answer.Body))])),
		LatencyMS: a.now().Sub(at).Milliseconds(),
	}}
	if answer.Error != "" {
		o.Error = &answer.Error
	}
	return o, nil
}

// withoutNoncharacters escapes the two characters that JSON has as they are and
// that SQS does not take.
func withoutNoncharacters(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\uFFFE"), []byte(`\ufffe`))
	return bytes.ReplaceAll(body, []byte("\uFFFF"), []byte(`\uffff`))
}
