package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
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

// Tx collects writes that commit atomically: first Create, Replace, Delete, Count and the like, each with the condition
// on which it depends, and then DB.Commit. The zero value is ready to use.
type Tx struct {
	// Origin is the id of the API request that caused the transaction, empty if there is none. Tasks and events that
	// the transaction creates carry it.
	Origin string
	ops    []op
	// until is the deadline for sending the last attempt. The zero time means none.
	until time.Time
}

// op is one write, with what its failure means.
type op struct {
	write types.TransactWriteItem
	// conditionError is the error of the commit if the condition of this write fails.
	conditionError error
	// heldError is the error of the commit if another transaction is still writing the item at the last attempt. Nil:
	// errBusy.
	heldError error
	// judge replaces failed: it returns the error for the current item. Nil: failed is used.
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

// Put is Replace for an item that was read, and Create for one that was not there.
func (tx *Tx) Put(it Item) {
	if it.Version > 0 {
		tx.Replace(it)
	} else {
		tx.Create(it, nil)
	}
}

// Rewrite is Replace for an item with another document.
func (tx *Tx) Rewrite(it Item, doc any) error {
	err := it.Encode(doc)
	if err == nil {
		tx.Replace(it)
	}
	return err
}

// Delete removes an item whose stored version must still be the one that was read.
func (tx *Tx) Delete(it Item) {
	x := versionIs(it.Version)
	tx.ops = append(tx.ops, op{conditionError: ErrConflict, write: types.TransactWriteItem{Delete: &types.Delete{
		Key: it.Key.attributes(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// Unchanged makes the commit return ErrConflict unless the stored version of the item is still the one that was read.
func (tx *Tx) Unchanged(it Item) {
	tx.check(it.Key, versionIs(it.Version), ErrConflict)
}

// check adds a condition on an item that the transaction does not write.
func (tx *Tx) check(key Key, x condition, failed error) {
	tx.ops = append(tx.ops,
		op{conditionError: failed, write: types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
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

// CountUntil is Count for a counter that DynamoDB removes after its time.
func (tx *Tx) CountUntil(key Key, delta, most int64, expireAt time.Time, failed error) {
	add := expression.Add(Number(countNumber), expression.Value(delta))
	tx.count(key, delta, most, failed, add.Set(expression.Name(attrTTL), expression.Value(expireAt.Unix())))
}

// CountDown subtracts one from a counter, whose value must stay at least least. Otherwise the commit returns failed.
func (tx *Tx) CountDown(key Key, least int64, failed error) {
	tx.Update(key, expression.Add(CountValue, expression.Value(-1)),
		CountValue.GreaterThanEqual(expression.Value(least+1)), func(Item) error { return failed })
}

// Expire makes an item expire at the given time, if it exists. It does not change the version.
func (tx *Tx) Expire(key Key, at time.Time) {
	tx.Update(key, Expires(expression.UpdateBuilder{}, at), Exists.Or(expression.Not(Exists)), Conflict)
}

// count adds a change of a counter that has to stay within its bounds.
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

// CounterIs makes the commit return ErrConflict unless the counter still has the value that was read.
func (tx *Tx) CounterIs(key Key, value int64) {
	x := condition{cond: "#n = :n", names: map[string]string{"#n": numberPrefix + countNumber},
		values: attributes{":n": num(value)}}
	if value == 0 {
		x.cond = "attribute_not_exists(#n) OR " + x.cond
	}
	tx.check(key, x, ErrConflict)
}

// condition is an expression on the stored item, with its names and values.
type condition struct {
	cond   string
	names  map[string]string
	values attributes
}

// versionIs is the condition that an item has a version.
func versionIs(v int64) condition {
	return condition{cond: "#v = :v", names: map[string]string{"#v": attrVersion}, values: attributes{":v": num(v)}}
}

// put adds the write of an item on a condition.
func (tx *Tx) put(it Item, x condition, failed error) {
	if failed == nil {
		failed = ErrConflict
	}
	tx.ops = append(tx.ops, op{conditionError: failed, write: types.TransactWriteItem{Put: &types.Put{
		Item: it.marshal(), ConditionExpression: &x.cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
	}}})
}

// maxCommits bounds the attempts of a transaction that meets contention. Many transactions may write one item, such as
// an account's balance: the back-off adds up to a second, about the time that 200 of them need one after another.
const maxCommits = 9

// CommitOnce is Commit for a transaction that may have been committed before: a conflict is no error.
func (db *DB) CommitOnce(ctx context.Context, tx *Tx) error {
	if err := db.Commit(ctx, tx); !errors.Is(err, ErrConflict) {
		return err
	}
	return nil
}

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
				busy = tx.contentionError(err)
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

// within returns an error if the transaction puts a listed resource that the bounds of the context hide, because the
// caller could not read what the call has made. Only a defect of the service does that.
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
	why := errors.New("store: commit refused")
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
			return ops[i].conditionError
		case "", "None", "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
		default:
			if code == "ValidationError" {
				why = fmt.Errorf("%w: %w", why, ErrUnstorable)
			}
			other = append(other, strconv.Itoa(i)+": "+code+" "+aws.ToString(r.Message))
		}
	}
	if other != nil {
		return fmt.Errorf("%w: %s", why, strings.Join(other, "; "))
	}
	return nil
}

// putOne commits a transaction of one put.
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
			return tx.ops[0].conditionError
		}
		if !isContention(err) {
			return tries.failure(ctx, err, "store: put")
		}
		busy = tx.contentionError(err)
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

// Claim is CreateExpiring for the record by which a caller owns the effect of the transaction. It is the first of all
// writes: if the owner has already committed, the commit returns taken even if other conditions fail as well. If
// another transaction is still writing the record at the last attempt, the commit returns held.
func (tx *Tx) Claim(record Item, now int64, taken, held error) {
	tx.CreateExpiring(record, now, taken)
	last := len(tx.ops) - 1
	claim := tx.ops[last]
	claim.heldError = held
	tx.ops = slices.Insert(tx.ops[:last], 0, claim)
}

// Until sets the deadline for sending the last attempt of the commit. After it, the commit fails with timeout. A claim
// excludes late callers only until its record expires; the deadline excludes those that arrive later.
func (tx *Tx) Until(t time.Time) {
	// Round strips the monotonic clock reading: that clock stops while a function is frozen.
	tx.until = t.Round(0)
}

// heldBy returns the error of a commit that was canceled for contention: the held error of the first write in conflict
// that has one, otherwise errOverloaded if only load has canceled the commit, or errBusy.
func (tx *Tx) heldBy(reasons []types.CancellationReason) error {
	busy := errOverloaded
	for i, r := range reasons {
		if aws.ToString(r.Code) != "TransactionConflict" {
			continue
		}
		if held := tx.ops[i].heldError; held != nil {
			return held
		}
		busy = errBusy
	}
	return busy
}

// contentionError is heldBy for an error of the whole call.
func (tx *Tx) contentionError(err error) error {
	if isThrottled(err) {
		return errOverloaded
	}
	// Either another transaction has the item of the put, or this transaction, whose answer was lost, is still in
	// progress.
	if held := tx.ops[0].heldError; held != nil {
		return held
	}
	return errBusy
}

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

// BumpVersion adds an increment of the version to an update, so that a write based on an earlier read fails with a
// conflict.
func BumpVersion(u expression.UpdateBuilder) expression.UpdateBuilder {
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
		attrKind: it.Kind, attrAccount: string(it.Account), attrMode: string(it.Mode), ByOwner.pk: it.ListKey.PK,
		ByOwner.sk: it.ListKey.SK, filterPrefix + ProfileFilter: string(it.Profile),
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
			return Item{}, tries.exhausted(tries.lastError, err)
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
	return Item{}, tries.exhausted(tries.lastError, nil)
}

// ConflictError is an ErrConflict with the current item, which is the zero Item if there is none.
type ConflictError struct{ Item Item }

// Error names the item.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrConflict, e.Item.PK, e.Item.SK)
}

// conflict returns the error of a condition that fails for the stored item.
func conflict(stored attributes) error {
	it, err := unmarshal(stored)
	if err != nil {
		return err
	}
	return &ConflictError{it}
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// ConflictOf returns the current item of a ConflictError.
func ConflictOf(err error) (Item, bool) {
	var changed *ConflictError
	if errors.As(err, &changed) {
		return changed.Item, true
	}
	return Item{}, false
}

// Note sets attributes of an item, removes those that are empty, and leaves all others as they are. So several writers
// can share one item. It creates the item if there is none, and checks no version.
func (db *DB) Note(ctx context.Context, it Item) error {
	names, values := map[string]string{"#kind": attrKind, "#ttl": attrTTL},
		attributes{":kind": str(it.Kind), ":ttl": num(it.ExpireAt.Unix())}
	set, remove := "SET #kind = :kind, #ttl = :ttl", ""
	n := 0
	for name, value := range it.Attributes {
		ref := strconv.Itoa(n)
		n++
		names["#x"+ref] = textPrefix + name
		switch {
		case value != "":
			set += ", #x" + ref + " = :x" + ref
			values[":x"+ref] = str(value)
		case remove == "":
			remove = " REMOVE #x" + ref
		default:
			remove += ", #x" + ref
		}
	}
	tries := db.writing(time.Time{})
	_, err := db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &db.name, Key: it.Key.attributes(), UpdateExpression: aws.String(set + remove),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}, tries.follow)
	if err != nil {
		return tries.failure(ctx, err, "store: note %s", it.PK)
	}
	return nil
}

// PartSize is the number of bytes that Tx.CreateParts puts into one item. An item may have 400 KB in all, and base64
// adds a third.
const PartSize = 256 << 10

// CreateParts writes data that is too large for one item as several items, and returns their number. The items must not
// exist yet. Each is a copy of the given item, whose partition key names them all.
func (tx *Tx) CreateParts(like Item, data []byte) (n int) {
	name := like.PK
	for part := range slices.Chunk(data, PartSize) {
		n++
		like.Key = partKey(name, n)
		like.Doc = base64.StdEncoding.AppendEncode(nil, part)
		tx.Create(like, nil)
	}
	return n
}

// Parts reads data that CreateParts has written. It returns ErrNotFound if a part is missing or has expired.
func (db *DB) Parts(ctx context.Context, name string, n int) ([]byte, error) {
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = partKey(name, i+1)
	}
	parts, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, part := range parts {
		if part.PK == "" {
			return nil, ErrNotFound
		}
		if data, err = base64.StdEncoding.AppendDecode(data, part.Doc); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// partKey returns the key of a part. Each part has a partition of its own, since one partition cannot take so many
// writes at once.
func partKey(name string, n int) Key { return IDKey(name + "#" + strconv.Itoa(n)) }

// errRehearsed is returned if a rehearsal has written, which is a defect.
var errRehearsed = errors.New("store: the rehearsal of a transaction was carried out")

// Rehearse sends a transaction with a condition that never holds, so that nothing is written. It returns the errors
// that Commit could return for its writes, in their order, as refused. If a write has changed since it was read, the
// error is ErrConflict: read it again and retry.
func (db *DB) Rehearse(ctx context.Context, tx *Tx) (refused []error, err error) {
	if err := tx.within(ctx); err != nil || len(tx.ops) == 0 {
		return nil, err
	}
	never := &Tx{until: tx.until}
	never.Update(IDKey("never#"+rand.Text()), BumpVersion(expression.UpdateBuilder{}), Exists, Conflict)
	never.ops = append(never.ops, tx.ops...)
	written := true
	err = db.transact(ctx, never, "rehearse", func(reasons []types.CancellationReason) (final bool, err error) {
		written = false
		switch {
		case len(reasons) != len(never.ops):
			return true, fmt.Errorf("store: rehearse: %d reasons of %d writes", len(reasons), len(never.ops))
		case contended(reasons[1:]):
			return false, nil
		}
		refused, err = refusals(tx.ops, reasons[1:])
		return true, err
	})
	if err == nil && written {
		err = errRehearsed
	}
	return refused, err
}

// contended reports whether another transaction has kept some writes from being looked at.
func contended(reasons []types.CancellationReason) bool {
	for _, r := range reasons {
		switch aws.ToString(r.Code) {
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			return true
		}
	}
	return false
}

// refusals returns the error of each write whose condition failed.
func refusals(ops []op, reasons []types.CancellationReason) (refused []error, _ error) {
	for i := range ops {
		switch err := failedCondition(ops[i:i+1], reasons[i:i+1]); {
		case errors.Is(err, ErrConflict):
			return nil, err
		case err != nil:
			refused = append(refused, err)
		}
	}
	return refused, nil
}
