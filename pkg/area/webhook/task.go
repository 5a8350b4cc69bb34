package webhook

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// DeliverKind is the kind of the tasks that deliver. Each is one schedule of attempts at a delivery, its subject, and
// runs exactly as long as the delivery is pending.
const DeliverKind task.Kind = "deliver"

// Errand is the payload of such a task. It names what an attempt reads, so that one round trip suffices.
type Errand struct {
	WebhookID string `json:"webhook_id"`
	EventID   string `json:"event_id"`
	Maker     string `json:"maker,omitempty"`
}

// message returns a message to the task of the running schedule.
func (d *DeliveryRecord) message() task.Message {
	return task.Message{
		ID: task.ID(DeliverKind, d.ID, d.Schedules), Kind: DeliverKind, Queue: topology.Deliver, Subject: d.ID,
		Owner: d.Owner, Group: d.WebhookID,
	}
}

// begin adds the task of a new schedule to the transaction. It ends with the delivery's item, whatever fails.
func (d *DeliveryRecord) begin(tx *store.Tx, now time.Time) error {
	t := task.Task{Message: d.message(), Deadline: d.expireAt()}
	return task.Create(tx, now, t, Errand{d.WebhookID, d.EventID, d.Maker})
}

// RestartIn starts the schedule of a delivery, whose item was read, from the beginning. An attempt under way stays: if
// it succeeds, nothing more is sent.
func (d *DeliveryRecord) RestartIn(tx *store.Tx, it store.Item, now time.Time, urgent bool) error {
	waited := d.Scheduled()
	d.State, d.FailedReason, d.Failures, d.Urgent = DeliveryPending, nil, 0, urgent
	d.PutOff(now, now, WaitsRedelivery)
	var err error
	if waited {
		err = d.WakeIn(tx, now)
	} else {
		d.Schedules++
		err = d.begin(tx, now)
	}
	if err := errors.Join(err, d.WriteTo(&it)); err != nil {
		return err
	}
	tx.Replace(it)
	return nil
}

// Task is the key of the task of the running or last schedule.
func (d *DeliveryRecord) Task() store.Key {
	m := d.message()
	return store.IDKey(m.ID)
}

// ReadLeases reads the leases of those deliveries that are due or may have been woken: only at them an attempt can be
// under way.
func ReadLeases(ctx context.Context, db *store.DB, now time.Time, all ...*DeliveryRecord) error {
	var pending []*DeliveryRecord
	var keys []store.Key
	for _, d := range all {
		if d.NextAttemptAt != nil && (d.Held() || !d.NextAttemptAt.After(now)) {
			pending, keys = append(pending, d), append(keys, d.Task())
		}
	}
	items, err := db.GetAll(ctx, keys...)
	for i, it := range items {
		var t task.Task
		if it.Kind == "" {
			continue
		}
		if err := it.Decode(&t); err != nil {
			return err
		}
		pending[i].Lease = t.Lease
	}
	return err
}

// WakeKind is the kind of the tasks that wake the deliveries that the circuit breaker of a webhook, their subject, has
// held back.
const WakeKind task.Kind = "wake-deliveries"

// Wake is the payload of such a task.
type Wake struct {
	// At is when the receiver was back.
	At time.Time `json:"at"`
	// After is the end of the page before.
	After *store.Cursor `json:"after,omitempty"`
	// Round counts the passes over the held deliveries.
	Round int `json:"round,omitempty"`
}

// WakeIn adds a task that wakes all held deliveries of a webhook to the transaction.
func WakeIn(tx *store.Tx, to Ref, now time.Time) error {
	return task.Create(tx, now, task.Task{Message: task.Message{
		ID: task.ID(WakeKind, to.ID, 0) + "#" + rand.Text(), Kind: WakeKind, Queue: topology.Deliver, Subject: to.ID,
		Owner: to.Owner, Group: to.ID,
	}}, Wake{At: now})
}

// WakeIn adds a message to the transaction that has the next attempt at the delivery made now.
func (d *DeliveryRecord) WakeIn(tx *store.Tx, now time.Time) error {
	return task.Wake(tx, now, d.message())
}
