package job

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/store"
)

// Queuer puts a job back into its queue.
type Queuer interface {
	// Requeue sends the job again after the delay, at most 15 minutes.
	Requeue(ctx context.Context, j Job, delay time.Duration) error
}

// Worker does jobs.
type Worker interface {
	// Do takes a job as far as it goes. A wait above zero asks to be called again
	// then; an error, to be called again when the queue brings the job back.
	Do(ctx context.Context, j Job) (wait time.Duration, err error)
	// GiveUp ends a job that failed as often as it may.
	GiveUp(ctx context.Context, j Job, cause error) error
}

// tries is how often a job may fail before it is given up. The queue's own limit
// lies above it, so that the dead-letter queue gets only what cannot even be
// given up.
const tries = 4

// margin is kept back of the function's time for its answer.
const margin = time.Second

// Consumer is the Lambda handler of a queue of jobs.
type Consumer struct {
	worker Worker
	queue  Queuer
}

// NewConsumer makes a consumer.
func NewConsumer(w Worker, q Queuer) *Consumer { return &Consumer{w, q} }

// Handle does every message of a batch and tells the queue which failed.
func (c *Consumer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	// What cannot be done in time must not keep what was done from being told.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	// An empty list means that all went well; null would mean that none did.
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for _, m := range batch.Records {
		if err := c.one(ctx, m); err != nil {
			slog.Error("job failed", "message_id", m.MessageId, "receives", receives(m), "error", err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return out, nil
}

func (c *Consumer) one(ctx context.Context, m events.SQSMessage) error {
	var j Job
	if err := json.Unmarshal([]byte(m.Body), &j); err != nil {
		return fmt.Errorf("job: message is no job: %w", err)
	}
	wait, err := c.worker.Do(ctx, j)
	if err != nil {
		// Where another delivery of the job was faster, nothing has failed: the next
		// one finds out how far it is.
		if receives(m) < tries || errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("job: %s: %w", j.ID, err)
		}
		slog.Error("job given up", "job", j.ID, "error", err)
		if err := c.worker.GiveUp(ctx, j, err); err != nil {
			return fmt.Errorf("job: give up %s: %w", j.ID, err)
		}
		return nil
	}
	if wait > 0 {
		// The new message goes out before this one is gone. A crash in between
		// leaves two, and workers bear that; the other way round would leave none.
		if err := c.queue.Requeue(ctx, j, wait); err != nil {
			return errors.Join(fmt.Errorf("job: requeue %s", j.ID), err)
		}
	}
	return nil
}

func receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	return n
}
