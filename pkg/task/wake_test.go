package task_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// wake takes the step that waits.
func (w *world) wake() *task.Next {
	w.Helper()
	next, err := w.kernel.Do(w.Context(), task.Message{ID: "task#1", Wake: true}, "")
	if err != nil {
		w.Fatal(err)
	}
	return next
}

func TestAStepIsWoken(t *testing.T) {
	w := newWorld(t, &handler{step: up(4)})
	w.do(1, 1)
	if next := w.wake(); next == nil || next.Step != 3 || next.Wake || next.Delay != time.Minute {
		t.Errorf("waking the second step leads to %+v", next)
	}
	if next := w.wake(); next != nil {
		t.Errorf("waking the last step leads to %+v", next)
	}
	if next := w.wake(); next != nil {
		t.Errorf("waking a task that has ended leads to %+v", next)
	}
	if got, _ := w.task(); string(got.Payload) != "4" {
		t.Errorf("the payload is %s", got.Payload)
	}
}

// The message that wakes a task comes again when the function that took it has died. The
// lease of the dead one still lives then, and the step may be due much later.
func TestAWakingOutlivesTheFunctionThatTookIt(t *testing.T) {
	dies := true
	h := &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if err := s.Lease(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		if dies {
			panic(errNo)
		}
		return task.Outcome{Done: true}, nil
	}}
	w := newWorld(t, h)
	it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) {
		if err := task.Reschedule(tx, it, w.clock.Now().Add(50*time.Minute)); err != nil {
			t.Fatal(err)
		}
	})
	func() {
		defer func() { _ = recover() }()
		w.wake()
	}()
	dies = false
	began, next := w.clock.Now(), w.wake() // the queue delivers the message again
	for next != nil && w.clock.Now().Sub(began) < 3*time.Minute {
		w.clock.Add(next.Delay)
		if next, err = w.kernel.Do(t.Context(), next.Message, ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, state := w.task(); state != "ended" || w.clock.Now().Sub(began) >= 3*time.Minute {
		t.Errorf("after %v it is %s, and %+v follows", w.clock.Now().Sub(began), state, next)
	}
}

func TestATaskIsRescheduled(t *testing.T) {
	w := newWorld(t, &handler{step: up(3)})
	w.do(1, 1)
	it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
	if err != nil {
		t.Fatal(err)
	}
	at := w.clock.Now().Add(2 * time.Minute)
	w.commit(func(tx *store.Tx) {
		if err := task.Reschedule(tx, it, at); err != nil {
			t.Fatal(err)
		}
	})
	if next := w.do(2, 1); next == nil || next.Step != 2 || next.Delay != 2*time.Minute {
		t.Errorf("a message that is early leads to %+v", next)
	}
	moved, err := w.db.Get(t.Context(), store.IDKey("task#1"))
	if err != nil || moved.Due != task.Tasks.Key("task#1", at) {
		t.Errorf("it is due by %+v, %v", moved.Due, err)
	}
}

// A message that no queue can hold back so long would come again and again.
func TestWhatIsDueMuchLaterIsNotSent(t *testing.T) {
	for wait, want := range map[time.Duration]int{queue.LongestDelay: 1, queue.LongestDelay + time.Second: 0} {
		w := newWorld(t, &handler{})
		it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
		if err != nil {
			t.Fatal(err)
		}
		w.commit(func(tx *store.Tx) {
			if err := task.Reschedule(tx, it, w.clock.Now().Add(wait)); err != nil {
				t.Fatal(err)
			}
		})
		text := &sent{}
		if failed := w.handle(t.Context(), text, record("task#1", 1, "1")); len(failed) != 0 ||
			len(text.messages) != want {
			t.Errorf("due in %v: sent are %+v, failed %v", wait, text.messages, failed)
		}
	}
}

// A wake-up goes through the outbox, so it is sent once its transaction commits.
func TestWakingGoesThroughTheOutbox(t *testing.T) {
	w := newWorld(t, &handler{step: up(4)})
	w.do(1, 1)
	w.commit(func(tx *store.Tx) {
		if err := task.Wake(tx, w.clock.Now(),
			task.Message{ID: "task#1", Kind: count, Queue: topology.GenerateText}); err != nil {
			t.Fatal(err)
		}
	})
	for _, row := range storetest.Rows(t, w.db) {
		if row["kind"] != task.OutboxKind {
			continue
		}
		var m task.Message
		if err := json.Unmarshal([]byte(row["doc"]), &m); err != nil {
			t.Fatal(err)
		}
		next, err := w.kernel.Do(t.Context(), m, "")
		if err != nil || m.Queue != topology.GenerateText || next == nil || next.Step != 3 {
			t.Errorf("%+v leads to %+v, %v", m, next, err)
		}
		return
	}
	t.Error("nothing was sent")
}

// A task that waits for something else puts off its deadline.
func TestADeadlineIsPutOff(t *testing.T) {
	h := &handler{step: func(_ context.Context, s *task.Step) (task.Outcome, error) {
		return task.Outcome{Wait: time.Hour, Deadline: s.Deadline.Add(time.Hour)}, nil
	}}
	w := newWorld(t, h)
	w.do(1, 1)
	was, _ := w.task()
	w.clock.Add(time.Hour) // when it should have ended
	w.do(2, 1)
	if is, _ := w.task(); is.Step != 3 || !is.Deadline.Equal(was.Deadline.Add(time.Hour)) {
		t.Errorf("%+v, before %+v", is, was)
	}
}
