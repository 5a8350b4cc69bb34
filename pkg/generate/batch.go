package generate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// batch is the payload of a Start task, which starts the work of many resources that were accepted together: one
// transaction has no room for all of them and their tasks.
type batch struct {
	// Hold is the reservation for all resources.
	Hold   ledger.Hold `json:"hold,omitzero"`
	Orders []Order     `json:"orders"`
}

// startResult is what a Start task has done.
type startResult struct {
	Orders int `json:"orders"`
	// Hold is the reservation for the resources that have not been started.
	Hold ledger.Hold `json:"hold,omitzero"`
}

// startAtOnce is the number of pieces of work that one step starts. Each writes its resource, its task and its
// reservation, and a transaction takes 100 writes.
const startAtOnce = 20

// AcceptBatch is Accept for several resources of one owner, all or none. One reservation pays for all. The ticket of
// each names the task that starts them. There must be at least one order.
func AcceptBatch(tx *store.Tx, now time.Time, orders []Order, payer ledger.Payer, b ledger.Balance) (Ticket, error) {
	first := orders[0]
	first.About.Metadata = nil // metadata belongs to a single resource
	var credits int64
	if err := room(b.Pace, now, orders...); err != nil {
		return Ticket{}, err
	}
	for i, o := range orders {
		orders[i].Risk = o.price()
		credits += o.price()
		if o.About.FactoryID != first.About.FactoryID {
			first.About.FactoryID = ""
		}
	}
	hold, err := reserve(tx, now, first, credits, payer, b)
	if err != nil {
		return Ticket{}, err
	}
	m := task.Message{
		ID: task.ID(Start, first.Subject, first.Attempt), Kind: Start, Queue: topology.GenerateText,
		Subject: first.Subject, Owner: first.Owner,
	}
	if err := enter(tx, now, first, int64(len(orders)), credits, b); err != nil {
		return Ticket{}, err
	}
	return Ticket{Batch: m.ID}, task.Create(tx, now, task.Task{Message: m}, batch{Hold: hold, Orders: orders})
}

// Begin adds the work of new resources of one owner to the transaction. The given reservation pays for them, and rest
// is its remainder. Tickets are those of the resources, in order. The credits of dropped work are released. The commit
// returns queue_full if there is no Room.
func Begin(tx *store.Tx, now time.Time, o tenant.Owner, hold ledger.Hold, orders []Order,
	dropped int64) (rest ledger.Hold, tickets []Ticket, err error) {
	parts := make([]ledger.Part, len(orders), len(orders)+1)
	var credits int64
	for i, order := range orders {
		order.Risk = order.price()
		credits += order.Risk
		parts[i] = ledger.Part{Subject: order.Subject, About: order.About, Credits: order.price()}
		if err := begin(tx, now, order); err != nil {
			return hold, nil, err
		}
	}
	if len(orders) > 0 {
		enterAnyway(tx, o, int64(len(orders)), credits)
	}
	tickets = make([]Ticket, len(orders))
	if hold.Credits == 0 {
		return hold, tickets, nil
	}
	rest, holds, err := ledger.Split(tx, now, o.Account, hold,
		append(parts, ledger.Part{Subject: hold.Subject, Credits: dropped, Free: true}))
	if err != nil {
		return hold, nil, err
	}
	for i := range tickets {
		tickets[i].Hold = holds[i]
	}
	return rest, tickets, nil
}

// errNotStarted reports a batch that could not be started, which only a defect of this service can cause. Its resources
// still wait, and its money stays held until a person looks at it.
var errNotStarted = errors.New("generate: a batch could not be started")

// startBatch starts the next pieces of a batch. A task that fails stays in the dead letters.
func (w *Worker) startBatch(_ context.Context, s *task.Run) error {
	if s.Cause() != nil {
		return fmt.Errorf("%w: %v", errNotStarted, s.Cause())
	}
	var b batch
	if err := s.Decode(&b); err != nil {
		return err
	}
	before := startResult{Hold: b.Hold}
	if err := s.Recall("started", &before); err != nil {
		return err
	}
	after := min(before.Orders+startAtOnce, len(b.Orders))
	s.Also(func(ctx context.Context, tx *store.Tx) error {
		rest, err := w.start(ctx, tx, before.Hold, b.Orders[before.Orders:after])
		return errors.Join(err, s.Keep("started", startResult{after, rest}))
	})
	if after < len(b.Orders) {
		return s.Sleep(0)
	}
	return nil
}

// start adds pieces of a batch to the transaction, and returns what is left of the reservation. It releases the money
// of a resource that was canceled or deleted since it was accepted.
func (w *Worker) start(ctx context.Context, tx *store.Tx, hold ledger.Hold, some []Order) (rest ledger.Hold,
	err error) {
	keys := make([]store.Key, len(some))
	for i, o := range some {
		keys[i] = store.IDKey(o.Subject)
	}
	items, err := w.DB.GetAll(ctx, keys...)
	if err != nil {
		return rest, err
	}
	now := w.Now()
	wanted, parts, canceled := make([]Work, len(some)), make([]ledger.Part, len(some)), int64(0)
	for i, o := range some {
		if items[i].Kind != "" {
			if wanted[i], err = w.open(items[i], o.Attempt); err != nil {
				return rest, err
			}
		}
		parts[i] = ledger.Part{Subject: o.Subject, Credits: o.price(), Free: wanted[i] == nil}
		if wanted[i] == nil {
			canceled += o.Risk
			continue
		}
		parts[i].About = wanted[i].About()
	}
	unrisk(tx, some[0].Owner, canceled)
	var holds []ledger.Hold
	if rest, holds, err = ledger.Split(tx, now, some[0].Account, hold, parts); err != nil {
		return rest, err
	}
	for i, o := range some {
		if wanted[i] == nil {
			continue
		}
		*wanted[i].Ticket() = Ticket{Hold: holds[i]}
		changed, err := wanted[i].Item()
		if err != nil {
			return rest, err
		}
		tx.Replace(changed)
		o.About = wanted[i].About() // the payload of the task does not have it
		if err := begin(tx, now, o); err != nil {
			return rest, err
		}
	}
	return rest, nil
}
