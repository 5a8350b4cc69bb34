package task_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/task"
)

// busy is the error of a call that was refused because there are too many.
type busy struct{ error }

func (busy) Throttled() bool { return true }

// TestAThrottledStepWaitsToItsDeadline has a step fail seven times, then meet a busy provider until the deadline, which
// is an hour away.
func TestAThrottledStepWaitsToItsDeadline(t *testing.T) {
	calls, ended := 0, error(nil)
	w := newWorld(t, &handler{
		step: func(context.Context, *task.Step) (task.Outcome, error) {
			if calls++; calls < 8 {
				return task.Outcome{}, errNo
			}
			return task.Outcome{}, fmt.Errorf("the provider: %w", busy{errNo})
		},
		fail: func(_ context.Context, _ *task.Step, cause error) (task.Outcome, error) {
			ended = cause
			return task.Outcome{}, nil
		},
	})
	began := w.clock.Now()
	for step, next := 2, w.do(1, 1); next != nil; step++ {
		if is, _ := w.task(); is.Failures > 7 {
			t.Fatalf("%d failures after %d calls", is.Failures, calls)
		}
		w.clock.Add(next.Delay)
		next = w.do(step, 1)
	}
	took := w.clock.Now().Sub(began)
	if !errors.Is(ended, task.ErrDeadline) || took < time.Hour || took > time.Hour+2*time.Minute {
		t.Errorf("it ended after %v: %v", took, ended)
	}
	if calls < 60 || calls > 200 {
		t.Errorf("%d calls in an hour", calls)
	}
}
