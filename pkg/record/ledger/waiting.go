package ledger

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
)

// riskNumber is, beside the count of waiting work, what that work costs: all of it may be
// lost.
const riskNumber = "risk"

// Anything is a limit of credits that nothing exceeds.
const Anything = int64(math.MaxInt64)

// RiskOf returns what the work that an item counts costs.
func RiskOf(it store.Item) int64 { return it.Numbers[riskNumber] }

// Wait adds work that waits, and what it costs, to a counter. The commit returns failed of
// the counter if there would be more work than most, or if the work before costs more than
// room.
func Wait(tx *store.Tx, counter store.Key, n, most, credits, room int64, failed func(store.Item) error) {
	count, risk := store.CountValue, store.Number(riskNumber)
	within := count.AttributeNotExists().Or(count.LessThanEqual(value(most - n)))
	if room < Anything {
		within = expression.And(within, risk.AttributeNotExists().Or(risk.LessThanEqual(value(room))))
	}
	tx.Update(counter, waited(n, credits), within, failed)
}

// Leave takes work that has ended, and what of its cost was counted, off a counter. The
// commit returns failed if so much work is not counted.
func Leave(tx *store.Tx, counter store.Key, n, credits int64, failed error) {
	tx.Update(counter, waited(-n, -credits), store.CountValue.GreaterThanEqual(value(n)), func(store.Item) error { return failed })
}

// waited adds to the counts of waiting work.
func waited(n, credits int64) expression.UpdateBuilder {
	u := expression.Add(store.CountValue, value(n))
	if credits != 0 {
		u = u.Add(store.Number(riskNumber), value(credits))
	}
	return u
}
