package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var (
	owner = tenant.Of("acc_1", tenant.Live)
	errNo = errors.New("no")
)

// handler is a handler made of functions.
type handler struct {
	step   func(ctx context.Context, s *task.Step) (task.Outcome, error)
	fail   func(ctx context.Context, s *task.Step, cause error) (task.Outcome, error)
	cancel func(ctx context.Context, s *task.Step) error
}

func (h *handler) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	return h.step(ctx, s)
}
func (h *handler) Fail(ctx context.Context, s *task.Step, cause error) (task.Outcome, error) {
	return h.fail(ctx, s, cause)
}
func (h *handler) Cancel(ctx context.Context, s *task.Step) error { return h.cancel(ctx, s) }

// world is a kernel with one kind of task, of which there is one.
type world struct {
	*testing.T
	db     *store.DB
	faults *storetest.Faults
	clock  *apitest.Clock
	kernel *task.Kernel
	h      *handler
	names  int
}

const count = task.Kind("count")

func newWorld(t *testing.T, h *handler) *world {
	w := &world{T: t, clock: apitest.NewClock(), faults: &storetest.Faults{}, h: h}
	w.db = storetest.Open(t, w.clock.Now, w.faults.Attach)
	w.kernel = task.NewKernel(task.Config{
		DB: w.db, Handlers: map[task.Kind]task.Handler{count: h}, Now: w.clock.Now,
		Chance: func() float64 { return 0.5 },
		Name:   func() string { w.names++; return fmt.Sprint("name-", w.names) }, Observe: account.Observe(w.db),
	})
	w.commit(func(tx *store.Tx) {
		err := task.Create(tx, w.clock.Now(), task.Task{
			Message: task.Message{ID: "task#1", Kind: count, Queue: topology.GenerateText, Subject: "thing",
				Owner: owner},
			Deadline: w.clock.Now().Add(time.Hour),
		}, 1)
		if err != nil {
			t.Fatal(err)
		}
	})
	return w
}

func (w *world) commit(fill func(tx *store.Tx)) {
	w.Helper()
	tx := &store.Tx{}
	fill(tx)
	if err := w.db.Commit(w.Context(), tx); err != nil {
		w.Fatal(err)
	}
}

// task is the task as it is stored, and its state.
func (w *world) task() (t task.Task, state string) {
	w.Helper()
	it, err := w.db.Get(context.Background(), store.IDKey("task#1"))
	if err == nil {
		err = it.Decode(&t)
	}
	if err != nil {
		w.Fatal(err)
	}
	if due := it.Due != (store.Key{}); due == (it.Filters["state"] == "ended") {
		w.Errorf("due is %v, the state %s", it.Due, it.Filters["state"])
	}
	return t, it.Filters["state"]
}

// do takes the step of the given number, by the copy of its message that the queue has under the given number.
func (w *world) do(step, queued int) *task.Next {
	w.Helper()
	next, err := w.kernel.Do(w.Context(), task.Message{ID: "task#1", Step: step}, fmt.Sprint(step, "-", queued))
	if err != nil {
		w.Fatal(err)
	}
	return next
}

// up counts the payload up, and is done at most.
func up(most int) func(context.Context, *task.Step) (task.Outcome, error) {
	return func(_ context.Context, s *task.Step) (o task.Outcome, err error) {
		var n int
		if err := s.Decode(&n); err != nil {
			return o, err
		}
		return task.Outcome{Payload: n + 1, Done: n+1 == most, Wait: time.Minute, Queue: topology.GenerateVideo}, nil
	}
}

