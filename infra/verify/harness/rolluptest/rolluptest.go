// Package rolluptest brings changes of the state table to the sums of analytics without
// the relay and its queue.
package rolluptest

import (
	"context"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/area/analytics"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// Handle counts the changes of records of the stream. It returns the sequence number of the first
// record that was not counted, or an empty string if all were counted.
func Handle(ctx context.Context, k *analytics.Keeper, records ...events.DynamoDBEventRecord) string {
	var batch []events.SQSMessage
	var places []int
	failed := len(records)
	for i, r := range records {
		it, err := store.FromRecord(r.Change.NewImage)
		m, ok := queue.Message{}, false
		if err == nil {
			m, ok, err = analytics.Message(it)
		}
		if err != nil {
			failed = min(failed, i)
		}
		if ok {
			batch, places = append(batch, events.SQSMessage{MessageId: r.Change.SequenceNumber, Body: m.Body}),
				append(places, i)
		}
	}
	for i, err := range k.Count(ctx, batch) {
		if err != nil {
			failed = min(failed, places[i])
		}
	}
	if failed < len(records) {
		return records[failed].Change.SequenceNumber
	}
	return ""
}
