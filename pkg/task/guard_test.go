package task_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// guards are the ways in which a step guards the reading of bytes of others.
var guards = map[string]func(context.Context, *task.Step, func()) error{
	"guard": func(ctx context.Context, s *task.Step, read func()) error {
		err := s.Guard(ctx, nil)
		if err == nil {
			read()
		}
		return err
	},
	"shared": func(ctx context.Context, s *task.Step, read func()) error {
		err := s.GuardShared(ctx)
		if err == nil {
			read()
		}
		return err
	},
	"reading": func(ctx context.Context, s *task.Step, read func()) error {
		return s.Reading(ctx, func() error {
			read()
			return nil
		})
	},
}

// attempt takes the first step until it is taken or its function dies, and lets the lease end.
func (w *world) attempt(ctx context.Context, step int) (died bool) {
	defer func() { died = recover() != nil || ctx.Err() != nil; w.clock.Add(time.Minute) }()
	_, _ = w.kernel.Do(ctx, task.Message{ID: "task#1", Step: step, Wake: true}, "") // what became of it is in the table
	return false
}

func TestTheThirdDeathEndsAStep(t *testing.T) {
	for name, guard := range guards {
		var cause error
		deaths := 0
		w := newWorld(t, &handler{
			step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
				return task.Outcome{Done: true}, guard(ctx, s, func() { panic(errNo) })
			},
			fail: func(_ context.Context, _ *task.Step, why error) (task.Outcome, error) {
				cause = why
				return task.Outcome{}, nil
			},
		})
		for range 6 {
			if w.attempt(t.Context(), 1) {
				deaths++
			}
		}
		if _, state := w.task(); deaths != 3 || state != "ended" || !errors.Is(cause, task.ErrDeaths) {
			t.Errorf("%s: after %d deaths it is %s, %v", name, deaths, state, cause)
		}
	}
}

// A function whose time is used up counts as one that has died.
func TestUsedTimeIsADeath(t *testing.T) {
	var end context.CancelFunc
	w := newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (task.Outcome, error) {
		if err := s.Guard(ctx, nil); err != nil {
			return task.Outcome{}, err
		}
		end()
		return task.Outcome{}, ctx.Err()
	}, fail: func(context.Context, *task.Step, error) (o task.Outcome, err error) { return o, nil }})
	spent := 0
	for range 6 {
		var ctx context.Context
		ctx, end = context.WithCancel(t.Context())
		if w.attempt(ctx, 1) {
			spent++
		}
		end()
	}
	if _, state := w.task(); spent != 3 || state != "ended" {
		t.Errorf("after %d it is %s", spent, state)
	}
}

// Deaths count over attempts that fail, and no longer once the step is taken. Those of a plain lease end nothing.
func TestDeathsAreThoseOfAStep(t *testing.T) {
	for _, plan := range []struct {
		does   string
		lease  bool
		ends   bool
		deaths int
	}{{"dfdfd-", false, true, 3}, {"ddnddndd", false, false, 2}, {"dddddd", true, false, 6}} {
		at, ended := 0, false
		w := newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
			if plan.lease {
				err = s.Lease(ctx, nil)
			} else {
				err = s.Guard(ctx, nil)
			}
			if err != nil {
				return o, err
			}
			switch plan.does[at] {
			case 'd':
				panic(errNo)
			case 'f':
				return o, errNo
			}
			return o, nil
		}, fail: func(context.Context, *task.Step, error) (o task.Outcome, err error) {
			ended = true
			return o, nil
		}})
		for ; at < len(plan.does); at++ {
			now, _ := w.task()
			w.attempt(t.Context(), now.Step)
		}
		if now, _ := w.task(); ended != plan.ends {
			t.Errorf("%s: ended %t, %+v", plan.does, ended, now)
		}
	}
}

// A function that dies after a reading has not died of it, also if the reading has failed.
func TestADeathAfterAReadingIsNotItsOwn(t *testing.T) {
	for _, answer := range []error{nil, errNo} {
		deaths, failed := 0, false
		w := newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
			if err := s.Reading(ctx, func() error { return answer }); !errors.Is(err, answer) {
				return o, err
			}
			panic(errNo)
		}, fail: func(context.Context, *task.Step, error) (o task.Outcome, err error) {
			failed = true
			return o, nil
		}})
		for range 6 {
			if w.attempt(t.Context(), 1) {
				deaths++
			}
		}
		if now, _ := w.task(); deaths != 6 || failed || now.Deaths != 0 {
			t.Errorf("after the answer %v and %d deaths: failed %t, %d counted", answer, deaths, failed, now.Deaths)
		}
	}
}

// Two functions take a step with a shared guard at the same time, and none of them counts the other as dead.
func TestASharedGuardExcludesNobody(t *testing.T) {
	took := 0
	var w *world
	w = newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
		if err := s.GuardShared(ctx); err != nil || s.Deaths > 0 || s.Interrupted {
			t.Errorf("%d deaths, interrupted %t, %v", s.Deaths, s.Interrupted, err)
		}
		if took++; took == 1 {
			w.do(1, 1)
		}
		return task.Outcome{Done: true}, nil
	}})
	w.do(1, 1)
	if now, state := w.task(); took != 2 || state != "ended" || now.Deaths != 0 {
		t.Errorf("%d took it: %+v, %s", took, now, state)
	}
}

// A step of which a function has died reads alone, so that others do not die with it again.
func TestASuspectReadsAlone(t *testing.T) {
	inside, free := make(chan struct{}), make(chan struct{})
	dead := true
	w := newWorld(t, &handler{step: func(ctx context.Context, s *task.Step) (o task.Outcome, err error) {
		if err := s.Guard(ctx, nil); err != nil {
			return o, err
		}
		if s.Subject == "thing" && dead {
			dead = false
			panic(errNo)
		}
		if s.Subject == "other" {
			close(inside)
			<-free
		}
		return task.Outcome{Done: true}, nil
	}})
	w.attempt(t.Context(), 1)
	other := task.Task{Message: task.Message{ID: "task#2", Kind: count, Subject: "other", Owner: owner}}
	w.commit(func(tx *store.Tx) {
		if err := task.Create(tx, w.clock.Now(), other, nil); err != nil {
			t.Fatal(err)
		}
	})
	ended := make(chan error)
	go func() {
		_, err := w.kernel.Do(t.Context(), task.Message{ID: "task#2", Step: 1}, "")
		ended <- err
	}()
	<-inside
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	// Its time ends while it waits: that is no death.
	if _, err := w.kernel.Do(ctx, task.Message{ID: "task#1", Step: 1}, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("beside another: %v", err)
	}
	close(free)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	w.do(1, 1)
	if now, state := w.task(); state != "ended" || now.Deaths != 0 {
		t.Errorf("%+v, %s", now, state)
	}
}
