package task_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

var (
	errDead = errors.New("the function has died")
	counter = store.Key{PK: "counter", SK: "counter"}
	ending  = store.Key{PK: "ending", SK: "ending"}
)

// life is a task as a function against a platform that counts the posts itself. Its functions die, and its answers are
// lost, where the test wants it.
type life struct {
	*testing.T
	clock  *apitest.Clock
	db     *store.DB
	faults *storetest.Faults
	names  int
	// posts are those that the platform has, and refusals the number of calls that it still refuses.
	posts    []string
	refusals int
	// calls counts the round trips and the moments of the call of the platform. At the call at, trouble happens.
	calls, at int
	trouble   trouble
	die       context.CancelFunc
	taking    bool // whether a function takes a step
	dead      bool
	f         task.Func
}

type trouble int

const (
	none    trouble = iota
	dies            // before the call
	diesNow         // after the call, before its answer
	loses           // only the answer
)

func newLife(t *testing.T, at int, what trouble) *life {
	l := &life{T: t, clock: apitest.NewClock(), faults: &storetest.Faults{}, at: at, trouble: what}
	l.db = storetest.Open(t, l.clock.Now, l.faults.Attach)
	l.f = l.post
	tx := &store.Tx{}
	err := task.Create(tx, l.clock.Now(), task.Task{Message: task.Message{ID: "task#1", Kind: count,
		Queue: topology.GenerateText, Subject: "thing", Owner: owner}, Deadline: l.clock.Now().Add(time.Hour)},
		map[string]string{"text": "hello"})
	if err == nil {
		err = l.db.Commit(t.Context(), tx)
	}
	if err != nil {
		t.Fatal(err)
	}
	l.faults.Begun = func(storetest.Call) { l.moment() }
	l.faults.After = func(storetest.Call) error {
		switch {
		case !l.taking:
			return nil
		case l.dead:
			return errDead
		case l.calls == l.at && l.trouble == diesNow:
			l.kill()
			return errDead
		case l.calls == l.at && l.trouble == loses:
			l.calls++ // only this one
			return errors.New("connection reset")
		}
		return nil
	}
	return l
}

// moment is before a call of the table or of the platform.
func (l *life) moment() {
	if !l.taking {
		return
	}
	if l.calls++; l.calls == l.at && l.trouble == dies {
		l.kill()
	}
}

func (l *life) kill() {
	l.dead = true
	l.die()
}

// write is the call of the platform.
func (l *life) write(ctx context.Context, text string) (string, error) {
	if l.moment(); ctx.Err() != nil {
		return "", ctx.Err()
	}
	if l.refusals > 0 {
		l.refusals--
		return "", refused{errNo}
	}
	l.posts = append(l.posts, text)
	switch {
	case l.calls == l.at && l.trouble == diesNow:
		l.kill()
		return "", ctx.Err()
	case l.calls == l.at && l.trouble == loses:
		return "", errors.New("connection reset")
	}
	return fmt.Sprint("post-", len(l.posts)), nil
}

// refused is the error of a call without an effect.
type refused struct{ error }

func (refused) NoEffect() bool { return true }

// post takes one unit of a budget, writes a post, and ends with the id of the post.
func (l *life) post(ctx context.Context, r *task.Run) error {
	var p struct{ Text string }
	if err := r.Decode(&p); err != nil {
		return err
	}
	_, err := task.Commit(ctx, r, "budget", func(_ context.Context, tx *store.Tx) (bool, error) {
		tx.Count(counter, 1, 1000, errNo)
		return true, nil
	})
	var id string
	if err == nil {
		id, err = task.Once(ctx, r, "write", func(ctx context.Context) (string, error) { return l.write(ctx, p.Text) })
	}
	if errors.Is(err, task.ErrLost) {
		id, err = task.Look(ctx, r, "write", 3, func(context.Context) (string, bool, error) {
			return fmt.Sprint("post-", len(l.posts)), len(l.posts) > 0, nil
		})
	}
	if task.Waits(err) {
		return err
	}
	slept := false
	if err == nil {
		if err := r.Recall("slept", &slept); err != nil {
			return err
		}
	}
	if err == nil && !slept {
		if err := r.Keep("slept", true); err != nil {
			return err
		}
		return r.Sleep(time.Minute)
	}
	return r.End(func(_ context.Context, tx *store.Tx) error {
		if id == "" {
			id = err.Error()
		}
		doc, err := json.Marshal(id)
		tx.Create(store.Item{Key: ending, Kind: "ending", Owner: owner, Doc: doc}, nil)
		return err
	})
}

// live delivers messages, each twice, until the task has ended, and returns what it has ended with.
func (l *life) live() (end string) {
	l.Helper()
	for range 60 {
		for range 2 {
			l.deliver()
		}
		l.clock.Add(20 * time.Second) // longer than a lease
		it, err := l.db.Get(l.Context(), store.IDKey("task#1"))
		if err != nil {
			l.Fatal(err)
		}
		if it.Filters["state"] != "ended" {
			continue
		}
		end, err := l.db.Get(l.Context(), ending)
		if err != nil {
			l.Fatal(err)
		}
		var id string
		if err := json.Unmarshal(end.Doc, &id); err != nil {
			l.Fatal(err)
		}
		return id
	}
	l.Fatal("the task does not end")
	return ""
}

// deliver delivers the message of the present step to a function of its own.
func (l *life) deliver() {
	it, err := l.db.Get(l.Context(), store.IDKey("task#1"))
	var t task.Task
	if err == nil {
		err = it.Decode(&t)
	}
	if err != nil {
		l.Fatal(err)
	}
	ctx, die := context.WithCancel(l.Context())
	defer die()
	l.die, l.taking = die, true
	_, _ = task.NewKernel(task.Config{DB: l.db, Handlers: map[task.Kind]task.Handler{count: l.f}, Now: l.clock.Now,
		Chance: func() float64 { return 0 }, Name: func() string { l.names++; return fmt.Sprint("name-", l.names) },
	}).Do(ctx, t.Message, "")
	l.taking, l.dead = false, false
}

