package generate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

func TestWorkIsCarriedToItsEnd(t *testing.T) {
	w := newWorld(t)
	w.accept("thing_1")
	if v, _ := w.read("thing_1"); v.Ticket.Hold.Credits != 10 || w.balance().Credits != 990 {
		t.Errorf("%+v, %+v", v, w.balance())
	}
	var queues []topology.Queue
	for range 20 {
		w.relay()
		j, ok := w.pop()
		if !ok {
			break
		}
		if len(queues) == 0 || queues[len(queues)-1] != j.Queue {
			queues = append(queues, j.Queue)
		}
		// One message is one step: it reads and writes a few times, and never waits.
		begun := w.clock.Now()
		if err := w.do(t.Context(), j); err != nil || !w.clock.Now().Equal(begun) {
			t.Fatal(err)
		}
	}
	v := w.ended("thing_1", "generated")
	if len(v.Made) != 2 || v.Made[0].Text.Title != "title" || len(v.Made[1].Files) != 1 ||
		v.Made[1].Files[0].ID != "thing_1_1_1" || v.Percent < 50 {
		t.Errorf("%+v", v)
	}
	if want := []topology.Queue{topology.GenerateText, topology.GenerateImage}; !slices.Equal(queues, want) {
		t.Errorf("the steps went through the queues %v", queues)
	}
	if reqs := w.fake.submissions; len(reqs) != 2 || reqs[0].ClientToken == reqs[1].ClientToken ||
		reqs[1].Prompt != "part 1 after 1" || reqs[1].Kind != provider.KindImage {
		t.Errorf("%+v", reqs)
	}
	w.settled(10)
}

// A worker may die after each of its steps: a round trip to the table, a call of the provider, a file that is stored.
// Whenever that is, the message comes again, and each effect happens once.
func TestAWorkerDiesAfterEachStep(t *testing.T) {
	for _, token := range []bool{true, false} {
		for death := int64(1); ; death++ {
			if death > 200 {
				t.Fatalf("%d steps are no end", death)
			}
			w := newWorld(t)
			w.fake.token = token
			w.accept("thing_1")
			died := w.dies(death)
			w.drain()
			w.ended("thing_1", "generated")
			w.settled(10)
			if len(w.objects.saved) != 1 {
				t.Errorf("death after step %d: %d files", death, len(w.objects.saved))
			}
			// Without client tokens a death may cost us one more generation, no more.
			if texts, images := w.fake.count(provider.KindText), w.fake.running(); token && images != 1 ||
				texts > 2 || images > 2 {
				t.Errorf("death after step %d: %d texts, %d pictures", death, texts, images)
			}
			if !died {
				if death < 15 {
					t.Errorf("there are %d steps only", death-1)
				}
				break
			}
		}
	}
}

// dies drains the queue until the worker dies after the given number of steps. The
// message that it died with comes again, and so does the one before it.
func (w *world) dies(steps int64) bool {
	w.t.Helper()
	ctx, die := context.WithCancel(w.t.Context())
	defer die()
	var step atomic.Int64
	after := func(string) error {
		if step.Add(1) != steps {
			return ctx.Err()
		}
		die()
		return errInjected
	}
	for {
		w.relay()
		j, ok := w.pop()
		if !ok {
			return false
		}
		w.fake.after, w.objects.after = after, after
		w.faults.After = func(c storetest.Call) error { return after(c.Operation) }
		next, err := w.kernel.Do(ctx, j.Message, j.queued)
		w.fake.after, w.objects.after, w.faults.After = nil, nil, nil
		if ctx.Err() != nil {
			w.queue = append(w.queue, message{j.Message, j.queued, w.clock.Now()})
			return true
		}
		if err != nil {
			w.t.Fatal(err)
		}
		if next != nil {
			w.send(*next)
		}
	}
}

