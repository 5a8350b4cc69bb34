package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/event"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// MaxCredits bounds a balance, far below where integers of JSON clients end (2^53).
const MaxCredits = 1_000_000_000_000

// balanceKind is the kind of a balance's item.
const balanceKind = "balance"

// Balance is an account's balance as it was read. Read it with BalanceKey in the
// one read that an operation makes, and hand it to what takes credits.
type Balance struct {
	// Credits can be spent: reservations are already off.
	Credits int64
	// Above is how far they lie above the account's low threshold.
	Above int64
	// Low tells that they lie below, and that the account was told so.
	Low bool
	// account is what the event balance.low tells of the account.
	account json.RawMessage
}

// BalanceKey is the key of an account's balance.
func BalanceKey(account tenant.Account) store.Key { return store.IDKey("balance#" + string(account)) }

// BalanceOf returns the balance of its item; that of an absent item is zero.
func BalanceOf(it store.Item) Balance {
	b := Balance{Credits: it.Numbers[creditsNumber], Above: it.Numbers[aboveNumber], account: it.Doc}
	// Once the credits have risen to the threshold, an earlier notice is over.
	b.Low = it.Attributes[lowAttribute] != "" && b.Above < 0
	return b
}

// Open creates the balance of a new account. Shown is the account as its events are to
// show it, but for the balance.
func Open(tx *store.Tx, account tenant.Account, threshold int64, shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	tx.Create(store.Item{
		Key: BalanceKey(account), Kind: balanceKind, Owner: tenant.Of(account, ""), Doc: doc,
		Numbers: map[string]int64{creditsNumber: 0, aboveNumber: -threshold},
	}, nil)
	return nil
}

// Change notes another low threshold of an account, and what its events are to
// show of it from now on. If the balance becomes low by that, the event tells so.
// The commit returns store.ErrConflict where the balance has changed so that this is
// decided otherwise.
func Change(tx *store.Tx, now time.Time, account tenant.Account, b Balance, threshold int64, shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	tell := b.Above >= 0 && b.Credits < threshold
	setThreshold(tx, BalanceKey(account), threshold, doc, tell, b.Credits)
	if !tell {
		return nil
	}
	return tellLow(tx, now, account, doc, b.Credits, threshold)
}

// take takes credits from a balance, and tells if it becomes low by that. What
// becomes of too low a balance is told by missing.
func take(tx *store.Tx, now time.Time, account tenant.Account, b Balance, credits int64, missing func(balance int64) error) error {
	tell := b.Above < credits && !b.Low
	takeCredits(tx, BalanceKey(account), credits, tell, b, func(is store.Item) error {
		if has := BalanceOf(is).Credits; has < credits {
			return missing(has)
		}
		return store.ErrConflict // only what was read before is out of date
	})
	if !tell {
		return nil
	}
	return tellLow(tx, now, account, b.account, b.Credits-credits, b.Credits-b.Above)
}

// tellLow adds the event balance.low.
func tellLow(tx *store.Tx, now time.Time, account tenant.Account, shown json.RawMessage, credits, threshold int64) error {
	object := map[string]any{}
	if len(shown) > 0 {
		if err := json.Unmarshal(shown, &object); err != nil {
			return fmt.Errorf("ledger: decode account %s: %w", account, err)
		}
	}
	object["id"] = account
	object["balance"] = map[string]int64{"credits": credits, "low_threshold": threshold}
	it, err := event.New(now, tenant.Of(account, tenant.Live), event.BalanceLow, object, nil)
	if err != nil {
		return err
	}
	tx.Create(it, nil)
	return nil
}