func TestEachStepIsTakenOnce(t *testing.T) {
	w := newWorld(t, &handler{step: up(3)})
	next := w.do(1, 1)
	if next == nil || next.Step != 2 || next.Delay != time.Minute || next.Queue != topology.GenerateVideo ||
		next.Subject != "thing" || next.Owner != owner {
		t.Fatalf("%+v", next)
	}
	if again := w.do(1, 2); again != nil {
		t.Errorf("a copy leads to %+v", again)
	}
	// The function that took the step may have died before it sent the next message.
	if again := w.do(1, 1); again == nil || *again != *next {
		t.Errorf("the message that comes again leads to %+v", again)
	}
	if early := w.do(2, 1); early == nil || early.Step != 2 || early.Delay != time.Minute {
		t.Errorf("a message that is early leads to %+v", early)
	}
	w.clock.Add(time.Minute)
	if end := w.do(2, 1); end != nil {
		t.Errorf("the end leads to %+v", end)
	}
	got, state := w.task()
	if string(got.Payload) != "3" || got.Step != 3 || state != "ended" {
		t.Errorf("%+v is %s", got, state)
	}
	for step := range 4 {
		if next := w.do(step, 2); next != nil {
			t.Errorf("after the end, %d leads to %+v", step, next)
		}
	}
}

// The queue delivers each message three times, and the function that takes a step dies before it sends the next one.
// The messages of the next step are those of the two other deliveries, however many steps there are: copies of a
// message lead to nothing.
func TestRepeatsDoNotMultiply(t *testing.T) {
	const steps, deliveries = 40, 3
	w := newWorld(t, &handler{step: up(steps)})
	messages, handled := []int{1}, 0 // by their steps
	for n := 0; n < len(messages) && handled < 1000; n++ {
		for range deliveries {
			before, _ := w.task()
			next := w.do(messages[n], n)
			if after, _ := w.task(); after.Step > before.Step {
				w.clock.Add(time.Minute)
			} else if next != nil {
				messages = append(messages, next.Step)
			}
			handled++
		}
	}
	if got, state := w.task(); state != "ended" || got.Step != steps || handled > deliveries*(deliveries-1)*steps {
		t.Errorf("at step %d the task is %s after %d deliveries", got.Step, state, handled)
	}
}

// A plan counts its items that ended: in the transaction that ends each.
func TestAnOutcomeJoinsOtherItems(t *testing.T) {
	joins := 0
	var w *world
	w = newWorld(t, &handler{step: func(context.Context, *task.Step) (task.Outcome, error) {
		return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
			plan, err := w.db.Get(ctx, store.IDKey("plan"))
			if err != nil {
				return err
			}
			if joins++; joins == 1 { // another item of the plan ends meanwhile
				w.commit(func(tx *store.Tx) { tx.Replace(plan) })
			}
			plan.Doc = json.RawMessage(`{"ended":1}`)
			tx.Replace(plan)
			tx.Count(store.IDKey("counter"), 1, math.MaxInt64, errNo)
			return nil
		}}, nil
	}})
	plan, err := store.NewItem("plan", owner, "plan", map[string]int{"ended": 0})
	if err != nil {
		t.Fatal(err)
	}
	w.commit(func(tx *store.Tx) { tx.Create(plan, nil) })
	w.do(1, 1)
	w.do(1, 2)
	plan, err = w.db.Get(t.Context(), store.IDKey("plan"))
	counter, failed := w.db.Get(t.Context(), store.IDKey("counter"))
	if err != nil || failed != nil || joins != 2 || string(plan.Doc) != `{"ended":1}` || counter.Count() != 1 {
		t.Errorf("%d joins, %s, %d, %v, %v", joins, plan.Doc, counter.Count(), err, failed)
	}
}

