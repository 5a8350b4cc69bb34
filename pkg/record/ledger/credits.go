package ledger

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
)

// A balance is an item with two numbers that change together: the credits, and their distance above the account's low
// threshold. The second is stored because a condition can compare an attribute with a value, but not with the sum of
// two attributes.
const (
	creditsNumber = "credits"
	aboveNumber   = "above"
	// lowAttribute exists once the account was notified of a low balance. It stays when the credits rise again:
	// aboveNumber decides whether it counts.
	lowAttribute = "low"
)

var (
	credits = store.Number(creditsNumber)
	above   = store.Number(aboveNumber)
	low     = store.Attribute(lowAttribute)
)

func value(n int64) expression.ValueBuilder { return expression.Value(n) }

// notified adds the notice of a low balance to an update.
func notified(u expression.UpdateBuilder) expression.UpdateBuilder {
	return u.Set(low, expression.Value("true"))
}

// setThreshold sets the low threshold of a balance, the limit of its losses and its document. With notify, the account
// is notified in the transaction that makes its balance low: the commit returns store.ErrConflict unless the threshold
// makes it low and the credits are those that were read. Without notify, it returns store.ErrConflict if the threshold
// makes it low.
func setThreshold(tx *store.Tx, key store.Key, threshold, lostLimit int64, doc json.RawMessage, notify bool,
	read int64) {
	u := store.SetDocument(expression.Set(above, expression.Minus(credits.IfNotExists(value(0)), value(threshold))).
		Set(store.Number(lostLimitNumber), value(lostLimit)), doc)
	c := expression.Or(above.AttributeNotExists(), above.LessThan(value(0)), credits.GreaterThanEqual(value(threshold)))
	if notify {
		u = notified(u)
		c = expression.And(above.GreaterThanEqual(value(0)), credits.LessThan(value(threshold)),
			credits.Equal(value(read)))
	}
	tx.Update(key, u, c, store.Conflict)
}

// addCredits adds to a balance, and creates it if there is none. The commit returns
// failed if the balance would exceed most.
func addCredits(tx *store.Tx, key store.Key, n, most int64, failed error) {
	tx.Update(key, expression.Add(credits, value(n)).Add(above, value(n)),
		expression.Or(credits.AttributeNotExists(), credits.LessThanEqual(value(most-n))),
		func(store.Item) error { return failed })
}

// takeCredits debits a balance, and fails if it is insufficient. With notify, the account is notified in the
// transaction that makes its balance low: the condition is that it does, that no other transaction has notified the
// account since its balance was last not low, and that the balance is as it was read. Without notify, the condition is
// that the account need not be notified. If the condition fails, the commit returns the error of failed for the current
// item.
func takeCredits(tx *store.Tx, key store.Key, n int64, notify bool, read Balance, failed func(store.Item) error) {
	u := expression.Add(credits, value(-n)).Add(above, value(-n))
	enough := credits.GreaterThanEqual(value(n))
	c := expression.And(enough, expression.Or(above.GreaterThanEqual(value(n)),
		expression.And(above.LessThan(value(0)), low.AttributeExists())))
	if notify {
		u = notified(u)
		c = expression.And(enough, above.LessThan(value(n)), credits.Equal(value(read.Credits)),
			above.Equal(value(read.Above)),
			expression.Or(above.GreaterThanEqual(value(0)), low.AttributeNotExists()))
	}
	tx.Update(key, u, c, failed)
}
