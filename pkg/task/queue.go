package task

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task/queue"
)

// Sender sends the messages of tasks into their queues.
type Sender struct {
	queues map[topology.Queue]queue.Sender
}

// NewSender makes a sender for the given queues.
func NewSender[Q queue.Sender](queues map[topology.Queue]Q) *Sender {
	s := &Sender{map[topology.Queue]queue.Sender{}}
	for name, q := range queues {
		s.queues[name] = q
	}
	return s
}

// SendAll sends messages, concurrently to several queues. It returns the error of each message, in their order, or nil.
func (s *Sender) SendAll(ctx context.Context, all ...Next) []error {
	failed := make([]error, len(all))
	bundles, places := map[topology.Queue][]queue.Message{}, map[topology.Queue][]int{}
	for i, n := range all {
		body, err := json.Marshal(n.Message)
		if err != nil {
			failed[i] = err
			continue
		}
		if s.queues[n.Queue] == nil {
			failed[i] = fmt.Errorf("task: there is no queue %q", n.Queue)
			continue
		}
		bundles[n.Queue] = append(bundles[n.Queue], queue.Message{Body: string(body), Group: n.FairGroup(),
			Delay: n.Delay})
		places[n.Queue] = append(places[n.Queue], i)
	}
	var sending sync.WaitGroup
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		sending.Go(func() {
			for at, err := range s.queues[name].Send(ctx, bundles[name]...) {
				if err != nil {
					i := places[name][at]
					failed[i] = fmt.Errorf("task: send %s: %w", all[i].ID, err)
				}
			}
		})
	}
	sending.Wait()
	return failed
}

// margin is the part of the function's time that is reserved for its answer.
const margin = time.Second

// Consumer is the Lambda handler of the queues of tasks.
type Consumer struct {
	kernel  *Kernel
	sender  *Sender
	holders map[topology.Queue]*queue.Holder
}

// NewConsumer makes a consumer of queues that also sends to them. Each message stays
// invisible while a heartbeat shows that the function lives.
func NewConsumer[Q queue.Queue](k *Kernel, queues map[topology.Queue]Q, heartbeat queue.Heartbeat) *Consumer {
	c := &Consumer{k, NewSender(queues), map[topology.Queue]*queue.Holder{}}
	for name, q := range queues {
		c.holders[name] = queue.NewHolder(q, heartbeat)
	}
	return c
}

// Handle takes the steps of a batch concurrently, so that none waits for a step of another account. It reports the
// failed messages to the queue.
func (c *Consumer) Handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	answer := ctx
	// A step that exceeds the time must not prevent the others from being reported.
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-margin))
		defer cancel()
	}
	messages, failed := make([]Message, len(batch.Records)), make([]error, len(batch.Records))
	var held *queue.Hold
	for i, r := range batch.Records {
		if err := json.Unmarshal([]byte(r.Body), &messages[i]); err != nil {
			failed[i] = fmt.Errorf("task: not a message of a task: %w", err)
			continue
		}
		// All messages of a batch come from one queue.
		if h := c.holders[messages[i].Queue]; h != nil && held == nil {
			held = h.Hold(ctx, batch.Records)
			held.Renew(c.kernel.Renew)
		}
	}
	var all sync.WaitGroup
	for i, r := range batch.Records {
		if failed[i] == nil {
			all.Go(func() { failed[i] = c.one(ctx, messages[i], queue.Receives(r)) })
		}
	}
	all.Wait()
	if held != nil {
		held.End(answer, failed)
	}
	for i, err := range failed {
		if err != nil {
			r := batch.Records[i]
			slog.Error("message of a task failed", "message_id", r.MessageId, "task", messages[i].ID, "receives",
				queue.Receives(r), "error", err)
		}
	}
	return queue.Response(batch.Records, failed), nil
}

func (c *Consumer) one(ctx context.Context, m Message, receives int) error {
	next, err := c.kernel.Do(ctx, m, receives)
	if err != nil || next == nil || next.Delay > queue.LongestDelay {
		return err // the delay is longer than a queue permits; the reconciler sends the message when it is due
	}
	// Send the next message before this one is deleted. A crash in between leaves both, which is harmless; the other
	// order would leave none.
	return c.sender.SendAll(ctx, *next)[0]
}

// OutboxKind is the kind of an item that holds one message for a queue and starts no task. The relay sends its document
// as it is.
const OutboxKind = "outbox"

// keepOutbox is the time for which such an item stays, so that a failure can be investigated.
const keepOutbox = 7 * 24 * time.Hour

// Outbox adds a message for a queue to the transaction. The field "queue" of the body names the queue.
func Outbox(tx *store.Tx, now time.Time, o tenant.Owner, id string, body any) error {
	it, err := store.NewItem(OutboxKind, o, id, body)
	if err != nil {
		return err
	}
	it.Listed, it.ExpireAt = store.Key{}, now.Add(keepOutbox)
	tx.Create(it, nil)
	return nil
}

// Wake adds a message to the transaction that has a task take its waiting step now; see Message.Wake. The message needs
// no step. It has no effect if the task has ended.
func Wake(tx *store.Tx, now time.Time, m Message) error {
	m.Wake = true
	return Outbox(tx, now, m.Owner, "wake#"+m.ID+"#"+rand.Text(), m)
}
