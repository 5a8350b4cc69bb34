package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
)

// row is one line of the table: a fault that happens while events are on their way.
type row struct {
	name string
	// begin prepares the scene before the load; nil: there is nothing to prepare.
	begin func(ctx context.Context, s *scene) error
	// happen makes the fault happen, and returns when it has ended.
	happen func(ctx context.Context, s *scene) error
	bounds bounds
	// against names the row whose submissions to providers bound this one's.
	against string
}

// scene is one run of a row: an account of its own, and the load.
type scene struct {
	*world
	client *client
	// factory is that of the work of a live key.
	factory string
	load    *load
	// through reports whether all that was accepted has ended.
	through func(context.Context) (bool, error)
	// mailbox gets the events of a webhook, if there is one.
	mailbox *mailbox
	webhook string

	mu       sync.Mutex
	hits     int
	inFlight int
	ended    time.Time // when the fault ended
}

// size says how long and how heavy a run is.
type size struct {
	// events and jobs are how many of them a row has.
	events, jobs int
	every        time.Duration // from one to the next
	// within is how long to wait for what shall happen, before it is taken for never.
	within time.Duration
	// kills is how often a function is killed.
	kills int
}

// play runs a row in its scene, and returns when all has come to its end.
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
			cancel() // for what waits for it
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

// newScene makes a scene for events on their way to a webhook. They come of content
// items of the sandbox.
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
	s.through = func(context.Context) (bool, error) {
		done, _ := s.load.accepted()
		came, err := s.mailbox.all()
		return !missing(done, came), err
	}
	return s, nil
}

// callers is how many calls for work are under way at a time at most.
const callers = 16

// path are the queues that an event passes on its way to a webhook.
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

// during lets faults happen, at whichever gate it is, until f returns. Where their
// times are not counted, what is in flight when they begin is noted.
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
			defer s.happenedNow() // killing ends in a panic
			do(c, w, pass)
		}
		for _, g := range []*gate{&s.aws.gate, &s.providers.gate, &s.receiver.gate} {
			g.add(f)
			defer g.remove(f)
		}
	}
	err := until(ctx)
	if lasting {
		s.endedNow() // a kill is over at once; anything else now
	}
	return err
}

// times returns when faults have happened so often.
func (s *scene) times(n int) func(context.Context) error {
	return func(ctx context.Context) error {
		return until(ctx, func() (bool, error) { return s.happened() >= n, nil })
	}
}

// caught does something to a function that is frozen first, so that it goes on with
// nothing else, and notes what is in flight then.
func (s *scene) caught(ctx context.Context, do doing) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // it may have ended by itself
		// Where it is unknown nothing is taken for in flight: the bound is the narrower.
		_ = s.meet(ctx)
		do(c, w, pass)
	}
}

// whileHeld does something to a function once it has hidden its messages, once more
// at least, since it made the call: else it would be left to chance how long they
// stay hidden after its death.
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
		case <-c.gone: // it has ended by itself, or another fault has ended it
		case <-ctx.Done():
		}
		s.aws.remove(f)
		do(c, w, pass)
	}
}

// meet notes what a fault meets in flight.
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

// happenedNow notes that a fault has happened once more.
func (s *scene) happenedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	s.ended = time.Now()
}

// endedNow notes that what went on is over.
func (s *scene) endedNow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
}

// happened returns how often a fault has happened and ended.
func (s *scene) happened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// pause waits for some time.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until polls until f reports that it is so.
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

// settle waits until everything that was accepted has come to its end, and no
// message is left that might do something once more. What is not through within the
// time is lost: the counts show it.
func (s *scene) settle(ctx context.Context, within time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := until(waiting, func() (bool, error) { return s.through(waiting) })
	if err == nil {
		queues := s.urls(topology.Queues...)
		err = until(waiting, func() (bool, error) {
			left, err := s.messages(waiting, queues...)
			return left == 0, err
		})
	}
	if waiting.Err() != nil && ctx.Err() == nil {
		return nil
	}
	return err
}

// missing reports whether anything that was accepted has not come.
func missing(done []accepted, came []receipt) bool {
	there := map[string]bool{}
	for _, r := range came {
		there[r.subject] = true
	}
	for _, a := range done {
		if !there[a.id] {
			return true
		}
	}
	return false
}
