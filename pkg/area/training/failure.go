package training

import (
	"cmp"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/task"
)

// FailureCode is the code of a failed training, as callers see it.
type FailureCode string

// The codes that a training can fail with.
const (
	FailedTraining    FailureCode = "training_failed"
	FailedRefused     FailureCode = "training_refused"
	FailedSamples     FailureCode = "not_enough_samples"
	FailedUnavailable FailureCode = "provider_unavailable"
	FailedTimeout     FailureCode = "timeout"
)

// failures are the failures by their codes.
var failures = map[FailureCode]Failure{
	FailedTraining: {FailedTraining, "The provider could not train the model. Nothing was charged. Start another " +
		"training, perhaps with another base model.", true},
	FailedRefused: {FailedRefused, "The provider refuses the training. Nothing was charged. Choose another base " +
		"model, or contact support.", false},
	FailedSamples: {FailedSamples, "Content items were deleted since the training was started, and too few are " +
		"left. Nothing was charged. Start another training once the factory has more content.", false},
	FailedUnavailable: {FailedUnavailable, "The provider could not be reached after several attempts. Nothing was " +
		"charged. Start another training.", true},
	FailedTimeout: {FailedTimeout, "The training took longer than 48 hours and was stopped. Nothing was charged. " +
		"Start another training.", true},
}

// failed is the error of a step that the training fails with.
type failed struct {
	code  FailureCode
	cause error
}

func (f *failed) Error() string {
	if f.cause == nil {
		return string(f.code)
	}
	return string(f.code) + ": " + f.cause.Error()
}
func (f *failed) Unwrap() error { return f.cause }

func fail(code FailureCode, cause error) error { return task.Permanent(&failed{code, cause}) }

// failureOf returns why a training fails, by the error that ends its task.
func failureOf(cause error) Failure {
	var f *failed
	switch {
	case errors.As(cause, &f):
		return failures[f.code]
	case errors.Is(cause, task.ErrDeaths):
		return failures[FailedTraining]
	case errors.Is(cause, task.ErrDeadline):
		return failures[FailedTimeout]
	default:
		return failures[FailedUnavailable]
	}
}

// longestRetryAfter bounds the wait that a provider may ask for.
const longestRetryAfter = 10 * time.Minute

// quotaWait is the wait after the provider's quota is used up.
const quotaWait = 10 * time.Minute

// classify wraps the error of a call of the provider in one that decides what follows.
// Calls that may succeed later are tried until the deadline: every call is idempotent.
func classify(cause error) error {
	var e *provider.Error
	if !errors.As(cause, &e) {
		return cause
	}
	switch e.Kind {
	case provider.BadInput, provider.Rejected:
		return fail(FailedRefused, cause)
	case provider.Quota:
		return &task.RetryError{Err: cause, After: task.Jitter(cmp.Or(min(e.RetryAfter, longestRetryAfter), quotaWait)),
			Most: task.NoLimit}
	default:
		return &task.RetryError{Err: cause, After: min(e.RetryAfter, longestRetryAfter), Most: task.NoLimit}
	}
}
