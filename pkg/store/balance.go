package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A balance is an item with two numbers that change together: the credits that
// can be spent, and how far these lie above the account's low threshold. The
// second one is kept because a condition can compare an attribute with a value,
// but not the sum of two attributes.
const (
	attrAbove = "above"
	// attrLow is there once the account was told that it is low. It stays when the
	// credits rise again: whether it counts is told by attrAbove.
	attrLow = "low"
)

// OpenBalance writes the balance of a new account, which has no credits yet.
func (tx *Tx) OpenBalance(it Item, threshold int64) {
	tx.Create(it, nil)
	put := tx.ops[len(tx.ops)-1].write.Put
	put.Item[attrCount], put.Item[attrAbove] = num(0), num(-threshold)
}

// SetThreshold moves the low threshold of a balance, and replaces the document
// that is kept beside it. With tell, the account is told in the same transaction
// that the move makes its balance low: the commit gives ErrConflict unless the
// move does that, and the credits are those that were read. Without tell, it gives
// ErrConflict if the move does it.
func (tx *Tx) SetThreshold(key Key, threshold int64, doc json.RawMessage, tell bool, read int64) {
	u := update{
		set:  "#above = if_not_exists(#n, :zero) - :threshold, #doc = :doc",
		cond: "attribute_not_exists(#above) OR #above < :zero OR #n >= :threshold",
		names: map[string]string{
			"#n": attrCount, "#above": attrAbove, "#doc": attrDoc,
		},
		values: attributes{":zero": num(0), ":threshold": num(threshold), ":doc": str(string(doc))},
	}
	if tell {
		u.cond = "#above >= :zero AND #n < :threshold AND #n = :read"
		u.values[":read"] = num(read)
		u.markLow()
	}
	tx.update(key, u, op{failed: ErrConflict})
}

// AddCredits adds to a balance, which comes into being where there is none yet.
// The commit gives failed where it would grow beyond most.
func (tx *Tx) AddCredits(key Key, credits, most int64, failed error) {
	tx.update(key, update{
		add:    "#n :credits, #above :credits",
		cond:   "attribute_not_exists(#n) OR #n <= :room",
		names:  map[string]string{"#n": attrCount, "#above": attrAbove},
		values: attributes{":credits": num(credits), ":room": num(most - credits)},
	}, op{failed: failed})
}

// Reading is a balance as it was read.
type Reading struct{ Credits, Above int64 }

// TakeCredits takes from a balance what it must have. With tell, the account is
// told in the same transaction that this makes its balance low: the condition is
// that it does, that nobody has told so since it was last not low, and that the
// balance is as it was read, since the account is told of it. Without tell, the condition is that the account
// need not be told. If the condition fails, the commit gives what failed makes of
// the item as it is, which is empty where there is none.
func (tx *Tx) TakeCredits(key Key, credits int64, tell bool, read Reading, failed func(Item) error) {
	u := update{
		add:    "#n :taken, #above :taken",
		cond:   "#n >= :credits AND (#above >= :credits OR (#above < :zero AND attribute_exists(#low)))",
		names:  map[string]string{"#n": attrCount, "#above": attrAbove, "#low": attrLow},
		values: attributes{":taken": num(-credits), ":credits": num(credits), ":zero": num(0)},
	}
	if tell {
		u.cond = "#n >= :credits AND #above < :credits AND #n = :n AND #above = :above AND (#above >= :zero OR attribute_not_exists(#low))"
		u.values[":n"], u.values[":above"] = num(read.Credits), num(read.Above)
		u.markLow()
	}
	tx.update(key, u, op{judge: failed})
}

// ChangeExtras sets extras of an account's item, whose version counts on, unless
// one of its extras has not the wanted value: then the commit gives ErrConflict.
// The document stays unread.
func (tx *Tx) ChangeExtras(key Key, account string, want, set map[string]string) {
	u := update{
		add: "#ver :one", cond: "#acc = :acc",
		names:  map[string]string{"#ver": attrVersion, "#acc": attrAccount},
		values: attributes{":one": num(1), ":acc": str(account)},
	}
	for i, name := range sortedNames(want) {
		ref := fmt.Sprintf("w%d", i)
		u.names["#"+ref], u.values[":"+ref] = extraPrefix+name, str(want[name])
		u.cond += fmt.Sprintf(" AND #%s = :%s", ref, ref)
	}
	for i, name := range sortedNames(set) {
		ref := fmt.Sprintf("s%d", i)
		u.names["#"+ref], u.values[":"+ref] = extraPrefix+name, str(set[name])
		if i > 0 {
			u.set += ", "
		}
		u.set += fmt.Sprintf("#%s = :%s", ref, ref)
	}
	tx.update(key, u, op{failed: ErrConflict})
}

func sortedNames(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// update is an update expression in its parts.
type update struct {
	add, set, cond string
	names          map[string]string
	values         attributes
}

func (u *update) markLow() {
	mark := "#low = :true"
	if u.set != "" {
		mark = u.set + ", " + mark
	}
	u.set = mark
	u.names["#low"], u.values[":true"] = attrLow, &types.AttributeValueMemberBOOL{Value: true}
}

// update adds the write of an expression; o tells what becomes of a failed condition.
func (tx *Tx) update(key Key, u update, o op) {
	var expression string
	if u.add != "" {
		expression = "ADD " + u.add + " "
	}
	if u.set != "" {
		expression += "SET " + u.set
	}
	o.write.Update = &types.Update{
		Key: key.attributes(), UpdateExpression: aws.String(expression), ConditionExpression: &u.cond,
		ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values,
	}
	if o.judge != nil {
		o.write.Update.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	}
	tx.ops = append(tx.ops, o)
}
