package chain

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/metric"
)

// StreamHandler is a handler of a stream. It returns the first record of a batch that must come
// again, with all later ones. Records that come again have no second effect.
type StreamHandler func(context.Context, events.DynamoDBEvent) (events.DynamoDBEventResponse, error)

// Follow returns a handler that calls others side by side with the same records. A failure of one does not keep the
// others from doing their work on the batch. The first record that one of them wants comes again to all.
func Follow(all ...StreamHandler) StreamHandler {
	return func(ctx context.Context, batch events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		answers, failed := make([]events.DynamoDBEventResponse, len(all)), make([]error, len(all))
		var running sync.WaitGroup
		for i, handle := range all {
			running.Go(func() { answers[i], failed[i] = handle(ctx, batch) })
		}
		running.Wait()
		first := len(batch.Records)
		for _, a := range answers {
			for _, f := range a.BatchItemFailures {
				is := func(r events.DynamoDBEventRecord) bool { return r.Change.SequenceNumber == f.ItemIdentifier }
				if at := slices.IndexFunc(batch.Records, is); at >= 0 {
					first = min(first, at)
				}
			}
		}
		// An empty list means that all succeeded; null would mean that all failed.
		out := events.DynamoDBEventResponse{BatchItemFailures: []events.DynamoDBBatchItemFailure{}}
		if first < len(batch.Records) {
			metric.Failed()
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: batch.Records[first].Change.SequenceNumber})
		}
		return out, errors.Join(failed...)
	}
}