func TestMessagesComeTwiceAndOutOfOrder(t *testing.T) {
	for seed := range uint64(8) {
		w := newWorld(t)
		random := rand.New(rand.NewPCG(seed, 1))
		w.accept("thing_1")
		handled := 0
		var old []message
		for ; handled < most; handled++ {
			w.relay()
			j, ok := w.pop()
			if !ok {
				break
			}
			// Every message twice, and now and then one from long ago.
			all := []message{j, j}
			if len(old) > 0 && random.IntN(2) == 0 {
				all = append(all, old[random.IntN(len(old))])
			}
			random.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
			for _, j := range all {
				if err := w.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
			}
			old = append(old, j)
		}
		if handled > 40 {
			t.Errorf("repeats multiply: %d messages", handled)
		}
		w.ended("thing_1", "generated")
		if len(w.fake.submissions) != 2 {
			t.Errorf("there were %d submissions", len(w.fake.submissions))
		}
		w.settled(10)
	}
}

func TestMessagesSideBySideSubmitOnce(t *testing.T) {
	w := newWorld(t)
	w.accept("thing_1")
	for range 30 {
		w.relay()
		j, ok := w.pop()
		if !ok {
			break
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		for range 4 {
			all.Go(func() {
				next, err := w.kernel.Do(t.Context(), j.Message, j.queued)
				mu.Lock()
				defer mu.Unlock()
				if err == nil && next != nil {
					w.send(*next)
				}
			})
		}
		all.Wait()
	}
	w.drain()
	w.ended("thing_1", "generated")
	if len(w.fake.submissions) != 2 {
		t.Errorf("there were %d submissions", len(w.fake.submissions))
	}
	w.settled(10)
}

func TestWhatErrorsBecome(t *testing.T) {
	kind := func(k provider.ErrorKind) error {
		return &provider.Error{Kind: k, Code: "some_code", Message: "Told by the provider."}
	}
	for name, c := range map[string]struct {
		fault     func(w *world)
		code      string
		retryable bool
		// submissions of the picture at most
		tries int
	}{
		"bad input":    {func(w *world) { w.fake.submit = kind(provider.BadInput) }, "some_code", false, 0},
		"rejected":     {func(w *world) { w.fake.submit = kind(provider.Rejected) }, "some_code", true, 0},
		"always busy":  {func(w *world) { w.fake.submit = kind(provider.Transient) }, "provider_unavailable", true, 0},
		"out of quota": {func(w *world) { w.fake.submit = kind(provider.Quota) }, "provider_unavailable", true, 0},
		"answers lost": {func(w *world) { w.fake.submit = kind(provider.UnknownOutcome) },
			"provider_unavailable", true, 0},
		"not set up": {func(w *world) { w.fake.none = true }, "provider_unavailable", true, 0},
		"polls fail": {func(w *world) { w.fake.poll = errInjected }, "provider_unavailable", true, 1},
		"failed later": {func(w *world) {
			w.fake.status = &provider.Status{State: provider.Failed, Failure: kind(provider.Rejected).(*provider.Error)}
		}, "some_code", true, 1},
		"ended by itself": {func(w *world) { w.fake.status = &provider.Status{State: provider.Canceled} },
			"generation_failed", true, 1},
		"never ends": {func(w *world) { w.fake.polls = 1 << 20 }, "timeout", true, 1},
		"the result is bad": {func(w *world) { w.objects.err = errs.New(errs.UnsupportedMedia, "No.") },
			"unsupported_media", true, 1},
		"of another type": {func(w *world) { w.objects.typ = media.Video }, "unsupported_media", true, 1},
		"not stored": {func(w *world) {
			w.objects.err = errs.Wrap(errInjected, errs.ProviderUnavailable,
				"Later.")
		}, "provider_unavailable", true, 1},
		"expired": {func(w *world) { w.fake.fetch = kind(provider.Rejected) }, "some_code", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.accept("thing_1")
			c.fault(w)
			begun := w.clock.Now()
			w.drain()
			v := w.ended("thing_1", "failed")
			if string(v.Failure.Code) != c.code || v.Failure.Retryable != c.retryable ||
				!strings.Contains(v.Failure.Message, "Nothing was charged. ") ||
				strings.Contains(v.Failure.Message, "injected") {
				t.Errorf("%+v", v.Failure)
			}
			if n := w.fake.count(provider.KindImage); n > c.tries {
				t.Errorf("the picture was submitted %d times", n)
			}
			if took := w.clock.Now().Sub(begun); took > 30*time.Minute {
				t.Errorf("it took %v", took)
			}
			if c.code == "timeout" && w.fake.running() != 0 {
				t.Error("the provider still works")
			}
			w.settled(0)
		})
	}
}

