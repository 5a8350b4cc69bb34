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

	"github.com/content-automation/api/pkg/store/deflate"
)

// call is one thing that a function is seen to do: a call of AWS, or a request to
// a receiver of webhooks.
type call struct {
	process
	operation string
	body      []byte
	// gone is closed when the caller waits for no answer any more.
	gone <-chan struct{}
}

// step is a place in a function's work: a call that it makes.
type step struct {
	function  string // empty: any function
	operation string // empty: any call
	with      string // what the body of the call contains
	process   int    // 0: any
}

func (s step) of(c call) bool {
	return (s.function == "" || s.function == c.function) && (s.operation == "" || s.operation == c.operation) &&
		(s.process == 0 || s.process == c.pid()) && (s.with == "" || strings.Contains(readable(c.body), s.with))
}

// packed is a compressed document in a call of DynamoDB.
var packed = regexp.MustCompile(`"packed":(\{"B":"[^"]*"\})`)

// readable returns the body of a call, with its documents as texts.
func readable(body []byte) string {
	return string(packed.ReplaceAllFunc(body, func(member []byte) []byte {
		var of struct{ B []byte }
		if err := json.Unmarshal(packed.FindSubmatch(member)[1], &of); err != nil {
			return member
		}
		doc, err := deflate.Unpack(of.B)
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

// fault is done to some of the calls that pass a gate.
type fault struct {
	// at are the calls that it may be done to; none: all.
	at []step
	// skip calls are let through first, and then every n-th one is met, as often as
	// times says; both are 1 where they are 0, but times below 0 means without end.
	skip, every, times int
	// do stands in for passing the call on, which pass does, as often as it likes.
	do doing

	mu         sync.Mutex // it may be at more than one gate
	seen, hits int
}

// due counts a call, and reports whether the fault meets it.
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

// gate is what calls pass on their way to next, and where faults meet them.
type gate struct {
	functions processes
	// operation names what a request asks for.
	operation func(*http.Request) string
	next      http.Handler

	mu     sync.Mutex
	faults []*fault
	passed map[step]int
}

// add lets a fault happen from now on. Of several that are due, the first added happens.
func (g *gate) add(f *fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, f)
}

// remove ends a fault.
func (g *gate) remove(f *fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = slices.DeleteFunc(g.faults, func(other *fault) bool { return other == f })
}

// calls returns how many calls have passed, by function and operation.
func (g *gate) calls() map[step]int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.passed)
}

// meet counts a call, and returns the fault that it meets, if any.
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

// ServeHTTP passes a call on, or does to it what a fault says.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller has gone
	}
	pass := func(w http.ResponseWriter) {
		// What was sent arrives, even where the sender has died meanwhile.
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

// server serves what passes the gate on loopback.
func (g *gate) server() *http.Server {
	return &http.Server{
		Handler: g, ReadHeaderTimeout: 30 * time.Second,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, senderKey{}, &sender{process: sync.OnceValue(func() process {
				p, _ := g.functions.behind(conn) // the zero process, where no function is behind it
				return p
			})})
		},
	}
}

// sender returns which function is behind a connection.
type sender struct{ process func() process }

type senderKey struct{}
