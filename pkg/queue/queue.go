// Package queue sends messages in batches, whose answers tell of each message
// whether it was taken: those that were not are sent again. It knows no client of
// AWS: those who only say what is to be sent do not start with one.
package queue

import (
	"context"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// LongestDelay is the most that a queue holds a message back.
const LongestDelay = 15 * time.Minute

// Message is one message to send.
type Message struct {
	Body string
	// Group names whom the message is for. On a standard queue it orders nothing:
	// the queue shares its consumers fairly between groups.
	Group string
	// Delay holds the message back, for LongestDelay at most; more counts as that.
	Delay time.Duration
}

// Sender sends messages to a queue.
type Sender interface {
	// Send returns at the place of each message the error that kept it from being
	// taken, or nil.
	Send(ctx context.Context, messages ...Message) []error
}

// Queue is a queue that a function is called by and sends to.
type Queue interface {
	Sender
	Hider
}

// Response returns the answer of a function to SQS: the messages at the places of
// errors come again. Its list is never null, which would mean that all failed.
func Response(batch []events.SQSMessage, failed []error) events.SQSEventResponse {
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range failed {
		if err != nil {
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: batch[i].MessageId})
		}
	}
	return out
}
