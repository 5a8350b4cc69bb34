package generate_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// twoFiles makes two files, and calls a function of the test before it saves them.
type twoFiles struct {
	runs   int
	asked  []generate.Composition
	during func(ctx context.Context, run int, progress func(int)) error
}

func (c *twoFiles) Compose(ctx context.Context, what generate.Composition, _ generate.Origin, progress func(int),
	save generate.Save) error {
	c.runs++
	c.asked = append(c.asked, what)
	if c.during != nil {
		if err := c.during(ctx, c.runs, progress); err != nil {
			return err
		}
	}
	return errors.Join(save(media.File{Role: media.Final}, strings.NewReader("a"), nil),
		save(media.File{Role: media.Poster}, strings.NewReader("b"), []byte("small b")))
}

// errKilled stands for a function that dies: its context ends, and nothing is written.
var errKilled = errors.New("killed")

// composes accepts work with a composition of 2 credits.
func (w *world) composes(c *twoFiles) {
	w.t.Helper()
	w.worker.Composer = c
	o := work("thing_1")
	o.Parts = append(o.Parts, generate.Part{Kind: provider.KindCompose, Provider: generate.Composed, Credits: 2})
	w.acceptWork(o)
}

func TestACompositionIsTheLastPart(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	shown := 0
	c.during = func(_ context.Context, _ int, progress func(int)) error {
		for percent := range 101 {
			progress(percent)
			if v, _ := w.read("thing_1"); v.Percent > shown {
				shown = v.Percent
			}
		}
		return nil
	}
	w.composes(c)
	var queues []topology.Queue
	for range 30 {
		w.relay()
		j, ok := w.pop()
		if !ok {
			break
		}
		queues = append(queues, j.Queue)
		if err := w.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	v := w.ended("thing_1", "generated")
	if n := len(queues); n < 2 || queues[n-2] != topology.Compose {
		t.Errorf("the steps went through the queues %v", queues)
	}
	var roles []media.Role
	var ids []string
	for _, f := range v.Made[2].Files {
		roles, ids = append(roles, f.Role), append(ids, f.ID)
	}
	if !slices.Equal(roles, []media.Role{media.Final, media.Poster}) ||
		!slices.Equal(ids, []string{"thing_1_1_2", "thing_1_1_3"}) {
		t.Errorf("it made %v, %v", roles, ids)
	}
	if files := v.Made[2].Files; files[0].Thumb || !files[1].Thumb || w.objects.saved[files[1].ThumbnailKey()] != 1 {
		t.Errorf("only the poster has a thumbnail, and got %+v; stored is %v", files, w.objects.saved)
	}
	if p, ok := c.asked[0].(generate.Picture); !ok || p.Text != "part 2" || p.File.ID != "thing_1_1_1" {
		t.Errorf("it composed %+v", c.asked)
	}
	if shown < 90 || shown > 99 {
		t.Errorf("while it was composed, the resource showed at most %d percent", shown)
	}
	w.settled(12)
}

func TestAFunctionWithoutAComposerPassesTheStepOn(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	w.composes(c)
	w.worker.Composer = nil
	for range 12 {
		if j, ok := w.pop(); ok {
			if err := w.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
	}
	if last := w.queue[0]; last.Queue != topology.Compose {
		t.Fatalf("the next step is on %s", last.Queue)
	}
	w.worker.Composer = c
	w.drain()
	w.ended("thing_1", "generated")
}

func TestAMessageThatArrivesTwiceComposesOnce(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	c.during = func(context.Context, int, func(int)) error {
		// Another function receives the message meanwhile.
		m := task.Message{ID: task.ID(generate.Generate, "thing_1", 1), Kind: generate.Generate,
			Queue: topology.Compose, Subject: "thing_1", Owner: owner, Step: stepOf(w)}
		next, err := w.kernel.Do(t.Context(), m, "")
		if err != nil || next == nil || next.Delay <= 0 {
			t.Errorf("it got %+v, %v", next, err)
		}
		return nil
	}
	w.composes(c)
	w.drain()
	w.ended("thing_1", "generated")
	if c.runs != 1 {
		t.Errorf("it was composed %d times", c.runs)
	}
	w.settled(12)
}

func stepOf(w *world) int {
	it, err := w.db.Get(context.Background(), generate.TaskKey("thing_1", 1))
	if err != nil {
		w.t.Fatal(err)
	}
	var now task.Task
	if err := it.Decode(&now); err != nil {
		w.t.Fatal(err)
	}
	return now.Step
}

// kill has the functions die that compose one of the first runs.
func kill(w *world, c *twoFiles, deaths int) {
	w.t.Helper()
	var ctx context.Context
	die := func() {}
	c.during = func(_ context.Context, run int, _ func(int)) error {
		if run <= deaths {
			die()
			return errKilled
		}
		return nil
	}
	for range most {
		w.relay()
		j, ok := w.pop()
		if !ok {
			return
		}
		ctx, die = context.WithCancel(w.t.Context())
		err := w.do(ctx, j)
		die()
		if err != nil {
			w.clock.Add(20 * time.Second) // the lease has ended
			w.queue = append(w.queue, message{j.Message, j.queued, w.clock.Now()})
		}
	}
	w.t.Fatal("it does not end")
}

func TestAKilledCompositionBeginsAnew(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	w.composes(c)
	kill(w, c, 2)
	w.ended("thing_1", "generated")
	if c.runs != 3 || len(w.objects.saved) != 4 {
		t.Errorf("it ran %d times, and left %v", c.runs, w.objects.saved)
	}
	w.settled(12)
}

func TestTheThirdFunctionThatDiesIsTheLast(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	w.composes(c)
	kill(w, c, 100)
	v := w.ended("thing_1", "failed")
	if c.runs != 3 || v.Failure.Code != provider.FailedComposition || v.Failure.Stage != generate.StageCompose ||
		!v.Failure.Retryable {
		t.Errorf("after %d runs: %+v", c.runs, v.Failure)
	}
	if len(w.objects.saved) != 0 {
		t.Errorf("it left %v", w.objects.saved)
	}
	w.settled(0)
}

func TestHowCompositionsFail(t *testing.T) {
	short := provider.FailureOf(provider.FailedInputTooShort)
	script := provider.FailureOf(provider.FailedScript)
	for name, c := range map[string]struct {
		err  error
		code provider.FailureCode
		runs int
		// retryable reports whether regenerating may help.
		retryable bool
	}{
		"a clip ends early":       {short, provider.FailedInputTooShort, 1, true},
		"no font":                 {script, provider.FailedScript, 1, false},
		"anything else":           {errors.New("disk full"), provider.FailedComposition, 3, true},
		"the files do not answer": {fmt.Errorf("fetch: %w", io.ErrUnexpectedEOF), provider.FailedComposition, 3, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			made := &twoFiles{during: func(context.Context, int, func(int)) error { return c.err }}
			w.composes(made)
			w.drain()
			v := w.ended("thing_1", "failed")
			if v.Failure.Code != c.code || v.Failure.Stage != generate.StageCompose ||
				v.Failure.Retryable != c.retryable || !strings.Contains(v.Failure.Message, "Nothing was charged.") {
				t.Errorf("%+v", v.Failure)
			}
			if made.runs != c.runs || len(w.objects.saved) != 0 {
				t.Errorf("it ran %d times, and left %v", made.runs, w.objects.saved)
			}
			w.settled(0)
		})
	}
}

// A caller whose input cannot be composed pays for the parts that were made before.
func TestWhatTheCallerGaveIsCharged(t *testing.T) {
	for part, c := range map[string]struct {
		cost, lost int64
		message    string
	}{
		"/music":     {10, 0, "have cost 10 credits."},
		"/narration": {0, 10, "Nothing was charged."},
	} {
		w := newWorld(t)
		silent := provider.FailureOf(provider.FailedInputSilent)
		silent.Part = part
		w.composes(&twoFiles{during: func(context.Context, int, func(int)) error { return silent }})
		w.drain()
		v := w.ended("thing_1", "failed")
		if v.Cost != c.cost || v.Failure.Code != provider.FailedInputSilent || !strings.HasSuffix(v.Failure.Message,
			c.message) || len(w.objects.saved) != 0 {
			t.Errorf("%s: it cost %d, %+v, and left %v", part, v.Cost, v.Failure, w.objects.saved)
		}
		if b := w.balance(); b.LostCredits != c.lost {
			t.Errorf("%s: %d are lost", part, b.LostCredits)
		}
		w.settled(c.cost)
	}
}

func TestCancelingEndsAComposition(t *testing.T) {
	for name, notice := range map[string]func(w *world, progress func(int)){
		"the heartbeat notices": func(w *world, _ func(int)) {
			w.clock.Add(8 * time.Second)
			w.kernel.Renew(context.Background())
		},
		"the progress notices": func(_ *world, progress func(int)) { progress(50) },
	} {
		t.Run(name, func(t *testing.T) {
			w, c := newWorld(t), &twoFiles{}
			c.during = func(ctx context.Context, _ int, progress func(int)) error {
				w.cancel("thing_1")
				if ctx.Err() != nil {
					t.Error("it ended before it could know")
				}
				notice(w, progress)
				return ctx.Err()
			}
			w.composes(c)
			w.drain()
			v := w.ended("thing_1", "canceled")
			if c.runs != 1 || len(w.objects.saved) != 0 {
				t.Errorf("it ran %d times, and left %v", c.runs, w.objects.saved)
			}
			if v.Cost != 10 { // the text and the picture
				t.Errorf("it cost %d", v.Cost)
			}
			w.settled(10)
		})
	}
}

func TestWhatChangesMeanwhileStays(t *testing.T) {
	w, c := newWorld(t), &twoFiles{}
	c.during = func(_ context.Context, _ int, progress func(int)) error {
		_, it := w.read("thing_1")
		tx := &store.Tx{}
		tx.Replace(it)
		w.commit(tx)
		progress(60)
		return nil
	}
	w.composes(c)
	w.drain()
	w.ended("thing_1", "generated")
	w.settled(12)
}
