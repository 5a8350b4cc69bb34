package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Update changes some attributes of an item whose stored version must still be the one that was read. The document and
// all other attributes stay as they are.
type Update struct {
	Key     Key
	Version int64
	// Attributes and Filters are the values to set. Empty values are removed.
	Attributes, Filters []Value
	// Parent and Due are the item's new keys in ByParent and ByDue. An empty key takes the item out of the index, nil
	// leaves it.
	Parent, Due *Key
}

// Value is a named value of Item.Attributes or Item.Filters.
type Value struct{ Name, Value string }

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

// UpdateBatch is the number of updates in one round trip.
const UpdateBatch = 25

// UpdateAll executes independent updates, many in one round trip. It returns their errors in the same order: a
// *ConflictError if the item has another version. The items must be distinct.
func (db *DB) UpdateAll(ctx context.Context, updates ...Update) []error {
	failed := make([]error, len(updates))
	if len(updates) <= UpdateBatch {
		db.update(ctx, updates, failed)
		return failed
	}
	var group sync.WaitGroup
	for from := 0; from < len(updates); from += UpdateBatch {
		to := min(from+UpdateBatch, len(updates))
		group.Go(func() { db.update(ctx, updates[from:to], failed[from:to]) })
	}
	group.Wait()
	return failed
}

// update executes the updates of one round trip. It retries those that meet contention or throttling.
func (db *DB) update(ctx context.Context, updates []Update, failed []error) {
	left := make([]int, len(updates))
	statements := make([]types.BatchStatementRequest, len(updates))
	for i, u := range updates {
		left[i], statements[i] = i, u.statement(db.name)
	}
	tries := db.writing(time.Time{})
	for attempt := 0; len(left) > 0; attempt++ {
		err := db.pause(ctx, attempt)
		switch {
		case err != nil:
			err = tries.exhausted(tries.met, err)
		case attempt == maxConflicts:
			err = fmt.Errorf("store: update %d items: %w", len(left), tries.exhausted(tries.met, nil))
		default:
			left, err = db.execute(ctx, tries, updates, statements, left, failed)
		}
		if err != nil {
			for _, i := range left {
				failed[i] = err
			}
			return
		}
	}
}

// execute makes one call for the updates that are left, and returns the updates to retry.
func (db *DB) execute(ctx context.Context, tries *attempts, updates []Update, statements []types.BatchStatementRequest,
	left []int, failed []error) (again []int, err error) {
	in := &dynamodb.BatchExecuteStatementInput{Statements: make([]types.BatchStatementRequest, len(left))}
	for n, i := range left {
		in.Statements[n] = statements[i]
	}
	out, err := db.client.BatchExecuteStatement(ctx, in, tries.follow)
	switch {
	case isContention(err):
		tries.note(ctx, err)
		return left, nil
	case err != nil:
		return left, tries.failure(ctx, err, "store: update %d items", len(left))
	case len(out.Responses) != len(left):
		return left, fmt.Errorf("store: %d answers to %d updates", len(out.Responses), len(left))
	}
	for n, i := range left {
		refused := out.Responses[n].Error
		if refused == nil {
			continue
		}
		switch refused.Code {
		case types.BatchStatementErrorCodeEnumConditionalCheckFailed:
			failed[i] = updates[i].conflict(refused.Item)
		case types.BatchStatementErrorCodeEnumTransactionConflict, types.BatchStatementErrorCodeEnumThrottlingError,
			types.BatchStatementErrorCodeEnumProvisionedThroughputExceeded,
			types.BatchStatementErrorCodeEnumRequestLimitExceeded,
			types.BatchStatementErrorCodeEnumInternalServerError:
			again, tries.met = append(again, i), errBusy
		default:
			failed[i] = fmt.Errorf("store: update %s: %s: %s", updates[i].Key.PK, refused.Code,
				aws.ToString(refused.Message))
		}
	}
	return again, nil
}

// conflict returns the error of an update whose item has another version. A retry after a lost answer finds its own
// first write: that is success.
func (u *Update) conflict(stored attributes) error {
	if len(stored) == 0 {
		return &ConflictError{Item{Key: u.Key}}
	}
	it, err := unmarshal(stored)
	if err != nil {
		return err
	}
	if it.Version == u.Version+1 && u.isDone(&it) {
		return nil
	}
	return &ConflictError{it}
}

// isDone reports whether the item is as the update leaves it.
func (u *Update) isDone(it *Item) bool {
	for _, v := range u.Attributes {
		if it.Attributes[v.Name] != v.Value {
			return false
		}
	}
	for _, v := range u.Filters {
		if it.Filters[v.Name] != v.Value {
			return false
		}
	}
	return (u.Parent == nil || it.Parent == *u.Parent) && (u.Due == nil || it.Due == *u.Due)
}

// statement returns the update as a PartiQL statement. Names are constants of this package and need no quotes. Values
// are parameters.
func (u *Update) statement(table string) types.BatchStatementRequest {
	s := &statement{values: make([]types.AttributeValue, 0, len(u.Attributes)+len(u.Filters)+6)}
	s.text.Grow(64 + 24*cap(s.values))
	s.text.WriteString(`UPDATE "`)
	s.text.WriteString(table)
	s.text.WriteByte('"')
	s.set(attrVersion, "", num(u.Version+1))
	for _, v := range u.Attributes {
		s.setText(textPrefix, v.Name, v.Value)
	}
	for _, v := range u.Filters {
		s.setText(filterPrefix, v.Name, v.Value)
	}
	s.setKey(ByParent, u.Parent)
	s.setKey(ByDue, u.Due)
	s.text.WriteString(s.removed.String())
	s.text.WriteString(" WHERE " + attrPK + "=? AND " + attrSK + "=? AND " + attrVersion + "=?")
	s.values = append(s.values, str(u.Key.PK), str(u.Key.SK), num(u.Version))
	return types.BatchStatementRequest{
		Statement: aws.String(s.text.String()), Parameters: s.values,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

// statement builds a statement.
type statement struct {
	text, removed strings.Builder
	values        []types.AttributeValue
}

func (s *statement) setKey(x Index, k *Key) {
	if k != nil {
		s.setText(x.pk, "", k.PK)
		s.setText(x.sk, "", k.SK)
	}
}

func (s *statement) setText(prefix, name, value string) {
	if value != "" {
		s.set(prefix, name, str(value))
		return
	}
	s.removed.WriteString(" REMOVE ")
	s.removed.WriteString(prefix)
	s.removed.WriteString(name)
}

func (s *statement) set(prefix, name string, value types.AttributeValue) {
	s.text.WriteString(" SET ")
	s.text.WriteString(prefix)
	s.text.WriteString(name)
	s.text.WriteString("=?")
	s.values = append(s.values, value)
}

// ConflictOf returns the current item of a ConflictError.
func ConflictOf(err error) (Item, bool) {
	var changed *ConflictError
	if errors.As(err, &changed) {
		return changed.Item, true
	}
	return Item{}, false
}

// Note sets attributes of an item, removes those that are empty, and leaves all others as they are, so that several
// writers may share one item. It creates the item if there is none, and checks no version.
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
