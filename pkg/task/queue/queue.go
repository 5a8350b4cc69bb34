// Package queue sends messages in batches, retries those that a queue refuses, and keeps received messages hidden while
// a function works on them. It imports no AWS client, so that packages which only build messages do not depend on one.
// InBatches passes the messages of an event to a handler.
package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/backoff"
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

// BatchSize is the most entries that one call to SQS or EventBridge takes.
const BatchSize = 10

// tries bounds the attempts for an entry that is refused for a transient reason.
const tries = 4

// The back-off between attempts.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// RefusedEntry is the error of one entry that the service refused in a successful call.
type RefusedEntry struct {
	Code, Message string
	// Final says that the entry itself is invalid: a retry is useless.
	Final bool
}

// Error returns the service's code and message.
func (e *RefusedEntry) Error() string {
	return fmt.Sprintf("queue: refused: %s: %s", e.Code, e.Message)
}

// InBatches sends count entries by calls of send, each with the indexes of at most BatchSize of them. Send returns the
// error of each entry, in the order of the batch, or one error for the whole call. InBatches retries entries that were
// refused for a transient reason. It does not retry a failed call: the SDK has done so. It returns the last error of
// each entry, nil for those that were accepted.
func InBatches(ctx context.Context, count int, send func(ctx context.Context, batch []int) ([]error, error)) []error {
	result := make([]error, count)
	left := make([]int, count)
	for i := range left {
		left[i] = i
	}
	for try := 0; len(left) > 0 && try < tries; try++ {
		if err := backoff.Wait(ctx, try, firstPause, longestPause); err != nil {
			return ended(result, left, err)
		}
		var again []int
		for len(left) > 0 {
			batch := left[:min(BatchSize, len(left))]
			left = left[len(batch):]
			failed, err := send(ctx, batch)
			for i, entry := range batch {
				result[entry] = err
				if err == nil {
					result[entry] = failed[i]
				}
				var refused *RefusedEntry
				if errors.As(result[entry], &refused) && !refused.Final {
					again = append(again, entry)
				}
			}
		}
		left = again
	}
	return result
}

// ended adds the context's error to those of the entries that are left.
func ended(result []error, left []int, err error) []error {
	for _, entry := range left {
		result[entry] = errors.Join(result[entry], err)
	}
	return result
}

// HiddenFor is the visibility timeout of messages in work: the time until a message is delivered again after its
// function has died. The queue's own timeout is many times as long, since it must exceed the longest run of a function.
const HiddenFor = 4 * time.Second

// interval is the time between heartbeats. One or two may fail or be late before a
// message is delivered to another function.
const interval = time.Second

// Extender extends the visibility timeout of received messages.
type Extender interface {
	// ExtendVisibility keeps messages, named by their receipts, hidden for the given
	// time from now. It returns the error of each, in their order.
	ExtendVisibility(ctx context.Context, d time.Duration, receipts ...string) []error
}

// Heartbeat starts the heartbeats of a function. Stop ends them.
type Heartbeat func() (beats <-chan time.Time, stop func())

// Ticker is the Heartbeat of a deployed function.
func Ticker() (<-chan time.Time, func()) {
	t := time.NewTicker(interval)
	return t.C, t.Stop
}

// Holder keeps messages hidden while a function works on them.
type Holder struct {
	extender  Extender
	heartbeat Heartbeat
}

// NewHolder makes a holder of the messages of one queue.
func NewHolder(e Extender, h Heartbeat) *Holder { return &Holder{e, h} }

// Hold is a batch of messages that a function works on.
type Hold struct {
	holder   *Holder
	batch    []events.SQSMessage
	receipts []string
	stop     context.CancelFunc
	ended    sync.WaitGroup

	mu    sync.Mutex
	renew func(context.Context)
}

