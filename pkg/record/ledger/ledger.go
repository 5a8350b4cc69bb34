// Package ledger keeps each account's balance in integer credits: one counter, and one entry for every change of it,
// written in the same transaction, so that the entries always add up to the balance. Accepting work reserves its price.
// Success turns the reservation into a charge; failure and cancellation release it.
//
// Nothing here reads the table. The balance that a caller has read only selects the transaction; the conditions of the
// transaction decide whether it commits. Test keys have no balance: work for them does not use this package. Reserve
// holds credits, and Hold settles them.
package ledger

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
	"github.com/content-automation/api/pkg/store"
)

// TopUp adds credits to a balance. It refuses amounts that are not positive. The commit fails if the balance would
// exceed MaxCredits.
func TopUp(tx *store.Tx, now time.Time, account tenant.Account, credits int64) (Entry, error) {
	if credits <= 0 || credits > MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between 1 and %d", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindTopUp, string(account), nil, credits, Payer{})
	if err != nil {
		return Entry{}, err
	}
	add(tx, it, credits)
	return e, nil
}

// add writes an entry of credits that were added to a balance from outside.
func add(tx *store.Tx, it store.Item, credits int64) {
	addCredits(tx, BalanceKey(it.Account), credits, MaxCredits,
		errs.Invalid("/credits", "would raise the balance above %d", int64(MaxCredits)))
	tx.Create(it, nil)
}

// Adjust corrects a balance by a signed number of credits. The entry keeps the reason, which only operators see. The
// commit fails if the balance would fall below zero or exceed MaxCredits.
func Adjust(tx *store.Tx, now time.Time, account tenant.Account, credits int64, reason string,
	b Balance) (Entry, error) {
	if credits == 0 || credits > MaxCredits || credits < -MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between -%d and %[1]d, and not 0", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindAdjust, string(account), nil, credits, Payer{})
	if err != nil {
		return Entry{}, err
	}
	it.Attributes = map[string]string{attrReason: reason}
	if credits > 0 {
		add(tx, it, credits)
		return e, nil
	}
	tx.Create(it, nil)
	return e, take(tx, now, account, b, -credits, func(balance int64) error {
		return errs.Invalid("/credits", "would take the balance of %d below 0", balance)
	})
}

// Reservation is the price of accepted work.
type Reservation struct {
	Account tenant.Account
	Profile tenant.Profile // that the work is for, or empty
	Subject string         // id of the work
	About   About
	Credits int64
	Payer   Payer
}

// Hold is a reservation that is not settled yet. The work keeps it and settles it
// once. The zero value holds nothing, and settling it does nothing.
type Hold struct {
	Entry   string `json:"entry"`
	Subject string `json:"subject"`
	About   *About `json:"about,omitempty"`
	Credits int64  `json:"credits"`
	Payer   Payer  `json:"payer,omitzero"`
}

// Reserve takes the price of work from a balance and holds it. The commit returns insufficient_balance if the balance
// is insufficient, spend_limit_reached if the payer's limit would be exceeded, and validation_failed if the profile
// requires a quote that the reservation lacks. If the balance has changed since it
// was read, so that a notice of a low balance became due or is no longer due, the commit returns store.ErrConflict:
// read the balance again and retry. Reserve returns rate_limited if the account's losses of today exceed their limit.
// Reserve returns person_required if the mandate of the payer's key leaves spending to people. Free work has no entry.
func Reserve(tx *store.Tx, now time.Time, r Reservation, b Balance) (Hold, error) {
	if r.Credits == 0 {
		return Hold{}, nil
	}
	if r.Payer.refused != nil {
		return Hold{}, r.Payer.refused
	}
	if b.Lost > b.LostLimit {
		return Hold{}, errLost(now, b)
	}
	r.Payer = r.Payer.of(r.Profile, now)
	h, err := hold(tx, now, r)
	if err != nil {
		return Hold{}, err
	}
	r.Payer.spend(tx, r.Account, r.Credits, r.About.QuoteID != "", nil)
	return h, take(tx, now, r.Account, b, r.Credits, insufficient(r.Credits))
}

// hold writes the entry of a reservation.
func hold(tx *store.Tx, now time.Time, r Reservation) (Hold, error) {
	if r.Credits < 0 || r.Credits > MaxCredits {
		return Hold{}, fmt.Errorf("ledger: %s cannot reserve %d credits", r.Subject, r.Credits)
	}
	var about *About
	if r.About.FactoryID != "" || len(r.About.Metadata) > 0 || r.About.QuoteID != "" {
		about = &r.About
	}
	e, it, err := newEntry(now, r.Account, kindReserve, r.Subject, about, -r.Credits, r.Payer)
	if err != nil {
		return Hold{}, err
	}
	it.Attributes = map[string]string{attrState: stateHeld, attrHeld: strconv.FormatInt(r.Credits, 10)}
	tx.Create(it, nil)
	return Hold{Entry: e.ID, Subject: r.Subject, About: about, Credits: r.Credits, Payer: r.Payer}, nil
}

// Charge settles the reservation of work that succeeded. The commit returns store.ErrConflict if it is already settled.
func Charge(tx *store.Tx, now time.Time, account tenant.Account, h Hold) {
	if h != (Hold{}) {
		settle(tx, now, account, h, stateCharged, 0)
	}
}

