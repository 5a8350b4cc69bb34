// Package ledger keeps each account's balance in integer credits: one counter,
// and one entry for every change of it, written in the same transaction, so that
// the entries always add up to the balance. Accepting work reserves its price;
// success turns the reservation into a charge, failure and canceling release it.
//
// Nothing here reads. What an operation hands over as read decides only which
// transaction is made; whether that holds is decided by its conditions alone. Test
// keys have no balance: whoever works for one calls nothing of this package.
package ledger

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/resource"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// TopUp adds credits to a balance. It refuses amounts that are not positive; the
// commit refuses what would grow the balance beyond MaxCredits.
func TopUp(tx *store.Tx, now time.Time, account tenant.Account, credits int64) (Entry, error) {
	if credits <= 0 || credits > MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between 1 and %d", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindTopUp, string(account), credits)
	if err != nil {
		return Entry{}, err
	}
	add(tx, it, credits)
	return e, nil
}

// add writes an entry that adds credits from outside to a balance.
func add(tx *store.Tx, it store.Item, credits int64) {
	addCredits(tx, BalanceKey(it.Account), credits, MaxCredits, errs.Invalid("/credits", "would raise the balance above %d", int64(MaxCredits)))
	tx.Create(it, nil)
}

// Adjust corrects a balance by a signed number of credits. The reason is kept with
// the entry, for operators alone. The commit refuses what would take the balance
// below zero or beyond MaxCredits.
func Adjust(tx *store.Tx, now time.Time, account tenant.Account, credits int64, reason string, b Balance) (Entry, error) {
	if credits == 0 || credits > MaxCredits || credits < -MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between -%d and %[1]d, and not 0", int64(MaxCredits))
	}
	e, it, err := newEntry(now, account, kindAdjust, string(account), credits)
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

// Reservation asks for the price of work that is accepted.
type Reservation struct {
	Account tenant.Account
	Subject string // id of the work
	Credits int64
}

// Hold is a reservation that is not settled yet: whoever does the work keeps it,
// and settles it once. The zero value holds nothing, and settling it is nothing.
type Hold struct {
	Entry   string `json:"entry"`
	Subject string `json:"subject"`
	Credits int64  `json:"credits"`
}

// Reserve takes the price of work from a balance, and holds it. If the balance is
// too low, the commit returns insufficient_balance; if it has changed since it was
// read so that the account has to be told of a low balance, or need not any more,
// store.ErrConflict: read again, and try once more. What costs nothing makes no entry.
func Reserve(tx *store.Tx, now time.Time, r Reservation, b Balance) (Hold, error) {
	if r.Credits == 0 {
		return Hold{}, nil
	}
	h, err := hold(tx, now, r)
	if err != nil {
		return Hold{}, err
	}
	return h, take(tx, now, r.Account, b, r.Credits, func(balance int64) error {
		return errs.New(errs.InsufficientBalance, "This costs %d credits, and the balance is %d. Top up the account, or request something that costs less.", r.Credits, balance)
	})
}

// hold writes the entry of a reservation.
func hold(tx *store.Tx, now time.Time, r Reservation) (Hold, error) {
	if r.Credits < 0 || r.Credits > MaxCredits {
		return Hold{}, fmt.Errorf("ledger: %s cannot reserve %d credits", r.Subject, r.Credits)
	}
	e, it, err := newEntry(now, r.Account, kindReserve, r.Subject, -r.Credits)
	if err != nil {
		return Hold{}, err
	}
	it.Attributes = map[string]string{attrState: stateHeld, attrHeld: strconv.FormatInt(r.Credits, 10)}
	tx.Create(it, nil)
	return Hold{Entry: e.ID, Subject: r.Subject, Credits: r.Credits}, nil
}

// Charge ends a reservation for good: the work succeeded. The commit returns
// store.ErrConflict where it was settled before.
func Charge(tx *store.Tx, now time.Time, account tenant.Account, h Hold) {
	if h != (Hold{}) {
		settle(tx, now, account, h, stateCharged, 0)
	}
}

// Release gives a reservation back: the work failed or was canceled. The commit
// gives store.ErrConflict where it was settled before.
func Release(tx *store.Tx, now time.Time, account tenant.Account, h Hold) error {
	if h == (Hold{}) {
		return nil
	}
	settle(tx, now, account, h, stateReleased, 0)
	return release(tx, now, account, h.Subject, h.Credits, h.Credits)
}

// release writes an entry of credits that are given back, and adds those of them
// to the balance that are not reserved anew.
func release(tx *store.Tx, now time.Time, account tenant.Account, subject string, credits, free int64) error {
	_, it, err := newEntry(now, account, kindRelease, subject, credits)
	if err != nil {
		return err
	}
	if free > 0 {
		// They were taken from the balance, so it may have them back, whatever it grew
		// to since.
		addCredits(tx, BalanceKey(account), free, math.MaxInt64, store.ErrConflict)
	}
	tx.Create(it, nil)
	return nil
}

// settle moves a reservation on that holds as much as it is believed to.
func settle(tx *store.Tx, now time.Time, account tenant.Account, h Hold, state string, left int64) {
	held := expression.And(store.Account.Equal(expression.Value(string(account))),
		store.Attribute(attrState).Equal(expression.Value(stateHeld)), store.Attribute(attrHeld).Equal(expression.Value(strconv.FormatInt(h.Credits, 10))))
	moved := expression.Set(store.Attribute(attrState), expression.Value(state)).
		Set(store.Attribute(attrHeld), expression.Value(strconv.FormatInt(left, 10))).
		Set(store.Attribute(attrSettled), expression.Value(resource.Instant(now).Format(time.RFC3339Nano)))
	tx.Update(store.IDKey(h.Entry), store.Written(moved), held, store.Conflict)
}

// Part is what one part of a batch gets of its reservation.
type Part struct {
	Subject string
	Credits int64
	// Free tells that the part needs its credits no more: they are released.
	Free bool
}

// MaxParts bounds the parts of one split, which share a transaction of at most 100
// writes with what else becomes of them: a split takes three more than its parts.
const MaxParts = 45

// Split assigns to parts of a batch their share of its reservation, each as one of its
// own, in the order of the parts; those that cost nothing or are free get an empty
// one. Rest is what the batch still holds. The commit returns store.ErrConflict
// where the batch holds another amount than is believed, as after a repeat.
func Split(tx *store.Tx, now time.Time, account tenant.Account, batch Hold, parts []Part) (rest Hold, holds []Hold, err error) {
	var all, free int64
	for _, p := range parts {
		if p.Credits < 0 || p.Credits > batch.Credits-all {
			return Hold{}, nil, fmt.Errorf("ledger: the parts of %s are more than the %d credits that it holds", batch.Subject, batch.Credits)
		}
		all += p.Credits
		if p.Free {
			free += p.Credits
		}
	}
	if len(parts) > MaxParts {
		return Hold{}, nil, fmt.Errorf("ledger: %d parts of %s are too many for one transaction", len(parts), batch.Subject)
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
	// What is released is reserved anew in the same transaction, so that the balance
	// itself changes by what is free alone.
	if err := release(tx, now, account, batch.Subject, all, free); err != nil {
		return Hold{}, nil, err
	}
	for i, p := range parts {
		if p.Free || p.Credits == 0 {
			continue
		}
		if holds[i], err = hold(tx, now, Reservation{Account: account, Subject: p.Subject, Credits: p.Credits}); err != nil {
			return Hold{}, nil, err
		}
	}
	return rest, holds, nil
}
