package ledger

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/record/pace"
	"github.com/content-automation/api/pkg/store"
)

// DefaultLostLimit bounds the daily losses of an account without a limit of its own, in credits.
const DefaultLostLimit = 5000

// lostLimitNumber is the limit. It is stored with the balance because both are read together.
const lostLimitNumber = "lost_limit"

// keepLost is the time for which the count of a day is kept.
const keepLost = 90 * 24 * time.Hour

// LostSpend is the metric of credits that providers were paid for work that was not charged.
const LostSpend = "LostSpendCredits"

// LostKey returns the key of the counter of an account's losses on a day (UTC): the amount that providers were paid for
// work that failed or was canceled and was not charged.
func LostKey(account tenant.Account, at time.Time) store.Key {
	return store.IDKey("lost#" + string(account) + "#" + at.UTC().Format(time.DateOnly))
}

// Lose counts credits that were lost. The metric may count them twice if the transaction is repeated.
func Lose(tx *store.Tx, now time.Time, account tenant.Account, credits int64) {
	if credits <= 0 {
		return
	}
	n := store.CountValue
	tx.Update(LostKey(account, now), expression.Add(n, value(credits)).Set(store.Expiry,
		value(now.Add(keepLost).Unix())),
		expression.Or(n.AttributeExists(), n.AttributeNotExists()), store.Conflict)
	metric.Add(LostSpend, credits)
}

// FundsKeys returns the keys of the items that decide whether new work of an account is accepted; see FundsOf.
func FundsKeys(account tenant.Account, now time.Time) []store.Key {
	return []store.Key{BalanceKey(account), LostKey(account, now), pace.Key(account)}
}

// FundsOf returns the balance of the items of FundsKeys, with today's losses and the state of the providers. A state
// that cannot be read has no limits: the worker reads it again.
func FundsOf(items []store.Item) Balance {
	b := BalanceOf(items[0])
	b.Lost = items[1].Count()
	b.Pace, _ = pace.Of(items[2])
	return b
}

// leastWeight is the share of the work in flight, in percent, that counts as long as nothing was lost.
const leastWeight = 10

// MayRisk returns the number of credits that all work in flight may cost: the rest of the daily limit, since all of it
// may be lost. As long as little was lost, only a tenth of the work counts, so that an account whose work succeeds can
// have much of it in flight. The share grows with the losses. From half of the limit on, all of it counts.
func (b Balance) MayRisk() int64 {
	left := b.LostLimit - b.Lost
	if left <= 0 {
		return 0
	}
	return left * 100 / min(max(200*b.Lost/b.LostLimit, leastWeight), 100)
}

// Fence makes the commit return store.ErrConflict if the account's losses of today have grown since the balance was
// read.
func Fence(tx *store.Tx, now time.Time, account tenant.Account, b Balance) {
	if b.Lost == 0 {
		return // the first loss of the day leaves most of the limit
	}
	n := store.CountValue
	tx.Update(LostKey(account, now), expression.Add(n, value(0)), n.LessThanEqual(value(b.Lost)), store.Conflict)
}

// retryRisk is the time after which a caller with too much work in flight should retry.
const retryRisk = 30 * time.Second

// ErrRisk refuses new work because too much work is in flight.
func ErrRisk(now time.Time, credits int64, b Balance) error {
	e := errs.New(errs.RateLimited, "Work of this account that failed or was canceled has cost %d credits today "+
		"without being charged, and the limit is %d. So work in flight may cost at most %d credits together, and "+
		"this costs %d. Wait until other work has ended, or request less at a time. To have the limit raised, "+
		"contact support.", b.Lost, b.LostLimit, b.MayRisk(), credits)
	e.RetryAfter = retryRisk
	if b.Lost > 0 && credits > b.MayRisk() {
		e.RetryAfter = untilTomorrow(now)
	}
	return e
}

// untilTomorrow is the time until midnight UTC.
func untilTomorrow(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}

// errLost refuses new work of an account that has lost too much today.
func errLost(now time.Time, b Balance) error {
	e := errs.New(errs.RateLimited, "Work of this account that failed or was canceled has cost %d credits today "+
		"without being charged, and the limit is %d. New work is accepted again from midnight UTC on. To have the "+
		"limit raised, contact support.", b.Lost, b.LostLimit)
	e.RetryAfter = untilTomorrow(now)
	return e
}
