package webhook

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
)

// undelivered is the filter that asks for what never arrived.
const undelivered = "undelivered"

// listUndelivered goes through the events since there is the webhook, or since the
// caller says, as those before it can be replayed. It gives a delivery for each that
// the webhook asks for and that no attempt has delivered. It trusts
// no record of deliveries: where there is none, the event got lost on the way, and
// is shown as a delivery that waits for the sweeper to make it.
func (s *Service) listUndelivered(ctx context.Context, in *deliveriesInput, w record) (httpapi.Page[Delivery], error) {
	var none httpapi.Page[Delivery]
	from, to, err := in.Bounds(id.Event)
	if err != nil {
		return none, err
	}
	if from == "" {
		from = id.First(id.Event, w.CreatedAt)
	}
	o := callerOf(ctx)
	events, err := httpapi.ListItems(ctx, s.db, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(o.Owner, event.Kind),
		From: from, To: to,
	}, in.PageInput, func(it store.Item) (event.Ref, error) { return event.RefOf(it), nil })
	if err != nil {
		return none, err
	}
	var made []Delivery
	var keys []store.Key
	for _, ref := range events.Items {
		at, ok := id.Time(ref.ID)
		if !ok || !w.wants(ref) {
			continue
		}
		d, _, err := newDelivery(at, at, ref, w.ID)
		if err != nil {
			return none, err
		}
		d.NextAttemptAt = nil // nobody has asked for one yet
		made = append(made, d.Delivery)
		keys = append(keys, o.deliveryKey(w.ID, d.ID))
	}
	there, err := readAll(ctx, s.db, keys)
	if err != nil {
		return none, err
	}
	page := httpapi.Page[Delivery]{Items: []Delivery{}, Next: events.Next}
	for i, it := range there {
		d := made[i]
		if it.Kind != "" {
			read, err := readDelivery(&it)
			if err != nil {
				return none, err
			}
			d = read.Delivery
		}
		if d.State != stateDelivered {
			page.Items = append(page.Items, d)
		}
	}
	return page, nil
}

// makeLost makes the delivery with the given id, which listUndelivered has shown without
// that it was there: of an event that got lost on the way, or that happened while the
// webhook was disabled or before it was made.
func (s *Service) makeLost(ctx context.Context, w *Webhook, wanted string) (it store.Item, d delivery, err error) {
	at, _ := id.Time(wanted) // it has the time of its event
	o := callerOf(ctx)
	err = s.db.Each(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(o.Owner, event.Kind),
		From: id.First(id.Event, at), To: id.First(id.Event, at.Add(time.Millisecond)), Limit: replayPage,
	}, func(e store.Item) (err error) {
		if ref := event.RefOf(e); it.Kind == "" && w.wants(ref) && deliveryID(at, ref.ID, w.ID) == wanted {
			d, it, err = newDelivery(s.now(), at, ref, w.ID)
		}
		return err
	})
	if err == nil && it.Kind == "" {
		err = errs.Missing(deliveryKind, wanted)
	}
	return it, d, err
}