func TestALease(t *testing.T) {
	var took []bool // whether each attempt found that another was interrupted
	var undone []int
	var w *world
	during := func() {}
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		took = append(took, s.Interrupted)
		if err := s.Lease(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		during()
		return task.Outcome{Done: true,
			Undo: func(_ context.Context, now *task.Task) { undone = append(undone, now.Step) }}, nil
	}})
	// While one holds it, another delivery waits for its end.
	during = func() {
		if next := w.do(1, 2); next == nil || next.Step != 1 || next.Delay != 15*time.Second {
			t.Errorf("beside the holder: %+v", next)
		}
		// The heartbeat renews it, so that it does not end while its holder lives.
		w.clock.Add(10 * time.Second)
		w.kernel.Renew(t.Context())
		w.clock.Add(10 * time.Second)
		if next := w.do(1, 2); next == nil || next.Delay != 5*time.Second {
			t.Errorf("after a renewal: %+v", next)
		}
		panic(errNo) // the function dies
	}
	func() {
		defer func() { _ = recover() }()
		w.do(1, 1)
	}()
	if got, _ := w.task(); got.Lease == nil || got.Step != 1 {
		t.Fatalf("%+v", got)
	}
	// It has ended: the step is taken again, and by a third while the second stalls.
	w.clock.Add(6 * time.Second)
	during = func() {
		during = func() {}
		w.clock.Add(16 * time.Second)
		w.do(1, 3)
	}
	w.do(1, 2)
	if _, state := w.task(); state != "ended" || fmt.Sprint(took) != "[false true true]" ||
		fmt.Sprint(undone) != "[2]" {
		t.Errorf("%s, interrupted %v, undone %v", state, took, undone)
	}
}

// A renewal whose answer was lost changes the task, but not who holds it. The result of an effect under a lease is
// written although the table cannot be reached for a while, when the subject is read as when the outcome is
// committed.
func TestAnEffectIsNotForgotten(t *testing.T) {
	for _, operation := range []string{"GetItem", "TransactWriteItems"} {
		t.Run(operation, func(t *testing.T) {
			effects := 0
			h := &handler{}
			w := newWorld(t, h)
			h.step = func(ctx context.Context, s *task.Step) (task.Outcome, error) {
				if err := s.Lease(ctx, nil); err != nil {
					return task.Outcome{}, err
				}
				effects++
				w.faults.Reject(operation, "ThrottlingException", storetest.Attempts)
				return task.Outcome{Done: true, Join: func(ctx context.Context, tx *store.Tx) error {
					_, err := w.db.Get(ctx, store.IDKey("subject"))
					if !errors.Is(err, store.ErrNotFound) {
						return err
					}
					tx.Create(store.Item{Key: store.IDKey("subject"), Kind: "thing"}, nil)
					return nil
				}}, nil
			}
			w.do(1, 1)
			if _, state := w.task(); state != "ended" || effects != 1 {
				t.Errorf("the task is %s after %d effects", state, effects)
			}
		})
	}
}

func TestALeaseWhoseRenewalIsNotKnown(t *testing.T) {
	var w *world
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if err := s.Lease(ctx, 7); err != nil {
			return task.Outcome{}, err
		}
		it, err := w.db.Get(ctx, store.IDKey("task#1"))
		if err != nil {
			return task.Outcome{}, err
		}
		w.commit(func(tx *store.Tx) { tx.Replace(it) })
		return task.Outcome{Done: true}, nil
	}})
	w.do(1, 1)
	if got, state := w.task(); state != "ended" || got.Lease != nil || string(got.Payload) != "7" {
		t.Errorf("%s: %+v", state, got)
	}
}

