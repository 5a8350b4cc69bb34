package webhook

import (
	"bytes"
	"context"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/resource"
)

// AWSSender sends events to AWS accounts of customers.
type AWSSender interface {
	// Send makes one attempt within the time of its context. Whatever goes wrong is part of the answer.
	Send(ctx context.Context, to AWSTarget, e SignedEvent) AWSAnswer
}

// AWSTarget is a destination in an AWS account, and how it is reached.
type AWSTarget struct {
	Kind, ARN, RoleARN, ExternalID string
	// Session names us in the logs of the account.
	Session string
}

// SignedEvent is an event as it is sent.
type SignedEvent struct {
	Type string
	// At is when it happened.
	At time.Time
	// Headers are the headers of Standard Webhooks.
	Headers map[string]string
	Body    []byte
}

// AWSAnswer is the result of an attempt.
type AWSAnswer struct {
	// Status is the HTTP status of AWS, or nil if it did not answer.
	Status *int
	// Body is the part of the answer that is kept.
	Body string
	// Error names the problem that the customer has to fix. It is empty if the event was taken.
	Error string
}

// deliverAccount is a destination in a customer's AWS account.
type deliverAccount struct {
	sender AWSSender
	now    func() time.Time
	target AWSTarget
}

var _ destination = deliverAccount{}

// send sends the event, signed as it is for an address.
func (a deliverAccount) send(ctx context.Context, e outgoing) (Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	at, body := a.now(), withoutNoncharacters(e.body)
	happened, _ := id.Time(e.id) // event.New has made the id
	headers := e.headers(at, body)
	answer := a.sender.Send(ctx, a.target, SignedEvent{
		Type: string(e.eventType), At: happened, Body: body, Headers: headers,
	})
	o := Outcome{Attempt: Attempt{
		At: resource.Instant(at), Status: answer.Status,
		ResponseBody: resource.Text(text([]byte(answer.Body[:min(keptBody, len(answer.Body))]))),
		LatencyMS:    a.now().Sub(at).Milliseconds(),
	}, Request: DeliveryRequest{Address: a.target.ARN, Headers: headers, Body: new(string(body))}}
	if answer.Error != "" {
		o.Error = &answer.Error
	}
	return o, nil
}

// withoutNoncharacters escapes the two characters that are valid in JSON and that SQS refuses.
func withoutNoncharacters(body []byte) []byte {
	body = bytes.ReplaceAll(body, []byte("\uFFFE"), []byte(`\ufffe`))
	return bytes.ReplaceAll(body, []byte("\uFFFF"), []byte(`\uffff`))
}
