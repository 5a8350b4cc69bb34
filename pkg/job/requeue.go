package job

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/queue"
)

// Requeuer puts jobs back into the queue that they came from.
type Requeuer struct{ queue queue.Sender }

var _ Queuer = (*Requeuer)(nil)

// NewRequeuer makes a requeuer for the given queue.
func NewRequeuer(q queue.Sender) *Requeuer { return &Requeuer{q} }

// Requeue sends a job that is to be seen after the delay.
func (r *Requeuer) Requeue(ctx context.Context, j Job, delay time.Duration) error {
	body, err := json.Marshal(j)
	if err != nil {
		return err
	}
	// A group on a standard queue shares it fairly between accounts.
	if err := r.queue.Send(ctx, queue.Message{Body: string(body), Group: j.Account, Delay: delay})[0]; err != nil {
		return fmt.Errorf("job: send %s: %w", j.ID, err)
	}
	return nil
}
