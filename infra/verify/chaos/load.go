package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// accepted is a content item or a generation that the API has accepted.
type accepted struct {
	id string
	at time.Time
}

// load requests work, as a caller does who needs all of it: it repeats a call that got no response, 429 or a 5xx,
// with the same Idempotency-Key.
type load struct {
	client *client
	// ask returns the n-th request.
	ask    func(n int) (path string, body map[string]any)
	events int
	// while extends the load beyond its number of requests for as long as it returns true. If it is nil, the load
	// ends there.
	while   func() bool
	every   time.Duration // from the first attempt at one request to the first at the next
	callers int

	mu      sync.Mutex
	done    []accepted
	retries int
	changed chan struct{} // closed when done has grown
}

// pauseOfCaller is the time between two attempts at the same request.
const pauseOfCaller = 200 * time.Millisecond

// run makes all requests, and returns when all are accepted.
func (l *load) run(ctx context.Context) error {
	turns := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(turns)
		tick := time.NewTicker(l.every)
		defer tick.Stop()
		for i := 0; i < l.events || l.while != nil && l.while(); i++ {
			select {
			case turns <- i:
			case <-ctx.Done():
				return ctx.Err()
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	for range l.callers {
		group.Go(func() error {
			for i := range turns {
				if err := l.one(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// one makes one request.
func (l *load) one(ctx context.Context, n int) error {
	path, body := l.ask(n)
	for {
		var made struct{ ID string }
		err := l.client.call(ctx, http.MethodPost, path, "chaos-"+strconv.Itoa(n), body, &made)
		if err == nil {
			l.accept(made.ID)
			return nil
		}
		var refused *statusError
		if ctx.Err() != nil || errors.As(err, &refused) && refused.permanent() {
			return fmt.Errorf("asking for %s: %w", path, err)
		}
		l.mu.Lock()
		l.retries++
		l.mu.Unlock()
		select {
		case <-time.After(pauseOfCaller):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *load) accept(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done = append(l.done, accepted{id, time.Now()})
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// accepted returns the work that is accepted so far, and a channel that is closed when there is more.
func (l *load) accepted() ([]accepted, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.done[:len(l.done):len(l.done)], l.changed
}

// reached waits until n requests are accepted.
func (l *load) reached(ctx context.Context, n int) error {
	for {
		done, more := l.accepted()
		if len(done) >= n {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
