package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/metric"
	"github.com/content-automation/api/pkg/provider"
)

// How often a step may fail in a row, by the kind of its error, before the work
// fails for it. The deadline bounds all of them, too.
const (
	maxTransient = 8
	maxQuota     = 12
	// A lost answer may have made a generation that we pay for, so it is asked for
	// only so often.
	maxLost = 3
)

// longestRetryAfter bounds what a provider may ask us to wait.
const longestRetryAfter = 10 * time.Minute

// judge decides what becomes of a run after a step of part n failed: another try
// after a wait, or its end. A failed try is written to the run as a step is.
func (w *Worker) judge(ctx context.Context, t *turn, n int, cause error) (*job.Next, error) {
	fresh, err := w.read(ctx, t.run.ID)
	if err != nil {
		return nil, errors.Join(err, cause)
	}
	if fresh == nil || fresh.item.Version != t.item.Version {
		return nil, errMoved
	}
	r := &fresh.run
	r.Failures++
	wait, f := verdict(r, n, cause)
	if f != nil {
		return nil, w.fail(ctx, fresh, *f, cause)
	}
	slog.Warn("step failed", "run", r.ID, "part", n, "failures", r.Failures, "wait", wait.String(), "error", cause)
	r.advance(w.now(), wait)
	if err := w.save(ctx, fresh, running, nil); err != nil {
		return nil, err
	}
	return fresh.next(w.now()), nil
}

// lost notes that the answer to a submission of part n was lost.
func (r *run) lost(n int) {
	r.Parts[n].Lost++
	metric.Count("LostSubmissions", "provider", r.Parts[n].Provider)
}

// verdict is what follows a failed step: a wait before the next try, or the
// failure that the work ends with.
func verdict(r *run, n int, cause error) (wait time.Duration, f *Failure) {
	unavailable := &Failure{Code: string(errs.ProviderUnavailable), Message: "The provider could not be reached, also after several tries. Nothing was charged; try again later or choose another model.", Retryable: true}
	var e *provider.Error
	if !errors.As(cause, &e) {
		if errs.CodeOf(cause) == errs.UnsupportedMedia {
			return 0, &Failure{Code: string(errs.UnsupportedMedia), Message: "The provider's result could not be read. Nothing was charged; try again.", Retryable: true}
		}
		e = &provider.Error{Kind: provider.Transient, Cause: cause}
	}
	switch e.Kind {
	case provider.BadInput, provider.Rejected:
		advice := " Nothing was charged; change what you ask for, or choose another model."
		if e.Kind == provider.Rejected && e.Code != provider.CodeContentPolicy {
			advice = " Nothing was charged; try again, perhaps with another model."
		}
		return 0, &Failure{Code: e.Code, Message: e.Message + advice, Retryable: e.Kind == provider.Rejected}
	case provider.UnknownOutcome:
		if r.lost(n); r.Parts[n].Lost >= maxLost {
			return 0, unavailable
		}
	case provider.Quota:
		if r.Failures >= maxQuota {
			return 0, unavailable
		}
		if e.RetryAfter == 0 {
			return jitter(time.Minute), nil
		}
	default:
		if r.Failures >= maxTransient {
			return 0, unavailable
		}
	}
	return max(pause(r.Failures), min(e.RetryAfter, longestRetryAfter)), nil
}
