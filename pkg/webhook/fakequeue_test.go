package webhook

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/content-automation/api/pkg/queue"
)

// fakeQueue is an SQS queue on the test's clock.
type fakeQueue struct {
	world    *world
	mu       sync.Mutex
	messages []*fakeMessage
	sent     []queue.Message
	number   int
	// twice makes every message come twice.
	twice bool
	// hides counts the calls that hide messages; unheard tells that a function has
	// died before its first one.
	hides   int
	unheard bool
	// refuse is asked for each message that is sent.
	refuse func(queue.Message) error
}

type fakeMessage struct {
	id   string
	body string
	at   time.Time
}

// Send is what the functions see of it.
func (q *fakeQueue) Send(_ context.Context, messages ...queue.Message) []error {
	failed := make([]error, len(messages))
	if len(messages) == 0 {
		return failed
	}
	err := q.world.fuse.step(func() error {
		for i, m := range messages {
			if q.refuse != nil {
				failed[i] = q.refuse(m)
			}
			if failed[i] == nil {
				q.put(m)
			}
		}
		return nil
	})
	if err != nil {
		return repeat(err, len(messages))
	}
	return failed
}

// Hide is what the functions see of it.
func (q *fakeQueue) Hide(_ context.Context, d time.Duration, receipts ...string) []error {
	failed := make([]error, len(receipts))
	if len(receipts) == 0 {
		return failed
	}
	err := q.world.fuse.step(func() error {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.hides++
		for _, m := range q.messages {
			if slices.Contains(receipts, m.id) {
				m.at = q.world.clock.Now().Add(d)
			}
		}
		return nil
	})
	if err != nil {
		return repeat(err, len(receipts))
	}
	return failed
}

// asked counts the attempts that the messages sent to deliver ask for.
func (w *world) asked() (n int) {
	w.t.Helper()
	for _, m := range w.attempts.sent {
		msg, err := parseMessage(m.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		n += len(msg.Turns)
	}
	return n
}

func (q *fakeQueue) put(m queue.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, m)
	copies := 1
	if q.twice {
		copies = 2
	}
	for range copies {
		q.number++
		q.messages = append(q.messages, &fakeMessage{
			id: fmt.Sprint("m", q.number), body: m.Body, at: q.world.clock.Now().Add(min(m.Delay, queue.LongestDelay)),
		})
	}
}

// next tells when the next message is to be seen.
func (q *fakeQueue) next() (at time.Time, any bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.messages {
		if !any || m.at.Before(at) {
			at, any = m.at, true
		}
	}
	return at, any
}

// serve hands a batch of messages to a function, and tells whether there was one.
// It deletes those that the function does not name as failed; those of a function
// that died stay, hidden for a while.
func (q *fakeQueue) serve(handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)) bool {
	t := q.world.t
	t.Helper()
	q.mu.Lock()
	var batch events.SQSEvent
	for _, m := range q.messages {
		if len(batch.Records) < q.world.maxBatch && !m.at.After(q.world.clock.Now()) {
			batch.Records = append(batch.Records, events.SQSMessage{MessageId: m.id, ReceiptHandle: m.id, Body: m.body})
			m.at = q.world.clock.Now().Add(visibility)
		}
	}
	hides := q.hides
	q.mu.Unlock()
	if len(batch.Records) == 0 {
		return false
	}
	ctx, blown := q.world.fuse.process(t.Context())
	out, err := handle(ctx, batch)
	if blown() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.unheard = q.unheard || q.hides == hides
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

func (q *fakeQueue) delete(id string) {
	for i, m := range q.messages {
		if m.id == id {
			q.messages = append(q.messages[:i], q.messages[i+1:]...)
			return
		}
	}
}
