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

// accepted is a content item that the API has accepted.
type accepted struct {
	id string
	at time.Time
}

// load has content items made, as a caller does who wants each of them: what was
// not answered, or with a 5xx, is asked for again, with the same Idempotency-Key.
type load struct {
	client  *client
	factory string
	events  int
	every   time.Duration // from the first asking for one item to that for the next
	callers int

	mu      sync.Mutex
	done    []accepted
	retries int
	changed chan struct{} // closed when done has grown
}

// pauseOfCaller is between two calls for the same thing.
const pauseOfCaller = 200 * time.Millisecond

// run returns when all items were accepted.
func (l *load) run(ctx context.Context) error {
	turns := make(chan int)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(turns)
		tick := time.NewTicker(l.every)
		defer tick.Stop()
		for i := range l.events {
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

// one has one item made.
func (l *load) one(ctx context.Context, i int) error {
	body := map[string]any{"factory_id": l.factory, "kind": "post", "prompt": "Chaos " + strconv.Itoa(i)}
	for {
		var made struct{ ID string }
		err := l.client.call(ctx, http.MethodPost, "/v1/content-items", l.factory+"-"+strconv.Itoa(i), body, &made)
		if err == nil {
			l.accept(made.ID)
			return nil
		}
		var refused *refusal
		if ctx.Err() != nil || errors.As(err, &refused) && refused.status < http.StatusInternalServerError && refused.status != http.StatusConflict {
			return fmt.Errorf("asking for item %d: %w", i, err)
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

// accepted gives what was accepted so far, and a channel that is closed when there
// is more.
func (l *load) accepted() ([]accepted, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.done[:len(l.done):len(l.done)], l.changed
}

// reached returns when so many items were accepted.
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
