package webhooktest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
	"github.com/content-automation/api/testdata/breadth"
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

// stream is the table's client, which keeps the documents that the relay would get from the table's stream: those of
// new tasks and of the outbox.
type stream struct {
	table interface {
		Do(*http.Request) (*http.Response, error)
	}
	mu   sync.Mutex
	docs []string
	// parked are the parked tasks whose messages were not sent.
	parked map[string]task.Task
}

type put struct {
	Item                map[string]events.DynamoDBAttributeValue
	ConditionExpression string
}

// Do makes a call of the table.
func (s *stream) Do(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	resp, err := s.table.Do(req)
	if err == nil && resp.StatusCode == http.StatusOK {
		s.follow(strings.TrimPrefix(req.Header.Get("X-Amz-Target"), "DynamoDB_20120810."), body)
	}
	return resp, err
}

// follow keeps the documents of a write.
func (s *stream) follow(operation string, body []byte) {
	var in struct {
		put
		TransactItems []struct{ Put put }
	}
	if operation != "PutItem" && operation != "TransactWriteItems" || json.Unmarshal(body, &in) != nil {
		return
	}
	puts := []put{in.put}
	for _, w := range in.TransactItems {
		puts = append(puts, w.Put)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range puts {
		it, err := store.FromRecord(p.Item)
		if err != nil || it.Kind != task.ItemKind && it.Kind != task.OutboxKind {
			continue
		}
		if strings.Contains(p.ConditionExpression, "attribute_not_exists") {
			s.docs = append(s.docs, string(it.Doc))
		}
		var t task.Task
		delete(s.parked, it.PK)
		if it.Decode(&t) == nil && t.Parked {
			s.parked[it.PK] = t
		}
	}
}

// take returns the documents since the last call.
func (s *stream) take() (docs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	docs, s.docs = s.docs, nil
	return docs
}

// first returns the parked task that is due first. Its Step is 0 if there is none.
func (s *stream) first() (first task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.parked {
		if first.Step == 0 || t.DueAt.Before(first.DueAt) {
			first = t
		}
	}
	return first
}

// sent notes that the message of a parked task was sent.
func (s *stream) sent(t task.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parked, t.ID)
}

// Fuse ends the process after a number of steps: from then on, nothing that it
// does has an effect, until the test starts a new one.
type Fuse struct {
	mu sync.Mutex
	// left are the steps to go while it is lit.
	left int
	lit  bool
	// after says that the last step has its effect and only its answer is lost.
	after bool
	dead  bool
	// deaths counts how often it went off.
	deaths int
	kill   context.CancelFunc
}

var errDead = errors.New("the process is dead")

// Step does one step of the process.
func (f *Fuse) Step(do func() error) error {
	f.mu.Lock()
	if f.dead {
		f.mu.Unlock()
		return errDead
	}
	if f.lit {
		if f.left == 0 {
			f.dead = true
			f.deaths++
			f.kill()
			after := f.after
			f.mu.Unlock()
			if after {
				_ = do() // its answer is lost
			}
			return errDead
		}
		f.left--
	}
	f.mu.Unlock()
	return do()
}

// Light makes the process die at the given step from now.
func (f *Fuse) Light(steps int, after bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lit, f.left, f.after = true, steps, after
}

// Douse ends the danger, and reports whether the process has died since it was lit.
func (f *Fuse) Douse() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	died := f.deaths > 0
	f.lit, f.deaths = false, 0
	return died
}

// Pause keeps the fuse from burning while the test itself does something.
func (f *Fuse) Pause(do func()) {
	f.mu.Lock()
	lit := f.lit
	f.lit = false
	f.mu.Unlock()
	do()
	f.mu.Lock()
	// A death has ended it.
	f.lit = lit && f.deaths == 0
	f.mu.Unlock()
}

// Process returns the context of a new process; blown reports whether it died.
func (f *Fuse) Process(ctx context.Context) (process context.Context, blown func() bool) {
	process, cancel := context.WithCancel(ctx)
	f.mu.Lock()
	f.kill = cancel
	f.mu.Unlock()
	return process, func() bool {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		died := f.dead
		if died {
			f.dead, f.lit = false, false
		}
		return died
	}
}

// fusedHTTP is a client whose calls are steps of the process.
type fusedHTTP struct {
	client interface {
		Do(*http.Request) (*http.Response, error)
	}
	fuse *Fuse
}

// Do implements webhook.Caller.
func (c *fusedHTTP) Do(req *http.Request) (resp *http.Response, err error) {
	// The dead can send, and the effect of the last step must not be canceled.
	req = req.WithContext(context.WithoutCancel(req.Context()))
	failed := c.fuse.Step(func() error {
		resp, err = c.client.Do(req)
		return err
	})
	if failed != nil {
		if resp != nil {
			_ = resp.Body.Close()
		}
		return nil, failed
	}
	return resp, nil
}

// EachDeath runs a scenario again and again, with a death one step later each time, once
// before that step has its effect and once after it, until a run ends without one. The
// scenario must hold whatever dies. A sample takes every sixth step: others before their effects than after them.
func EachDeath(t *testing.T, w *World, scenario func(t *testing.T)) {
	t.Helper()
	stride := breadth.Of(6, 1)
	for first, after := range []bool{false, true} {
		for steps := first * (stride / 2); ; steps += stride {
			died := false
			t.Run(fmt.Sprintf("step %d after %v", steps, after), func(t *testing.T) {
				w.T = t
				w.Fuse.Light(steps, after)
				scenario(t)
				died = w.Fuse.Douse()
			})
			if t.Failed() {
				return
			}
			if !died {
				if steps < 8 {
					t.Errorf("the whole scenario has %d steps only", steps)
				}
				break
			}
		}
	}
}