func TestStepsThatFail(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		tries int
		wait  time.Duration // the longest
	}{
		"an error":         {errNo, 8, time.Minute},
		"a permanent one":  {task.Permanent(errNo), 1, 0},
		"one with a limit": {&task.RetryError{Err: errNo, MaxFailures: 3, After: 10 * time.Minute}, 3, 10 * time.Minute},
	} {
		var causes []error
		w := newWorld(t, &handler{
			step: func(context.Context, *task.Step) (task.Outcome, error) {
				return task.Outcome{Payload: "kept", Done: true}, c.err
			},
			fail: func(_ context.Context, _ *task.Step, cause error) (task.Outcome, error) {
				causes = append(causes, cause)
				return task.Outcome{}, nil
			},
		})
		step, longest := 1, time.Duration(0)
		for next := w.do(1, 1); next != nil; next = w.do(step, 1) {
			if step++; next.Step != step {
				t.Fatalf("%s: %+v after step %d", name, next, step)
			}
			if got, _ := w.task(); got.Failures != step-1 || string(got.Payload) != `"kept"` {
				t.Errorf("%s: %+v", name, got)
			}
			longest = max(longest, next.Delay)
			w.clock.Add(next.Delay)
		}
		if _, state := w.task(); state != "ended" || step != c.tries || longest != c.wait || len(causes) != 1 ||
			!errors.Is(causes[0], errNo) {
			t.Errorf("%s: %s after %d tries and waits of %v: %v", name, state, step, longest, causes)
		}
	}
}

func TestTheDeadline(t *testing.T) {
	w := newWorld(t, &handler{fail: func(_ context.Context, _ *task.Step, cause error) (task.Outcome, error) {
		return task.Outcome{Payload: cause.Error()}, nil
	}})
	w.clock.Add(time.Hour)
	w.do(1, 1)
	if got, state := w.task(); state != "ended" || !strings.Contains(string(got.Payload), "deadline") {
		t.Errorf("%s: %+v", state, got)
	}
}

