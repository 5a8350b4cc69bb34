package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"golang.org/x/sync/errgroup"

	"github.com/content-automation/api/pkg/store"
)

// call is a request that a function makes: a call of AWS, or a request to a receiver of webhooks.
type call struct {
	process
	operation string
	body      []byte
	// gone is closed when the caller no longer waits for a response.
	gone <-chan struct{}
}

// step is a point in a function's work: a call that it makes.
type step struct {
	function  string // any function if empty
	operation string // any call if empty
	with      string // a text that the body of the call contains
	process   int    // any process if 0
}

func (s step) of(c call) bool {
	return (s.function == "" || s.function == c.function) && (s.operation == "" || s.operation == c.operation) &&
		(s.process == 0 || s.process == c.pid()) && (s.with == "" || strings.Contains(readable(c.body), s.with))
}

// packed is a compressed document in a call of DynamoDB.
var packed = regexp.MustCompile(`"packed":(\{"B":"[^"]*"\})`)

// readable returns the body of a call with its documents uncompressed.
func readable(body []byte) string {
	return string(packed.ReplaceAllFunc(body, func(member []byte) []byte {
		var of struct{ B []byte }
		if err := json.Unmarshal(packed.FindSubmatch(member)[1], &of); err != nil {
			return member
		}
		doc, err := store.DeflateUnpack(of.B)
		if err != nil {
			return member
		}
		text, err := json.Marshal(map[string]string{"S": string(doc)})
		if err != nil {
			return member
		}
		return slices.Concat([]byte(`"doc":`), text)
	}))
}

// fault is applied to some of the calls that pass a gate.
type fault struct {
	// at are the calls that the fault applies to, or all calls if there are none.
	at []step
	// The fault lets skip calls through, and then applies to every n-th call, until it has happened as often as times
	// says. Both every and times default to 1, and a negative times sets no limit.
	skip, every, times int
	// do replaces the forwarding of the call. It may call pass to forward it, any number of times.
	do doing

	mu         sync.Mutex // the fault may be at several gates
	seen, hits int
}

// counts returns how many calls the fault has seen, and how many of them it has met.
func (f *fault) counts() (seen, hits int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen, f.hits
}

// due counts a call and reports whether the fault applies to it.
func (f *fault) due(c call) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.at) > 0 && !slices.ContainsFunc(f.at, func(s step) bool { return s.of(c) }) {
		return false
	}
	f.seen++
	if f.seen <= f.skip || (f.seen-f.skip-1)%max(f.every, 1) != 0 || f.times >= 0 && f.hits >= max(f.times, 1) {
		return false
	}
	f.hits++
	return true
}

// gate forwards calls to next and applies faults to them.
type gate struct {
	functions processes
	// operation returns the operation that a request calls.
	operation func(*http.Request) string
	next      http.Handler

	mu     sync.Mutex
	faults []*fault
	passed map[step]int
}

// add activates a fault. If several faults are due, the one that was added first happens.
func (g *gate) add(f *fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, f)
}

// remove deactivates a fault.
func (g *gate) remove(f *fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = slices.DeleteFunc(g.faults, func(other *fault) bool { return other == f })
}

// calls returns the number of calls that have passed, by function and operation.
func (g *gate) calls() map[step]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.passed)
}

// meet counts a call and returns the fault that applies to it, or nil if there is none.
func (g *gate) meet(c call) *fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.passed == nil {
		g.passed = map[step]int{}
	}
	g.passed[step{function: c.function, operation: c.operation}]++
	for _, f := range g.faults {
		if f.due(c) {
			return f
		}
	}
	return nil
}

// ServeHTTP forwards a call or applies a fault to it.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	pass := func(w http.ResponseWriter) {
		// A request that was sent arrives even if its sender has died.
		again := r.Clone(context.WithoutCancel(r.Context()))
		again.Body = io.NopCloser(bytes.NewReader(body))
		again.ContentLength, again.TransferEncoding = int64(len(body)), nil
		g.next.ServeHTTP(w, again)
	}
	c := call{operation: g.operation(r), body: body, gone: r.Context().Done()}
	if s, ok := r.Context().Value(senderKey{}).(*sender); ok {
		c.process = s.process()
	}
	if f := g.meet(c); f != nil {
		f.do(c, w, pass)
		return
	}
	pass(w)
}

// server returns the server of the gate.
func (g *gate) server() *http.Server {
	return &http.Server{
		Handler: g, ReadHeaderTimeout: 30 * time.Second,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, senderKey{}, &sender{process: sync.OnceValue(func() process {
				p, _ := g.functions.behind(conn) // the zero process if the connection belongs to no function
				return p
			})})
		},
	}
}

// sender returns the process at the other end of a connection.
type sender struct{ process func() process }

type senderKey struct{}

// writes are the calls that change a table.
var writes = []step{
	{operation: "PutItem"}, {operation: "UpdateItem"}, {operation: "DeleteItem"},
	{operation: "TransactWriteItems"}, {operation: "BatchWriteItem"},
}