func TestErrorsThatPassAreBorne(t *testing.T) {
	for name, fault := range map[string]func(w *world, err error){
		"submit": func(w *world, err error) { w.fake.submit = err },
		"poll":   func(w *world, err error) { w.fake.poll = err },
		"fetch":  func(w *world, err error) { w.fake.fetch = err },
		"save":   func(w *world, err error) { w.objects.err = err },
	} {
		for _, k := range []provider.ErrorKind{provider.Transient, provider.Quota, provider.UnknownOutcome} {
			w := newWorld(t)
			w.accept("thing_1")
			cause := &provider.Error{Kind: k, Code: "busy", Message: "Later.", RetryAfter: 7 * time.Second}
			fault(w, cause)
			for range 8 { // until it has failed once at least
				w.relay()
				j, _ := w.pop()
				if err := w.do(t.Context(), j); err != nil {
					t.Fatal(err)
				}
				if wait := w.queue[0].at.Sub(w.clock.Now()); wait >= 7*time.Second {
					break
				}
			}
			if wait := w.queue[0].at.Sub(w.clock.Now()); len(w.queue) != 1 || wait < 7*time.Second {
				t.Errorf("%s: %s: it waits %v", name, k, wait)
			}
			fault(w, nil)
			w.drain()
			w.ended("thing_1", "generated")
			w.settled(10)
		}
	}
}

