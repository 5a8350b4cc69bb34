// Package queue sends messages in batches, retries those that a queue refuses, and keeps received messages hidden while
// a function works on them. It imports no AWS client, so that packages which only build messages do not depend on one.
// InBatches passes the messages of an event to a handler.
package queue

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/metric"
)

// LongestDelay is the longest delay of a message in a queue.
const LongestDelay = 15 * time.Minute

// Message is one message to send.
type Message struct {
	Body string
	// Group is the fairness group of the message, such as its account. A standard
	// queue does not order groups; it shares its consumers fairly between them.
	Group string
	// Delay is the time until the message becomes visible, at most LongestDelay.
	Delay time.Duration
}

// Sender sends messages to a queue.
type Sender interface {
	// Send sends messages and returns the error of each, in their order, nil for those that were accepted.
	Send(ctx context.Context, messages ...Message) []error
}

// Queue is a queue that a function consumes and sends to.
type Queue interface {
	Sender
	Extender
}

// Response returns the answer of a function to SQS: the messages at the places of
// errors come again, and count as failures. Its list is never null, which would mean that all failed.
func Response(batch []events.SQSMessage, failed []error) events.SQSEventResponse {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range failed {
		if err != nil {
			metric.Failed()
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: batch[i].MessageId})
		}
	}
	return out
}
