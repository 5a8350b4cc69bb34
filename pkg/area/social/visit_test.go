package social_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// calling is a task that makes one call of a platform until it ends.
const calling task.Kind = "test.calling"

// visited is what has become of a task that calls a platform, after six steps at most.
type visited struct {
	calls int
	ended bool
	wait  time.Duration // before the second step
	err   error         // with which it has ended
}

// visit takes the steps of a task whose calls return an error.
func (w *accountWorld) visit(id string, p social.Purpose, tries int, err error) (v visited) {
	w.T.Helper()
	all := social.Visits{DB: w.DB, Platforms: w.Platforms, Vault: w.Vault, Now: w.Now}
	k := servicetest.Kernel(w.DB, w.Now, map[task.Kind]task.Handler{calling: task.Func(
		func(ctx context.Context, r *task.Run) error {
			a, failed := all.Visit(ctx, r, id, p)
			if failed != nil {
				return failed
			}
			a.Tries = tries
			v.err = a.Call(ctx, func(context.Context, platform.Account) error { v.calls++; return err })
			if task.Waits(v.err) {
				return v.err
			}
			return r.End(func(context.Context, *store.Tx) error { return nil })
		})})
	m := task.Message{ID: task.ID(calling, id, 1), Kind: calling, Queue: topology.Publish, Subject: id, Owner: owner}
	w.commit(func(tx *store.Tx) error { return task.Create(tx, w.Now(), task.Task{Message: m}, struct{}{}) })
	for n := range 6 {
		it, err := w.DB.Get(w.T.Context(), store.IDKey(m.ID))
		var is task.Task
		if err == nil {
			err = it.Decode(&is)
		}
		if err != nil {
			w.T.Fatal(err)
		}
		if v.ended = task.Over(it); v.ended {
			return v
		}
		if n == 1 {
			v.wait = is.DueAt.Sub(w.Now())
		}
		w.Clock.Add(is.DueAt.Sub(w.Now()))
		if _, err := k.Do(w.T.Context(), is.Message, ""); err != nil {
			w.T.Fatal(err)
		}
	}
	return v
}

func TestTheErrorOfACallSaysWhatATaskDoesNext(t *testing.T) {
	denied := platform.NeedsReconnect(platform.CodeMissingPermission, "Allow it.")
	for name, c := range map[string]struct {
		err     error
		purpose social.Purpose
		tries   int
		calls   int // of 6 steps
		ends    bool
		wait    time.Duration
		state   social.State
		refused bool // the account is told that its token has ended, or that it lacks a right
	}{
		"expired": {platform.TokenExpired(), social.ForComments, 0, 1, false, social.RefreshTime, social.Connected,
			true},
		"reconnect":        {platform.Disconnected(), social.ForComments, 0, 1, true, 0, social.NeedsReconnect, false},
		"no right":         {denied, social.ForComments, 0, 1, true, 0, social.Connected, true},
		"no right to post": {denied, social.ForPublishing, 0, 1, true, 0, social.NeedsReconnect, false},
		"refused": {platform.Reject(platform.CodeContentRefused, "No."), social.ForComments, 0, 1, true, 0,
			social.Connected, false},
		"busy for an hour": {platform.Limited(time.Hour), social.ForComments, 0, 6, false, time.Hour, social.Connected,
			false},
		"lost":               {platform.Lost(nil), social.ForComments, 0, 6, false, 0, social.Connected, false},
		"unclear":            {platform.Odd(), social.ForComments, 0, 3, true, 0, social.Connected, false},
		"no answer":          {errors.New("reset"), social.ForComments, 0, 6, false, 0, social.Connected, false},
		"unclear reading":    {platform.Odd(), social.ForReading, 5, 5, true, 0, social.Connected, false},
		"no answer, reading": {errors.New("reset"), social.ForReading, 2, 2, true, 0, social.Connected, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := accountNewWorld(t)
			id := w.connect()
			v := w.visit(id, c.purpose, c.tries, c.err)
			_, r := w.read(id)
			if v.calls != c.calls || v.ended != c.ends || v.wait < c.wait || r.State != c.state ||
				(r.RefusedToken > 0 || r.CommentsRefused) != c.refused {
				t.Errorf("%+v; the account is %+v", v, r)
			}
			if v.ended && !errors.Is(v.err, c.err) {
				t.Errorf("it has ended with %v", v.err)
			}
		})
	}
}

// A reading or a call about comments that the platform refuses with a fresh token, too, ends neither the account nor
// its posts. A post that it refuses so ends the account.
func TestARefusalOfAFreshToken(t *testing.T) {
	for purpose, want := range map[social.Purpose]social.State{social.ForReading: social.Connected,
		social.ForComments: social.Connected, social.ForPublishing: social.NeedsReconnect} {
		w := accountNewWorld(t)
		id := w.connect()
		w.Clock.Add(time.Hour)
		it, r := w.read(id)
		w.commit(func(tx *store.Tx) error { return social.Expired(tx, w.Now(), it, r.Tokens, platform.TokenExpired()) })
		w.Clock.Add(time.Minute)
		w.work(1)
		v := w.visit(id, purpose, 5, platform.TokenExpired().Saying("Not with this scope."))
		_, r = w.read(id)
		barred := r.FiguresRefused && purpose == social.ForReading || r.CommentsRefused && purpose == social.ForComments
		if r.Tokens != 2 || r.State != want || barred != (want == social.Connected) || v.calls != 1 {
			t.Errorf("purpose %d: %+v, the account is %+v", purpose, v, r)
		}
		if barred && platform.WordsOf(v.err) != "Not with this scope." {
			t.Errorf("purpose %d has ended with %v", purpose, v.err)
		}
	}
}

func TestAnAccountThatIsNotConnectedIsNotCalled(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	it, r := w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Now(), it) })
	if v := w.visit(id, social.ForComments, 0, nil); v.calls != 0 || !v.ended ||
		platform.CodeOf(v.err) != platform.CodeNeedsReconnect {
		t.Errorf("%+v", v)
	}
}
