package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// undelivered is the filter that selects events that never arrived.
const undelivered = "undelivered"

// eventPage is the number of events that are read at a time to find the one of a delivery.
const eventPage = 100

// listUndelivered goes through the events since the webhook was made, or since the caller's from: earlier ones can be
// replayed. It returns a delivery for each event that the webhook subscribes to, that its maker may read and that no
// attempt has delivered. It does not rely on the deliveries that exist: an event without one got lost on the way, and
// is shown as a delivery that is not yet made.
func (s *Service) listUndelivered(ctx context.Context, in *deliveriesInput,
	w WebhookRecord) (httpapi.Page[Delivery], error) {
	var none httpapi.Page[Delivery]
	from, until, err := in.Bounds(id.Event)
	if err != nil {
		return none, err
	}
	if from == "" {
		from = id.First(id.Event, w.CreatedAt.Time)
	}
	if in.EventID != "" {
		from, until = only(in.EventID, from, until)
	}
	to := refOf(ctx, w.ID)
	events, err := httpapi.ListItems(ctx, s.db, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(to.Owner, event.Kind),
		From: from, To: until,
	}, in.PageInput, func(it store.Item) (event.Ref, error) { return event.RefOf(it), nil })
	if err != nil {
		return none, err
	}
	var made []*DeliveryRecord
	keys := []store.Key{MakerKey(to.Account, w.CreatedBy)}
	for _, ref := range events.Items {
		at, ok := id.Time(ref.ID)
		if !ok || !w.Wants(ref) || len(in.EventType) > 0 && !slices.Contains(in.EventType, ref.Type) {
			continue
		}
		d := NewDelivery(at, at, ref, &w.Webhook)
		d.NextAttemptAt, d.WaitingFor = nil, new(WaitsDispatch) // no attempt was requested yet
		made = append(made, &d)
		keys = append(keys, to.DeliveryKey(d.ID))
	}
	there, err := s.db.GetAll(ctx, keys...)
	if err != nil {
		return none, err
	}
	reader, err := w.Reader(there[0])
	if err != nil {
		return none, err
	}
	var stored []*DeliveryRecord
	for i, it := range there[1:] {
		if it.Kind != "" {
			if *made[i], err = ReadDelivery(&it); err != nil {
				return none, err
			}
			stored = append(stored, made[i])
		}
	}
	if err := ReadLeases(ctx, s.db, s.now(), stored...); err != nil {
		return none, err
	}
	page := httpapi.Page[Delivery]{Items: []Delivery{}, Next: events.Next}
	for _, d := range made {
		if d.State != DeliveryDelivered && reader.May(d.EventType) {
			page.Items = append(page.Items, d.View(s.now()))
		}
	}
	return page, nil
}

// makeLost makes the delivery with the given id that listUndelivered has shown although it does not exist: of an event
// that got lost on the way, or that happened while the webhook was disabled or before it was made.
func (s *Service) makeLost(ctx context.Context, w *Webhook, wanted string) (d DeliveryRecord, err error) {
	at, _ := id.Time(wanted) // it has the time of its event
	err = s.db.Each(ctx, store.Query{
		Index: store.ByOwner, Partition: store.OwnerPartition(ownerOf(ctx), event.Kind),
		From: id.First(id.Event, at), To: id.First(id.Event, at.Add(time.Millisecond)), Limit: eventPage,
	}, func(e store.Item) error {
		if ref := event.RefOf(e); d.ID == "" && w.Wants(ref) && DeliveryID(at, ref.ID, w.ID) == wanted {
			d = NewDelivery(s.now(), at, ref, w)
		}
		return nil
	})
	if err == nil && d.ID == "" {
		err = errs.Missing(DeliveryKind, wanted)
	}
	return d, err
}
