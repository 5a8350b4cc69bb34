package ledger

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/metric"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/tenant"
)

// DefaultLostLimit is how many credits an account may lose a day that was given no
// other limit.
const DefaultLostLimit = 5000

// lostLimitNumber is the limit, beside the balance: both are read together.
const lostLimitNumber = "lost_limit"

// keepLost is how long the count of a day is kept.
const keepLost = 90 * 24 * time.Hour

// LostSpend is the metric of credits that providers were paid for work that was not
// charged.
const LostSpend = "LostSpendCredits"

// LostKey is the key of the counter of what an account has lost on a day (UTC):
// what providers were paid for work that failed or was canceled and was not charged.
func LostKey(account tenant.Account, at time.Time) store.Key {
	return store.IDKey("lost#" + string(account) + "#" + at.UTC().Format(time.DateOnly))
}

// Lose counts credits that were lost. The metric may count them twice if the
// transaction is repeated.
func Lose(tx *store.Tx, now time.Time, account tenant.Account, credits int64) {
	if credits <= 0 {
		return
	}
	n := store.CountValue
	tx.Update(LostKey(account, now), expression.Add(n, value(credits)).Set(store.Expiry, value(now.Add(keepLost).Unix())),
		expression.Or(n.AttributeExists(), n.AttributeNotExists()), store.Conflict)
	metric.Add(LostSpend, credits)
}

// FundsKeys are the keys of the items that decide whether an account can pay for new
// work; see FundsOf.
func FundsKeys(account tenant.Account, now time.Time) []store.Key {
	return []store.Key{BalanceKey(account), LostKey(account, now)}
}

// FundsOf returns the balance of the items of FundsKeys, with what was lost today.
func FundsOf(items []store.Item) Balance {
	b := BalanceOf(items[0])
	b.Lost = items[1].Count()
	return b
}

// errLost refuses new work of an account that has lost too much today.
func errLost(now time.Time, b Balance) error {
	tomorrow := now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	e := errs.New(errs.RateLimited, "Work of this account that failed or was canceled has cost %d credits today without being charged, and the limit is %d. New work is accepted again from midnight UTC on. To have the limit raised, contact support.", b.Lost, b.LostLimit)
	e.RetryAfter = tomorrow.Sub(now)
	return e
}
