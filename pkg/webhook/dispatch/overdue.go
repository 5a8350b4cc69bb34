package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/webhook/hook"
)

// OverdueGrace is how late an attempt must be before its message counts as lost: longer
// than a message stays invisible whose function died before the first heartbeat.
const OverdueGrace = 4 * time.Minute

// Overdue sends the messages of overdue deliveries to a queue again.
func Overdue(q queue.Sender, now func() time.Time) task.Overdue {
	return task.Overdue{Set: hook.Due, Grace: OverdueGrace, Resend: func(ctx context.Context, items []store.Item) (sent int, err error) {
		var asks []hook.Ask
		var failed []error
		for _, it := range items {
			d, err := hook.ReadDelivery(&it)
			switch {
			case err != nil:
				failed = append(failed, err)
			case d.Waits(now()):
				asks = append(asks, d.Ask(time.Time{}))
			}
		}
		for _, err := range hook.SendAsks(ctx, q, now(), asks...) {
			if err != nil {
				failed = append(failed, err)
				continue
			}
			sent++
		}
		return sent, errors.Join(failed...)
	}}
}
