package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

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
