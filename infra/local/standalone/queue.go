package standalone

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
)

// messages is a queue with the semantics of SQS: it delivers each message at least once, in no certain order, hides a
// delivered message for a time, and puts messages aside that were delivered too often.
type messages struct {
	name    topology.Queue
	journal journal
	now     func() time.Time
	changed chan struct{} // a message was added, or becomes visible at another time

	mu   sync.Mutex
	byID map[string]*message
	next schedule
}

// message is a message of a queue. It is stored without the members in lower case: after a restart it is visible.
type message struct {
	id       string
	place    int // in the schedule
	at       time.Time
	Body     string
	At       time.Time // from which it is visible first
	Receives int
}

// schedule has the messages in the order of the times at which they become visible.
type schedule []*message

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].at.Before(s[j].at) }
func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements heap.Interface.
func (s *schedule) Push(x any) {
	m := x.(*message)
	m.place = len(*s)
	*s = append(*s, m)
}

// Pop implements heap.Interface.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	m := (*s)[last]
	(*s)[last], *s = nil, (*s)[:last]
	return m
}

var _ queue.Queue = (*messages)(nil)

// openQueue makes a queue, with the messages of the journal.
func openQueue(name topology.Queue, j journal) (*messages, error) {
	q := &messages{name: name, journal: j, now: time.Now, changed: make(chan struct{}, 1), byID: map[string]*message{}}
	err := j.each(q.bucket(), func(key string, value []byte) error {
		m := &message{id: key}
		if err := json.Unmarshal(value, m); err != nil {
			return err
		}
		m.at = m.At
		q.byID[key] = m
		heap.Push(&q.next, m)
		return nil
	})
	return q, err
}

func (q *messages) bucket() string { return "queue/" + string(q.name) }

// dead is the bucket of the messages that were put aside.
func (q *messages) dead() string { return "dead/" + string(q.name) }

// Send implements queue.Sender.
func (q *messages) Send(_ context.Context, all ...queue.Message) []error {
	written := func() {}
	defer func() { written() }() // without the lock
	q.mu.Lock()
	defer q.mu.Unlock()
	var entries []entry
	for _, one := range all {
		m := &message{id: rand.Text(), Body: one.Body, At: q.now().Add(min(one.Delay, queue.LongestDelay))}
		m.at = m.At
		q.byID[m.id] = m
		heap.Push(&q.next, m)
		entries = append(entries, entry{q.bucket(), m.id, encoded(m)})
	}
	written = q.journal.add(entries...)
	q.signal()
	return make([]error, len(all))
}

// errReceipt is the error of a receipt whose message is gone.
var errReceipt = &queue.RefusedEntry{Code: "ReceiptHandleIsInvalid", Message: "the message is gone", Final: true}

// ExtendVisibility implements queue.Extender.
func (q *messages) ExtendVisibility(_ context.Context, d time.Duration, receipts ...string) []error {
	q.mu.Lock()
	defer q.mu.Unlock()
	failed := make([]error, len(receipts))
	for i, receipt := range receipts {
		id, _, _ := strings.Cut(receipt, "#")
		if m := q.byID[id]; m != nil {
			m.at = q.now().Add(d)
			heap.Fix(&q.next, m.place)
		} else {
			failed[i] = errReceipt
		}
	}
	q.signal()
	return failed
}

func (q *messages) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// receive takes visible messages, and hides them. If there is none, it returns the time at which the first becomes
// visible, or zero.
func (q *messages) receive(most int) (batch []events.SQSMessage, first time.Time) {
	written := func() {}
	defer func() { written() }() // without the lock
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	var entries []entry // with the receives: a message that ends the process must become a dead letter, too
	for len(q.next) > 0 && len(batch) < most {
		m := q.next[0]
		if m.at.After(now) {
			break
		}
		if m.Receives >= q.name.Receives() {
			slog.Error("a message is a dead letter", "queue", q.name, "message", m.id)
			entries = append(entries, entry{q.bucket(), m.id, nil}, entry{q.dead(), m.id, encoded(m)})
			heap.Remove(&q.next, m.place)
			delete(q.byID, m.id)
			continue
		}
		m.Receives++
		m.at = now.Add(q.name.Visibility())
		heap.Fix(&q.next, m.place)
		entries = append(entries, entry{q.bucket(), m.id, encoded(m)})
		batch = append(batch, events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.id + "#" + strconv.Itoa(m.Receives), Body: m.Body,
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.Receives)},
		})
	}
	written = q.journal.add(entries...)
	if len(q.next) > 0 {
		first = q.next[0].at
	}
	return batch, first
}

