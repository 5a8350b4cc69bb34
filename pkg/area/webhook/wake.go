package webhook

import (
	"context"
	"time"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// wakeRounds are the pauses before the later passes over the held deliveries: a function that read the circuit breaker
// before it closed may hold an event back after that, and the index lags.
var wakeRounds = []time.Duration{5 * time.Second, 20 * time.Second}

// indexLag bounds the delay of the index of held deliveries.
const indexLag = 2 * time.Second

// wakePage is the number of deliveries that one step wakes: their messages are written in one transaction.
const wakePage = 90

// Waker is the handler of the tasks that wake the held deliveries of a webhook. They have
// messages already, but for a later time; the second message of a delivery does nothing.
type Waker struct {
	db  *store.DB
	now func() time.Time
}

var _ task.Handler = Waker{}

// NewWaker returns such a handler.
func NewWaker(db *store.DB, now func() time.Time) Waker { return Waker{db, now} }

// Step wakes a page of deliveries.
func (w Waker) Step(ctx context.Context, s *task.Step) (task.Outcome, error) {
	var wake Wake
	if err := s.Decode(&wake); err != nil {
		return task.Outcome{}, task.Permanent(err)
	}
	q := store.Query{Index: store.ByParent, Partition: Ref{Owner: s.Owner, ID: s.Subject}.Held(),
		Limit: wakePage, OldestFirst: true, After: wake.After}
	if wake.Round > 0 {
		// The first round has read the older ones. Read only those that it may have missed.
		q.From = HeldSince(wake.At.Add(-indexLag))
	}
	page, err := w.db.List(ctx, q)
	if err != nil {
		return task.Outcome{}, task.Again(err)
	}
	o := task.Outcome{Payload: &wake}
	switch wake.After = page.Next; {
	case page.Next != nil:
	case wake.Round < len(wakeRounds):
		o.Wait = wakeRounds[wake.Round]
		wake.Round++
	default:
		o.Done = true
	}
	o.Join = func(_ context.Context, tx *store.Tx) error {
		for _, it := range page.Items {
			held, err := ReadDelivery(&it)
			if err != nil {
				return task.Permanent(err)
			}
			if err := held.WakeIn(tx, w.now()); err != nil {
				return task.Permanent(err)
			}
		}
		return nil
	}
	return o, nil
}
