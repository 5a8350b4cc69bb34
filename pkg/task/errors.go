package task

import (
	"errors"
	"math"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

// ErrDeadline is the cause of the failure of a task that was not done in time.
var ErrDeadline = errors.New("task: the deadline has passed")

// ErrMoved reports that a task has moved on without this step's outcome: another
// delivery of the message has taken the step, or the task was canceled.
var ErrMoved = errors.New("task: the task has moved on")

// ErrOrphaned reports that the subject of a task does not wait for it although it was not canceled. Only a defect of
// this service leads to it. The task ends, and the kernel logs it.
var ErrOrphaned = errors.New("task: the subject does not wait for the task")

// ErrDeaths is the cause of the failure of a task of whose step several functions have died; see Step.Guard.
var ErrDeaths = errors.New("task: functions keep dying of the step")

// MostDeaths is the number of functions that may die of a step that reads bytes of others.
const MostDeaths = 3

// maxFailures bounds the attempts at a step whose error sets no bound of its own.
const maxFailures = 8

// NoLimit is the value of RetryError.Most for a step that is tried until it succeeds.
const NoLimit = math.MaxInt

// RetryError is an error of a step that says when the step is to be tried again.
type RetryError struct {
	Err error
	// After is the shortest wait before the next attempt. With 0 the usual back-off applies.
	After time.Duration
	// Most is the number of failures in a row that ends the task. 0 means maxFailures.
	Most int
}

// Error returns the text of the cause.
func (e *RetryError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *RetryError) Unwrap() error { return e.Err }

// Again marks an error of a step: the kernel repeats the step until it succeeds. It returns nil, and an error that says
// itself when the step is repeated, as they are.
func Again(err error) error {
	var retry *RetryError
	if err == nil || errors.As(err, &retry) {
		return err
	}
	return &RetryError{Err: err, Most: NoLimit}
}

// PermanentError is an error of a step that a retry cannot fix. The task fails with it.
type PermanentError struct{ Err error }

// Error returns the text of the cause.
func (e *PermanentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PermanentError) Unwrap() error { return e.Err }

// Permanent marks an error as one that a retry cannot fix.
func Permanent(err error) error { return &PermanentError{err} }

// Throttled reports whether the other side of a call has refused it only because it gets too many calls: the cause of
// the error has a method Throttled that returns true. Such a step is tried again until its deadline, and does not count
// as failed.
func Throttled(err error) bool {
	var t interface{ Throttled() bool }
	return errors.As(err, &t) && t.Throttled()
}

// classify returns the wait before the next attempt at a step that has failed, and the number of times that it has
// failed in a row, or reports that the task fails. The argument age is the time since the task was created.
func classify(err error, failed int, age time.Duration, chance float64) (wait time.Duration, failures int, final bool) {
	var permanent *PermanentError
	if errors.As(err, &permanent) {
		return 0, failed, true
	}
	var retry *RetryError
	asked := errors.As(err, &retry)
	if Throttled(err) {
		wait = throttlePause(age, chance)
		if asked {
			wait = max(wait, retry.After)
		}
		return wait, failed, false
	}
	failures = failed + 1
	most, wait := maxFailures, pause(failures, chance)
	if asked {
		wait = max(wait, retry.After)
		if retry.Most > 0 {
			most = retry.Most
		}
	}
	return wait, failures, failures >= most
}

// throttlePause is the back-off after a call was throttled. Its jitter is as long as the wait: tasks that were
// throttled together come back one by one. It grows with the age of the task.
func throttlePause(age time.Duration, chance float64) time.Duration {
	const least, longest = 5 * time.Second, time.Minute
	return time.Second + time.Duration(float64(min(max(age/2, least), longest))*chance)
}

// pause is the back-off after the n-th failure in a row, with jitter.
func pause(n int, chance float64) time.Duration {
	const first, longest = 2 * time.Second, time.Minute
	return spread(min(first<<min(n-1, 10), longest), chance)
}

// Jitter spreads a wait over 80 to 120 percent, so that steps that failed together are not retried together.
func Jitter(d time.Duration) time.Duration { return spread(d, backoff.Chance()) }

func spread(d time.Duration, chance float64) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*chance))
}
