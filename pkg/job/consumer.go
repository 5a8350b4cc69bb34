package job

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/queue"
)

// Worker does jobs.
type Worker interface {
	// Do takes the step that a job's message is for. It gives the message of the
	// step that follows, nil where none does. After an error the message comes again,
	// until the queue puts it aside; what was not done by then stays to be found by
	// whoever looks for overdue work.
	Do(ctx context.Context, j Job) (*Next, error)
}

// Queuer sends the messages of jobs.
type Queuer interface {
	// Send sends a message into the queue that its job names.
	Send(ctx context.Context, n Next) error
}

// margin is kept back of the function's time for its answer.
const margin = time.Second

// Holders hold the messages of queues while they are worked on.
type Holders map[Queue]*queue.Holder

// HoldersOf makes the holders of queues.
func HoldersOf[Q queue.Extender](queues map[Queue]Q, pulse queue.Heartbeat) Holders {
	all := Holders{}
	for name, q := range queues {
		all[name] = queue.NewHolder(q, pulse)
	}
	return all
}

// Consumer is the Lambda handler of queues of jobs.
type Consumer struct {
	worker  Worker
	queue   Queuer
	holders Holders
}

// NewConsumer makes a consumer. A queue without a holder hides its messages by
// itself, for as long as it is set to.
func NewConsumer(w Worker, q Queuer, holders Holders) *Consumer { return &Consumer{w, q, holders} }

// Handle does the messages of a batch side by side, so that none waits for another
// account's, and tells the queue which failed.
func (c *Consumer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	answer := ctx
	// What cannot be done in time must not keep what was done from being told.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	failed := make([]error, len(batch.Records))
	held := c.hold(ctx, batch.Records)
	var all sync.WaitGroup
	for i, m := range batch.Records {
		all.Go(func() { failed[i] = c.one(ctx, m) })
	}
	all.Wait()
	if held != nil {
		held.End(answer, failed)
	}
	// An empty list means that all went well; null would mean that none did.
	out := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, err := range failed {
		if err != nil {
			m := batch.Records[i]
			slog.Error("job failed", "message_id", m.MessageId, "receives", receives(m), "error", err)
			out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return out, nil
}

// hold keeps the messages from other functions while this one lives. All of a
// batch are of one queue.
func (c *Consumer) hold(ctx context.Context, batch []events.SQSMessage) *queue.Hold {
	for _, m := range batch {
		var j Job
		if json.Unmarshal([]byte(m.Body), &j) == nil && c.holders[j.Queue] != nil {
			return c.holders[j.Queue].Hold(ctx, batch)
		}
	}
	return nil
}

func (c *Consumer) one(ctx context.Context, m events.SQSMessage) error {
	var j Job
	if err := json.Unmarshal([]byte(m.Body), &j); err != nil {
		return fmt.Errorf("job: message is no job: %w", err)
	}
	j.Receives = receives(m)
	next, err := c.worker.Do(ctx, j)
	if err != nil {
		return fmt.Errorf("job: %s: %w", j.ID, err)
	}
	if next == nil {
		return nil
	}
	// The new message goes out before this one is gone. A crash in between leaves
	// two, and workers bear that; the other way round would leave none.
	return c.queue.Send(ctx, *next)
}

func receives(m events.SQSMessage) int {
	n, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"])
	return n
}
