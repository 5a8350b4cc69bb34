package queue

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// HiddenFor is how long a message stays hidden whose function has died. A queue
// itself hides one for many times as long, because it must count with the longest
// time that a function may take.
const HiddenFor = 4 * time.Second

// beat is how often a function that lives shows that it does. So a call or two may
// fail, or take long, before a message comes to another function.
const beat = time.Second

// Hider sets how long received messages stay hidden.
type Hider interface {
	// Hide hides messages, named by their receipts, for the given time from now on.
	// It returns at the place of each the error that kept it from being done, or nil.
	Hide(ctx context.Context, d time.Duration, receipts ...string) []error
}

// Pulse returns the moments at which to show that the function is alive, until stop.
type Pulse func() (beats <-chan time.Time, stop func())

// Beat is the pulse of a function.
func Beat() (<-chan time.Time, func()) {
	t := time.NewTicker(beat)
	return t.C, t.Stop
}

// Holder holds messages while functions work on them.
type Holder struct {
	hider Hider
	pulse Pulse
}

// NewHolder makes a holder of the messages of one queue.
func NewHolder(h Hider, p Pulse) *Holder { return &Holder{h, p} }

// Held are the messages of a batch that is being worked on.
type Held struct {
	holder   *Holder
	batch    []events.SQSMessage
	receipts []string
	stop     context.CancelFunc
	ended    sync.WaitGroup

	mu    sync.Mutex
	renew func(context.Context)
}

// Hold keeps the messages of a batch hidden until End, and no longer than HiddenFor
// where the function dies before.
func (h *Holder) Hold(ctx context.Context, batch []events.SQSMessage) *Held {
	held := &Held{holder: h, batch: batch, receipts: make([]string, len(batch))}
	for i, m := range batch {
		held.receipts[i] = m.ReceiptHandle
	}
	ctx, held.stop = context.WithCancel(ctx)
	if len(batch) > 0 {
		held.ended.Go(func() { held.live(ctx) })
	}
	return held
}

// Renew has something else renewed at each beat.
func (h *Held) Renew(f func(context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renew = f
}

func (h *Held) live(ctx context.Context) {
	beats, stop := h.holder.pulse()
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
		// Both at once: that one takes long must not end the other.
		var both sync.WaitGroup
		if renew != nil {
			both.Go(func() { renew(ctx) })
		}
		h.hide(ctx, HiddenFor, h.receipts)
		both.Wait()
	}
}

// End ends the work on the batch. The messages that failed come again, the later
// the more often they have come already; the others are deleted by whoever called
// the function. The context is that of the function's answer.
func (h *Held) End(ctx context.Context, failed []error) {
	h.stop()
	h.ended.Wait()
	late := map[time.Duration][]string{}
	for i, err := range failed {
		if err != nil {
			wait := again(receives(h.batch[i]))
			late[wait] = append(late[wait], h.receipts[i])
		}
	}
	for wait, receipts := range late {
		h.hide(ctx, wait, receipts)
	}
}

// hide tells of failures only: the queue's own time holds then.
func (h *Held) hide(ctx context.Context, d time.Duration, receipts []string) {
	if err := errors.Join(h.holder.hider.Hide(ctx, d, receipts...)...); err != nil && ctx.Err() == nil {
		slog.Warn("messages not hidden", "error", err)
	}
}

// The pauses between receives of a message that fails: so a trouble of a few
// seconds is over soon after its end, and one of minutes does not use up the
// receives that a message has before it is put aside.
const (
	pauseGrowth  = 1.4
	longestAgain = 5 * time.Minute
)

// again returns the pause after a message has failed that was received so often.
func again(receives int) time.Duration {
	seconds := math.Round(math.Pow(pauseGrowth, float64(max(receives, 1)-1)))
	return time.Duration(min(seconds, longestAgain.Seconds())) * time.Second
}

func receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // 0 where it is not told
	return n
}
