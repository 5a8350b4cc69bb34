package generate

import (
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

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
