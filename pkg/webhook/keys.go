package webhook

import (
	"context"
	"hash/fnv"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// owner is an account in a mode. Its webhooks and their deliveries lie in
// partitions that name it: what a caller asks for is looked for among its own.
type owner struct{ tenant.Owner }

// callerOf gives the owner that a call is made for.
func callerOf(ctx context.Context) owner {
	p := auth.FromContext(ctx)
	return owner{p.Owner}
}

// webhooks is the partition of Table that lists the owner's webhooks: strongly
// consistent, so that an event never misses one that was there.
func (o owner) webhooks() string { return "webhooks#" + o.String() }

func (o owner) webhookKey(webhookID string) store.Key {
	return store.Key{PK: o.webhooks(), SK: webhookID}
}

// countKey is the key of the count of the owner's webhooks.
func (o owner) countKey() store.Key {
	return store.IDKey("webhookcount#" + o.String())
}

// deliveries is the partition of Table that lists the deliveries to one of the
// owner's webhooks.
func (o owner) deliveries(webhookID string) string {
	return "deliveries#" + o.String() + "#" + webhookID
}

func (o owner) deliveryKey(webhookID, deliveryID string) store.Key {
	return store.Key{PK: o.deliveries(webhookID), SK: deliveryID}
}

// dueShards is how many partitions share the deliveries that are pending: all of
// a busy stack would be too many for one.
const dueShards = 16

func duePartition(shard int) string { return "due#" + strconv.Itoa(shard) }

// dueKey is the delivery's key in store.ByDue: while it is pending it is found
// there by the time of its next attempt, and after that not any more.
func (d *delivery) dueKey() store.Key {
	if d.State != statePending || d.NextAttemptAt == nil {
		return store.Key{}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(d.ID)) // gives no error
	return store.Key{PK: duePartition(int(h.Sum32() % dueShards)), SK: dueSort(*d.NextAttemptAt) + d.ID}
}

// held is the partition of ByParent that lists what an outage of the webhook's
// receiver holds back.
func (o owner) held(webhookID string) string {
	return "held#" + o.String() + "#" + webhookID
}

// heldKey is the delivery's key there: it is found by the time at which it was held
// back, and after its next attempt not any more.
func (d *delivery) heldKey(o owner) store.Key {
	if d.State != statePending || !d.Held {
		return store.Key{}
	}
	return store.Key{PK: o.held(d.WebhookID), SK: heldSort(d.UpdatedAt) + d.ID}
}

// heldSort is how the sort keys begin of what was held back at the given time.
func heldSort(at time.Time) string { return at.Format(instantPattern) + "#" }

// outageKey is the key of what is known of an outage of a webhook's receiver.
func (o owner) outageKey(webhookID string) store.Key {
	return store.Key{PK: "outage#" + o.String(), SK: webhookID}
}

// dueSort is how the sort keys begin of what is due in the second of the given time.
func dueSort(at time.Time) string { return at.UTC().Format(time.RFC3339) + "#" }

// deliveryID is the id of the delivery of an event, which happened at the given
// time, to a webhook: however often the event comes to us, it is delivered once.
func deliveryID(at time.Time, eventID, webhookID string) string {
	return id.Derived(id.Delivery, at, eventID, webhookID)
}
