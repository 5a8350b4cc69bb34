package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The names of an item's attributes in expressions.
var (
	// Account is the account of the item's owner.
	Account = expression.Name(attrAccount)
	// Expiry is the time at which the item ends, in seconds since 1970.
	Expiry = expression.Name(attrTTL)
	// Exists is the condition that the item exists.
	Exists = expression.AttributeExists(expression.Name(attrPK))
)

// Attribute returns the name of one of Item.Attributes in expressions.
func Attribute(name string) expression.NameBuilder { return expression.Name(textPrefix + name) }

// Number returns the name of one of Item.Numbers in expressions.
func Number(name string) expression.NameBuilder { return expression.Name(numberPrefix + name) }

// Written adds an increment of the version to an update, so that a write based on an earlier read fails with a
// conflict.
func Written(u expression.UpdateBuilder) expression.UpdateBuilder {
	return u.Add(expression.Name(attrVersion), expression.Value(1))
}

// SetDocument adds the replacement of the item's document to an update.
func SetDocument(u expression.UpdateBuilder, doc json.RawMessage) expression.UpdateBuilder {
	return u.Set(expression.Name(attrDoc), expression.Value(string(doc))).Remove(expression.Name(attrPacked))
}

// Expires adds the item's time of expiry to an update.
func Expires(u expression.UpdateBuilder, at time.Time) expression.UpdateBuilder {
	return u.Set(expression.Name(attrTTL), expression.Value(at.Unix()))
}

// Update changes an item by an expression, on a condition. If the condition fails, the commit returns the error of
// failed for the current item, which is the zero Item if there is none.
func (tx *Tx) Update(key Key, u expression.UpdateBuilder, c expression.ConditionBuilder, failed func(Item) error) {
	x, err := expression.NewBuilder().WithUpdate(u).WithCondition(c).Build()
	if err != nil {
		panic(fmt.Sprintf("store: update of %s: %v", key.PK, err)) // expressions are code, not input
	}
	tx.ops = append(tx.ops, op{judge: failed, write: types.TransactWriteItem{Update: &types.Update{
		Key: key.attributes(), UpdateExpression: x.Update(), ConditionExpression: x.Condition(),
		ExpressionAttributeNames: x.Names(), ExpressionAttributeValues: x.Values(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}})
}

// Add adds the numbers of an item to those of the stored item with its key, whatever its version. It creates the item
// if it does not exist. It does not write the document.
func (tx *Tx) Add(it Item) {
	u := expression.Add(expression.Name(attrVersion), expression.Value(1))
	for name, n := range it.Numbers {
		u = u.Add(Number(name), expression.Value(n))
	}
	if !it.ExpireAt.IsZero() {
		u = Expires(u, it.ExpireAt)
	}
	for name, value := range map[string]string{
		attrKind: it.Kind, attrAccount: string(it.Account), attrMode: string(it.Mode), ByOwner.pk: it.Listed.PK,
		ByOwner.sk: it.Listed.SK, filterPrefix + ProfileFilter: string(it.Profile),
	} {
		if value != "" {
			u = u.Set(expression.Name(name), expression.Value(value))
		}
	}
	tx.Update(it.Key, u, Exists.Or(expression.Not(Exists)), Conflict)
}

// Conflict is the usual last argument of Update. It returns ErrConflict.
func Conflict(Item) error { return ErrConflict }

// Update changes one item by an expression, on a condition, in one round trip, and
// returns the new item. It returns a *ConflictError if the condition fails.
func (db *DB) Update(ctx context.Context, key Key, u expression.UpdateBuilder,
	c expression.ConditionBuilder) (Item, error) {
	x, err := expression.NewBuilder().WithUpdate(u).WithCondition(c).Build()
	if err != nil {
		return Item{}, fmt.Errorf("store: update of %s: %w", key.PK, err)
	}
	tries := db.writing(time.Time{})
	for attempt := range maxConflicts {
		if err := db.pause(ctx, attempt); err != nil {
			return Item{}, tries.exhausted(tries.met, err)
		}
		out, err := db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &db.name, Key: key.attributes(), UpdateExpression: x.Update(),
			ConditionExpression:      x.Condition(),
			ExpressionAttributeNames: x.Names(), ExpressionAttributeValues: x.Values(),
			ReturnValues:                        types.ReturnValueAllNew,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, tries.follow)
		var check *types.ConditionalCheckFailedException
		switch {
		case err == nil:
			return unmarshal(out.Attributes)
		case errors.As(err, &check):
			return Item{}, conflict(check.Item)
		case !isContention(err):
			return Item{}, tries.failure(ctx, err, "store: update %s", key.PK)
		}
		tries.note(ctx, err)
	}
	return Item{}, tries.exhausted(tries.met, nil)
}
