package ledger

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
)

// MaxCredits bounds a balance, far below the limit of integers in JSON clients (2^53).
const MaxCredits = 1_000_000_000_000

// balanceKind is the kind of a balance's item.
const balanceKind = "balance"

// Balance is an account's balance as it was read. Operations read it with BalanceKey
// together with their other items, and pass it to the functions that take credits.
type Balance struct {
	// Credits can be spent: reservations are already deducted.
	Credits int64
	// Above is the credits less the account's low threshold.
	Above int64
	// Low reports whether the credits are below the threshold and the account was notified of it.
	Low bool
	// Lost is the amount that providers were paid today for work that was not charged. LostLimit bounds it.
	Lost, LostLimit int64
	// Pace is the state of the providers, which may take less work than the account can pay for.
	Pace pace.State
	// account is the account in the event balance.low, without its balance.
	account json.RawMessage
}

// BalanceKey returns the key of an account's balance.
func BalanceKey(account tenant.Account) store.Key { return store.IDKey("balance#" + string(account)) }

// BalanceOf returns the balance of its item. The zero item has the zero balance.
func BalanceOf(it store.Item) Balance {
	b := Balance{Credits: it.Numbers[creditsNumber], Above: it.Numbers[aboveNumber], LostLimit: DefaultLostLimit,
		account: it.Doc}
	if limit, ok := it.Numbers[lostLimitNumber]; ok {
		b.LostLimit = limit
	}
	// A notice expires once the credits have risen to the threshold.
	b.Low = it.Attributes[lowAttribute] != "" && b.Above < 0
	return b
}

// Open creates the balance of a new account. The argument shown is the account in its events, without its balance.
func Open(tx *store.Tx, account tenant.Account, threshold, lostLimit int64, shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	tx.Create(store.Item{
		Key: BalanceKey(account), Kind: balanceKind, Owner: tenant.Of(account, ""), Doc: doc,
		Numbers: map[string]int64{creditsNumber: 0, aboveNumber: -threshold, lostLimitNumber: lostLimit},
	}, nil)
	return nil
}

// Change sets the low threshold of an account, the limit of its daily losses, and the account in its events, shown. If
// the new threshold makes the balance low, it adds the event balance.low. The commit returns store.ErrConflict if the
// balance has changed so that this decision no longer holds.
func Change(tx *store.Tx, now time.Time, account tenant.Account, b Balance, threshold, lostLimit int64,
	shown any) error {
	doc, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("ledger: encode account %s: %w", account, err)
	}
	notify := b.Above >= 0 && b.Credits < threshold
	setThreshold(tx, BalanceKey(account), threshold, lostLimit, doc, notify, b.Credits)
	if !notify {
		return nil
	}
	return notifyLow(tx, now, account, doc, b.Credits, threshold)
}

// take debits a balance, and adds the event balance.low if that makes it low. If the
// balance is insufficient, the commit returns the error of missing.
func take(tx *store.Tx, now time.Time, account tenant.Account, b Balance, credits int64,
	missing func(balance int64) error) error {
	notify := b.Above < credits && !b.Low
	takeCredits(tx, BalanceKey(account), credits, notify, b, func(is store.Item) error {
		if has := BalanceOf(is).Credits; has < credits {
			return missing(has)
		}
		return store.ErrConflict // sufficient, but changed since it was read
	})
	if !notify {
		return nil
	}
	return notifyLow(tx, now, account, b.account, b.Credits-credits, b.Credits-b.Above)
}

// notifyLow adds the event balance.low.
func notifyLow(tx *store.Tx, now time.Time, account tenant.Account, shown json.RawMessage, credits,
	threshold int64) error {
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
