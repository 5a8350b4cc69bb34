package webhook

import (
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
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

// HeldShards is the number of partitions that list the held deliveries of one webhook. One partition takes 1,000 writes
// a second.
const HeldShards = 8

// Held returns the partitions of store.ByDue that list the deliveries that the open circuit breaker of the webhook
// holds back. Their ids sort by the time of their events.
func (r Ref) Held() []string {
	all := make([]string, HeldShards)
	for shard := range all {
		all[shard] = r.heldIn(shard)
	}
	return all
}

func (r Ref) heldIn(shard int) string {
	return "held#" + r.Owner.String() + "#" + r.ID + "#" + strconv.Itoa(shard)
}

// HeldFor returns the id of the webhook whose held deliveries a partition lists.
func HeldFor(partition string) string {
	parts := strings.Split(partition, "#")
	return parts[max(0, len(parts)-2)]
}

// heldKey is the delivery's key in Held. It stays the same for as long as the delivery is held back.
func (d *DeliveryRecord) heldKey() store.Key {
	if d.State != DeliveryPending || !d.Held() {
		return store.Key{}
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(d.ID)) // returns no error
	return store.Key{PK: d.Webhook().heldIn(int(h.Sum32() % HeldShards)), SK: d.ID}
}

// DeliveryID returns the id of the delivery of an event, which happened at the given
// time, to a webhook. It is derived: an event that arrives twice is delivered once.
func DeliveryID(at time.Time, eventID, webhookID string) string {
	return id.Derived(id.Delivery, at, eventID, webhookID)
}
