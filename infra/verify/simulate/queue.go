package simulate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/task/queue"
)

// messages is a queue: its messages have no order, and each is invisible for a time.
type messages struct {
	world    *world
	name     topology.Queue
	function *function
	all      []*message
	dead     []*message
	count    int
}

// message is a message in a queue.
type message struct {
	id       string
	body     string
	at       time.Time // when it becomes visible
	receives int
}

// put puts a message into the queue, which may deliver it late, or twice.
func (q *messages) put(body string, delay time.Duration) {
	w := q.world
	copies := 1
	if !w.calm && chance(w.random, w.faults.Twice) {
		copies = 2
	}
	for range copies {
		d := min(delay, queue.LongestDelay)
		if !w.calm && chance(w.random, w.faults.Late) {
			d += between(w.random, 0, time.Minute)
		}
		q.count++
		m := &message{id: string(q.name) + "-" + strconv.Itoa(q.count), body: body, at: time.Now().Add(d)}
		q.all = append(q.all, m)
		w.after(d, q.poll)
	}
}

// hide makes a message invisible for a time.
func (q *messages) hide(m *message, d time.Duration) {
	m.at = time.Now().Add(d)
	q.world.after(d, q.poll)
}

// poll passes a batch of visible messages to the function of the queue.
func (q *messages) poll() {
	w, now := q.world, time.Now()
	var visible []*message
	for _, m := range q.all {
		if !m.at.After(now) {
			visible = append(visible, m)
		}
	}
	w.random.Shuffle(len(visible), func(i, j int) { visible[i], visible[j] = visible[j], visible[i] })
	if most := 1 + w.random.IntN(q.function.Batch); len(visible) > most {
		visible = visible[:most]
		w.after(time.Millisecond, q.poll)
	}
	var batch []*message
	var event events.SQSEvent
	for _, m := range visible {
		if m.receives == q.name.Receives() {
			q.delete(m.id)
			q.dead = append(q.dead, m)
			continue
		}
		m.receives++
		q.hide(m, q.name.Visibility())
		batch = append(batch, m)
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: m.id, ReceiptHandle: m.id + "#" + strconv.Itoa(m.receives), Body: m.body,
			Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.receives)},
		})
	}
	if len(batch) == 0 {
		return
	}
	w.invoke(q.function, fmt.Sprint(q.name, " ", len(batch)), event, func(out any) {
		failed := map[string]bool{}
		for _, f := range out.(events.SQSEventResponse).BatchItemFailures {
			failed[f.ItemIdentifier] = true
		}
		for _, m := range batch {
			if !failed[m.id] {
				q.delete(m.id)
			}
		}
	})
}

func (q *messages) delete(id string) {
	for i, m := range q.all {
		if m.id == id {
			q.all = append(q.all[:i], q.all[i+1:]...)
			return
		}
	}
}

// sender is a queue as functions see it.
type sender struct{ name topology.Queue }

var _ queue.Queue = sender{}

// Send implements queue.Sender.
func (s sender) Send(ctx context.Context, all ...queue.Message) []error {
	if len(all) == 0 {
		return nil
	}
	w := invocationOf(ctx).world
	q := w.queues[s.name]
	return queue.InBatches(ctx, len(all), func(ctx context.Context, batch []int) ([]error, error) {
		failed := make([]error, len(batch))
		var bodies []string
		for _, i := range batch {
			bodies = append(bodies, all[i].Body)
		}
		err := insist(ctx, func() *call {
			return &call{kind: toQueue, key: "Send " + string(s.name) + " " + inOrder(bodies), lost: errLost,
				refused: errRefused, do: func() error {
					for _, n := range sorted(bodies) {
						i := batch[n]
						if failed[n] = nil; !w.calm && chance(w.random, w.faults.Refuse) {
							failed[n] = &queue.RefusedEntry{Code: "InternalError"}
							continue
						}
						q.put(all[i].Body, all[i].Delay)
					}
					return nil
				}}
		})
		return failed, err
	})
}

// ExtendVisibility implements queue.Extender.
func (s sender) ExtendVisibility(ctx context.Context, d time.Duration, receipts ...string) []error {
	w := invocationOf(ctx).world
	q := w.queues[s.name]
	failed := make([]error, len(receipts))
	err := insist(ctx, func() *call {
		return &call{kind: toQueue, key: fmt.Sprint("Hide ", s.name, " ", d, " ", receipts), lost: errLost,
			refused: errRefused, do: func() error {
				for _, r := range receipts {
					id, _, _ := strings.Cut(r, "#")
					for _, m := range q.all {
						// A receipt of an earlier delivery is valid, too, while the message exists.
						if m.id == id {
							q.hide(m, d)
						}
					}
				}
				return nil
			}}
	})
	for i := range failed {
		failed[i] = err
	}
	return failed
}
