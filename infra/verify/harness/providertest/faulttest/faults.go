// Package faulttest has the faults that every adapter of an asynchronous provider must
// classify correctly, for the conformance suite.
package faulttest

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/testdata/providers/control"
)

// Async is a provider whose work is submitted, polled and fetched.
type Async struct {
	Control *control.Control
	Name    string
	Request provider.Request
	Advance func(time.Duration)
	// Result is the operation that Fetch calls: control.Result, or control.Status if the
	// provider has one address for both.
	Result string
}

const retryAfter = 7 * time.Second

// Faults returns the faults, with the errors that an adapter must return.
func (a Async) Faults() []providertest.Fault {
	var faults []providertest.Fault
	add := func(operation string, f control.Fault, call func(context.Context, provider.Provider) error,
		want provider.ErrorKind) {
		fault := providertest.Fault{
			Name:    fmt.Sprintf("%s at %s %d", f.Kind, operation, f.Status),
			Arrange: func(*testing.T) { a.Control.Queue(a.Name, operation, f) },
			Call:    call, Want: want,
		}
		if f.Kind == control.RateLimited && f.Seconds > 0 {
			fault.After = time.Duration(f.Seconds) * time.Second
		}
		faults = append(faults, fault)
	}
	limited := control.Fault{Kind: control.RateLimited, Seconds: retryAfter.Seconds()}
	down := func(status int) control.Fault { return control.Fault{Kind: control.ServerError, Status: status} }

	add(control.Submit, limited, a.submit(0), provider.Transient)
	add(control.Submit, control.Fault{Kind: control.RateLimited}, a.submit(0), provider.Transient)
	add(control.Submit, control.Fault{Kind: control.RateLimited, Seconds: 7200}, a.submit(0), provider.Quota)
	for status, want := range map[int]provider.ErrorKind{
		http.StatusPaymentRequired: provider.Quota, http.StatusUnauthorized: provider.Quota,
		http.StatusBadRequest:          provider.BadInput,
		http.StatusUnprocessableEntity: provider.BadInput, http.StatusRequestTimeout: provider.Transient,
		http.StatusInternalServerError: provider.Transient, http.StatusBadGateway: provider.Transient,
		http.StatusServiceUnavailable: provider.Transient, http.StatusGatewayTimeout: provider.Transient,
	} {
		add(control.Submit, down(status), a.submit(0), want)
	}
	add(control.Submit, control.Fault{Kind: control.Garbage}, a.submit(1), provider.UnknownOutcome)
	// The caller cannot know whether the request was accepted.
	add(control.Submit, control.Fault{Kind: control.Drop}, a.submit(0), provider.UnknownOutcome)
	add(control.Submit, control.Fault{Kind: control.DropAfterAccept}, a.submit(1), provider.UnknownOutcome)
	add(control.Submit, control.Fault{Kind: control.Slow, Seconds: 60}, impatient(a.submit(0)), provider.UnknownOutcome)
	add(control.Submit, control.Fault{Kind: control.JobFailed}, a.fetch(true), provider.Rejected)

	for operation, call := range map[string]func(context.Context, provider.Provider) error{
		control.Status: a.poll, a.Result: a.fetch(false), control.Cancel: a.cancel, control.Media: a.open,
	} {
		if operation != control.Media {
			add(operation, limited, call, provider.Transient)
		}
		add(operation, down(http.StatusInternalServerError), call, provider.Transient)
		add(operation, down(http.StatusBadGateway), call, provider.Transient)
		add(operation, control.Fault{Kind: control.Drop}, call, provider.Transient)
		if operation == control.Status || operation == a.Result {
			add(operation, control.Fault{Kind: control.Garbage}, call, provider.Transient)
			add(operation, control.Fault{Kind: control.DropAfterAccept}, call, provider.Transient)
			add(operation, control.Fault{Kind: control.Slow, Seconds: 60}, impatient(call), provider.Transient)
		}
	}
	for _, status := range []int{http.StatusForbidden, http.StatusNotFound, http.StatusGone} {
		add(control.Media, control.Fault{Kind: control.ResultExpired, Status: status}, a.open, provider.Rejected)
	}
	return faults
}

// submit submits, and checks how often the fake accepted it.
func (a Async) submit(accepted int) func(context.Context, provider.Provider) error {
	return func(ctx context.Context, p provider.Provider) error {
		before := len(a.Control.Accepted())
		_, err := p.Submit(ctx, a.Request)
		if n := len(a.Control.Accepted()) - before; n != accepted {
			return fmt.Errorf("accepted %d times, want %d: %w", n, accepted, err)
		}
		return err
	}
}

func (a Async) poll(ctx context.Context, p provider.Provider) error {
	h, err := a.started(ctx, p)
	if err != nil {
		return err
	}
	_, err = p.Poll(ctx, h)
	return err
}

// fetch fetches the result of ended work. If polled, it reads the state first.
func (a Async) fetch(polled bool) func(context.Context, provider.Provider) error {
	return func(ctx context.Context, p provider.Provider) error {
		h, err := a.started(ctx, p)
		if err != nil {
			return err
		}
		a.Advance(time.Hour)
		if polled {
			if status, err := p.Poll(ctx, h); err != nil || status.State != provider.Failed || status.Failure == nil {
				return fmt.Errorf("polled as %+v: %w", status, err)
			}
		}
		_, err = p.Fetch(ctx, h)
		return err
	}
}

func (a Async) cancel(ctx context.Context, p provider.Provider) error {
	h, err := a.started(ctx, p)
	if err != nil {
		return err
	}
	return p.Cancel(ctx, h)
}

// open reads a file of a result.
func (a Async) open(ctx context.Context, p provider.Provider) error {
	h, err := a.started(ctx, p)
	if err != nil {
		return err
	}
	a.Advance(time.Minute)
	result, err := p.Fetch(ctx, h)
	if err != nil {
		return err
	}
	r, err := result.Media[0].Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.ReadAll(r)
	return err
}

func (a Async) started(ctx context.Context, p provider.Provider) (provider.Handle, error) {
	submission, err := p.Submit(ctx, a.Request)
	if err != nil {
		return "", fmt.Errorf("submit: %v", err) // Without its kind, which could equal the expected one.
	}
	return submission.Handle, nil
}

// impatient makes the call with a short deadline.
func impatient(call func(context.Context, provider.Provider) error) func(context.Context, provider.Provider) error {
	return func(ctx context.Context, p provider.Provider) error {
		ctx, cancel := context.WithTimeout(ctx, 250*time.Millisecond)
		defer cancel()
		return call(ctx, p)
	}
}
