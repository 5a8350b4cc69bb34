package task_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// reconciler is one whose messages are collected.
func (w *world) reconciler() (*sent, *task.Reconciler) {
	s := &sent{}
	return s, task.NewReconciler(w.db, w.clock.Now,
		task.OverdueTasks(task.NewSender(map[topology.Queue]*sent{topology.GenerateText: s}), w.clock.Now)...)
}

// Searches every minute send the message of a step that is due months ahead before it is
// due, held back until then, and once.
func TestAParkedTaskIsTakenOnTime(t *testing.T) {
	for _, ahead := range []time.Duration{queue.LongestDelay + time.Second, 180*24*time.Hour + 17*time.Second} {
		w := newWorld(t, &handler{step: up(2)})
		at := w.clock.Now().Add(ahead)
		w.commit(func(tx *store.Tx) {
			if err := task.Create(tx, w.clock.Now(),
				task.Task{Message: task.Message{ID: "task#far", Kind: count, Queue: topology.GenerateText,
					Owner: owner}, DueAt: at}, 0); err != nil {
				t.Fatal(err)
			}
		})
		w.do(1, 1) // the other task has ended
		w.clock.Add(ahead - 10*time.Minute)
		s, r := w.reconciler()
		for w.clock.Now().Before(at.Add(-time.Minute)) {
			if found, err := r.Run(t.Context(), false); err != nil || found.Overdue > 0 {
				t.Fatalf("%+v, %v", found, err)
			}
			w.clock.Add(time.Minute)
		}
		if len(s.messages) != 1 {
			t.Fatalf("%v ahead: %d messages were sent", ahead, len(s.messages))
		}
		left := at.Sub(w.clock.Now().Add(-time.Minute))
		if m := s.messages[0]; m.Delay < left || m.Delay > left+time.Minute {
			t.Errorf("%v ahead: the message is held back for %v of %v", ahead, m.Delay, left)
		}
		var m task.Message
		if err := json.Unmarshal([]byte(s.messages[0].Body), &m); err != nil {
			t.Fatal(err)
		}
		if next, err := w.kernel.Do(t.Context(), m, ""); err != nil || next == nil ||
			next.Delay != at.Sub(w.clock.Now()) {
			t.Errorf("a message that is early leads to %+v, %v", next, err)
		}
		// Where the message is lost, another one follows when the task is late.
		w.clock.Add(at.Sub(w.clock.Now()) + 2*time.Minute + time.Second)
		if found, err := r.Run(t.Context(), false); err != nil || found.Resent != 1 {
			t.Errorf("%+v, %v", found, err)
		}
	}
}

// A step that waits longer than a queue can is parked, and no more once it is taken.
func TestALongWaitParksATask(t *testing.T) {
	waits := []time.Duration{30 * time.Minute, time.Minute}
	w := newWorld(t, &handler{step: func(_ context.Context, s *task.Step) (task.Outcome, error) {
		return task.Outcome{Wait: waits[s.Task.Step-1]}, nil
	}})
	w.do(1, 1)
	check := func(set task.Set) {
		t.Helper()
		is, _ := w.task()
		it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
		if err != nil || is.Parked != (set == task.Parked) || it.Due != set.Key("task#1", is.DueAt) {
			t.Errorf("%+v is due by %+v, %v", is, it.Due, err)
		}
	}
	check(task.Parked)
	w.clock.Add(30 * time.Minute)
	w.do(2, 1)
	check(task.Tasks)
}