// check compares the end of the task with what the platform and the budget have.
func (l *life) check(end string) {
	l.Helper()
	switch {
	case len(l.posts) > 1:
		l.Errorf("%d posts", len(l.posts))
	case len(l.posts) == 1 && end != "post-1":
		l.Errorf("the post exists, and the end says %q", end)
	case len(l.posts) == 0 && !strings.Contains(end, "lost"):
		l.Errorf("there is no post, and the end says %q", end)
	}
	it, err := l.db.Get(l.Context(), counter)
	if err != nil || it.Count() != 1 {
		l.Errorf("the budget was used %d times: %v", it.Count(), err)
	}
}

func TestAFunctionSurvivesADeathAtEachCall(t *testing.T) {
	whole := newLife(t, 0, none)
	if whole.check(whole.live()); len(whole.posts) != 1 {
		t.Fatal(whole.posts)
	}
	for at := 1; at <= whole.calls; at++ {
		for _, what := range []trouble{dies, diesNow, loses} {
			t.Run(fmt.Sprint(at, "/", what), func(t *testing.T) {
				l := newLife(t, at, what)
				l.check(l.live())
			})
		}
	}
}

func TestACallWithoutEffectIsMadeAgain(t *testing.T) {
	l := newLife(t, 0, none)
	l.refusals = 3
	if end := l.live(); end != "post-1" {
		t.Error(end)
	}
	l.check("post-1")
}

func TestAFailureIsEndedByTheSameFunction(t *testing.T) {
	for _, posted := range []bool{false, true} {
		t.Run(fmt.Sprint(posted), func(t *testing.T) {
			l := newLife(t, 0, none)
			l.refusals = 1 << 30
			if posted {
				l.refusals = 0
				l.deliver() // and then the deadline passes while it sleeps
			}
			l.clock.Add(2 * time.Hour)
			end := l.live()
			if posted && end != "post-1" || !posted && !strings.Contains(end, task.ErrDeadline.Error()) {
				t.Error(end)
			}
		})
	}
}

func TestTheMemoryIsBounded(t *testing.T) {
	l := newLife(t, 0, none)
	l.f = func(ctx context.Context, r *task.Run) error {
		_, err := task.Once(ctx, r, "large", func(context.Context) (string, error) {
			return strings.Repeat("a", 70<<10), nil
		})
		if task.Waits(err) || r.Cause() == nil {
			return err
		}
		return r.End(func(_ context.Context, tx *store.Tx) error {
			doc, err := json.Marshal(r.Cause().Error())
			tx.Create(store.Item{Key: ending, Kind: "ending", Owner: owner, Doc: doc}, nil)
			return err
		})
	}
	if end := l.live(); !strings.Contains(end, "task#1") || !strings.Contains(end, "bytes") {
		t.Error(end)
	}
}

func TestALookEndsWithoutAResult(t *testing.T) {
	l, looks := newLife(t, 0, none), 0
	l.f = func(ctx context.Context, r *task.Run) error {
		_, err := task.Once(ctx, r, "call", func(context.Context) (int, error) { return 0, errNo })
		if errors.Is(err, task.ErrLost) {
			_, err = task.Look(ctx, r, "call", 3, func(context.Context) (int, bool, error) {
				looks++
				return 0, false, nil
			})
		}
		if task.Waits(err) {
			return err
		}
		return r.End(func(_ context.Context, tx *store.Tx) error {
			doc, failed := json.Marshal(fmt.Sprint(err))
			tx.Create(store.Item{Key: ending, Kind: "ending", Owner: owner, Doc: doc}, nil)
			return failed
		})
	}
	if end := l.live(); looks != 3 || !strings.Contains(end, "lost") {
		t.Errorf("%d looks, %s", looks, end)
	}
}

func TestAChangeKeepsWhatItFinds(t *testing.T) {
	l := newLife(t, 0, none)
	l.f = func(_ context.Context, r *task.Run) error {
		found := ""
		if err := r.Recall("found", &found); err != nil {
			return err
		}
		if found == "" {
			r.Also(func(context.Context, *store.Tx) error { return r.Keep("found", "post-1") })
			return r.Sleep(0)
		}
		return r.End(func(_ context.Context, tx *store.Tx) error {
			doc, err := json.Marshal(found)
			tx.Create(store.Item{Key: ending, Kind: "ending", Owner: owner, Doc: doc}, nil)
			return err
		})
	}
	if end := l.live(); end != "post-1" {
		t.Error(end)
	}
}

// What is kept replaces a default, with its zero members that the document leaves out.
func TestWhatIsKeptReplacesADefault(t *testing.T) {
	type progress struct {
		Left int `json:"left,omitempty"`
		Done int `json:"done"`
	}
	l := newLife(t, 0, none)
	l.f = func(_ context.Context, r *task.Run) error {
		p := progress{Left: 3}
		if err := r.Recall("progress", &p); err != nil {
			return err
		}
		if p.Done < 3 {
			return errors.Join(r.Keep("progress", progress{p.Left - 1, p.Done + 1}), r.Sleep(0))
		}
		return r.End(func(_ context.Context, tx *store.Tx) error {
			doc, err := json.Marshal(fmt.Sprint(p))
			tx.Create(store.Item{Key: ending, Kind: "ending", Owner: owner, Doc: doc}, nil)
			return err
		})
	}
	if end := l.live(); end != "{0 3}" {
		t.Error(end)
	}
}
