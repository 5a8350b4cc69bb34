package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/tenant"
)

// ErrConflict is returned if an item is not as the transaction expects it: another call has created, changed or deleted
// it since it was read. The caller should read again and retry.
var ErrConflict = errors.New("store: the item has changed")

// Tx collects writes that commit atomically. The zero value is ready to use.
type Tx struct {
	// Origin is the id of the API request that caused the transaction, empty if there is none. Tasks and events that
	// the transaction creates carry it.
	Origin string
	ops    []op
	// until is the deadline for sending the last attempt. The zero time means none.
	until time.Time
}

type op struct {
	write types.TransactWriteItem
	// failed is the error of the commit if the condition of this write fails.
	failed error
	// held is the error of the commit if another transaction still has the item of this write at the last attempt. If
	// it is nil, the error is errBusy.
	held error
	// judge, if it is set, returns the error of a failed condition for the current item.
	judge func(Item) error
}

// OriginAttribute is the attribute of traced items that holds the origin of the transaction that created them.
const OriginAttribute = "request"

// Len returns the number of writes.
func (tx *Tx) Len() int { return len(tx.ops) }

// Create writes an item that must not exist yet. If it does, the commit returns failed, or ErrConflict if failed is
// nil.
func (tx *Tx) Create(it Item, failed error) {
	if it.Traced && tx.Origin != "" {
		it.Attributes = maps.Clone(it.Attributes)
		if it.Attributes == nil {
			it.Attributes = map[string]string{}
		}
		it.Attributes[OriginAttribute] = tx.Origin
	}
	tx.put(it, condition{cond: "attribute_not_exists(#pk)", names: map[string]string{"#pk": attrPK}}, failed)
}

// CreateExpiring is Create for an item that may replace an expired one, which DynamoDB has not removed yet.
func (tx *Tx) CreateExpiring(it Item, now int64, failed error) {
	tx.put(it, condition{
		cond:   "attribute_not_exists(#pk) OR #ttl <= :now",
		names:  map[string]string{"#pk": attrPK, "#ttl": attrTTL},
		values: attributes{":now": num(now)},
	}, failed)
}

// Replace writes an item whose stored version must still be the one that was read. Otherwise the commit returns
// ErrConflict.
func (tx *Tx) Replace(it Item) {
	tx.put(it, versionIs(it.Version), ErrConflict)
}

