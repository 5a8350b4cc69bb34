package ledger

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// month is the layout of a calendar month in UTC.
const month = "2006-01"

// keepSpending is the number of months for which the spending of a key is kept.
const keepSpending = 13

// Payer is the API key that pays for work, and the month in which the work was accepted. The zero value is a person,
// whose spending is not counted.
type Payer struct {
	Key   string `json:"key,omitempty"`
	Month string `json:"month,omitempty"`
	// Limit is the number of credits that the key may spend in a month, as it was when the work was accepted. Nil means
	// no limit.
	Limit *int64 `json:"limit,omitempty"`
}

// PayerOf returns the payer of work that is accepted now for a key. The key of a person is empty.
func PayerOf(now time.Time, keyID string, limit *int64) Payer {
	if keyID == "" {
		return Payer{}
	}
	return Payer{Key: keyID, Month: now.UTC().Format(month), Limit: limit}
}

// SpendKey returns the key of the counter of an API key's spending in the month of the given time. Item.Count is the
// number of credits.
func SpendKey(account tenant.Account, keyID string, at time.Time) store.Key {
	return spendKey(account, keyID, at.UTC().Format(month))
}

func spendKey(account tenant.Account, keyID, of string) store.Key {
	return store.IDKey("spend#" + string(account) + "#" + keyID + "#" + of)
}

// Covers returns an error unless a balance and the payer's limit cover the given credits. The argument spent is the
// payer's counter.
func (p Payer) Covers(b Balance, spent store.Item, credits int64) error {
	switch {
	case b.Credits < credits:
		return insufficient(credits)(b.Credits)
	case p.Limit != nil && spent.Count()+credits > *p.Limit:
		return spendLimitReached(credits, p)(spent)
	}
	return nil
}

// Counter returns the key of the payer's counter. The counter of a person never exists.
func (p Payer) Counter(account tenant.Account) store.Key { return spendKey(account, p.Key, p.Month) }

// spend counts the credits that a payer spends, or gets back if they are negative. If the limit would be exceeded, the
// commit returns the error of failed for the counter.
func spend(tx *store.Tx, account tenant.Account, p Payer, credits int64, failed func(store.Item) error) {
	if p.Key == "" || credits == 0 {
		return
	}
	n := store.CountValue
	within := expression.Or(n.AttributeExists(), n.AttributeNotExists())
	if p.Limit != nil && credits > 0 {
		within = n.LessThanEqual(value(*p.Limit - credits))
		if credits <= *p.Limit {
			within = expression.Or(n.AttributeNotExists(), within)
		}
	}
	if failed == nil {
		failed = store.Conflict
	}
	of, _ := time.Parse(month, p.Month) // it was formatted here
	u := expression.Add(n, value(credits)).Set(store.Expiry, value(of.AddDate(0, keepSpending, 0).Unix()))
	tx.Update(p.Counter(account), u, within, failed)
}

// insufficient returns the refusal of work that the balance does not cover.
func insufficient(credits int64) func(balance int64) error {
	return func(balance int64) error {
		return errs.New(errs.InsufficientBalance, "This costs %d credits, and the balance is %d. Top up the account, "+
			"or request something that costs less.", credits, balance).
			With(errs.BalanceContext{RequiredCredits: credits, AvailableCredits: balance})
	}
}

// spendLimitReached returns the refusal of work that the payer's limit does not cover.
func spendLimitReached(credits int64, p Payer) func(store.Item) error {
	return func(spent store.Item) error {
		var limit int64
		if p.Limit != nil {
			limit = *p.Limit
		}
		return errs.New(errs.SpendLimitReached, "This costs %d credits. The API key may spend %d a month and has "+
			"spent %d. Raise its limit, use another key, or wait for the next month (UTC).", credits, limit,
			spent.Count()).
			With(errs.SpendContext{SpendLimitCredits: limit, RequiredCredits: credits,
				AvailableCredits: max(limit-spent.Count(), 0)})
	}
}
