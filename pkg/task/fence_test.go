package task_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// A holder that stalled beyond its lease writes nothing while another holds the step.
func TestNothingIsWrittenUnderTheLeaseOfAnother(t *testing.T) {
	var w *world
	during := func() error { return nil }
	undone := 0
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if err := s.Lease(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		return task.Outcome{Payload: 2, Done: true, Undo: func(context.Context, *task.Task) { undone++ }}, during()
	}})
	during = func() error {
		during = func() error { return task.ErrMoved } // the other one leases, and is not done yet
		w.clock.Add(16 * time.Second)
		w.do(1, 2)
		return nil
	}
	if next := w.do(1, 1); next == nil || next.Step != 1 || next.Delay != 15*time.Second {
		t.Errorf("the holder that stalled: %+v", next)
	}
	if got, state := w.task(); state != "running" || string(got.Payload) != "1" || got.Lease == nil ||
		!got.Lease.Until.Equal(w.clock.Now().Add(15*time.Second)) || undone != 1 {
		t.Errorf("%s: %+v, undone %d times", state, got, undone)
	}
}

// The outcome of a step is not written over another step, whoever holds that.
func TestTheOutcomeOfAnotherStepIsKept(t *testing.T) {
	var w *world
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if s.Task.Step > 1 {
			return task.Outcome{}, task.ErrMoved
		}
		if err := s.Lease(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		it, err := w.db.Get(ctx, store.IDKey("task#1"))
		var is task.Task
		if err := errors.Join(err, it.Decode(&is)); err != nil {
			return task.Outcome{}, err
		}
		is.Step = 2
		if err := it.Encode(is); err != nil {
			return task.Outcome{}, err
		}
		w.commit(func(tx *store.Tx) { tx.Replace(it) })
		return task.Outcome{Done: true}, nil
	}})
	w.do(1, 1)
	if got, state := w.task(); state != "running" || got.Step != 2 {
		t.Errorf("%s: %+v", state, got)
	}
}

// A function that does not know whether it wrote its outcome finds that, and is not undone.
func TestALostAnswerIsRecognized(t *testing.T) {
	var w *world
	undone := 0
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if err := s.Lease(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		w.faults.Lose("TransactWriteItems", storetest.Attempts) // however often the SDK repeats it
		return task.Outcome{Wait: time.Minute, Undo: func(context.Context, *task.Task) { undone++ },
			Join: func(_ context.Context, tx *store.Tx) error {
				tx.Count(store.IDKey("counter"), 1, math.MaxInt64, errNo)
				return nil
			}}, nil
	}})
	if next := w.do(1, 1); next == nil || next.Step != 2 {
		t.Errorf("%+v follows", next)
	}
	counter, err := w.db.Get(t.Context(), store.IDKey("counter"))
	if got, _ := w.task(); got.Step != 2 || undone != 0 || err != nil || counter.Count() != 1 {
		t.Errorf("%+v, undone %d times, counted %d, %v", got, undone, counter.Count(), err)
	}
}

// The step was taken while this delivery took it, perhaps by its own write: the next message must be sent.
func TestAStepThatMovedSendsTheNextMessage(t *testing.T) {
	var w *world
	first := true
	w = newWorld(t, &handler{step: func(context.Context, *task.Step) (task.Outcome, error) {
		if first {
			first = false
			w.do(1, 1) // its message is lost
		}
		return task.Outcome{Wait: time.Minute}, nil
	}})
	if next := w.do(1, 1); next == nil || next.Step != 2 || next.Delay != time.Minute {
		t.Errorf("%+v follows", next)
	}
}

// A task that was canceled meanwhile is cleaned up, and is not reported as one without a subject.
func TestACanceledTaskIsNoOrphan(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	var w *world
	cleaned := 0
	w = newWorld(t, &handler{
		step: func(ctx context.Context, _ *task.Step) (task.Outcome, error) {
			it, err := w.db.Get(ctx, store.IDKey("task#1"))
			if err != nil {
				return task.Outcome{}, err
			}
			w.commit(func(tx *store.Tx) {
				if err := task.Cancel(tx, it); err != nil {
					t.Error(err)
				}
			})
			return task.Outcome{}, fmt.Errorf("the subject is gone: %w", task.ErrOrphaned)
		},
		cancel: func(context.Context, *task.Step) error { cleaned++; return nil },
	})
	w.do(1, 1)
	if _, state := w.task(); state != "ended" || cleaned != 1 || strings.Contains(log.String(), "without a subject") {
		t.Errorf("%s, cleaned up %d times, logged %s", state, cleaned, log.String())
	}
}
