package dispatch

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/task/queue"
)

// OverdueGrace is the delay of an attempt after which its message counts as lost: longer
// than the message of a function stays invisible that died before the first heartbeat.
const OverdueGrace = 4 * time.Minute

// Overdue sends the messages of overdue deliveries to a queue again.
func Overdue(q queue.Sender, now func() time.Time) task.Overdue {
	return task.Overdue{Set: endpoint.Due, Grace: OverdueGrace,
		Resend: func(ctx context.Context, items []store.Item) []error {
			failed := make([]error, len(items))
			var asks []endpoint.Ask
			var places []int
			for i, it := range items {
				d, err := endpoint.ReadDelivery(&it)
				switch {
				case err != nil:
					failed[i] = err
				case d.Waits(now()):
					asks, places = append(asks, d.Ask(time.Time{})), append(places, i)
				default:
					failed[i] = task.ErrNeedless
				}
			}
			for i, err := range endpoint.SendAsks(ctx, q, now(), asks...) {
				failed[places[i]] = err
			}
			return failed
		}}
}
