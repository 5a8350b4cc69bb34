package queue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/backoff"
)

// BatchSize is how many entries one call takes, of SQS as of EventBridge.
const BatchSize = 10

// tries bounds how often an entry is sent that was refused for now.
const tries = 4

// The pauses between them.
const (
	firstPause   = 50 * time.Millisecond
	longestPause = 400 * time.Millisecond
)

// Refused tells that a call was answered but one of its entries was not taken.
type Refused struct {
	Code, Message string
	// Final says that the entry itself is at fault: sending it again is useless.
	Final bool
}

// Error returns what the service said.
func (e *Refused) Error() string { return fmt.Sprintf("queue: refused: %s: %s", e.Code, e.Message) }

// InBatches sends count entries by calls of send, each with the indexes of ten
// of them at most. Send returns an error for each entry that was not taken, at its
// place in the batch, or one error for the whole call. Entries that were refused
// for now are sent again; a whole call is not, since the SDK has repeated it. The
// result has at the place of each entry its last error, nil where it was taken.
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

// ended tells of the entries that are left that the context has ended.
func ended(result []error, left []int, err error) []error {
	for _, entry := range left {
		result[entry] = errors.Join(result[entry], err)
	}
	return result
}