// finish removes the messages of a batch that did not fail. The others stay hidden for as long as they are.
func (q *messages) finish(batch []events.SQSMessage, out events.SQSEventResponse) {
	failed := map[string]bool{}
	for _, f := range out.BatchItemFailures {
		failed[f.ItemIdentifier] = true
	}
	written := func() {}
	defer func() { written() }() // without the lock
	q.mu.Lock()
	defer q.mu.Unlock()
	var entries []entry
	for _, one := range batch {
		if m := q.byID[one.MessageId]; m != nil && !failed[m.id] {
			heap.Remove(&q.next, m.place)
			delete(q.byID, m.id)
			entries = append(entries, entry{q.bucket(), m.id, nil})
		}
	}
	written = q.journal.add(entries...)
}

// consume passes the messages to their function until the context ends: at most slots batches at a time. It returns
// when the last batch has ended.
func (q *messages) consume(ctx context.Context, f topology.Function, slots int, handle worker.Consumer) {
	var running sync.WaitGroup
	defer running.Wait()
	free := make(chan struct{}, slots)
	for {
		select {
		case <-ctx.Done():
			return
		case free <- struct{}{}:
		}
		batch := q.await(ctx, f)
		if batch == nil {
			return
		}
		running.Go(func() {
			defer func() { <-free }()
			call, cancel := context.WithTimeout(ctx, f.Timeout)
			defer cancel()
			var out events.SQSEventResponse
			if err := guarded(func() (err error) {
				out, err = handle(call, events.SQSEvent{Records: batch})
				return err
			}); err != nil {
				// All messages come again, when they are visible.
				if !errors.Is(err, context.Canceled) {
					slog.Error("a batch failed", "queue", q.name, "error", err)
				}
				return
			}
			q.finish(batch, out)
		})
	}
}

// longestWindow bounds the time for which messages are collected: nobody pays for the calls here.
const longestWindow = 500 * time.Millisecond

// await waits for a batch. It returns nil if the context ends.
func (q *messages) await(ctx context.Context, f topology.Function) []events.SQSMessage {
	for {
		batch, first := q.receive(f.Batch)
		if len(batch) > 0 {
			if len(batch) < f.Batch && f.Window > 0 && sleep(ctx, min(f.Window, longestWindow)) {
				more, _ := q.receive(f.Batch - len(batch))
				batch = append(batch, more...)
			}
			return batch
		}
		visible, stop := ctx, context.CancelFunc(func() {})
		if !first.IsZero() {
			visible, stop = context.WithDeadline(ctx, first)
		}
		select {
		case <-visible.Done():
		case <-q.changed:
		}
		stop()
		if ctx.Err() != nil {
			return nil
		}
	}
}

// schedule calls the functions of schedules, each with its period, and once at the start, until the context ends.
func (s *Service) schedule(ctx context.Context) {
	if s.lane != nil {
		s.lane.open(ctx, s.scheduled)
		return
	}
	for name, run := range s.scheduled {
		f := topology.FunctionNamed(name)
		s.running.Go(func() {
			for {
				if err := guarded(func() error {
					call, cancel := context.WithTimeout(ctx, f.Timeout)
					defer cancel()
					_, err := run.Invoke(call, []byte("{}"))
					return err
				}); err != nil && ctx.Err() == nil {
					slog.Error("a scheduled function failed", "function", name, "error", err)
				}
				if !sleep(ctx, f.Every) {
					return
				}
			}
		})
	}
}

// Invoke calls a function of a schedule by its name, with a payload in JSON, and decodes its result.
func (s *Service) Invoke(ctx context.Context, name, payload string, into any) error {
	run := s.scheduled[name]
	if run == nil {
		return fmt.Errorf("standalone: no schedule calls the function %q", name)
	}
	out, err := run.Invoke(ctx, []byte(payload))
	if err != nil {
		return fmt.Errorf("standalone: the function %s: %w", name, err)
	}
	return json.Unmarshal(out, into)
}
