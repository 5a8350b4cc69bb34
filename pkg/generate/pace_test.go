package generate_test

import (
	"bytes"
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// quota is a provider that throttles: it takes a number of submissions in each minute, and has some at a time.
type quota struct {
	*fake
	clock     func() time.Time
	perMinute int
	calls     []time.Time // taken and refused
	taken     []time.Time
}

func (q *quota) For(name string, mode tenant.Mode) (provider.Provider, error) {
	_, err := q.fake.For(name, mode)
	return q, err
}

func (q *quota) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	now, recent := q.clock(), 0
	q.calls = append(q.calls, now)
	for i := len(q.taken) - 1; i >= 0 && now.Sub(q.taken[i]) < time.Minute; i-- {
		recent++
	}
	if recent >= q.perMinute {
		return provider.Submission{}, &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy,
			Message: "Too many requests."}
	}
	q.taken = append(q.taken, now)
	return q.fake.Submit(ctx, req)
}

// busiest returns the most calls in one minute.
func (q *quota) busiest() (most int) {
	for from, to := 0, 0; to < len(q.calls); to++ {
		for q.calls[to].Sub(q.calls[from]) >= time.Minute {
			from++
		}
		most = max(most, to-from+1)
	}
	return most
}

// byTime has the messages of many tasks, the next one first.
type byTime []message

func (m byTime) Len() int           { return len(m) }
func (m byTime) Less(i, j int) bool { return m[i].at.Before(m[j].at) }
func (m byTime) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *byTime) Push(x any)        { *m = append(*m, x.(message)) } //nolint:forcetypeassert // heap calls it
func (m *byTime) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

func image(id string) generate.Order {
	return generate.Order{Owner: owner, Subject: id, Attempt: 1, Parts: []generate.Part{
		{Kind: provider.KindImage, Provider: "fake", Model: "flux-pro-1.1"}}}
}

// burst accepts n pictures in one moment, works on all, and returns the time until the last one ended.
func (w *world) burst(n int) time.Duration {
	began, all := w.clock.Now(), byTime{}
	for i := range n {
		o := image(fmt.Sprint("thing-", i))
		tx := &store.Tx{}
		ticket, err := generate.Accept(tx, began, o, payer, ledger.Balance{})
		if err != nil {
			w.t.Fatal(err)
		}
		tx.Create(item(w.t, thing{ID: o.Subject, State: "queued", Attempt: 1, Ticket: ticket}), nil)
		w.commit(tx)
		m := task.Message{ID: task.ID(generate.Generate, o.Subject, 1), Kind: generate.Generate, Subject: o.Subject,
			Owner: owner, Step: 1}
		heap.Push(&all, message{m, rand.Text(), began})
	}
	for all.Len() > 0 {
		m := heap.Pop(&all).(message) //nolint:forcetypeassert // there is nothing else in it
		if wait := m.at.Sub(w.clock.Now()); wait > 0 {
			w.clock.Add(wait)
		}
		next, err := w.kernel.Do(w.t.Context(), m.Message, "")
		if err != nil {
			w.t.Fatal(err)
		}
		if next != nil {
			heap.Push(&all, message{next.Message, rand.Text(), w.clock.Now().Add(next.Delay)})
		}
	}
	for i := range n {
		if v, _ := w.read(fmt.Sprint("thing-", i)); v.State != "generated" {
			w.t.Fatalf("%s is %s: %+v", v.ID, v.State, v.Failure)
		}
	}
	return w.clock.Now().Sub(began)
}

func throttled(t *testing.T, perMinute int) (*world, *quota) {
	before := slog.Default()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	t.Cleanup(func() { slog.SetDefault(before) })
	w := newWorld(t)
	q := &quota{fake: w.fake, clock: w.clock.Now, perMinute: perMinute}
	w.worker.Providers = q
	w.kernel = task.NewKernel(task.Config{DB: w.db, Handlers: w.worker.Handlers(), Now: w.clock.Now, Name: rand.Text,
		Chance: backoff.Chance})
	return w, q
}

func (w *world) set(change func(*pace.Settings)) {
	w.t.Helper()
	if _, err := pace.Change(w.t.Context(), w.db, change); err != nil {
		w.t.Fatal(err)
	}
}

