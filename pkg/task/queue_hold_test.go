package task_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/content-automation/api/pkg/task/queue"
)

// extender records its calls.
type extender struct {
	mu    sync.Mutex
	calls []string
	err   error
	came  chan struct{}
}

func newExtender() *extender { return &extender{came: make(chan struct{}, 100)} }

func (h *extender) ExtendVisibility(_ context.Context, d time.Duration, receipts ...string) []error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, fmt.Sprint(d, " ", strings.Join(receipts, " ")))
	h.came <- struct{}{}
	failed := make([]error, len(receipts))
	for i := range failed {
		failed[i] = h.err
	}
	return failed
}

// await waits for so many calls more.
func (h *extender) await(t *testing.T, calls int) {
	t.Helper()
	for range calls {
		<-h.came
	}
}

// heart is a Heartbeat that tests control.
type heart struct {
	beats   chan time.Time
	stopped bool
}

func (h *heart) start() (<-chan time.Time, func()) { return h.beats, func() { h.stopped = true } }

func batch(receives ...string) (all []events.SQSMessage) {
	for i, n := range receives {
		all = append(all, events.SQSMessage{ReceiptHandle: fmt.Sprint("r", i),
			Attributes: map[string]string{"ApproximateReceiveCount": n}})
	}
	return all
}

func TestMessagesAreHeldWhileTheFunctionLives(t *testing.T) {
	h, heart := newExtender(), &heart{beats: make(chan time.Time)}
	h.err = errors.New("not now") // which is no reason to stop
	held := queue.NewHolder(h, heart.start).Hold(t.Context(), batch("1", "1"))
	h.await(t, 1)
	heart.beats <- time.Time{}
	h.await(t, 1)
	renewed := make(chan struct{}, 1)
	held.Renew(func(context.Context) { renewed <- struct{}{} })
	heart.beats <- time.Time{}
	h.await(t, 1)
	<-renewed
	held.End(t.Context(), make([]error, 2))
	if want := slices.Repeat([]string{"4s r0 r1"}, 3); !slices.Equal(h.calls, want) || !heart.stopped {
		t.Errorf("calls %q", h.calls)
	}
}

func TestMessagesThatFailComeAgainEverLater(t *testing.T) {
	h, heart := newExtender(), &heart{}
	held := queue.NewHolder(h, heart.start).Hold(t.Context(), batch("1", "2", "1", "6", "", "40", "1"))
	h.await(t, 1)
	failed := slices.Repeat([]error{errors.New("no")}, 7)
	failed[6] = nil
	held.End(t.Context(), failed)
	got := h.calls[1:]
	slices.Sort(got)
	if want := []string{"1s r0 r1 r2 r4", "5m0s r5", "5s r3"}; !slices.Equal(got, want) {
		t.Errorf("calls %q, want %q", got, want)
	}
}

func TestAFunctionThatEndsHoldsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, heart := newExtender(), &heart{beats: make(chan time.Time)}
		ctx, cancel := context.WithCancel(t.Context())
		held := queue.NewHolder(h, heart.start).Hold(ctx, batch("1"))
		h.await(t, 1)
		cancel()
		synctest.Wait()
		held.End(ctx, []error{nil})
		queue.NewHolder(h, heart.start).Hold(t.Context(), nil).End(t.Context(), nil)
		if len(h.calls) != 1 {
			t.Errorf("calls %q", h.calls)
		}
	})
}

func TestTicker(t *testing.T) {
	beats, stop := queue.Ticker()
	defer stop()
	<-beats
}

func TestPausesBeforeAMessageComesAgain(t *testing.T) {
	total := time.Duration(0)
	for n := 1; n <= 15; n++ {
		wait := queue.Pause(n)
		// After an outage of that length it is delivered within half of that time.
		if n > 3 && wait > total/2+time.Second {
			t.Errorf("after %v it waits %v", total, wait)
		}
		total += wait
	}
	if total < 5*time.Minute || total > 10*time.Minute {
		t.Errorf("15 receives last %v", total)
	}
}
