package webhook

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/job"
	"github.com/content-automation/api/pkg/store"
)

// wake asks for what an outage has held back, now that it is over.
type wake struct {
	// At is when it was over.
	At time.Time `json:"at"`
	// After is where the page before has ended.
	After *store.Cursor `json:"after,omitempty"`
	// Round counts the times that it was asked for.
	Round int `json:"round,omitempty"`
}

// wakeRounds are the pauses before it is asked for again: a function that has read
// of the outage before its end may hold an event back after it, and the index that
// tells of it lags.
var wakeRounds = []time.Duration{5 * time.Second, 20 * time.Second}

// lag is how late the index may be that tells what is held back.
const lag = 2 * time.Second

// wakePage is how many deliveries are asked for at a time.
const wakePage = 100

// wakeMessage asks for all that is held back of a webhook.
func wakeMessage(to bound, at time.Time) message {
	return message{
		Job: job.Job{
			ID: "job#wake#" + to.webhook, Queue: job.Deliver, Subject: to.webhook, Attempt: 1, Owner: to.Owner,
		},
		WebhookID: to.webhook, Wake: &wake{At: at},
	}
}

// wakeJob gives the item of a job that asks for the same of the webhook that the
// transaction writes.
func wakeJob(it *store.Item, now time.Time) (store.Item, error) {
	m := wakeMessage(bound{owner{it.Owner}, it.SK}, now)
	m.ID += "#" + strconv.FormatInt(it.Version+1, 10)
	return job.Item(now, m.Job, m)
}

// wake sends the messages of what is held back: they have messages already, but those
// are for later. What comes twice by that does nothing the second time.
func (d *Deliverer) wake(ctx context.Context, m message) error {
	to := bound{owner{m.Owner}, m.WebhookID}
	q := store.Query{Index: store.ByParent, Partition: to.held(to.webhook), Limit: wakePage, OldestFirst: true, After: m.Wake.After}
	if m.Wake.Round > 0 {
		// The others were asked for: only those that the rounds before may have missed.
		q.From = heldSort(m.Wake.At.Add(-lag))
	}
	for {
		page, err := d.db.List(ctx, q)
		if err != nil {
			return err
		}
		if err := d.wakeAll(ctx, page.Items); err != nil {
			return err
		}
		next := m
		switch {
		case page.Next != nil && d.inTime(ctx):
			q.After = page.Next
			continue
		case page.Next != nil:
			next.Wake = &wake{m.Wake.At, page.Next, m.Wake.Round}
		case m.Wake.Round < len(wakeRounds):
			next.Wake = &wake{At: m.Wake.At, Round: m.Wake.Round + 1}
			next.NotBefore = d.now().Add(wakeRounds[m.Wake.Round])
		default:
			return nil
		}
		return d.send(ctx, next)[0]
	}
}

func (d *Deliverer) wakeAll(ctx context.Context, items []store.Item) error {
	var to []bound
	var turns []turn
	for _, it := range items {
		held, err := readDelivery(&it)
		if err != nil {
			return err
		}
		if held.State == statePending && held.Claim == nil {
			to, turns = append(to, bound{owner{it.Owner}, held.WebhookID}), append(turns, held.turn(it.Version))
		}
	}
	return errors.Join(together(ctx, d.queue, d.now(), time.Time{}, to, turns)...)
}

// inTime tells whether a function has the time to begin something.
func (d *Deliverer) inTime(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) > attemptTimeout
}