// TestAThousandPicturesAtOnce has a model that takes 60 pictures a minute. An operator has told the service so.
func TestAThousandPicturesAtOnce(t *testing.T) {
	w, q := throttled(t, 60)
	w.set(func(s *pace.Settings) { s.PerMinute["flux-pro-1.1"] = 60 })
	took, most := w.burst(1000), q.busiest()
	t.Logf("the last of 1,000 pictures was ready after %v; %d calls, of which %d in one minute", took, len(q.calls), most)
	if most > 72 || len(q.calls) > 1200 || took > 20*time.Minute {
		t.Errorf("%d calls, of which %d in one minute, in %v", len(q.calls), most, took)
	}
}

// TestABusyProviderFailsNothing is the same for a limit that the service does not know.
func TestABusyProviderFailsNothing(t *testing.T) {
	w, q := throttled(t, 60)
	took := w.burst(300)
	t.Logf("the last of 300 pictures was ready after %v, with %d calls", took, len(q.calls))
	if took > 15*time.Minute {
		t.Errorf("it took %v", took)
	}
}

func TestWorkThatWouldWaitTooLongIsRefused(t *testing.T) {
	w, _ := throttled(t, 60)
	w.set(func(s *pace.Settings) { s.PerMinute["fake"] = 60 })
	accept := func(n int) *errs.Error {
		t.Helper()
		var all []generate.Order
		for i := range n {
			all = append(all, image(fmt.Sprint("more-", i)))
		}
		if _, err := generate.AcceptBatch(&store.Tx{}, w.clock.Now(), all, payer, w.balance()); err != nil {
			return errs.As(err)
		}
		return nil
	}
	if err := accept(890); err != nil {
		t.Errorf("what can be made in time is refused: %v", err)
	}
	if err := accept(990); err == nil || err.Code != errs.QueueFull || err.RetryAfter < time.Minute ||
		err.RetryAfter > 3*time.Minute {
		t.Errorf("what cannot be made in time: %+v", err)
	}
	w.burst(5)
	before := w.clock.Now()
	w.set(func(s *pace.Settings) { s.Off = []string{"flux-pro-1.1"} })
	if err := accept(1); err == nil || err.Code != errs.ProviderUnavailable || err.RetryAfter == 0 {
		t.Errorf("a model that is turned off: %+v", err)
	}
	if w.clock.Now() != before {
		t.Error("the clock has moved")
	}
}

// TestAModelIsTurnedOffAndOn shows that accepted work waits while its model is turned off.
func TestAModelIsTurnedOffAndOn(t *testing.T) {
	w, q := throttled(t, 60)
	w.acceptWork(image("thing"))
	w.set(func(s *pace.Settings) { s.Off = []string{"flux-pro-1.1"} })
	off := w.clock.Now()
	for w.clock.Now().Sub(off) < 10*time.Minute {
		m, ok := w.pop()
		if !ok {
			t.Fatal("the work has ended")
		}
		if err := w.do(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if len(q.calls) != 0 {
		t.Errorf("%d calls of a model that is turned off", len(q.calls))
	}
	w.set(func(s *pace.Settings) { s.Off = nil })
	w.drain()
	w.ended("thing", "generated")
}

// TestAProviderThatFailsIsCounted has a credential be revoked: its calls count as failed. Those that are refused for
// their input, or throttled, do not.
func TestAProviderThatFailsIsCounted(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		failed string // the values of the metric
	}{
		"a revoked credential": {&provider.Error{Kind: provider.Quota, Code: "provider_access"}, "1"},
		"an outage":            {&provider.Error{Kind: provider.Transient, Code: "provider_unavailable"}, "1"},
		"a bad request":        {&provider.Error{Kind: provider.BadInput, Code: "invalid_input"}, "0"},
		"a busy provider":      {&provider.Error{Kind: provider.Transient, Code: provider.CodeBusy}, ""},
		"none":                 {nil, "0"},
	} {
		w := newWorld(t)
		w.fake.submit = c.err
		w.acceptWork(image("thing"))
		var log bytes.Buffer
		before := metric.SetOutput(&log)
		m, _ := w.pop()
		err := w.do(t.Context(), m)
		metric.SetOutput(before)
		got := ""
		for line := range strings.Lines(log.String()) {
			var counted struct {
				ProviderFailed *int
				Provider       string
			}
			if err := json.Unmarshal([]byte(line), &counted); err == nil && counted.ProviderFailed != nil &&
				counted.Provider == "fake" {
				got += strconv.Itoa(*counted.ProviderFailed)
			}
		}
		if err != nil || got != c.failed {
			t.Errorf("%s: the metric has %q, want %q; %v", name, got, c.failed, err)
		}
	}
}
