package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/store"
)

// wakeRounds are the pauses before the later passes over the held deliveries: a function
// that read the circuit breaker before it closed may hold an event back after that, and the
// index lags.
var wakeRounds = []time.Duration{5 * time.Second, 20 * time.Second}

// indexLag bounds the delay of the index of held deliveries.
const indexLag = 2 * time.Second

// wakePage is the number of deliveries that are read at a time.
const wakePage = 100

// wake sends messages for the held deliveries. They have messages already, but for a later
// time; the second message of a delivery does nothing.
func (d *Deliverer) wake(ctx context.Context, m endpoint.Message) error {
	q := store.Query{Index: store.ByParent, Partition: m.Webhook().Held(), Limit: wakePage, OldestFirst: true,
		After: m.Wake.After}
	if m.Wake.Round > 0 {
		// The first round has read the older ones. Read only those that it may have missed.
		q.From = endpoint.HeldSince(m.Wake.At.Add(-indexLag))
	}
	for {
		page, err := d.DB.List(ctx, q)
		if err != nil {
			return err
		}
		if err := d.wakeAll(ctx, page.Items); err != nil {
			return err
		}
		next := m
		switch {
		case page.Next != nil && inTime(ctx):
			q.After = page.Next
			continue
		case page.Next != nil:
			next.Wake = &endpoint.Wake{At: m.Wake.At, After: page.Next, Round: m.Wake.Round}
		case m.Wake.Round < len(wakeRounds):
			next.Wake = &endpoint.Wake{At: m.Wake.At, Round: m.Wake.Round + 1}
			next.NotBefore = d.Now().Add(wakeRounds[m.Wake.Round])
		default:
			return nil
		}
		return endpoint.Send(ctx, d.Queue, d.Now(), next)[0]
	}
}

func (d *Deliverer) wakeAll(ctx context.Context, items []store.Item) error {
	var asks []endpoint.Ask
	for _, it := range items {
		held, err := endpoint.ReadDelivery(&it)
		if err != nil {
			return err
		}
		if held.State == endpoint.DeliveryPending && held.Lease == nil {
			asks = append(asks, held.Ask(time.Time{}))
		}
	}
	return errors.Join(endpoint.SendAsks(ctx, d.Queue, d.Now(), asks...)...)
}
