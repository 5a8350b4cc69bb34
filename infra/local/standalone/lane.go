package standalone

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/webhook"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/task/queue"
)

// Lane makes a service do one thing at a time, in a fixed order, by a clock that only its work moves: the same calls
// get the same answers in each run, apart from what is random. See Options.
type Lane struct {
	// From is the first time of the clock.
	From time.Time
	// Ahead is how far the clock may run ahead after a call: all work that is due within this time is done before the
	// next call.
	Ahead time.Duration
	// Play is Ahead before the first call.
	Play time.Duration
}

// The steps of the clock: a call comes a while after the one before, and one thing happens at a time.
const (
	callStep = time.Second
	workStep = time.Millisecond
)

// patience is the time after which other calls pass a receiver that has not answered. A receiver may call the service
// before it answers.
const patience = time.Second

// lane is a Lane in use.
type lane struct {
	ahead time.Duration
	play  time.Duration
	turn  sync.Mutex // whose holder works
	away  sync.Mutex // whose holder is a call to a receiver
	// passed is set while calls pass a receiver: they do no work, which waits for the receiver. It changes in turns.
	passed bool

	pages atomic.Uint64

	// parked returns when the first task is due that no queue holds yet, or the zero time if there is none.
	parked func(ctx context.Context) (time.Time, error)

	clock     *clock
	followers []follower
	takers    []taker
	schedules []*scheduled
}

type follower struct {
	stream *stream
	handle func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)
}

type taker struct {
	queue   *messages
	timeout time.Duration
	handle  worker.Consumer
}

type scheduled struct {
	name  string
	every time.Duration
	run   lambda.Handler
	next  time.Time
}

// clock is a clock that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// move moves the clock by a duration, or to a time that is later.
func (c *clock) move(by time.Duration, to time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at = c.at.Add(by); to.After(c.at) {
		c.at = to
	}
	return c.at
}

// newLane returns a lane that no call can enter before open.
func newLane(o Lane) *lane {
	l := &lane{ahead: o.Ahead, play: max(o.Ahead, o.Play), clock: &clock{at: o.From.UTC()}}
	l.turn.Lock()
	return l
}

// open does the work that is there, and lets calls in. It gets the functions of schedules, by name.
func (l *lane) open(ctx context.Context, all map[string]lambda.Handler) {
	defer l.turn.Unlock()
	for _, f := range topology.Functions {
		if run := all[f.Name]; run != nil {
			l.schedules = append(l.schedules, &scheduled{name: f.Name, every: f.Every, run: run})
		}
	}
	l.drain(ctx, l.play)
}

// handler returns a handler that lets one call after the other in, and does the work that it has caused before the
// next. Files are read at any time, since work reads them, too. So are pages, such as by health checks: they have a
// handler of their own.
func (l *lane) handler(ctx context.Context, running *sync.WaitGroup, all, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		file := strings.HasPrefix(r.URL.Path, filesPath+"/")
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/"), file && r.Method == http.MethodPut:
			l.turn.Lock()
			// The caller has its answer while the work is done.
			defer running.Go(func() {
				defer l.turn.Unlock()
				if !l.passed {
					l.drain(ctx, l.ahead)
				}
			})
			w.Header().Set("Date", l.clock.move(callStep, time.Time{}).Format(http.TimeFormat))
			all.ServeHTTP(w, r)
		case file, strings.HasPrefix(r.URL.Path, operatorPath), strings.HasPrefix(r.URL.Path, identityPath):
			w.Header().Set("Date", l.clock.now().Format(http.TimeFormat))
			all.ServeHTTP(w, r)
		default:
			pages.ServeHTTP(w, r)
		}
	})
}

// page returns the id of a request for a page, which uses up no randomness.
func (l *lane) page() string { return "page-" + strconv.FormatUint(l.pages.Add(1), 10) }

// drain does all work that is due, or becomes due within a time. It ends between two works if the context ends.
func (l *lane) drain(ctx context.Context, ahead time.Duration) {
	until := l.clock.now().Add(ahead)
	for ctx.Err() == nil {
		now := l.clock.move(workStep, time.Time{})
		first, worked := l.step(context.WithoutCancel(ctx), now)
		switch {
		case worked:
		case first.IsZero() || first.After(until):
			if ahead <= queue.LongestDelay || !l.later(ctx, now, until) {
				return
			}
		default:
			l.clock.move(0, first)
		}
	}
}

