package generate

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/task"
)

// pace returns the time until the current call may be submitted: its provider may be turned off, which waits as a
// throttled call does, or have a limit, which gives each submission a time. A later time puts off the deadline, too.
// Work of a sandbox calls no provider.
func (w *Worker) pace(ctx context.Context, t *turn) (time.Duration, error) {
	c, now := t.call(), w.Now()
	if t.Mode != tenant.Live {
		return 0, nil
	}
	state, err := pace.Of(t.providers)
	if err != nil {
		return 0, err
	}
	if state.IsOff(c.Provider, c.Model) {
		return 0, &provider.Error{Kind: provider.Transient, Code: provider.CodeBusy,
			Message: "The provider is turned off at the moment."}
	}
	name := state.Limited(c.Provider, c.Model)
	if name == "" {
		return 0, nil
	}
	if c.Slot.IsZero() {
		if c.Slot, err = state.Take(ctx, w.DB, name, now, backoff.Chance()); err != nil {
			return 0, err
		}
	}
	wait := c.Slot.Sub(now)
	if wait <= 0 {
		c.Slot = time.Time{} // a further submission takes a place, too
	}
	return wait, nil
}

// postpone returns the outcome of a step that submits the current call after a wait.
func postpone(t *turn, wait time.Duration) task.Outcome {
	return task.Outcome{Wait: wait, Deadline: t.Deadline.Add(wait)}
}

// ProviderFailed is the metric of live calls of a provider: 1 for one that failed because of the provider or of the
// service's account there, and 0 for one that did not. Its dimension is the name of the provider.
const ProviderFailed = "ProviderFailed"

// observe counts a call of the provider of the current c.
func (t *turn) observe(cause error) {
	if t.Mode != tenant.Live || t.call().Provider == "" {
		return
	}
	var e *provider.Error
	failed := int64(0)
	switch {
	case cause == nil:
	case !errors.As(cause, &e) || e.Throttled():
		return // it tells nothing about the provider
	case e.Kind == provider.Transient || e.Kind == provider.Quota || e.Kind == provider.UnknownOutcome:
		failed = 1
	}
	metric.Measure(ProviderFailed, "provider", t.call().Provider, failed)
}

// retryOff is the time after which a caller may ask again for work of a provider that is turned off.
const retryOff = 5 * time.Minute

// target is a provider and a model for which calls wait.
type target struct {
	provider, model string
	kind            provider.Kind
}

// room refuses work that waits too long for a provider: one that is turned off, or that has so many calls before it
// that a part could not be submitted within its time.
func room(state pace.State, now time.Time, orders ...Order) error {
	calls := map[target]int{}
	for _, o := range orders {
		for _, p := range o.Parts {
			for _, c := range p.Calls() {
				if o.Mode == tenant.Live && p.Reuse == nil && c.Provider != "" {
					calls[target{c.Provider, c.Model, p.Kind}]++
				}
			}
		}
	}
	for c, n := range calls {
		if state.IsOff(c.provider, c.model) {
			off := errs.New(errs.ProviderUnavailable, "The provider of the model %s is turned off at the moment. "+
				"Choose another model, or try again later. Nothing was created or spent.", c.model)
			off.RetryAfter = retryOff
			return off
		}
		may := kinds[c.kind].deadline
		if late := state.Delay(c.provider, c.model, n, now) - may; late > 0 {
			full := errs.New(errs.QueueFull, "The provider of the model %s has so many requests to answer that this "+
				"one would wait longer than %d minutes. Choose another model, or try again later. Nothing was "+
				"created or spent.", c.model, int(may.Minutes()))
			full.RetryAfter = late.Truncate(time.Second) + time.Second
			return full
		}
	}
	return nil
}
