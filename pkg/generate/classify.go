package generate

import (
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/task"
)

// The number of times in a row that a step may fail because a provider refuses it for its quota, and the number of lost
// answers to submissions of a part: each may have started a generation that we pay for. The deadline bounds both, too.
const (
	maxQuota = 12
	maxLost  = 3
)

// longestRetryAfter bounds the wait that a provider may request.
const longestRetryAfter = 10 * time.Minute

// stepError is the error of a step that makes the work fail.
type stepError struct {
	Failure
	cause error
}

func (f *stepError) Error() string { return string(f.Code) + ": " + f.cause.Error() }
func (f *stepError) Unwrap() error { return f.cause }

var unavailable = Failure{
	Code: provider.FailedProviderUnavailable,
	Message: "The provider could not be reached after several attempts. Nothing was charged. Try again, perhaps " +
		"with another model.",
	Retryable: true,
}

// unanswered reports whether the answer to a submission was lost.
func unanswered(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && e.Kind == provider.UnknownOutcome
}

// refused reports whether the provider has refused or failed a generation.
func refused(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && (e.Kind == provider.BadInput || e.Kind == provider.Rejected)
}

// unknownModel reports whether a provider has refused a request because it does not have the model.
func unknownModel(cause error) bool {
	var e *provider.Error
	return errors.As(cause, &e) && e.Kind == provider.BadInput && provider.FailureCode(e.Code) == provider.FailedModel
}

// failureOf returns the failure of the work for the error that ends its task.
func failureOf(cause error) Failure {
	var f *stepError
	switch {
	case errors.As(cause, &f):
		return f.Failure
	case errors.Is(cause, task.ErrDeadline):
		return Failure{Code: provider.FailedTimeout, Message: "The work took too long. Nothing was charged. Try " +
			"again, perhaps with another model.", Retryable: true}
	default:
		return unavailable
	}
}

// classify turns the error of a step into one that decides how to continue: by another attempt after a wait,
// or by failing the work.
func classify(t *turn, cause error) error {
	final := func(f Failure) error { return task.Permanent(&stepError{f, cause}) }
	if t.Parts[t.n].Kind.Finishes() {
		return classifyComposition(cause)
	}
	if errors.Is(cause, task.ErrDeaths) {
		return final(Failure{Code: provider.FailedSources, Message: "The sources of the factory could not be read: " +
			"what one of them has ended the work three times. Nothing was charged. Remove that source, and try again."})
	}
	var e *provider.Error
	if !errors.As(cause, &e) {
		if errs.CodeOf(cause) == errs.UnsupportedMedia {
			return final(Failure{Code: provider.FailedUnsupportedMedia,
				Message: "The provider's result could not be read. Nothing was charged. Try again, perhaps with " +
					"another model.", Retryable: true})
		}
		return cause
	}
	retry := &task.RetryError{Err: cause, After: min(e.RetryAfter, longestRetryAfter)}
	switch e.Kind {
	case provider.BadInput, provider.Rejected:
		advice := " Nothing was charged. Change the request, or choose another model."
		if e.Kind == provider.Rejected && e.Code != provider.CodeContentPolicy {
			advice = " Nothing was charged. Try again, perhaps with another model."
		}
		return final(Failure{Code: provider.FailureCode(e.Code), Message: e.Message + advice,
			Retryable: e.Kind == provider.Rejected})
	case provider.UnknownOutcome:
		if t.call().lose(); t.call().LostAnswers >= maxLost {
			return final(unavailable)
		}
	case provider.Quota:
		if retry.MaxFailures = maxQuota; e.RetryAfter == 0 {
			retry.After = task.Jitter(time.Minute)
		}
	}
	return retry
}