func TestCancelATask(t *testing.T) {
	cleaned := 0
	w := newWorld(t, &handler{cancel: func(context.Context, *task.Step) error { cleaned++; return errNo }})
	read := func() store.Item {
		it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	before := read()
	w.commit(func(tx *store.Tx) {
		if err := task.Cancel(tx, before); err != nil {
			t.Error(err)
		}
	})
	tx := &store.Tx{}
	tx.Count(store.IDKey("canceled"), 1, 1, nil) // with the canceler's change
	if err := task.Cancel(tx, before); err != nil {
		t.Error(err)
	}
	if err := w.db.Commit(t.Context(), tx); !errors.Is(err, store.ErrConflict) {
		t.Errorf("canceled as it no longer is: %v", err)
	}
	w.do(1, 1)
	w.do(1, 2)
	if _, state := w.task(); state != "ended" || cleaned != 1 {
		t.Errorf("%s, cleaned up %d times", state, cleaned)
	}
	if err := task.Cancel(&store.Tx{}, read()); !errors.Is(err, store.ErrConflict) {
		t.Errorf("canceled after its end: %v", err)
	}
}

func TestATaskWithoutASubjectEnds(t *testing.T) {
	w := newWorld(t, &handler{step: func(context.Context, *task.Step) (task.Outcome, error) {
		return task.Outcome{},
			task.ErrOrphaned
	}})
	if next := w.do(1, 1); next != nil {
		t.Errorf("%+v", next)
	}
	if _, state := w.task(); state != "ended" {
		t.Error(state)
	}
}

func TestAnUnknownKindIsAnError(t *testing.T) {
	w := newWorld(t, &handler{})
	delete(w.kernel.Handlers, count)
	if _, err := w.kernel.Do(t.Context(), task.Message{ID: "task#1", Step: 1}, ""); err == nil ||
		!strings.Contains(err.Error(), `"count"`) {
		t.Error(err)
	}
	if next, err := w.kernel.Do(t.Context(), task.Message{ID: "task#none", Step: 1}, ""); next != nil || err != nil {
		t.Errorf("a task that is no more: %+v, %v", next, err)
	}
}

func TestWhatIsOverdueIsSentAgain(t *testing.T) {
	w := newWorld(t, &handler{})
	text := &sent{}
	r := task.NewReconciler(w.db, w.clock.Now,
		task.OverdueTasks(task.NewSender(map[topology.Queue]*sent{topology.GenerateText: text}), w.clock.Now)...)
	run := func(atOnce bool, want task.ReconcileResult) {
		t.Helper()
		if found, err := r.Run(t.Context(), atOnce); err != nil || found != want {
			t.Errorf("%+v, %v, want %+v", found, err, want)
		}
	}
	run(false, task.ReconcileResult{})
	run(true, task.ReconcileResult{Overdue: 1, Resent: 1})
	w.clock.Add(2*time.Minute + time.Second)
	run(false, task.ReconcileResult{Overdue: 1, Resent: 1, Oldest: 2*time.Minute + time.Second})
	w.clock.Add(time.Minute)
	run(false, task.ReconcileResult{Overdue: 1, Oldest: 3*time.Minute + time.Second}) // reminded once
	w.clock.Add(time.Minute)
	run(false, task.ReconcileResult{Overdue: 1, Resent: 1, Oldest: 4*time.Minute + time.Second}) // twice as late
	var m task.Message
	if err := json.Unmarshal([]byte(text.messages[2].Body), &m); err != nil || m.ID != "task#1" || m.Step != 1 ||
		m.Owner != owner || text.messages[2].Group != "acc_1#live" {
		t.Errorf("%+v, %v", text.messages, err)
	}
	// An unreadable task hides no other.
	w.commit(func(tx *store.Tx) {
		tx.Create(store.Item{Key: store.IDKey("bad"), Kind: task.ItemKind, Owner: owner,
			Due: store.Key{PK: task.Tasks.Key("task#1", w.clock.Now()).PK, SK: "never"},
			Doc: json.RawMessage(`{}`)}, nil)
		tx.Create(store.Item{Key: store.IDKey("worse"), Kind: task.ItemKind, Owner: owner,
			Due: task.Tasks.Key("task#1", w.clock.Now().Add(-time.Hour)), Doc: json.RawMessage(`"`)}, nil)
	})
	w.clock.Add(4 * time.Minute)
	if found, err := r.Run(t.Context(), false); err != nil || found.Resent != 1 || found.Aside != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestACheckpointMovesOnOnly(t *testing.T) {
	db := newWorld(t, &handler{}).db
	read := func() *task.Checkpoint {
		c, err := task.ReadCheckpoint(t.Context(), db, "search")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, other := read(), read()
	for i, step := range []struct {
		of   *task.Checkpoint
		to   string
		want error
		is   string
	}{{first, "b", nil, "b"}, {first, "a", nil, "b"}, {other, "c", store.ErrConflict, "b"}, {first, "d", nil, "d"}} {
		if err := step.of.Advance(t.Context(), step.to); !errors.Is(err, step.want) || read().DoneUntil != step.is {
			t.Errorf("%d: %v, at %q", i, err, read().DoneUntil)
		}
	}
}

// stepper is a handler without Fail and Cancel.
type stepper func(ctx context.Context, s *task.Step) (task.Outcome, error)

func (f stepper) Step(ctx context.Context, s *task.Step) (task.Outcome, error) { return f(ctx, s) }

func TestAHandlerMayHaveNothingToDoAtTheEnd(t *testing.T) {
	for name, end := range map[string]func(*world){
		"after its deadline": func(w *world) { w.clock.Add(2 * time.Hour) },
		"after a cancel": func(w *world) {
			it, err := w.db.Get(t.Context(), store.IDKey("task#1"))
			if err != nil {
				t.Fatal(err)
			}
			w.commit(func(tx *store.Tx) {
				if err := task.Cancel(tx, it); err != nil {
					t.Fatal(err)
				}
			})
		},
	} {
		w := newWorld(t, nil)
		w.kernel.Handlers[count] = stepper(func(context.Context, *task.Step) (task.Outcome, error) {
			t.Errorf("%s, a step is taken", name)
			return task.Outcome{}, nil
		})
		end(w)
		if next := w.do(1, 1); next != nil {
			t.Errorf("%s: %+v", name, next)
		}
		if _, state := w.task(); state != "ended" {
			t.Errorf("%s it is %s", name, state)
		}
	}
}
