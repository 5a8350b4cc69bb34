package queue

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

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
			wait := again(Receives(h.batch[i]))
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

// again returns the back-off of a message that was received so many times.
func again(receives int) time.Duration {
	seconds := math.Round(math.Pow(pauseGrowth, float64(max(receives, 1)-1)))
	return time.Duration(min(seconds, longestAgain.Seconds())) * time.Second
}

// Receives returns how often a message was received, 0 if that is unknown.
func Receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // 0 if it is absent
	return n
}
