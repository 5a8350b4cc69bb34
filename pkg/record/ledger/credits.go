package ledger

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
)

// A balance is an item with two numbers that change together: the credits that can
// be spent, and how far these lie above the account's low threshold. The second is
// kept because a condition can compare an attribute with a value, but not the sum
// of two attributes.
const (
	creditsNumber = "credits"
	aboveNumber   = "above"
	// lowAttribute is there once the account was notified that it is low. It stays
	// when the credits rise again: whether it counts follows from aboveNumber.
	lowAttribute = "low"
)

var (
	credits = store.Number(creditsNumber)
	above   = store.Number(aboveNumber)
	low     = store.Attribute(lowAttribute)
)

func value(n int64) expression.ValueBuilder { return expression.Value(n) }

// notified adds to an update that the account is notified of its low balance.
func notified(u expression.UpdateBuilder) expression.UpdateBuilder {
	return u.Set(low, expression.Value("true"))
}

// setThreshold moves the low threshold of a balance, and replaces the limit of what may
// be lost and the document that are kept beside it. With notify, the account is notified in the same transaction
// that the move makes its balance low: the commit returns store.ErrConflict unless
// the move does that and the credits are those that were read. Without notify, it
// returns store.ErrConflict if the move does it.
func setThreshold(tx *store.Tx, key store.Key, threshold, lostLimit int64, doc json.RawMessage, notify bool, read int64) {
	u := store.SetDocument(expression.Set(above, expression.Minus(credits.IfNotExists(value(0)), value(threshold))).
		Set(store.Number(lostLimitNumber), value(lostLimit)), doc)
	c := expression.Or(above.AttributeNotExists(), above.LessThan(value(0)), credits.GreaterThanEqual(value(threshold)))
	if notify {
		u = notified(u)
		c = expression.And(above.GreaterThanEqual(value(0)), credits.LessThan(value(threshold)), credits.Equal(value(read)))
	}
	tx.Update(key, u, c, store.Conflict)
}

// addCredits adds to a balance, and creates it if there is none. The commit returns
// failed if the balance would exceed most.
func addCredits(tx *store.Tx, key store.Key, n, most int64, failed error) {
	tx.Update(key, expression.Add(credits, value(n)).Add(above, value(n)),
		expression.Or(credits.AttributeNotExists(), credits.LessThanEqual(value(most-n))), func(store.Item) error { return failed })
}

// takeCredits debits a balance, failing if it is insufficient. With notify, the
// account is notified in the same transaction that this makes its balance low: the
// condition is that it does, that no other transaction has done so since it was
// last not low, and that the balance is as it was read. Without notify, the
// condition is that the account need not be notified. If the condition fails, the
// commit returns failed of the current item.
func takeCredits(tx *store.Tx, key store.Key, n int64, notify bool, read Balance, failed func(store.Item) error) {
	u := expression.Add(credits, value(-n)).Add(above, value(-n))
	enough := credits.GreaterThanEqual(value(n))
	c := expression.And(enough, expression.Or(above.GreaterThanEqual(value(n)), expression.And(above.LessThan(value(0)), low.AttributeExists())))
	if notify {
		u = notified(u)
		c = expression.And(enough, above.LessThan(value(n)), credits.Equal(value(read.Credits)), above.Equal(value(read.Above)),
			expression.Or(above.GreaterThanEqual(value(0)), low.AttributeNotExists()))
	}
	tx.Update(key, u, c, failed)
}
