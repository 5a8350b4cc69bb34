package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// row is a line of the table: a fault that happens while events are on their way.
type row struct {
	name string
	// begin prepares the scene before the load. It is nil if there is nothing to prepare.
	begin func(ctx context.Context, s *scene) error
	// happen causes the fault, and returns when it has ended.
	happen func(ctx context.Context, s *scene) error
	bounds bounds
	// against names the row whose number of submissions to providers bounds that of this one.
	against string
}

// scene is one run of a row: an account of its own, and the load.
type scene struct {
	*world
	client *client
	// factory is the factory for the work of a live key.
	factory string
	load    *load
	// left returns the number of pieces of accepted work that have not ended.
	left func(context.Context) (int, error)
	// mailbox receives the events of the webhook, if there is one.
	mailbox *mailbox
	webhook string

	mu       sync.Mutex
	hits     int
	inFlight int
	ended    time.Time // when the fault ended
}

// size sets the length and the load of a run.
type size struct {
	// events and jobs are the numbers of events and jobs of a row.
	events, jobs int
	every        time.Duration // from one request to the next
	// within is the time to wait for a further result before those that are left count as lost.
	within time.Duration
	// kills is the number of times that a function is killed.
	kills int
}

// play runs a row in its scene, and returns when all its work has ended.
func (s *scene) play(ctx context.Context, r row, sz size) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.begin != nil {
		if err := r.begin(ctx, s); err != nil {
			return err
		}
	}
	loaded := make(chan error, 1)
	go func() {
		err := s.load.run(ctx)
		if err != nil {
			cancel() // releases those that wait for it
		}
		loaded <- err
	}()
	err := s.load.reached(ctx, s.load.events/4)
	if err == nil {
		err = s.happen(ctx, r, sz.within)
	}
	if err != nil {
		cancel()
	}
	if failed := <-loaded; failed != nil && (err == nil || errors.Is(err, context.Canceled)) {
		err = failed
	}
	if err != nil {
		return err
	}
	return s.settle(ctx, sz.within)
}

func (s *scene) happen(ctx context.Context, r row, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within,
		fmt.Errorf("the fault did not happen as often as it should within %v", within))
	defer cancel()
	if err := r.happen(ctx, s); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended.IsZero() {
		s.ended = time.Now()
	}
	return nil
}

// newScene creates a scene for events on their way to a webhook. Content items of the sandbox cause the events.
func (w *world) newScene(ctx context.Context, name string, sz size) (*scene, error) {
	key, err := w.newKey(ctx, name, tenant.Test)
	if err != nil {
		return nil, err
	}
	s := &scene{world: w, client: &client{&http.Client{}, w.system.BaseURL, key}}
	s.mailbox = w.receiver.open(key[len(key)-12:])
	if s.webhook, err = s.client.newWebhook(ctx, s.mailbox); err != nil {
		return nil, err
	}
	factory, err := s.client.newFactory(ctx)
	if err != nil {
		return nil, err
	}
	s.load = &load{client: s.client, events: sz.events, every: sz.every, callers: callers,
		ask: func(n int) (string, map[string]any) {
			return "/v1/content-items", map[string]any{"factory_id": factory, "kind": "post",
				"prompt": "Chaos " + strconv.Itoa(n)}
		}}
	s.left = func(context.Context) (int, error) {
		done, _ := s.load.accepted()
		came, err := s.mailbox.all()
		return missing(done, came), err
	}
	return s, nil
}

// callers is the largest number of concurrent requests for work.
const callers = 16

// path returns the queues that an event passes on its way to a webhook.
func (w *world) path() []string {
	return w.urls(topology.Dispatch, topology.Deliver, topology.DeliverSlow)
}

// urls returns the addresses of queues.
func (w *world) urls(queues ...topology.Queue) []string {
	urls := make([]string, len(queues))
	for i, q := range queues {
		urls[i] = w.system.QueueURLs[q]
	}
	return urls
}

// during applies faults at every gate until the function until returns. If the number of times of a fault is not
// limited, during records the events that are in flight at the beginning.
func (s *scene) during(ctx context.Context, until func(context.Context) error, faults ...*fault) error {
	lasting := slices.ContainsFunc(faults, func(f *fault) bool { return f.times < 0 })
	if lasting {
		if err := s.meet(ctx); err != nil {
			return err
		}
	}
	for _, f := range faults {
		do := f.do
		f.do = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
			defer s.happenedNow() // a kill ends in a panic
			do(c, w, pass)
		}
		for _, g := range []*gate{&s.aws.gate, &s.providers.gate, &s.receiver.gate} {
			g.add(f)
			defer g.remove(f)
		}
	}
	err := until(ctx)
	if lasting {
		s.endedNow() // a kill is over at once; other faults end now
	}
	return err
}

// times returns a function that waits until faults have happened n times.
func (s *scene) times(n int) func(context.Context) error {
	return func(ctx context.Context) error {
		return until(ctx, func() (bool, error) { return s.happened() >= n, nil })
	}
}

// caught freezes the function before it applies do, so that the function does no other work, and records the events
// that are in flight then.
func (s *scene) caught(ctx context.Context, do doing) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // the function may have ended by itself
		// If the number is unknown, it counts as 0, which makes the bound narrower.
		_ = s.meet(ctx)
		do(c, w, pass)
	}
}

// whileHeld applies do to a function after it has hidden its messages at least once more since its call. Otherwise
// the time for which they stay hidden after its death would depend on chance.
func (s *scene) whileHeld(ctx context.Context, do doing) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		held := make(chan struct{}, 1)
		f := &fault{at: []step{{operation: holding, process: c.pid()}},
			do: func(_ call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
				pass(w)
				held <- struct{}{}
			}}
		s.aws.add(f)
		select {
		case <-held:
		case <-c.gone: // the function has ended by itself or by another fault
		case <-ctx.Done():
		}
		s.aws.remove(f)
		do(c, w, pass)
	}
}

// meet records the events that are in flight at a fault.
func (s *scene) meet(ctx context.Context) error {
	if s.webhook == "" {
		return nil
	}
	n, err := s.client.undelivered(ctx, s.webhook)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight += n
	return err
}

// happenedNow records that a fault has happened once more.
func (s *scene) happenedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	s.ended = time.Now()
}

// endedNow records that a fault has ended.
func (s *scene) endedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
}

// happened returns the number of times that a fault has happened and ended.
func (s *scene) happened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// pause waits for a duration, or for the end of the context.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until polls f until it returns true.
func until(ctx context.Context, f func() (bool, error)) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if so, err := f(); so || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

// settle waits until all accepted work has ended and no message is left that might cause more. If nothing more ends
// within the time, what is left is lost; the counts show it.
func (s *scene) settle(ctx context.Context, within time.Duration) error {
	queues := s.urls(topology.Queues...)
	for _, left := range []func(context.Context) (int, error){
		s.left,
		func(ctx context.Context) (int, error) { return s.messages(ctx, queues...) },
	} {
		least, deadline := math.MaxInt, time.Now().Add(within)
		err := until(ctx, func() (bool, error) {
			waiting, cancel := context.WithDeadline(ctx, deadline)
			defer cancel()
			n, err := left(waiting)
			if waiting.Err() != nil {
				return true, context.Cause(ctx)
			}
			if n < least {
				least, deadline = n, time.Now().Add(within)
			}
			return n == 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// missing returns the number of pieces of accepted work whose event has not arrived.
func missing(done []accepted, came []receipt) (n int) {
	there := map[string]bool{}
	for _, r := range came {
		there[r.subject] = true
	}
	for _, a := range done {
		if !there[a.id] {
			n++
		}
	}
	return n
}