// Delete removes an item whose stored version must still be the one that was read.
func (tx *Tx) Delete(it Item) {
	x := versionIs(it.Version)
	tx.ops = append(tx.ops, op{failed: ErrConflict, write: types.TransactWriteItem{Delete: &types.Delete{
		Key: it.Key.attributes(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// Unchanged makes the commit return ErrConflict unless the stored version of the item is still the one that was read.
func (tx *Tx) Unchanged(it Item) {
	tx.check(it.Key, versionIs(it.Version), ErrConflict)
}

func (tx *Tx) check(key Key, x condition, failed error) {
	tx.ops = append(tx.ops, op{failed: failed, write: types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		Key: key.attributes(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// countNumber is the name of the number that Tx.Count changes.
const countNumber = "count"

// CountValue is the value of a counter in expressions.
var CountValue = Number(countNumber)

// Count returns the value of a counter's item, or 0 for the zero Item.
func (it *Item) Count() int64 { return it.Numbers[countNumber] }

// Counter returns the item of a counter with a value.
func Counter(value int64) Item { return Item{Numbers: map[string]int64{countNumber: value}} }

// Count adds delta to a counter, whose value must stay between 0 and most. A counter is an item of its own, created by
// the first count. If the result would be out of bounds, the commit returns failed.
func (tx *Tx) Count(key Key, delta, most int64, failed error) {
	tx.count(key, delta, most, failed, expression.Add(Number(countNumber), expression.Value(delta)))
}

// CountUntil is Count for a counter that expires.
func (tx *Tx) CountUntil(key Key, delta, most int64, expireAt time.Time, failed error) {
	add := expression.Add(Number(countNumber), expression.Value(delta))
	tx.count(key, delta, most, failed, add.Set(expression.Name(attrTTL), expression.Value(expireAt.Unix())))
}

// CountDown subtracts one from a counter, whose value must stay at least least. Otherwise the commit returns failed.
func (tx *Tx) CountDown(key Key, least int64, failed error) {
	tx.Update(key, expression.Add(CountValue, expression.Value(-1)),
		CountValue.GreaterThanEqual(expression.Value(least+1)), func(Item) error { return failed })
}

// Expire ends an item at the given time, if it exists. It leaves the version.
func (tx *Tx) Expire(key Key, at time.Time) {
	tx.Update(key, Expires(expression.UpdateBuilder{}, at), Exists.Or(expression.Not(Exists)), Conflict)
}

func (tx *Tx) count(key Key, delta, most int64, failed error, u expression.UpdateBuilder) {
	n := Number(countNumber)
	within := n.LessThanEqual(expression.Value(most - delta))
	switch {
	case delta < 0:
		within = n.GreaterThanEqual(expression.Value(-delta))
	case most >= delta:
		within = n.AttributeNotExists().Or(within)
	}
	tx.Update(key, u, within, func(Item) error { return failed })
}

// Counted makes the commit return ErrConflict unless the counter still has the value that was read.
func (tx *Tx) Counted(key Key, value int64) {
	x := condition{cond: "#n = :n", names: map[string]string{"#n": numberPrefix + countNumber},
		values: attributes{":n": num(value)}}
	if value == 0 {
		x.cond = "attribute_not_exists(#n) OR " + x.cond
	}
	tx.check(key, x, ErrConflict)
}

type condition struct {
	cond   string
	names  map[string]string
	values attributes
}

func versionIs(v int64) condition {
	return condition{cond: "#v = :v", names: map[string]string{"#v": attrVersion}, values: attributes{":v": num(v)}}
}

func (tx *Tx) put(it Item, x condition, failed error) {
	if failed == nil {
		failed = ErrConflict
	}
	tx.ops = append(tx.ops, op{failed: failed, write: types.TransactWriteItem{Put: &types.Put{
		Item: it.marshal(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// maxCommits bounds the attempts of a transaction that meets contention. Many transactions may write one item, such as
// an account's balance: the back-off adds up to a second, about the time that 200 of them need one after another.
const maxCommits = 9

// Commit executes all writes or none. It returns the error of the first write, in their order, whose condition failed.
// It retries a few times if it meets other transactions.
func (db *DB) Commit(ctx context.Context, tx *Tx) error {
	if len(tx.ops) == 0 {
		return nil
	}
	if err := tx.within(ctx); err != nil {
		return err
	}
	// A plain put costs half as much as a transaction of one write.
	if put := tx.ops[0].write.Put; len(tx.ops) == 1 && put != nil {
		return db.putOne(ctx, db.named(tx.ops[0].write).Put, tx)
	}
	return db.transact(ctx, tx, "commit", func(reasons []types.CancellationReason) (bool, error) {
		err := failedCondition(tx.ops, reasons)
		return err != nil, err
	})
}

// mostTries bounds the attempts of Retry.
const mostTries = 4

// Retry calls change, and again while it returns ErrConflict: it reads again what has changed.
func Retry(change func() error) (err error) {
	for range mostTries {
		if err = change(); !errors.Is(err, ErrConflict) {
			break
		}
	}
	return err
}

// Change commits what change adds to a transaction, and calls it again if what it has read was changed since.
func (db *DB) Change(ctx context.Context, change func(*Tx) error) error {
	return Retry(func() error {
		tx := &Tx{}
		if err := change(tx); err != nil {
			return err
		}
		return db.Commit(ctx, tx)
	})
}

// transact sends a transaction until it is carried out, or until it is canceled for reasons that another attempt does
// not change: canceled decides about that, and returns the error then.
func (db *DB) transact(ctx context.Context, tx *Tx, what string,
	canceled func(reasons []types.CancellationReason) (final bool, err error)) error {
	items := make([]types.TransactWriteItem, len(tx.ops))
	for i, o := range tx.ops {
		items[i] = db.named(o.write)
	}
	// All attempts, ours and the SDK's, share one token: an attempt after a lost answer is idempotent and reports the
	// earlier success.
	token := rand.Text()
	tries := db.writing(tx.until)
	var busy error
	for attempt := range maxCommits {
		if err := backoff.Wait(ctx, attempt, 10*time.Millisecond, 640*time.Millisecond); err != nil {
			return tries.exhausted(busy, err)
		}
		_, err := db.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: items, ClientRequestToken: &token,
		}, tries.follow)
		if err == nil {
			return nil
		}
		var why *types.TransactionCanceledException
		if !errors.As(err, &why) {
			if isContention(err) {
				busy = tx.contended(err)
				continue
			}
			return tries.failure(ctx, err, "store: %s", what)
		}
		if final, err := canceled(why.CancellationReasons); final {
			return err
		}
		busy = tx.heldBy(why.CancellationReasons)
	}
	return tries.exhausted(busy, nil)
}

// within returns an error if the transaction puts a listed resource that the context's bounds hide: its caller could
// not see what it makes. It is a fault of the service.
func (tx *Tx) within(ctx context.Context) error {
	for _, o := range tx.ops {
		if o.write.Put == nil || len(tenant.Bounds(ctx)) == 0 || o.write.Put.Item[ByOwner.pk] == nil {
			continue
		}
		it, err := unmarshal(o.write.Put.Item)
		if err == nil && !it.Visible(ctx) {
			err = fmt.Errorf("store: the %s %s belongs to none of the caller's profiles", it.Kind, it.PK)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// failedCondition returns the error of the first write whose condition failed, or nil if only contention or throttling
// canceled the transaction.
func failedCondition(ops []op, reasons []types.CancellationReason) error {
	var other []string
	for i, r := range reasons {
		switch code := aws.ToString(r.Code); code {
		case "ConditionalCheckFailed":
			if judge := ops[i].judge; judge != nil {
				it, err := unmarshal(r.Item)
				if err != nil {
					return err
				}
				return judge(it)
			}
			return ops[i].failed
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			other = append(other, strconv.Itoa(i)+": "+code+" "+aws.ToString(r.Message))
		}
	}
	if other != nil {
		return fmt.Errorf("store: commit refused: %s", strings.Join(other, "; "))
	}
	return nil
}

func (db *DB) putOne(ctx context.Context, put *types.Put, tx *Tx) error {
	tries := db.writing(tx.until)
	var busy error
	for attempt := range maxConflicts {
		if err := db.pause(ctx, attempt); err != nil {
			return tries.exhausted(busy, err)
		}
		_, err := db.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
			ExpressionAttributeNames:            put.ExpressionAttributeNames,
			ExpressionAttributeValues:           put.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, tries.follow)
		if err == nil {
			return nil
		}
		var check *types.ConditionalCheckFailedException
		if errors.As(err, &check) {
			// After a lost answer the SDK repeats the put and finds its own first write: that is success.
			if check.Item != nil && reflect.DeepEqual(check.Item, put.Item) {
				return nil
			}
			return tx.ops[0].failed
		}
		if !isContention(err) {
			return tries.failure(ctx, err, "store: put")
		}
		busy = tx.contended(err)
	}
	return tries.exhausted(busy, nil)
}

// named sets the table's name in a write.
func (db *DB) named(w types.TransactWriteItem) types.TransactWriteItem {
	switch {
	case w.Put != nil:
		w.Put.TableName = &db.name
	case w.Delete != nil:
		w.Delete.TableName = &db.name
	case w.Update != nil:
		w.Update.TableName = &db.name
	case w.ConditionCheck != nil:
		w.ConditionCheck.TableName = &db.name
	}
	return w
}
