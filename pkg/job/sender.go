package job

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/content-automation/api/pkg/queue"
)

// Sender sends the messages of jobs into their queues.
type Sender struct{ queues map[Queue]queue.Sender }

var _ Queuer = (*Sender)(nil)

// NewSender makes a sender for the given queues.
func NewSender[Q queue.Sender](queues map[Queue]Q) *Sender {
	s := &Sender{map[Queue]queue.Sender{}}
	for name, q := range queues {
		s.queues[name] = q
	}
	return s
}

// Send sends one message.
func (s *Sender) Send(ctx context.Context, n Next) error {
	return s.SendAll(ctx, n)[0]
}

// SendAll sends messages, and gives at the place of each its error or nil.
func (s *Sender) SendAll(ctx context.Context, all ...Next) []error {
	failed := make([]error, len(all))
	bundles, places := map[Queue][]queue.Message{}, map[Queue][]int{}
	for i, n := range all {
		body, err := json.Marshal(n.Job)
		if err != nil {
			failed[i] = err
			continue
		}
		if s.queues[n.Job.Queue] == nil {
			failed[i] = fmt.Errorf("job: there is no queue %q", n.Job.Queue)
			continue
		}
		// A group on a standard queue shares it fairly between accounts.
		bundles[n.Job.Queue] = append(bundles[n.Job.Queue], queue.Message{Body: string(body), Group: string(n.Job.Account), Delay: n.Delay})
		places[n.Job.Queue] = append(places[n.Job.Queue], i)
	}
	for name, messages := range bundles {
		for at, err := range s.queues[name].Send(ctx, messages...) {
			if err != nil {
				i := places[name][at]
				failed[i] = fmt.Errorf("job: send %s: %w", all[i].Job.ID, err)
			}
		}
	}
	return failed
}
