package provider

import (
	"context"
	"time"
)

// Job is a generation as one look at it finds it.
type Job struct {
	State    State
	Progress int           // of one that runs
	Wait     time.Duration // until the next look at one that has not ended; 0 leaves it to the caller
	Failure  *Error        // why there is no result
	// Result reads the result. It is called only if the generation has succeeded.
	Result func() (Result, error)
}

// Jobs looks at a generation. It implements Poll and Fetch of a Provider, which embeds it.
type Jobs func(ctx context.Context, h Handle) (Job, error)

// Poll implements Provider.
func (look Jobs) Poll(ctx context.Context, h Handle) (Status, error) {
	j, err := look(ctx, h)
	if err != nil {
		return Status{}, err
	}
	if j.State == Succeeded {
		return Status{State: Succeeded, Progress: 100}, nil
	}
	return Status{State: j.State, Progress: j.Progress, Wait: j.Wait, Failure: j.Failure}, nil
}

// Fetch implements Provider.
func (look Jobs) Fetch(ctx context.Context, h Handle) (Result, error) {
	j, err := look(ctx, h)
	switch {
	case err != nil:
		return Result{}, err
	case j.State == Succeeded:
		return j.Result()
	case j.Failure != nil:
		return Result{}, j.Failure
	}
	return Result{}, NotReady(j.Wait)
}

// NotReady returns the error of Fetch for a generation that has not ended.
func NotReady(wait time.Duration) *Error {
	return &Error{Kind: Transient, Code: "not_ready", Message: "The generation has not ended.", RetryAfter: wait}
}