// Release settles the reservation of work that failed or was canceled. It charges the given part of it, for the
// completed parts of the work, and returns the rest to the balance. The commit returns store.ErrConflict if the
// reservation is already settled.
func Release(tx *store.Tx, now time.Time, account tenant.Account, h Hold, charged int64) error {
	switch {
	case charged < 0 || charged > h.Credits:
		return fmt.Errorf("ledger: %s cannot be charged %d of %d credits", h.Subject, charged, h.Credits)
	case charged == h.Credits:
		Charge(tx, now, account, h)
		return nil
	}
	state, rest := stateReleased, h.Credits-charged
	if charged > 0 {
		state = stateCharged
	}
	settle(tx, now, account, h, state, 0)
	h.Payer.spend(tx, account, -rest, true, nil)
	return release(tx, now, account, h, rest, rest)
}

// ChargeMore charges the cost of work beyond its reservation, which the same transaction charges. The commit returns
// store.ErrConflict if the balance or the payer's limit does not cover it, or if the balance has changed since it was
// read.
func ChargeMore(tx *store.Tx, now time.Time, account tenant.Account, h Hold, credits int64, b Balance) error {
	_, it, err := newEntry(now, account, kindReserve, h.Subject, h.About, -credits, h.Payer)
	if err != nil {
		return err
	}
	it.Attributes = map[string]string{attrState: stateCharged, attrHeld: "0"}
	tx.Create(it, nil)
	h.Payer.spend(tx, account, credits, true, store.Conflict)
	return take(tx, now, account, b, credits, func(int64) error { return store.ErrConflict })
}

// release writes an entry of released credits. It adds those that are not reserved again, free, to the balance.
func release(tx *store.Tx, now time.Time, account tenant.Account, h Hold, credits, free int64) error {
	_, it, err := newEntry(now, account, kindRelease, h.Subject, h.About, credits, h.Payer)
	if err != nil {
		return err
	}
	if free > 0 {
		// The balance may exceed MaxCredits here: these credits were taken from it, and it may have grown since.
		addCredits(tx, BalanceKey(account), free, math.MaxInt64, store.ErrConflict)
	}
	tx.Create(it, nil)
	return nil
}

// settle moves a hold to a new state if its amount is unchanged.
func settle(tx *store.Tx, now time.Time, account tenant.Account, h Hold, state string, left int64) {
	held := expression.And(store.Account.Equal(expression.Value(string(account))),
		store.Attribute(attrState).Equal(expression.Value(stateHeld)),
		store.Attribute(attrHeld).Equal(expression.Value(strconv.FormatInt(h.Credits, 10))))
	moved := expression.Set(store.Attribute(attrState), expression.Value(state)).
		Set(store.Attribute(attrHeld), expression.Value(strconv.FormatInt(left, 10))).
		Set(store.Attribute(attrSettled), expression.Value(resource.Instant(now).Format(time.RFC3339Nano)))
	tx.Update(store.IDKey(h.Entry), store.Written(moved), held, store.Conflict)
}

// Part is the share of one part of a batch in the batch's reservation.
type Part struct {
	Subject string
	About   About
	Credits int64
	// Free reports that the credits of the part are released instead of held.
	Free bool
}

// MaxParts bounds the parts of one split. A split takes four writes more than it has parts, of the 100 writes of a
// transaction. The rest is left for the caller.
const MaxParts = 45

// Split divides the reservation of a batch among its parts. Holds has the reservation of each part, in order. It is the
// zero Hold for parts that cost nothing or are free. Rest is the amount that the batch still holds. The commit returns
// store.ErrConflict if the batch does not hold the given amount, as after an earlier split.
func Split(tx *store.Tx, now time.Time, account tenant.Account, batch Hold, parts []Part) (rest Hold,
	holds []Hold, err error) {
	var all, free int64
	for _, p := range parts {
		if p.Credits < 0 || p.Credits > batch.Credits-all {
			return Hold{}, nil, fmt.Errorf("ledger: the parts of %s are more than the %d credits that it holds",
				batch.Subject, batch.Credits)
		}
		all += p.Credits
		if p.Free {
			free += p.Credits
		}
	}
	if len(parts) > MaxParts {
		return Hold{}, nil, fmt.Errorf("ledger: %d parts of %s are too many for one transaction", len(parts),
			batch.Subject)
	}
	holds = make([]Hold, len(parts))
	if all == 0 {
		return batch, holds, nil
	}
	rest, state := batch, stateHeld
	if rest.Credits -= all; rest.Credits == 0 {
		rest, state = Hold{}, stateReleased
	}
	settle(tx, now, account, batch, state, rest.Credits)
	// The same transaction reserves the released credits again, so that only the free ones change the balance.
	if err := release(tx, now, account, batch, all, free); err != nil {
		return Hold{}, nil, err
	}
	batch.Payer.spend(tx, account, -free, true, nil)
	for i, p := range parts {
		if p.Free || p.Credits == 0 {
			continue
		}
		if holds[i], err = hold(tx, now, Reservation{Account: account, Subject: p.Subject, About: p.About,
			Credits: p.Credits, Payer: batch.Payer}); err != nil {
			return Hold{}, nil, err
		}
	}
	return rest, holds, nil
}
