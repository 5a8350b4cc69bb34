// Package ledger keeps each account's balance in integer credits: one counter,
// and one entry for every change of it, written in the same transaction, so that
// the entries always add up to the balance.
package ledger

import (
	"time"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/id"
	"github.com/content-automation/api/pkg/store"
)

// MaxCredits bounds a balance, far below where integers of JSON clients end (2^53).
const MaxCredits = 1_000_000_000_000

// Entry is one change of a balance.
type Entry struct {
	httpapi.Resource
	Kind    string `json:"kind" enum:"top_up,reserve,release,adjust" doc:"Why the balance changed"`
	Credits int64  `json:"credits" doc:"How much it changed by; negative where credits were taken"`
	Subject string `json:"subject" doc:"Id of what it was for"`
}

// SchemaName names the schema in the OpenAPI document.
func (Entry) SchemaName() string { return "BalanceEntry" }

// BalanceKey is the key of an account's balance; its Counter is the credits.
func BalanceKey(account string) store.Key { return store.IDKey("balance#" + account) }

// TopUp adds credits to a balance. It refuses amounts that are not positive; the
// commit refuses what would grow the balance beyond MaxCredits.
func TopUp(tx *store.Tx, now time.Time, account string, credits int64) (Entry, error) {
	if credits <= 0 || credits > MaxCredits {
		return Entry{}, errs.Invalid("/credits", "must be between 1 and %d", int64(MaxCredits))
	}
	e := Entry{Resource: httpapi.NewResource(id.New(id.LedgerEntry, now), now, nil), Kind: "top_up", Credits: credits, Subject: account}
	it, err := store.NewItem("balance_entry", account, "live", e.ID, e)
	if err != nil {
		return Entry{}, err
	}
	tx.Count(BalanceKey(account), credits, MaxCredits, errs.Invalid("/credits", "would raise the balance above %d", int64(MaxCredits)))
	tx.Create(it, nil)
	return e, nil
}
