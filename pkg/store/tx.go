package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/errs"
)

// ErrConflict tells that an item was not as the transaction expected it: made
// already, changed or deleted by another call since it was read. Reading again
// and trying once more is the remedy.
var ErrConflict = errors.New("store: the item has changed")

// errBusy tells that DynamoDB kept refusing for contention or load.
var errBusy = errs.New(errs.ProviderUnavailable, "Other requests are changing the same resource. Repeat the request with the same Idempotency-Key in a second.")

// Tx collects writes that happen together or not at all. The zero value is ready.
type Tx struct {
	ops []op
	// until is when the last try may go out; zero: at any time.
	until time.Time
}

type op struct {
	write types.TransactWriteItem
	// failed is the error of the commit when this write's condition did not hold.
	failed error
	// held is the error of the commit when another transaction has this write's item
	// even at the last try; nil: errBusy.
	held error
	// judge, when set, makes that error from the item as it is.
	judge func(Item) error
}

// Len counts the writes.
func (tx *Tx) Len() int { return len(tx.ops) }

// Create writes an item that must not exist yet. If it does, the commit returns
// failed, or ErrConflict where that is nil.
func (tx *Tx) Create(it Item, failed error) {
	tx.put(it, condition{cond: "attribute_not_exists(#pk)", names: map[string]string{"#pk": attrPK}}, failed)
}

// CreateExpiring is Create for an item that may also take the place of one that
// has expired but that DynamoDB has not removed yet.
func (tx *Tx) CreateExpiring(it Item, now int64, failed error) {
	tx.put(it, condition{
		cond:   "attribute_not_exists(#pk) OR #ttl <= :now",
		names:  map[string]string{"#pk": attrPK, "#ttl": attrTTL},
		values: attributes{":now": num(now)},
	}, failed)
}

// Replace writes an item that must still have the version that it was read with.
// If it has not, the commit returns ErrConflict.
func (tx *Tx) Replace(it Item) {
	tx.put(it, versionIs(it.Version), ErrConflict)
}

// Delete removes an item that must still have the version that it was read with.
func (tx *Tx) Delete(it Item) {
	x := versionIs(it.Version)
	tx.ops = append(tx.ops, op{failed: ErrConflict, write: types.TransactWriteItem{Delete: &types.Delete{
		Key: it.Key.attributes(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// Unchanged makes the commit give ErrConflict unless the item still has the
// version that it was read with.
func (tx *Tx) Unchanged(it Item) {
	tx.check(it.Key, versionIs(it.Version), ErrConflict)
}

func (tx *Tx) check(key Key, x condition, failed error) {
	tx.ops = append(tx.ops, op{failed: failed, write: types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		Key: key.attributes(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// countNumber is the number that Tx.Count counts in.
const countNumber = "count"

// Count returns the value of a counter's item; 0 where there is none.
func (it *Item) Count() int64 { return it.Numbers[countNumber] }

// Count adds delta to a counter, which must stay within 0 and most. Counters live
// in items of their own, which come into being with the first count. If the bound
// would be crossed, the commit returns failed.
func (tx *Tx) Count(key Key, delta, most int64, failed error) {
	n := Number(countNumber)
	within := n.LessThanEqual(expression.Value(most - delta))
	switch {
	case delta < 0:
		within = n.GreaterThanEqual(expression.Value(-delta))
	case most >= delta:
		within = n.AttributeNotExists().Or(within)
	}
	tx.Update(key, expression.Add(n, expression.Value(delta)), within, func(Item) error { return failed })
}

// Counted makes the commit return ErrConflict unless the counter still has the
// value that it was read with.
func (tx *Tx) Counted(key Key, value int64) {
	x := condition{cond: "#n = :n", names: map[string]string{"#n": numberPrefix + countNumber}, values: attributes{":n": num(value)}}
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

// maxCommits bounds how often a transaction is tried that met another one. Many may
// meet on one item, such as an account's balance: the waits between the tries add up
// to a second, about what 200 of them take one after another.
const maxCommits = 9

// Commit carries the writes out, all or none. Each failed condition has its
// error; the first one in the order of the writes is given. Contention with
// another transaction is retried a few times.
func (db *DB) Commit(ctx context.Context, tx *Tx) error {
	if len(tx.ops) == 0 {
		return nil
	}
	items := make([]types.TransactWriteItem, len(tx.ops))
	for i, o := range tx.ops {
		items[i] = db.named(o.write)
	}
	// One write alone costs half as a plain put.
	if put := items[0].Put; len(items) == 1 && put != nil {
		return db.putOne(ctx, put, tx)
	}
	// One token for all tries, the SDK's and ours: where an answer was lost, the next
	// try is told of its own success and does nothing twice.
	token := rand.Text()
	var busy error
	for attempt := range maxCommits {
		if err := backoff.Wait(ctx, attempt, 10*time.Millisecond, 640*time.Millisecond); err != nil {
			return err
		}
		_, err := db.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: items, ClientRequestToken: &token,
		}, db.fence(tx.until))
		if err == nil {
			return nil
		}
		var canceled *types.TransactionCanceledException
		if !errors.As(err, &canceled) {
			if isContention(err) {
				busy = tx.contended(err)
				continue
			}
			return failure(err, "store: commit")
		}
		if failed := failedCondition(tx.ops, canceled.CancellationReasons); failed != nil {
			return failed
		}
		busy = tx.heldBy(canceled.CancellationReasons)
	}
	return busy
}

// failedCondition returns the error of the first write whose condition failed,
// nil if the transaction was canceled for contention or load alone.
func failedCondition(ops []op, reasons []types.CancellationReason) error {
	var other []string
	for i, r := range reasons {
		switch code := aws.ToString(r.Code); code {
		case "ConditionalCheckFailed":
			if judge := ops[i].judge; judge != nil {
				return judge(unmarshal(r.Item))
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
	var busy error
	for attempt := range maxConflicts {
		if err := db.pause(ctx, attempt); err != nil {
			return err
		}
		_, err := db.client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: put.TableName, Item: put.Item, ConditionExpression: put.ConditionExpression,
			ExpressionAttributeNames: put.ExpressionAttributeNames, ExpressionAttributeValues: put.ExpressionAttributeValues, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}, db.fence(tx.until))
		if err == nil {
			return nil
		}
		var check *types.ConditionalCheckFailedException
		if errors.As(err, &check) {
			// After a lost answer the SDK repeats the put and meets its own first
			// write: that is success.
			if sameWrite(check.Item, put.Item) {
				return nil
			}
			return tx.ops[0].failed
		}
		if !isContention(err) {
			return failure(err, "store: put")
		}
		busy = tx.contended(err)
	}
	return busy
}

// sameWrite reports whether the stored item is the one that was being written.
func sameWrite(stored, written attributes) bool {
	return stored != nil && reflect.DeepEqual(stored, written)
}

// isContention tells of errors that pass by themselves and for which nothing
// was written.
func isContention(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode() {
	case "TransactionConflictException", "TransactionInProgressException", "ThrottlingException",
		"ProvisionedThroughputExceededException", "RequestLimitExceeded":
		return true
	default:
		return false
	}
}

// failure is the error of a call that DynamoDB did not carry out. Where it had too
// much to do even for the SDK's repeats, callers are told to come again.
func failure(err error, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if isContention(err) {
		return fmt.Errorf("%s: %w: %w", what, errBusy, err)
	}
	return fmt.Errorf("%s: %w", what, err)
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
