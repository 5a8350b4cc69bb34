package webhook

import (
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// Ref names a webhook. Its owner is part of all keys, so that a caller finds its own webhooks and deliveries only.
type Ref struct {
	tenant.Owner
	ID string
}

// List is the partition of store.Table that lists an owner's webhooks: strongly
// consistent, so that an event never misses one that was there.
func List(o tenant.Owner) string { return "webhooks#" + o.String() }

// CountKey is the key of the count of an owner's webhooks.
func CountKey(o tenant.Owner) store.Key {
	key := "webhookcount#" + o.String()
	if o.Profile != "" {
		key += "#" + string(o.Profile)
	}
	return store.IDKey(key)
}

// Key is the key of the webhook.
func (r Ref) Key() store.Key { return store.Key{PK: List(r.Owner), SK: r.ID} }

// Deliveries is the partition of store.Table that lists the webhook's deliveries.
func (r Ref) Deliveries() string { return "deliveries#" + r.Owner.String() + "#" + r.ID }

// DeliveryKey is the key of one of the webhook's deliveries.
func (r Ref) DeliveryKey(deliveryID string) store.Key {
	return store.Key{PK: r.Deliveries(), SK: deliveryID}
}

// Held is the partition of store.ByParent that lists the deliveries that the open
// circuit breaker of the webhook holds back.
func (r Ref) Held() string { return "held#" + r.Owner.String() + "#" + r.ID }

// HeldSince returns the prefix of the sort keys in Held of the deliveries that were held back at the given time.
func HeldSince(at time.Time) string { return resource.SortableTime(at) + "#" }

// heldKey is the delivery's key in Held, until its next attempt.
func (d *DeliveryRecord) heldKey() store.Key {
	if d.State != DeliveryPending || !d.Held() {
		return store.Key{}
	}
	return store.Key{PK: d.Webhook().Held(), SK: HeldSince(d.UpdatedAt.Time) + d.ID}
}

// DeliveryID returns the id of the delivery of an event, which happened at the given
// time, to a webhook. It is derived: an event that arrives twice is delivered once.
func DeliveryID(at time.Time, eventID, webhookID string) string {
	return id.Derived(id.Delivery, at, eventID, webhookID)
}
