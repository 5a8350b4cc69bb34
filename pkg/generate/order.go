package generate

import (
	"fmt"
	"math"
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/tenant"
)

// MaxWaiting is how much work of one account and mode may wait for its end.
const MaxWaiting = 1000

// retryQueueFull is when a caller whose queue is full should try again.
const retryQueueFull = 30 * time.Second

// Order is work to accept for a resource that the same transaction creates or sets
// back to its beginning.
type Order struct {
	tenant.Owner
	// Subject is the id of the resource, and Attempt the number of this try.
	Subject string `json:"subject"`
	Attempt int    `json:"attempt"`
	// Parts are what is to be made, in order; at least one.
	Parts []Part `json:"parts"`
	// Credits is the price of all parts together; 0 with a test key.
	Credits int64 `json:"credits"`
	// Delay is how much longer than usual the work may take: a rehearsed wait.
	Delay time.Duration `json:"delay,omitempty"`
}

// longest is how long the work may take.
func (o Order) longest() time.Duration {
	d := o.Delay
	for _, p := range o.Parts {
		d += kinds[p.Kind].deadline
	}
	return d
}

// waitingKey is the key of the count of an owner's waiting work.
func waitingKey(o tenant.Owner) store.Key { return store.IDKey("waiting#" + o.String()) }

// Accept adds to the transaction what begins the work of one resource: its task, the
// reservation of its price, and its place among the account's waiting work. The
// ticket is to be kept in the resource's document. b is the balance as it was read.
// The commit refuses with insufficient_balance and with queue_full.
func Accept(tx *store.Tx, now time.Time, o Order, b ledger.Balance) (Ticket, error) {
	hold, err := reserve(tx, now, o, b)
	if err != nil {
		return Ticket{}, err
	}
	if err := begin(tx, now, o); err != nil {
		return Ticket{}, err
	}
	enter(tx, o, 1)
	return Ticket{Hold: hold}, nil
}

func reserve(tx *store.Tx, now time.Time, o Order, b ledger.Balance) (ledger.Hold, error) {
	return ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Subject: o.Subject, Credits: o.Credits}, b)
}

// enter counts work that waits; the commit returns queue_full where there is too much.
func enter(tx *store.Tx, o Order, n int64) {
	full := errs.New(errs.QueueFull, "This account already has %d pieces of work waiting, which is the maximum. Wait until some have ended. Nothing was created or spent.", MaxWaiting)
	full.RetryAfter = retryQueueFull
	tx.Count(waitingKey(o.Owner), n, MaxWaiting, full)
}

// leave counts off work that has ended. That the count is there follows from the
// task that ends: only a defect of ours could make this fail.
func leave(tx *store.Tx, o tenant.Owner) {
	tx.Count(waitingKey(o), -1, math.MaxInt64, fmt.Errorf("generate: the waiting work of %s is miscounted", o))
}

// Cancel adds to the transaction the cancellation of the work of a resource. It
// releases the work's credits at once; the provider is asked to stop in the background.
// The caller writes the resource itself, on the condition that it is unchanged. If the
// work has just ended, the commit returns store.ErrConflict.
func Cancel(tx *store.Tx, now time.Time, o tenant.Owner, subject string, attempt int, t *Ticket) error {
	leave(tx, o)
	if t.Batch != "" {
		return nil // nothing was begun: the task of the batch finds it canceled, and releases its money
	}
	task.Cancel(tx, task.ID(Generate, subject, attempt))
	return ledger.Release(tx, now, o.Account, t.Hold)
}
