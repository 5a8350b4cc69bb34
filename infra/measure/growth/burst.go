package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// bursting is the number of calls at a time that cause events.
	bursting = 16
	// patience is the time in which the events of a burst must come.
	patience = 2 * time.Minute
	// calm is the time after the last call at which the memory is read.
	calm = 5 * time.Second
)

// burst changes factories, of which each change is one delivery, and prints how soon the receiver got them, and what
// the processor and the memory did.
func burst(ctx context.Context, p *program, events int) (string, error) {
	r, err := receive()
	if err != nil {
		return "", err
	}
	defer r.close()
	if _, err := p.system.call(ctx, "POST", "/v1/webhooks", object{"url": r.address,
		"event_types": []string{"factory.updated"}}); err != nil {
		return "", err
	}
	var factories []any
	for range 2 * bursting {
		factory, err := p.system.factory(ctx)
		if err != nil {
			return "", err
		}
		factories = append(factories, factory)
	}
	before, err := p.processor()
	if err != nil {
		return "", err
	}
	began := time.Now()
	accepted, err := change(ctx, p.system, factories, events)
	if err != nil {
		return "", err
	}
	called, err := p.processor()
	if err != nil {
		return "", err
	}
	lags, last, err := r.wait(ctx, accepted)
	if err != nil {
		return "", err
	}
	pause(ctx, calm)
	after, err := p.processor()
	if err != nil {
		return "", err
	}
	memory, err := p.memory()
	at := func(part float64) float64 {
		return float64(lags[int(part*float64(len(lags)-1))]) / float64(time.Millisecond)
	}
	return fmt.Sprintf("| Deliveries | A second | p50, ms | p99, ms | CPU of one with its call, ms | Of it after the "+
		"last call, ms | Memory then, MB |\n|%s\n| %d | %.0f | %.0f | %.0f | %.2f | %.2f | %d |", strings.Repeat("---|", 7),
		events, float64(events)/last.Sub(began).Seconds(), at(0.5), at(0.99),
		(after-before).Seconds()*1000/float64(events), (after-called).Seconds()*1000/float64(events), memory), err
}

// change changes factories in turn, and returns when each change was accepted, by the factory's new name.
func change(ctx context.Context, s system, factories []any, events int) (map[string]time.Time, error) {
	accepted := map[string]time.Time{}
	var mu sync.Mutex
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range bursting {
		group.Go(func() error {
			for i := next.Add(1); i <= int64(events); i = next.Add(1) {
				path := fmt.Sprint("/v1/factories/", factories[worker*2+int(i)%2]) // which no other worker changes
				name := fmt.Sprintf("Sea %d", i)
				if _, err := s.call(ctx, "PATCH", path, object{"name": name}); err != nil {
					return err
				}
				mu.Lock()
				accepted[name] = time.Now()
				mu.Unlock()
			}
			return nil
		})
	}
	return accepted, group.Wait()
}

// receiver is a receiver of events, which answers at once.
type receiver struct {
	address string
	close   func()

	mu   sync.Mutex
	came []time.Time
}

func receive() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{address: "http://" + listener.Addr().String()}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(http.ResponseWriter, *http.Request) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.came = append(r.came, time.Now())
		})}
	r.close = func() { _ = server.Close() }
	go func() { _ = server.Serve(listener) }()
	return r, nil
}

// wait waits for all events, and returns how long after its call each came, in their order, and when the last did. The
// first to be accepted is taken for the first to come.
func (r *receiver) wait(ctx context.Context, accepted map[string]time.Time) (lags []time.Duration, last time.Time,
	err error) {
	var calls []time.Time
	for _, at := range accepted {
		calls = append(calls, at)
	}
	slices.SortFunc(calls, time.Time.Compare)
	for end := time.Now().Add(patience); ; pause(ctx, 10*time.Millisecond) {
		r.mu.Lock()
		came := slices.Clone(r.came)
		r.mu.Unlock()
		if len(came) < len(calls) {
			if time.Now().After(end) || ctx.Err() != nil {
				return nil, last, fmt.Errorf("%d of %d events have come", len(came), len(calls))
			}
			continue
		}
		for i, at := range calls {
			lags = append(lags, max(0, came[i].Sub(at)))
		}
		slices.Sort(lags)
		return lags, came[len(calls)-1], nil
	}
}

// pause waits for a time, or until the context ends.
func pause(ctx context.Context, d time.Duration) {
	wait, stop := context.WithTimeout(ctx, d)
	defer stop()
	<-wait.Done()
}

// tick is the unit of the times of /proc.
const tick = 10 * time.Millisecond

// processor returns the processor time of the service.
func (p *program) processor() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name of the program ends here
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("the system does not tell the processor time of a process")
	}
	user, err := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick, errors.Join(err, err2)
}
