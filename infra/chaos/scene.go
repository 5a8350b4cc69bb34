package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"
)

// row is one line of the table: a fault that happens while events are on their way.
type row struct {
	name string
	// begin prepares the scene before the load; nil: there is nothing to prepare.
	begin func(ctx context.Context, s *scene) error
	// happen makes the fault happen, and returns when it has ended.
	happen func(ctx context.Context, s *scene) error
	bounds bounds
	// against names the row whose p99 bounds this one's.
	against string
}

// scene is one run of a row: an account of its own with a webhook, and the load.
type scene struct {
	*world
	client  *client
	mailbox *mailbox
	webhook string
	load    *load
	// neighbour is a second webhook, if there is one.
	neighbour *neighbour

	mu       sync.Mutex
	hits     int
	inFlight int
	ended    time.Time // when the fault ended
}

// size says how long and how heavy a run is.
type size struct {
	events int
	every  time.Duration // from one event to the next
	// within is how long to wait for what shall happen, before it is taken for never.
	within time.Duration
	// kills is how often a function is killed, and outage how long a service is down.
	kills  int
	outage time.Duration
}

// play runs a row.
func (w *world) play(ctx context.Context, r row, sz size) (_ result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := w.newScene(ctx, r.name, sz)
	if err != nil {
		return result{}, err
	}
	if r.begin != nil {
		if err := r.begin(ctx, s); err != nil {
			return result{}, err
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
	began := s.load.reached(ctx, sz.events/4)
	if began == nil {
		began = s.happen(ctx, r, sz.within)
	}
	if began != nil {
		cancel()
	}
	if err := <-loaded; err != nil && began == nil {
		return result{}, err
	}
	if began != nil {
		return result{}, began
	}
	if err := s.settle(ctx, sz.within); err != nil {
		return result{}, err
	}
	return s.result(ctx, r)
}

func (s *scene) happen(ctx context.Context, r row, within time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, within, fmt.Errorf("the fault did not happen as often as it should within %v", within))
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

// newScene makes what a run needs.
func (w *world) newScene(ctx context.Context, name string, sz size) (*scene, error) {
	key, err := w.newKey(ctx, name, "test")
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
	s.load = &load{client: s.client, factory: factory, events: sz.events, every: sz.every, callers: 16}
	return s, nil
}

// path are the queues that an event passes on its way to a webhook.
func (w *world) path() []string {
	return []string{w.system.DispatchQueueURL, w.system.DeliverQueueURL}
}

// during lets a fault happen, at whichever gate it is, until f returns. What is in
// flight then is noted each time where the times are counted, else once.
func (s *scene) during(ctx context.Context, f *fault, until func(context.Context) error) error {
	if f.times < 0 {
		if err := s.meet(ctx); err != nil {
			return err
		}
	}
	do := f.do
	f.do = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		defer s.happenedNow() // killing ends in a panic
		if f.times > 0 {
			_ = c.stop() // or it would go on with other things meanwhile
			// Where it cannot be told nothing is taken for in flight: the bound is the narrower.
			_ = s.meet(context.WithoutCancel(ctx))
		}
		do(c, w, pass)
	}
	for _, g := range []*gate{&s.aws.gate, &s.providers.gate, &s.receiver.gate} {
		g.add(f)
		defer g.remove(f)
	}
	err := until(ctx)
	if f.times < 0 {
		s.endedNow() // a kill is over at once; anything else now
	}
	return err
}

// meet notes what a fault meets in flight.
func (s *scene) meet(ctx context.Context) error {
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

// happened tells how often a fault has happened and ended.
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

// until polls until f tells that it is so.
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

// settle waits until everything that was accepted has come, and no message is left
// that might bring it once more. What has not come within the time is lost.
func (s *scene) settle(ctx context.Context, within time.Duration) error {
	waiting, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	done, _ := s.load.accepted()
	err := until(waiting, func() (bool, error) {
		came, err := s.mailbox.all()
		return !missing(done, came), err
	})
	if err != nil && waiting.Err() == nil {
		return err
	}
	if err := s.moveOut(ctx); err != nil {
		return err
	}
	quiet := slices.AppendSeq(s.path(), maps.Values(s.system.GenerateQueueURLs))
	err = until(waiting, func() (bool, error) {
		left, err := s.messages(ctx, quiet...)
		return left == 0, err
	})
	if waiting.Err() != nil && ctx.Err() == nil {
		return nil // the counts tell it
	}
	return err
}

// missing tells whether anything that was accepted has not come.
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
