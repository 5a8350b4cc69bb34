package generate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/topology"
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

// MaxWaiting bounds the waiting work of an account, and MaxWaitingTests that of its sandbox.
const (
	MaxWaiting      = 1000
	MaxWaitingTests = 100
)

// mostWaiting returns the bound of an owner's waiting work.
func mostWaiting(o tenant.Owner) int64 {
	if o.Mode == tenant.Test {
		return MaxWaitingTests
	}
	return MaxWaiting
}

// retryQueueFull is the time after which a caller whose queue is full should retry.
const retryQueueFull = 30 * time.Second

// WaitingKey returns the key of the count of an owner's waiting work, for Room.
func WaitingKey(o tenant.Owner) store.Key { return store.IDKey("waiting#" + o.String()) }

// RoomKeys returns the keys of the items that Room reads.
func RoomKeys(o tenant.Owner, now time.Time) []store.Key {
	return append(ledger.FundsKeys(o.Account, now), WaitingKey(o))
}

// Room returns the number of further pieces of work that may wait for an owner, by the items of RoomKeys.
func Room(o tenant.Owner, items []store.Item) int {
	funds, waiting := ledger.FundsOf(items), items[len(items)-1]
	if risk := ledger.RiskOf(waiting); risk > 0 && risk >= funds.MayRisk() || funds.LostCredits > funds.LostLimit &&
		o.Mode == tenant.Live {
		return 0
	}
	return int(mostWaiting(o) - waiting.Count())
}

// enter counts waiting work and its cost. The commit returns queue_full if there is too much work, and rate_limited if
// it would cost more than may be lost.
func enter(tx *store.Tx, now time.Time, o Order, n, credits int64, b ledger.Balance) error {
	most, may := mostWaiting(o.Owner), b.MayRisk()
	if credits > may && b.LostCredits > 0 {
		return ledger.ErrRisk(now, credits, b)
	}
	room := ledger.Anything
	if credits > 0 {
		// If nothing was lost today, one piece of work may cost any amount.
		room = max(may-credits, 0)
		ledger.Fence(tx, now, o.Account, b)
	}
	ledger.Wait(tx, WaitingKey(o.Owner), n, most, credits, room, func(is store.Item) error {
		switch {
		case is.Count() > most-n:
			return queueFull(most)
		case credits > 0 && ledger.RiskOf(is) > room:
			return ledger.ErrRisk(now, credits, b)
		}
		return store.ErrConflict
	})
	return nil
}

func queueFull(most int64) error {
	full := errs.New(errs.QueueFull, "This account already has %d pieces of work waiting, which is the maximum. Wait "+
		"until some have ended. Nothing was created or spent.", most)
	full.RetryAfter = retryQueueFull
	return full
}

// enterAnyway is enter for work that was already paid for and for which there was Room.
func enterAnyway(tx *store.Tx, o tenant.Owner, n, credits int64) {
	most := mostWaiting(o)
	ledger.Wait(tx, WaitingKey(o), n, most, credits, ledger.Anything, func(store.Item) error { return queueFull(most) })
}

// leave subtracts ended work, and the part of its price that was counted. Since the task that ends was counted, only a
// defect of this service could make this fail.
func leave(tx *store.Tx, o tenant.Owner, credits int64) {
	missing := fmt.Errorf("generate: the waiting work of %s is miscounted", o)
	ledger.Leave(tx, WaitingKey(o), 1, credits, missing)
}

// unrisk subtracts the counted price of work that was canceled before it began.
func unrisk(tx *store.Tx, o tenant.Owner, credits int64) {
	if credits > 0 {
		ledger.Leave(tx, WaitingKey(o), 0, credits, store.ErrConflict)
	}
}