// sends are the calls that send messages or events.
var sends = []step{{operation: "SendMessageBatch"}, {operation: "SendMessage"}, {operation: "PutEvents"}}

// doing is the effect of a fault on a call.
type doing = func(c call, w http.ResponseWriter, pass func(http.ResponseWriter))

// nobody returns the writer of a response that is lost.
func nobody() http.ResponseWriter { return httptest.NewRecorder() }

// killBefore kills the function before its call is carried out.
func killBefore(c call, _ http.ResponseWriter, _ func(http.ResponseWriter)) {
	_ = c.kill() // the function may have ended by itself
	panic(http.ErrAbortHandler)
}

// killAfter kills the function after its call is carried out, before the response arrives.
func killAfter(c call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	_ = c.kill()
	panic(http.ErrAbortHandler)
}

// loseAnswer carries the call out and closes the connection without a response.
func loseAnswer(_ call, _ http.ResponseWriter, pass func(http.ResponseWriter)) {
	pass(nobody())
	panic(http.ErrAbortHandler)
}

// freeze stops the function for a time before its call is carried out, and then lets it continue. If the function
// has ended in that time, the call is still carried out.
func freeze(d time.Duration) doing {
	return func(c call, w http.ResponseWriter, pass func(http.ResponseWriter)) {
		_ = c.stop() // the function may have ended by itself
		<-time.After(d)
		_ = c.resume()
		pass(w)
	}
}

// receipt records the receptions of one webhook.
type receipt struct {
	event, subject string
	happened       time.Time // when the event happened
	first          time.Time // when it first arrived
	times          int
}

// mailbox is a receiver of one webhook's events, at a path of its own.
type mailbox struct {
	url      string
	verifier *standardwebhooks.Webhook

	mu       sync.Mutex
	receipts map[string]*receipt // by webhook-id
	bad      error
}

// take records a webhook that has arrived.
func (m *mailbox) take(header http.Header, body []byte, at time.Time) {
	var event struct {
		ID        string    `json:"id"`
		CreatedAt time.Time `json:"created_at"`
		Data      struct {
			Object struct {
				ID string `json:"id"`
			} `json:"object"`
		} `json:"data"`
	}
	err := json.Unmarshal(body, &event)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		err = m.verifier.Verify(body, header)
	}
	id := header.Get("webhook-id")
	if err == nil && id != event.ID {
		err = fmt.Errorf("the webhook-id is %q, that of the event %q", id, event.ID)
	}
	if err != nil {
		m.bad = errors.Join(m.bad, err)
		return
	}
	if m.receipts[id] == nil {
		m.receipts[id] = &receipt{event: id, subject: event.Data.Object.ID, happened: event.CreatedAt, first: at}
	}
	m.receipts[id].times++
}

// all returns the receipts so far, and an error if some webhook was not valid.
func (m *mailbox) all() ([]receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]receipt, 0, len(m.receipts))
	for _, r := range m.receipts {
		all = append(all, *r)
	}
	return all, m.bad
}

// receiving names a request to a receiver among the operations of AWS.
const receiving = "POST to the receiver"

// receiver takes webhooks on loopback for any number of mailboxes.
type receiver struct {
	gate
	address string
	server  *http.Server

	opening sync.Mutex
	boxes   map[string]*mailbox // by path
}

// newReceiver serves a receiver for the functions that find AWS at the given address.
func newReceiver(ctx context.Context, endpoint string) (*receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{address: "http://" + listener.Addr().String(), boxes: map[string]*mailbox{}}
	r.functions = processes{endpoint: endpoint, proc: "/proc"}
	r.operation = func(*http.Request) string { return receiving }
	r.next = http.HandlerFunc(r.receive)
	r.server = r.gate.server()
	go func() { _ = r.server.Serve(listener) }() // returns ErrServerClosed, when closed
	return r, nil
}

// open creates a mailbox with the given name.
func (r *receiver) open(name string) *mailbox {
	r.opening.Lock()
	defer r.opening.Unlock()
	m := &mailbox{url: r.address + "/" + name, receipts: map[string]*receipt{}}
	r.boxes["/"+name] = m
	return m
}

// sign sets the secret by which a mailbox verifies. The secret comes with the webhook, whose creation needs the
// mailbox's address.
func (m *mailbox) sign(secret string) error {
	verifier, err := standardwebhooks.NewWebhook(secret)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.verifier = verifier
	return err
}

func (r *receiver) receive(w http.ResponseWriter, req *http.Request) {
	at := time.Now()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender has gone
	}
	r.opening.Lock()
	box := r.boxes[req.URL.Path]
	r.opening.Unlock()
	if box == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	box.take(req.Header, body, at)
	w.WriteHeader(http.StatusNoContent)
}

// Close stops the receiver.
func (r *receiver) Close() error { return r.server.Close() }

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
