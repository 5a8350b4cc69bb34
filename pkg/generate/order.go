package generate

import (
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// Order is work for a resource that the same transaction creates or sets back to its beginning.
type Order struct {
	tenant.Owner
	// Subject is the id of the resource. Attempt is the number of this try.
	Subject string `json:"subject"`
	Attempt int    `json:"attempt"`
	// About is the part of the resource that the entries of its money show.
	About ledger.About `json:"-"`
	// Parts are the parts to generate, in order. There is at least one.
	Parts []Part `json:"parts"`
	// ResultName names the requested result, such as content_item.post.
	ResultName string `json:"makes,omitempty"`
	// Quote is the part of a quote that bounds the price, or nil.
	Quote *ledger.QuoteShare `json:"quoted,omitempty"`
	// Risk is the part of the price that counts as in flight.
	Risk int64 `json:"risk,omitempty"`
	// Delay is the time that is added to the usual duration, to rehearse waiting.
	Delay time.Duration `json:"delay,omitempty"`
	// KeepsParts reports whether the resource shows the completed parts of work that was canceled, or that has failed
	// because of the caller's input. Their files stay until the resource is deleted.
	KeepsParts bool `json:"keeps,omitempty"`
}

// longest returns the longest time that the work may take.
func (o Order) longest() time.Duration {
	d := o.Delay
	for _, p := range o.Parts {
		d += kinds[p.Kind].deadline * time.Duration(1+len(p.Further))
	}
	return d
}

// usualSandbox is the duration of a rehearsal beyond its delay. usualDraft is added if it composes.
const (
	usualSandbox = 2 * time.Second
	usualDraft   = 4 * time.Second
)

// Usual returns the usual duration of the work.
func (o Order) Usual() time.Duration {
	if o.Mode == tenant.Test {
		d := o.Delay + usualSandbox
		if slices.ContainsFunc(o.Parts, func(p Part) bool { return p.Kind == provider.KindCompose }) {
			d += usualDraft
		}
		return d
	}
	var d time.Duration
	for _, p := range o.Parts {
		if p.Reuse == nil {
			d += kinds[p.Kind].usual * time.Duration(1+len(p.Further))
		}
	}
	return d
}

// price returns the price of all parts together, or what a quote bounds it by.
func (o Order) price() (credits int64) {
	for _, p := range o.Parts {
		credits += p.Price()
	}
	if o.Quote != nil {
		credits = min(credits, o.Quote.Credits)
	}
	return credits
}

// Accept adds the start of the work of one resource to the transaction: its task, the reservation of its price, and its
// place among the account's waiting work. The ticket must be stored in the resource's document. The argument b is the
// result of ledger.FundsOf, or the zero value with a test key. The commit returns insufficient_balance,
// spend_limit_reached, queue_full or rate_limited if it refuses the work. Accept itself returns queue_full or
// provider_unavailable for work that its provider could not do in time.
func Accept(tx *store.Tx, now time.Time, o Order, payer ledger.Payer, b ledger.Balance) (Ticket, error) {
	if err := room(b.Pace, now, o); err != nil {
		return Ticket{}, err
	}
	hold, err := reserve(tx, now, o, o.price(), payer, b)
	if err != nil {
		return Ticket{}, err
	}
	o.Risk = o.price()
	if err := enter(tx, now, o, 1, o.Risk, b); err != nil {
		return Ticket{}, err
	}
	return Ticket{Hold: hold}, begin(tx, now, o)
}

func reserve(tx *store.Tx, now time.Time, o Order, credits int64, payer ledger.Payer,
	b ledger.Balance) (ledger.Hold, error) {
	return ledger.Reserve(tx, now, ledger.Reservation{Account: o.Account, Profile: o.Profile, Subject: o.Subject,
		About: o.About, Credits: credits, Payer: payer}, b)
}

// TaskKey returns the key of the task of an attempt at a resource, which Cancel needs.
func TaskKey(subject string, attempt int) store.Key {
	return store.IDKey(task.ID(Generate, subject, attempt))
}

// Cancel adds the cancellation of the work of a resource, whose task was read, to the transaction. It charges the
// completed parts, returns their cost and results, and releases the rest of the work's credits. The provider is stopped
// in the background. The caller writes the resource itself, on the condition that it is unchanged. If the work has just
// ended or moved on, Cancel or the commit returns store.ErrConflict.
func Cancel(tx *store.Tx, now time.Time, o tenant.Owner, t *Ticket, read store.Item) (charged int64, made []PartResult,
	err error) {
	if t.Batch != "" {
		leave(tx, o, 0)
		return 0, nil, nil // nothing was begun: the task of the batch finds the work canceled, and releases its money
	}
	if err := task.Cancel(tx, read); err != nil {
		return 0, nil, err
	}
	s, r, err := runOf(read)
	if err != nil {
		return 0, nil, err
	}
	leave(tx, o, r.Risk)
	charged = r.cancelCost(t)
	ledger.Lose(tx, now, o.Account, r.paidAtMost(s.Task.Lease != nil)-charged)
	return charged, r.keptResults(), ledger.Release(tx, now, o.Account, t.Hold, charged)
}

// CancelCost returns the charge if the work of a resource, whose task was read, were canceled now.
func CancelCost(t *Ticket, read store.Item) (credits int64, err error) {
	if t.Hold.Credits == 0 || read.Kind == "" {
		return 0, nil
	}
	_, r, err := runOf(read)
	if err != nil {
		return 0, err
	}
	return r.cancelCost(t), nil
}

// runOf returns the run of a task that was read.
func runOf(read store.Item) (*task.Step, *run, error) {
	s, r := &task.Step{}, &run{}
	if err := read.Decode(&s.Task); err != nil {
		return nil, nil, err
	}
	return s, r, s.Decode(r)
}
