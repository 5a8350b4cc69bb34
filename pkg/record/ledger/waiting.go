package ledger

import (
	"math"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/pkg/store"
)

// riskNumber is the cost of the waiting work, in the item of its count: all of it may be lost.
const riskNumber = "risk"

// Anything is a limit of credits that nothing exceeds.
const Anything = int64(math.MaxInt64)

// RiskOf returns the cost of the work that an item counts.
func RiskOf(it store.Item) int64 { return it.Numbers[riskNumber] }

// Wait adds waiting work and its cost to a counter. The commit returns the error of failed for the counter if there
// would be more work than most, or if the counted work costs more than room.
func Wait(tx *store.Tx, counter store.Key, n, most, credits, room int64, failed func(store.Item) error) {
	count, risk := store.CountValue, store.Number(riskNumber)
	within := count.AttributeNotExists().Or(count.LessThanEqual(value(most - n)))
	if room < Anything {
		within = expression.And(within, risk.AttributeNotExists().Or(risk.LessThanEqual(value(room))))
	}
	tx.Update(counter, waited(n, credits), within, failed)
}

// Leave subtracts ended work and its counted cost from a counter. The commit returns failed if the counter is too
// small.
func Leave(tx *store.Tx, counter store.Key, n, credits int64, failed error) {
	tx.Update(counter, waited(-n, -credits), store.CountValue.GreaterThanEqual(value(n)),
		func(store.Item) error { return failed })
}

// waited changes the counts of waiting work.
func waited(n, credits int64) expression.UpdateBuilder {
	u := expression.Add(store.CountValue, value(n))
	if credits != 0 {
		u = u.Add(store.Number(riskNumber), value(credits))
	}
	return u
}
