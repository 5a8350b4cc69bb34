package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/backoff"
)

// BatchSize is the most entries that one call to SQS or EventBridge takes.
const BatchSize = 10

// tries bounds the attempts for an entry that is refused for a transient reason.
const tries = 4

// The back-off between attempts.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// Refused is the error of one entry that the service refused in a successful call.
type Refused struct {
	Code, Message string
	// Final says that the entry itself is invalid: a retry is useless.
	Final bool
}

// Error returns the service's code and message.
func (e *Refused) Error() string { return fmt.Sprintf("queue: refused: %s: %s", e.Code, e.Message) }

// InBatches sends count entries by calls of send, each with the indexes of at most BatchSize of them. Send returns the
// error of each entry, in the order of the batch, or one error for the whole call. InBatches retries entries that were
// refused for a transient reason. It does not retry a failed call: the SDK has done so. It returns the last error of
// each entry, nil for those that were accepted.
func InBatches(ctx context.Context, count int, send func(ctx context.Context, batch []int) ([]error, error)) []error {
	result := make([]error, count)
	left := make([]int, count)
	for i := range left {
		left[i] = i
	}
	for try := 0; len(left) > 0 && try < tries; try++ {
		if err := backoff.Wait(ctx, try, firstPause, longestPause); err != nil {
			return ended(result, left, err)
		}
		var again []int
		for len(left) > 0 {
			batch := left[:min(BatchSize, len(left))]
			left = left[len(batch):]
			failed, err := send(ctx, batch)
			for i, entry := range batch {
				result[entry] = err
				if err == nil {
					result[entry] = failed[i]
				}
				var refused *Refused
				if errors.As(result[entry], &refused) && !refused.Final {
					again = append(again, entry)
				}
			}
		}
		left = again
	}
	return result
}

// ended adds the context's error to those of the entries that are left.
func ended(result []error, left []int, err error) []error {
	for _, entry := range left {
		result[entry] = errors.Join(result[entry], err)
	}
	return result
}
