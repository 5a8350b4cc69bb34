package webhooktest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/task/queue"
)

// visibility is the time for which a received message stays invisible.
const visibility = 20 * time.Second

// Queue is an SQS queue on the test's clock.
type Queue struct {
	world *World
	mu    sync.Mutex
	// Messages are those in the queue, and Sent all that were sent.
	Messages []*Message
	Sent     []queue.Message
	number   int
	// Twice makes every message come twice.
	Twice bool
	// hides counts the calls that hide messages; Unheard reports that a function has
	// died before its first one.
	hides   int
	Unheard bool
	// Reject may reject each message that is sent.
	Reject func(queue.Message) error
}

var _ queue.Queue = (*Queue)(nil)

// Message is a message in a queue.
type Message struct {
	ID       string
	Body     string
	at       time.Time
	receives int
}

// Send implements queue.Sender.
func (q *Queue) Send(_ context.Context, messages ...queue.Message) []error {
	failed := make([]error, len(messages))
	if len(messages) == 0 {
		return failed
	}
	err := q.world.Fuse.Step(func() error {
		for i, m := range messages {
			if q.Reject != nil {
				failed[i] = q.Reject(m)
			}
			if failed[i] == nil {
				q.Put(m)
			}
		}
		return nil
	})
	if err != nil {
		return slices.Repeat([]error{err}, len(messages))
	}
	return failed
}

// ExtendVisibility implements queue.Extender.
func (q *Queue) ExtendVisibility(_ context.Context, d time.Duration, receipts ...string) []error {
	failed := make([]error, len(receipts))
	if len(receipts) == 0 {
		return failed
	}
	err := q.world.Fuse.Step(func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.hides++
		for _, m := range q.Messages {
			if slices.Contains(receipts, m.ID) {
				m.at = q.world.Clock.Now().Add(d)
			}
		}
		return nil
	})
	if err != nil {
		return slices.Repeat([]error{err}, len(receipts))
	}
	return failed
}

// Put puts a message into the queue.
func (q *Queue) Put(m queue.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Sent = append(q.Sent, m)
	copies := 1
	if q.Twice {
		copies = 2
	}
	for range copies {
		q.number++
		q.Messages = append(q.Messages, &Message{
			ID: fmt.Sprint("m", q.number), Body: m.Body, at: q.world.Clock.Now().Add(min(m.Delay, queue.LongestDelay)),
		})
	}
}

// Next returns when the next message is visible.
func (q *Queue) Next() (at time.Time, any bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.Messages {
		if !any || m.at.Before(at) {
			at, any = m.at, true
		}
	}
	return at, any
}

// Serve calls a function with a batch of messages, and reports whether there was one. It
// deletes the messages that the function does not name as failed. Messages of a function
// that died stay, invisible for a while.
func (q *Queue) Serve(handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)) bool {
	t := q.world.T
	t.Helper()
	q.mu.Lock()
	var batch events.SQSEvent
	for _, m := range q.Messages {
		if len(batch.Records) < q.world.MaxBatch && !m.at.After(q.world.Clock.Now()) {
			m.receives++
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.ID, ReceiptHandle: m.ID, Body: m.Body,
				Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)}})
			m.at = q.world.Clock.Now().Add(visibility)
		}
	}
	hides := q.hides
	q.mu.Unlock()
	if len(batch.Records) == 0 {
		return false
	}
	ctx, blown := q.world.Fuse.Process(t.Context())
	out, err := handle(ctx, batch)
	if blown() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.Unheard = q.Unheard || q.hides == hides
		return true
	}
	if err != nil {
		t.Fatal(err)
	}
	if out.BatchItemFailures == nil {
		t.Error("batchItemFailures is null")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	failed := map[string]bool{}
	for _, f := range out.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	for _, r := range batch.Records {
		if !failed[r.MessageId] {
			q.delete(r.MessageId)
		}
	}
	return true
}

func (q *Queue) delete(id string) {
	for i, m := range q.Messages {
		if m.ID == id {
			q.Messages = append(q.Messages[:i], q.Messages[i+1:]...)
			return
		}
	}
}

// Wipe empties the queue.
func (q *Queue) Wipe() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.Messages, q.Sent = nil, nil
}
