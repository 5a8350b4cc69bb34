package webhook

import (
	"context"
	"net/http"
	"slices"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

type deliveriesInput struct {
	Path
	httpapi.PageInput
	httpapi.Period
	// Only deliveries in these states, separated by commas. undelivered stands alone: every event that matches the
	// webhook and has not been delivered, including events without a delivery.
	State []string `query:"state" enum:"pending,delivered,failed,undelivered" nullable:"false" example:"failed"`
	// Only deliveries of events of these types, separated by commas.
	EventType []event.Type `query:"event_type" nullable:"false" example:"content.generated"`
	// Only the delivery of this event.
	EventID string `query:"event_id" example:"evt_01h455vb4pex5vsknk084sn02q"`
}

// DeliveryPath has the parameters of the path of a delivery.
type DeliveryPath struct {
	Path
	// Id of the delivery.
	DeliveryID string `path:"delivery_id" example:"dlv_01h455vb4pex5vsknk084sn02q"`
}

// registerDeliveries puts the operations on deliveries into the router.
func (s *Service) registerDeliveries(r *httpapi.Router,
	op func(id, method, path, summary, description string) httpapi.Op) {
	const collection = "/v1/webhooks/{webhook_id}/deliveries"
	list := op("listDeliveries", http.MethodGet, collection, "List the deliveries of a webhook",
		"Lists the deliveries of the last 30 days, newest event first, each with its attempts, their status, latency "+
			"and the start of the response. The creation time of a delivery is the time of its event. "+
			"`state=undelivered` lists the events that never arrived, from the creation of the webhook on, or from "+
			"`from` if it is sent. It searches the events themselves, so a page may be short or even empty before "+
			"the end of the list. An entry whose `waiting_for` is `dispatch` has no delivery yet. New events get one "+
			"within minutes; events from before the webhook was created or while it was disabled get one only on "+
			"redelivery or replay. The log of a deleted webhook is kept for 30 days too.").Opening(httpapi.Nothing)
	list.Errors = []errs.Code{errs.InvalidCursor}
	httpapi.List(r, list, s.listDeliveries)

	httpapi.Read(r, op("getDelivery", http.MethodGet, collection+"/{delivery_id}", "Get a delivery",
		"Includes the last request as it was sent: the address, the headers with the signature, and the body. The "+
			"scope of the event is needed for the body. Entries of `state=undelivered` without a delivery can be read "+
			"too.").Opening(httpapi.Nothing), s.getDelivery)

	again := op("redeliver", http.MethodPost, collection+"/{delivery_id}/redeliver", "Deliver an event again",
		"Sends the event at once, even while the receiver counts as down or the delivery waits for a later attempt. "+
			"Retries follow as for a new event. The `webhook-id` stays the same. Entries of `state=undelivered` "+
			"without a delivery can be redelivered too. A webhook takes 60 redeliveries a minute.").
		Opening(httpapi.Nothing)
	again.Status = http.StatusAccepted
	again.Errors = []errs.Code{errs.InvalidState}
	httpapi.Write(r, again, s.redeliver)
}

func (s *Service) listDeliveries(ctx context.Context, in *deliveriesInput) (httpapi.Page[Delivery], error) {
	switch {
	case !slices.Contains(in.State, undelivered):
		return s.listLog(ctx, in, in.State)
	case len(in.State) > 1:
		return httpapi.Page[Delivery]{},
			errs.Invalid("state", "takes undelivered alone: it includes pending and failed")
	}
	w, _, err := s.find(ctx, in.ID)
	switch {
	case err == nil:
		return s.listUndelivered(ctx, in, w)
	case errs.CodeOf(err) != errs.NotFound:
		return httpapi.Page[Delivery]{}, err
	}
	// Only the log of a deleted webhook is kept, not its settings.
	page, err := s.listLog(ctx, in, nil)
	page.Items = slices.DeleteFunc(page.Items, func(d Delivery) bool { return d.State == DeliveryDelivered })
	return page, err
}

// listLog lists the deliveries that exist, in the given states if there are any. They are kept for 30 days, also when
// their webhook is deleted in between.
func (s *Service) listLog(ctx context.Context, in *deliveriesInput, states []string) (httpapi.Page[Delivery], error) {
	from, to, err := in.Bounds(id.Delivery)
	if err != nil {
		return httpapi.Page[Delivery]{}, err
	}
	if at, ok := id.Time(in.EventID); ok {
		from, to = only(DeliveryID(at, in.EventID, in.ID), from, to)
	}
	q := store.Query{
		Index: store.Table, Partition: refOf(ctx, in.ID).Deliveries(), From: from, To: to,
		Filters: map[string]string{StateFilter: httpapi.AnyOf(states), typeFilter: httpapi.AnyOf(in.EventType)},
	}
	found, err := httpapi.ListItems(ctx, s.db, q, in.PageInput, func(it store.Item) (*DeliveryRecord, error) {
		d, err := ReadDelivery(&it)
		return &d, err
	})
	if err == nil {
		err = ReadLeases(ctx, s.db, s.now(), found.Items...)
	}
	page := httpapi.Page[Delivery]{Items: make([]Delivery, len(found.Items)), Next: found.Next}
	for i, d := range found.Items {
		page.Items[i] = d.View(s.now())
	}
	// The log is the caller's own. Only if it is empty, the webhook must be looked up.
	if err == nil && len(page.Items) == 0 {
		err = s.requireLog(ctx, in.ID)
	}
	return page, err
}

// only returns the bounds of a list that has no more than one id, and that within the bounds that it has.
func only(one, from, to string) (string, string) {
	if to == "" {
		return max(one, from), one
	}
	return max(one, from), min(one, to)
}

// requireLog refuses a webhook that does not exist and of which no log is kept.
func (s *Service) requireLog(ctx context.Context, webhookID string) error {
	_, _, missing := s.find(ctx, webhookID)
	if errs.CodeOf(missing) != errs.NotFound {
		return missing
	}
	page, err := s.db.List(ctx, store.Query{Index: store.Table,
		Partition: refOf(ctx, webhookID).Deliveries(), Limit: 1})
	if err == nil && len(page.Items) == 0 {
		err = missing
	}
	return err
}

func (s *Service) getDelivery(ctx context.Context, in *DeliveryPath) (out DeliveryDetails, err error) {
	_, it, d, err := s.findDelivery(ctx, in)
	if err != nil {
		return out, err
	}
	if it.Version == 0 {
		d.NextAttemptAt, d.WaitingFor = nil, new(WaitsDispatch)
	}
	return d.Details(s.now(), auth.FromContext(ctx).Scopes), nil
}

func (s *Service) redeliver(ctx context.Context, tx *store.Tx, in *DeliveryPath) (out Delivery, err error) {
	w, it, d, err := s.findDelivery(ctx, in)
	if err != nil {
		return out, err
	}
	if w.ID == "" {
		return out, errs.Missing(Kind, in.ID)
	}
	if err := requireEnabled(&w); err != nil {
		return out, err
	}
	if now := s.now(); it.Version == 0 {
		d.Urgent = true
		err = d.CreateIn(tx, now)
	} else {
		err = d.RestartIn(tx, it, now, true)
	}
	if err != nil {
		return out, err
	}
	s.count(tx, refOf(ctx, w.ID), redeliverLimit)
	return d.View(s.now()), nil
}

// findDelivery reads a delivery of the caller with its webhook, which has no id if it was deleted: the log is kept. It
// makes a delivery that does not exist but is listed as undelivered; any other is not_found.
func (s *Service) findDelivery(ctx context.Context, in *DeliveryPath) (w Webhook, it store.Item,
	d DeliveryRecord, err error) {
	if !id.Valid(id.Webhook, in.ID) {
		return w, it, d, errs.Missing(Kind, in.ID)
	}
	if !id.Valid(id.Delivery, in.DeliveryID) {
		return w, it, d, errs.Missing(DeliveryKind, in.DeliveryID)
	}
	to := refOf(ctx, in.ID)
	items, err := s.db.GetAll(ctx, to.Key(), to.DeliveryKey(in.DeliveryID))
	if err != nil {
		return w, it, d, err
	}
	kept := items[1].Kind != "" && items[1].ExpireAt.After(s.now())
	switch {
	case items[0].Kind != "":
		if err := items[0].Decode(&w); err != nil {
			return w, it, d, err
		}
	case !kept:
		return w, it, d, errs.Missing(Kind, in.ID)
	}
	if !kept {
		d, err = s.makeLost(ctx, &w, in.DeliveryID)
		return w, it, d, err
	}
	it = items[1]
	if d, err = ReadDelivery(&it); err == nil {
		err = ReadLeases(ctx, s.db, s.now(), &d)
	}
	return w, it, d, err
}