// later moves the clock to the first task that no queue holds yet. It reports whether there is one before the end.
func (l *lane) later(ctx context.Context, now, until time.Time) bool {
	if l.parked == nil {
		return false
	}
	at, err := l.parked(ctx)
	if err != nil || at.IsZero() || at.After(until) {
		return false
	}
	if !at.After(now) { // the search for due tasks runs soon
		at = now.Add(time.Minute)
	}
	l.clock.move(0, at)
	return true
}

// step does one thing that is due. If there is none, it returns the time at which the next message is.
func (l *lane) step(ctx context.Context, now time.Time) (first time.Time, worked bool) {
	for _, s := range l.schedules {
		if !s.next.After(now) {
			s.next = now.Add(s.every)
			err := guarded(func() error {
				_, err := s.run.Invoke(ctx, []byte("{}"))
				return err
			})
			if err != nil {
				slog.Error("a scheduled function failed", "function", s.name, "error", err)
			}
			return first, true
		}
	}
	for _, r := range l.followers {
		if r.stream.one(ctx, r.handle) {
			return first, true
		}
	}
	for _, c := range l.takers {
		batch, at := c.queue.receive(1)
		if len(batch) > 0 {
			c.do(ctx, batch)
			return first, true
		}
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first, false
}

// do has a batch handled. If that fails, its messages come again.
func (c taker) do(ctx context.Context, batch []events.SQSMessage) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var out events.SQSEventResponse
	err := guarded(func() (err error) {
		out, err = c.handle(ctx, events.SQSEvent{Records: batch})
		return err
	})
	if err != nil {
		slog.Error("a batch failed", "queue", c.queue.name, "error", err)
		return
	}
	c.queue.finish(batch, out)
}

// one passes the first record to its reader, and reports whether the reader took it.
func (s *stream) one(ctx context.Context,
	handle func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)) bool {
	s.mu.Lock()
	batch := s.records[:min(1, len(s.records)):min(1, len(s.records))]
	s.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	var out events.DynamoDBEventResponse
	err := guarded(func() (err error) {
		out, err = handle(ctx, events.DynamoDBEvent{Records: batch})
		return err
	})
	if err != nil || len(out.BatchItemFailures) > 0 {
		slog.Error("a record of a stream comes again", "table", s.table, "error", err)
		return false
	}
	s.taken(batch)
	return true
}

// Now returns the time of the service's clock.
func (s *Service) Now() time.Time { return s.now() }

// consume has the messages of a queue passed to their function: in the lane, or by a worker of their own.
func (s *Service) consume(ctx context.Context, f topology.Function, name topology.Queue, handle worker.Consumer) {
	if s.lane != nil {
		s.lane.takers = append(s.lane.takers, taker{s.queues[name], f.Timeout, handle})
		return
	}
	s.running.Go(func() { s.queues[name].consume(ctx, f, s.slots(f), handle) })
}

// follow has the records of a table passed to their reader: in the lane, or by a worker of their own.
func (s *Service) follow(ctx context.Context, table string, f topology.Function, window time.Duration,
	handle func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)) {
	if s.lane != nil {
		s.lane.followers = append(s.lane.followers, follower{s.tables.streams[table], handle})
		return
	}
	s.running.Go(func() { s.tables.streams[table].read(ctx, f.Batch, window, f.Timeout, handle) })
}

// caller returns a client that calls receivers. In a lane, it lets other calls pass a receiver that does not answer.
func (s *Service) caller(to webhook.Caller) webhook.Caller {
	if s.lane == nil {
		return to
	}
	return patient{to, s.lane}
}

// patient is the client of a lane.
type patient struct {
	webhook.Caller
	lane *lane
}

// Do implements webhook.Caller.
func (p patient) Do(req *http.Request) (resp *http.Response, err error) {
	p.lane.away.Lock()
	defer p.lane.away.Unlock()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		resp, err = p.Caller.Do(req)
	}()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case <-answered:
	case <-wait.C:
		p.lane.passed = true
		p.lane.turn.Unlock()
		<-answered
		p.lane.turn.Lock()
		p.lane.passed = false
	}
	return resp, err
}