// Canceling charges the completed parts: the text, and the picture once its provider has made it. Other submitted
// parts are lost.
func TestCancel(t *testing.T) {
	costs := []int64{0, 3, 3, 3, 10, 10}
	lost := []int64{0, 0, 7, 7, 0, 0}
	for steps := range 12 {
		w := newWorld(t)
		w.accept("thing_1")
		for range steps {
			w.relay()
			j, ok := w.pop()
			if !ok {
				break
			}
			if err := w.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
		if v, _ := w.read("thing_1"); v.State == "generated" {
			if steps != len(costs) {
				t.Errorf("it took %d steps", steps)
			}
			return
		}
		w.cancel("thing_1")
		if b := w.balance(); b.Credits != 1000-costs[steps] {
			t.Errorf("after %d steps: canceled, the balance is %d", steps, b.Credits)
		}
		w.drain()
		w.ended("thing_1", "canceled")
		w.settled(costs[steps])
		if v, _ := w.read("thing_1"); v.State != "canceled" || v.Cost != costs[steps] {
			t.Errorf("after %d steps: %+v", steps, v)
		}
		if got := w.balance().LostCredits; got != lost[steps] {
			t.Errorf("after %d steps: %d credits are lost, want %d", steps, got, lost[steps])
		}
		// The picture that was not there yet is stopped at its provider.
		for h, g := range w.fake.live {
			if g.polls > 0 && !g.canceled {
				t.Errorf("after %d steps: %s runs on", steps, h)
			}
		}
	}
	t.Error("the work has no end")
}

func TestCancelWhileItIsSubmitted(t *testing.T) {
	w := newWorld(t)
	w.accept("thing_1")
	w.fake.hook = func() { w.cancel("thing_1") }
	w.drain()
	w.ended("thing_1", "canceled")
	if w.fake.count(provider.KindImage) != 1 || w.fake.running() != 0 {
		t.Errorf("%d pictures were submitted, %d run on", w.fake.count(provider.KindImage), w.fake.running())
	}
	w.settled(3) // the text
	if got := w.balance().LostCredits; got != 7 {
		t.Errorf("%d credits are lost", got)
	}
}

func TestTheResourceMayChangeMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.accept("thing_1")
	w.faults.After = func(c storetest.Call) error {
		if c.Operation != "GetItem" || !strings.Contains(string(c.Body), `"thing_1"`) {
			return nil
		}
		// Its owner writes it whenever the engine has just read it, once each time.
		after := w.faults.After
		w.faults.After = nil
		defer func() {
			w.faults.After = after
			if w.clock.Now().Nanosecond() == 0 {
				w.clock.Add(time.Nanosecond)
			}
		}()
		if w.clock.Now().Nanosecond() != 0 {
			return nil
		}
		_, it := w.read("thing_1")
		tx := &store.Tx{}
		tx.Replace(it)
		return w.db.Commit(context.Background(), tx)
	}
	for range most {
		w.clock.Add(time.Second - time.Duration(w.clock.Now().Nanosecond()))
		w.relay()
		j, ok := w.pop()
		if !ok {
			break
		}
		if err := w.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	w.faults.After = nil
	w.ended("thing_1", "generated")
	if len(w.fake.submissions) != 2 {
		t.Errorf("there were %d submissions", len(w.fake.submissions))
	}
	w.settled(10)
}

func TestWhatIsRefused(t *testing.T) {
	w := newWorld(t)
	refused := func(a generate.Order) errs.Code {
		tx := &store.Tx{}
		if _, err := generate.Accept(tx, w.clock.Now(), a, payer, w.balance()); err != nil {
			return errs.CodeOf(err)
		}
		return errs.CodeOf(w.db.Commit(t.Context(), tx))
	}
	dear := work("thing_1")
	dear.Parts[0].Credits = 1001
	before := storetest.Snapshot(t, w.db)
	if code := refused(dear); code != errs.InsufficientBalance {
		t.Errorf("more than there is: %s", code)
	}
	if storetest.Snapshot(t, w.db) != before {
		t.Error("something was reserved")
	}
	tx := &store.Tx{}
	tx.Count(store.IDKey("waiting#"+account+"#live"), generate.MaxWaiting, generate.MaxWaiting, nil)
	w.commit(tx)
	before = storetest.Snapshot(t, w.db)
	if code := refused(work("thing_2")); code != errs.QueueFull {
		t.Errorf("more than may wait: %s", code)
	}
	if storetest.Snapshot(t, w.db) != before {
		t.Error("something was reserved")
	}
	other := work("thing_3")
	other.Account = "acc_2"
	other.Parts[0].Credits, other.Parts[1].Credits = 0, 0
	tx = &store.Tx{}
	if _, err := generate.Accept(tx, w.clock.Now(), other, payer, w.balance()); err != nil ||
		w.db.Commit(t.Context(), tx) != nil {
		t.Errorf("another account is refused, too: %v", err)
	}
}

func TestABatch(t *testing.T) {
	const n = 45
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("thing_%02d", i))
	}
	for _, canceled := range []int{0, 3} {
		w := newWorld(t)
		w.acceptAll(ids...)
		if b := w.balance(); b.Credits != 1000-10*n {
			t.Errorf("the balance is %d", b.Credits)
		}
		for _, id := range ids[:canceled] {
			w.cancel(id) // nothing of it has begun
		}
		j, _ := w.pop()
		// It comes twice, side by side.
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() {
				if _, err := w.kernel.Do(t.Context(), j.Message, j.queued); err != nil &&
					!errors.Is(err, store.ErrConflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for j.Kind == generate.Start { // the one after it, of the crash that took it
			if err := w.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
			w.relay()
			slices.SortStableFunc(w.queue,
				func(a, b message) int { return strings.Compare(string(b.Kind), string(a.Kind)) })
			j, w.queue = w.queue[0], w.queue[1:]
		}
		w.queue = append(w.queue, j)
		if sum, states := w.entries(); sum != 1000-int64(10*(n-canceled)) || states["held"] != n-canceled {
			t.Errorf("the entries add up to %d: %v", sum, states)
		}
		w.cancel(ids[n-1]) // it has begun
		w.drain()
		for _, id := range ids[canceled : n-1] {
			w.ended(id, "generated")
		}
		w.settled(int64(10 * (n - canceled - 1)))
	}
}

// sent is a queue that remembers its messages.
type sent struct{ messages []queue.Message }

func (s *sent) Send(_ context.Context, messages ...queue.Message) []error {
	s.messages = append(s.messages, messages...)
	return make([]error, len(messages))
}

func TestAnEmptiedQueueLosesNothing(t *testing.T) {
	w := newWorld(t)
	w.acceptAll("thing_1", "thing_2")
	w.accept("thing_3")
	w.queue = nil // the messages are gone
	s := &sent{}
	queues := map[topology.Queue]queue.Sender{}
	for _, name := range topology.Generation {
		queues[name] = s
	}
	const every = 5 * time.Minute
	reconciler := task.NewReconciler(w.db, w.clock.Now, task.OverdueTasks(task.NewSender(queues), w.clock.Now)...)
	sweep := func(atOnce bool) task.ReconcileResult {
		t.Helper()
		done, err := reconciler.Run(t.Context(), atOnce)
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if done := sweep(false); done != (task.ReconcileResult{}) {
		t.Errorf("what is not late: %+v", done)
	}
	w.clock.Add(2*time.Minute + time.Second)
	if done := sweep(false); done != (task.ReconcileResult{Overdue: 2, Resent: 2,
		Oldest: 2*time.Minute + time.Second}) ||
		len(s.messages) != 2 || s.messages[0].Group != account+"#live" {
		t.Errorf("%+v, %+v", done, s.messages)
	}
	// A queue that is merely long gets ever fewer reminders.
	for range 6 {
		w.clock.Add(every)
		sweep(false)
	}
	if len(s.messages) > 10 {
		t.Errorf("%d messages", len(s.messages))
	}
	// Messages that were sent again are handled to the end, and then there is nothing to send.
	w.seen = map[string]bool{}
	w.drain()
	for _, id := range []string{"thing_1", "thing_2", "thing_3"} {
		if v, _ := w.read(id); v.State != "generated" && v.Failure.Code != "timeout" {
			t.Errorf("%+v", v)
		}
	}
	if done := sweep(true); done != (task.ReconcileResult{}) {
		t.Errorf("after the end: %+v", done)
	}
}

func TestFilesOfWhatEndsBadlyAreRemoved(t *testing.T) {
	// After the picture was stored, the work is canceled, or fails.
	for name, end := range map[string]func(w *world){
		"canceled": func(w *world) { w.cancel("thing_1") },
		"failed":   func(w *world) { w.clock.Add(time.Hour) },
	} {
		w := newWorld(t)
		w.accept("thing_1")
		for len(w.objects.saved) == 0 {
			w.relay()
			j, _ := w.pop()
			if err := w.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
		end(w)
		w.drain()
		w.ended("thing_1", name)
		if len(w.objects.saved) != 0 {
			t.Errorf("%s: there is still %v", name, w.objects.saved)
		}
	}
}

func TestFilesOfADeletedResourceAreRemoved(t *testing.T) {
	w := newWorld(t)
	w.accept("thing_1")
	w.accept("thing_2")
	w.drain()
	tx := &store.Tx{}
	if err := generate.RemoveFiles(tx, w.clock.Now(), owner, "thing_1", 2); err != nil {
		t.Fatal(err)
	}
	w.commit(tx)
	w.relay()
	j, _ := w.pop()
	for range 2 {
		if err := w.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.objects.saved) != 1 {
		t.Errorf("there is still %v", w.objects.saved)
	}
	for subject, want := range map[string]bool{"thing_1": false, "thing_2": true} {
		e, err := generate.Find(t.Context(), w.db, owner, "the hash of "+subject+"_1_1", "")
		if err != nil || (e != nil) != want || e != nil && (e.Subject != subject || e.File != subject+"_1_1") {
			t.Errorf("the register has %+v of %s, %v", e, subject, err)
		}
	}
	w.settled(20)
}
