// Package control makes the fakes of providers fail. All fakes of a process share one Control.
// Tests and a reliability harness queue faults for the operations of a provider, and read the
// submissions that the fakes have accepted, in the process or over HTTP.
package control

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The operations for which faults can be queued. Not every provider has all of them.
const (
	Submit = "submit"
	Status = "status"
	Result = "result"
	Media  = "media"
	Cancel = "cancel"
	Guard  = "guard" // the moderation of a text
)

// Kind is a way to fail.
type Kind string

// The ways to fail.
const (
	// RateLimited answers 429, with a Retry-After of Seconds if that is above 0.
	RateLimited Kind = "rate_limited"
	// ServerError answers with Status, 503 if that is 0.
	ServerError Kind = "server_error"
	// Slow waits for Seconds, or until the caller has gone, and then answers normally.
	Slow Kind = "slow"
	// Garbage executes the call, and answers 200 with an unreadable body.
	Garbage Kind = "garbage"
	// Drop closes the connection without executing the call.
	Drop Kind = "drop"
	// DropAfterAccept executes the call, and closes the connection without a response.
	DropAfterAccept Kind = "drop_after_accept"
	// JobFailed accepts a submission whose work fails. It is for Submit.
	JobFailed Kind = "job_failed"
	// ResultExpired answers 404, or Status, as if the result had been removed.
	ResultExpired Kind = "result_expired"
)

var kinds = []Kind{RateLimited, ServerError, Slow, Garbage, Drop, DropAfterAccept, JobFailed, ResultExpired}

// maxBody is the greatest size of a request that is kept for a Slow fault or for Match.
const maxBody = 16 << 20

// Fault is a failure of the next calls of an operation.
type Fault struct {
	Kind    Kind    `json:"kind"`
	Status  int     `json:"status,omitempty"`
	Seconds float64 `json:"seconds,omitempty"`
	Times   int     `json:"times,omitempty"` // number of calls; 0 means 1

	// Match limits the fault to calls about a text: those whose body contains it, or whose path contains the id of an
	// accepted submission with such a prompt. Other calls pass the fault by.
	Match string `json:"match,omitempty"`
}

// Acceptance is an accepted submission, which costs money from then on.
type Acceptance struct {
	Provider    string         `json:"provider"`
	Operation   string         `json:"operation"`
	ID          string         `json:"id,omitempty"` // the fake's id of the work
	Model       string         `json:"model,omitempty"`
	ClientToken string         `json:"client_token,omitempty"` // if the protocol has one
	Prompt      string         `json:"prompt,omitempty"`
	Input       map[string]any `json:"input,omitempty"` // the complete input
}

// Control queues faults and logs acceptances. It is safe for concurrent use.
type Control struct {
	mu       sync.Mutex
	faults   map[place][]Fault
	accepted []Acceptance
}

// place is an operation of a provider.
type place struct{ provider, operation string }

// New makes a Control without faults.
func New() *Control { return &Control{faults: map[place][]Fault{}} }

// Queue adds faults for the next calls of an operation of a provider.
func (c *Control) Queue(provider, operation string, faults ...Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := place{provider, operation}
	c.faults[p] = append(c.faults[p], faults...)
}

// Reset removes all faults and acceptances.
func (c *Control) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.faults)
	c.accepted = nil
}

// Accept logs an accepted submission.
func (c *Control) Accept(a Acceptance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = append(c.accepted, a)
}

// Accepted returns the log, oldest first.
func (c *Control) Accepted() []Acceptance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.accepted)
}

// Count returns the number of accepted submissions with a prompt or a client token.
func (c *Control) Count(provider, promptOrToken string) (n int) {
	for _, a := range c.Accepted() {
		if a.Provider == provider && (a.Prompt == promptOrToken || a.ClientToken == promptOrToken) {
			n++
		}
	}
	return n
}

// next removes and returns the first fault of an operation that is for a call.
func (c *Control) next(provider, operation string, r *http.Request) (Fault, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := place{provider, operation}
	at := slices.IndexFunc(c.faults[p], func(f Fault) bool { return f.Match == "" || c.about(provider, f.Match, r) })
	if at < 0 {
		return Fault{}, false
	}
	f := c.faults[p][at]
	if c.faults[p][at].Times--; f.Times <= 1 {
		c.faults[p] = slices.Delete(c.faults[p], at, at+1)
	}
	return f, true
}

// about reports whether a call is about a text. It leaves the body to be read.
func (c *Control) about(provider, text string, r *http.Request) bool {
	if slices.ContainsFunc(c.accepted, func(a Acceptance) bool {
		return a.Provider == provider && a.ID != "" && strings.Contains(a.Prompt, text) &&
			strings.Contains(r.URL.Path, a.ID)
	}) {
		return true
	}
	read, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	r.Body = body{io.MultiReader(bytes.NewReader(read), r.Body), r.Body}
	return err == nil && bytes.Contains(read, []byte(text))
}

// body is the body of a request of which a part was read.
type body struct {
	io.Reader
	io.Closer
}

type failKey struct{}

// JobFails reports whether the work of this submission must fail.
func JobFails(ctx context.Context) bool { return ctx.Value(failKey{}) != nil }

// Handle returns h, an operation of a provider's fake, with the faults queued for it. A fake
// must check the credential before this handler.
func (c *Control) Handle(provider, operation string, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fault, ok := c.next(provider, operation, r)
		if !ok {
			h(w, r)
			return
		}
		switch fault.Kind {
		case RateLimited:
			if fault.Seconds > 0 {
				w.Header().Set("Retry-After", strconv.Itoa(int(fault.Seconds)))
			}
			refuse(w, http.StatusTooManyRequests)
		case ServerError:
			refuse(w, orElse(fault.Status, http.StatusServiceUnavailable))
		case ResultExpired:
			refuse(w, orElse(fault.Status, http.StatusNotFound))
		case Slow:
			// The server must read the body to notice that the caller has gone.
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
			if err != nil {
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			t := time.NewTimer(time.Duration(fault.Seconds * float64(time.Second)))
			defer t.Stop()
			select {
			case <-t.C:
				h(w, r)
			case <-r.Context().Done():
			}
		case Garbage:
			h(httptest.NewRecorder(), r)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{\"\x00<html>502")) // the caller may have gone
		case DropAfterAccept:
			h(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // closes the connection
		case Drop:
			panic(http.ErrAbortHandler)
		case JobFailed:
			h(w, r.WithContext(context.WithValue(r.Context(), failKey{}, true)))
		}
	}
}

func refuse(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"detail":"` + http.StatusText(status) + `"}`)) // the caller may have gone
}

func orElse(status, other int) int {
	if status == 0 {
		return other
	}
	return status
}