// Hold keeps the messages of a batch hidden until End. If the function dies before
// that, they become visible after HiddenFor.
func (h *Holder) Hold(ctx context.Context, batch []events.SQSMessage) *Hold {
	held := &Hold{holder: h, batch: batch, receipts: make([]string, len(batch))}
	for i, m := range batch {
		held.receipts[i] = m.ReceiptHandle
	}
	ctx, held.stop = context.WithCancel(ctx)
	if len(batch) > 0 {
		held.ended.Go(func() { held.live(ctx) })
	}
	return held
}

// Handler returns the handler of a function that holds the messages of a batch while it works on them. The argument
// work returns the error of each message, in their order, or nil.
func (h *Holder) Handler(work func(context.Context, []events.SQSMessage) []error) func(context.Context,
	events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		held := h.Hold(ctx, batch.Records)
		failed := work(ctx, batch.Records)
		held.End(ctx, failed)
		return Response(batch.Records, failed), nil
	}
}

// Renew makes each heartbeat also call f, such as to renew a lease.
func (h *Hold) Renew(f func(context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renew = f
}

func (h *Hold) live(ctx context.Context) {
	beats, stop := h.holder.heartbeat()
	defer stop()
	h.hide(ctx, HiddenFor, h.receipts)
	for {
		select {
		case <-ctx.Done():
			return
		case <-beats:
		}
		h.mu.Lock()
		renew := h.renew
		h.mu.Unlock()
		// Call both concurrently: a slow call must not delay the other past its timeout.
		var both sync.WaitGroup
		if renew != nil {
			both.Go(func() { renew(ctx) })
		}
		h.hide(ctx, HiddenFor, h.receipts)
		both.Wait()
	}
}

// End ends the work on the batch. The messages that failed are delivered again, with a back-off that grows with their
// receive counts; Lambda deletes the others. The context is that of the function's answer.
func (h *Hold) End(ctx context.Context, failed []error) {
	h.stop()
	h.ended.Wait()
	late := map[time.Duration][]string{}
	for i, err := range failed {
		if err != nil {
			wait := Pause(Receives(h.batch[i]))
			late[wait] = append(late[wait], h.receipts[i])
		}
	}
	for _, wait := range slices.Sorted(maps.Keys(late)) {
		h.hide(ctx, wait, late[wait])
	}
}

// hide only logs failures: the queue's own visibility timeout applies then.
func (h *Hold) hide(ctx context.Context, d time.Duration, receipts []string) {
	if err := errors.Join(h.holder.extender.ExtendVisibility(ctx, d, receipts...)...); err != nil && ctx.Err() == nil {
		slog.Warn("messages not hidden", "error", err)
	}
}

// The back-off of a message that fails. After an outage of seconds the message is delivered again soon, and an outage
// of minutes does not use up its receives, after which it is a dead letter.
const (
	pauseGrowth  = 1.4
	longestAgain = 5 * time.Minute
)

// Pause returns the back-off of a message that was received so many times.
func Pause(receives int) time.Duration {
	seconds := math.Round(math.Pow(pauseGrowth, float64(max(receives, 1)-1)))
	return time.Duration(min(seconds, longestAgain.Seconds())) * time.Second
}

// Receives returns how often a message was received, 0 if that is unknown.
func Receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // 0 if it is absent
	return n
}

// callsAtATime is how many calls of one Send a wide sender makes at a time.
const callsAtATime = 4

// Wide returns a sender that sends many messages by several calls at a time, each of as many messages as a call takes.
func Wide(s Sender) Sender { return wide{s} }

type wide struct{ sender Sender }

func (w wide) Send(ctx context.Context, messages ...Message) []error {
	if len(messages) <= BatchSize {
		return w.sender.Send(ctx, messages...)
	}
	var all sync.WaitGroup
	failed, turns := make([]error, len(messages)), make(chan struct{}, callsAtATime)
	done := 0
	for batch := range slices.Chunk(messages, BatchSize) {
		at := failed[done : done+len(batch)]
		done += len(batch)
		turns <- struct{}{}
		all.Go(func() {
			copy(at, w.sender.Send(ctx, batch...))
			<-turns
		})
	}
	all.Wait()
	return failed
}
