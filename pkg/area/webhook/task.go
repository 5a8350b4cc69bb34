package webhook

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// DeliverKind is the kind of the tasks that deliver. Each is one schedule of attempts at a delivery, its subject, and
// runs until the delivery has ended or is held back.
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
	t := task.Task{Message: d.message(), Deadline: d.expireAt(), DueAt: d.NextAttemptAt.Time}
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
		err = task.Wake(tx, now, d.message())
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

// ReadLeases reads the leases of those deliveries that are due: only at them an attempt of a task can be under way.
func ReadLeases(ctx context.Context, db *store.DB, now time.Time, all ...*DeliveryRecord) error {
	var pending []*DeliveryRecord
	var keys []store.Key
	for _, d := range all {
		if d.NextAttemptAt != nil && !d.NextAttemptAt.After(now) {
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
