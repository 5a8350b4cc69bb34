package task_test

import (
	"context"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// What Join reads decides when the task goes on, and whether it does.
func TestAnOutcomeThatIsDueWhenItsJoinSays(t *testing.T) {
	var w *world
	more, joined, after := true, 0, 0
	w = newWorld(t, &handler{step: func(context.Context, *task.Step) (task.Outcome, error) {
		var at time.Time
		return task.Outcome{
			Done: more, Wait: time.Hour, // neither counts
			Join: func(_ context.Context, tx *store.Tx) error {
				joined++
				at = w.clock.Now().Add(time.Duration(joined) * time.Minute)
				return nil
			},
			Due:      func() (time.Time, bool) { return at, more },
			OnCommit: func(context.Context) { after++ },
		}, nil
	}})
	if next := w.do(1, 1); next == nil || next.Step != 2 || next.Delay != time.Minute || after != 1 {
		t.Errorf("%+v, told %d times", next, after)
	}
	w.clock.Add(10 * time.Minute)
	more = false
	if next := w.do(2, 1); next != nil || after != 2 {
		t.Errorf("after the end: %+v, told %d times", next, after)
	}
	if _, state := w.task(); state != "ended" {
		t.Errorf("the task is %s", state)
	}
}

// A lease may be shorter than usual, for a step that is to be taken again soon.
func TestAShortLease(t *testing.T) {
	var w *world
	during := func() {}
	steps := 0
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		steps++
		if err := s.LeaseFor(ctx, queue.HiddenFor, nil); err != nil {
			return task.Outcome{}, err
		}
		during()
		return task.Outcome{Done: true}, nil
	}})
	during = func() {
		during = func() {}
		if next := w.do(1, 2); next == nil || next.Delay != queue.HiddenFor {
			t.Errorf("while the lease lasts: %+v", next)
		}
		w.clock.Add(queue.HiddenFor)
		w.do(1, 3) // takes the step over
	}
	w.do(1, 1)
	if _, state := w.task(); state != "ended" || steps != 2 {
		t.Errorf("the task is %s after %d steps", state, steps)
	}
}

func TestTheGroupOfAMessage(t *testing.T) {
	m := task.Message{Owner: owner}
	if got := m.FairGroup(); got != owner.String() {
		t.Errorf("the group is %s", got)
	}
	m.Group = "whk_1"
	if got := m.FairGroup(); got != "whk_1" {
		t.Errorf("the group is %s", got)
	}
}
