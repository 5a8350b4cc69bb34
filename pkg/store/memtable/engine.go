// Package memtable is a DynamoDB in memory, for tests and simulations. It supports the calls and expressions of
// pkg/store, and refuses the calls that DynamoDB refuses: the tests of pkg/store run on it and on a real engine, and
// generated calls get the same answers as from AWS's own engine.
//
// An Engine serves calls in two ways: directly, as a store.Client, or as the HTTP client of the AWS SDK, with the SDK's
// own retries and middleware.
//
// Each call is executed as a whole before the next one. So transactions never conflict, nothing is throttled, and an
// index never lags behind its table: tests and simulations inject such faults. Attributes are strings, numbers,
// booleans and nulls, and expressions name whole attributes of the item only. Start with Engine.
package memtable

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
)

// Engine holds tables. It is safe for concurrent use.
type Engine struct {
	now     func() time.Time
	observe func([]Change) (written func())

	mu     sync.RWMutex // reads do not wait for one another
	tables map[string]*table
	tokens tokens
	// changes are the changes of the call in progress, if there is an observer.
	changes []Change
}

// New returns an engine without tables. It uses the clock to forget the request tokens of transactions. It keeps all
// changes for Changes.
func New(now func() time.Time) *Engine { return NewObserved(now, nil) }

// NewObserved is New with an observer, which gets the changes of each call before the call is answered, in their order:
// all changes of a transaction at once. Calls wait for the observer, which may not call the engine. A call that has
// written also waits for the function that the observer returns for it, which may be nil, while others go on. Changes
// returns nothing then.
func NewObserved(now func() time.Time, observe func([]Change) (written func())) *Engine {
	return &Engine{now: now, observe: observe, tables: map[string]*table{},
		tokens: tokens{transactions: map[string]transaction{}}}
}

// record keeps a change, for the observer or for Changes. The caller holds the lock.
func (e *Engine) record(t *table, c Change) {
	if e.observe == nil {
		t.changes = append(t.changes, c)
		return
	}
	e.changes = append(e.changes, c)
}

// unlock ends a call that may have written: the observer gets its changes first.
func (e *Engine) unlock() {
	if written := e.tell(); written != nil {
		written()
	}
}

func (e *Engine) tell() (written func()) {
	defer e.mu.Unlock()
	if changes := e.changes; len(changes) > 0 {
		e.changes = nil
		return e.observe(changes)
	}
	return nil
}

// Restore puts items that were kept elsewhere into a table. It makes no changes.
func (e *Engine) Restore(table string, items ...map[string]types.AttributeValue) error {
	for _, it := range items {
		if err := e.RestorePacked(table, EncodeItem(it)); err != nil {
			return err
		}
	}
	return nil
}

// RestorePacked is Restore for an item as EncodeItem packs it. The item stays packed.
func (e *Engine) RestorePacked(table string, data []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.table(&table)
	if err != nil {
		return err
	}
	packed := string(data)
	size, err := packedSize(packed)
	if err != nil {
		return err
	}
	r := t.row(packed, size)
	at, has := t.main.entry(r)
	if !has {
		return invalid("One or more parameter values were invalid: Missing a key in the item")
	}
	old, _ := t.main.entries.Get(at)
	t.index(old.row, r)
	return nil
}

// expiresAtOnce is the number of items that Expire looks at while writes wait.
const expiresAtOnce = 1000

// Expire removes the items of a table whose attribute, a number of seconds since 1970, is before a time.
func (e *Engine) Expire(table, attribute string, now time.Time) {
	for last := new(row); last != nil; {
		last = e.expire(table, attribute, now, last)
	}
}

// expire removes those of the next items that have expired. It returns the last of them, or nil at the end.
func (e *Engine) expire(table, attribute string, now time.Time, after *row) (last *row) {
	var old []*row
	e.mu.RLock()
	t := e.tables[table]
	if t != nil {
		seen := 0
		t.main.entries.Ascend(entry{after, after.own}, func(x entry) bool {
			if seen++; expires(x.row, attribute, now) {
				old = append(old, x.row)
			}
			last = x.row
			return seen < expiresAtOnce
		})
		if seen < expiresAtOnce {
			last = nil
		}
	}
	e.mu.RUnlock()
	if len(old) > 0 {
		e.remove(t, attribute, now, old)
	}
	return last
}

// remove removes those of the rows that are still there and have expired.
func (e *Engine) remove(t *table, attribute string, now time.Time, rows []*row) {
	e.mu.Lock()
	defer e.unlock()
	for _, r := range rows {
		x, there := t.main.entries.Get(entry{r, r.own})
		if there && e.tables[t.name] == t && expires(x.row, attribute, now) {
			t.index(x.row, nil)
			e.record(t, Change{Table: t.name, Event: "REMOVE", Old: x.row.item(), Expired: true})
		}
	}
}

func expires(r *row, attribute string, now time.Time) bool {
	a, _ := attributeOf(r.data, attribute)
	at, err := strconv.ParseInt(a.value, 10, 64)
	return a.tag == tagNumber && err == nil && at < now.Unix()
}

// invalid returns the error of a call that DynamoDB does not accept.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...),
		Fault: smithy.FaultClient}
}

// admit starts a call that was made without the SDK: it runs the middleware that
// the caller passes, such as the fence of pkg/store.
func admit(ctx context.Context, options []func(*dynamodb.Options)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var o dynamodb.Options
	for _, change := range options {
		change(&o)
	}
	if len(o.APIOptions) == 0 {
		return nil
	}
	stack := middleware.NewStack("memtable", func() any { return nil })
	retry := middleware.FinalizeMiddlewareFunc("Retry", func(ctx context.Context, in middleware.FinalizeInput,
		next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
		return next.HandleFinalize(ctx, in)
	})
	if err := stack.Finalize.Add(retry, middleware.After); err != nil {
		return err
	}
	for _, add := range o.APIOptions {
		if err := add(stack); err != nil {
			return err
		}
	}
	end := middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
		return nil, middleware.Metadata{}, nil
	})
	_, _, err := middleware.DecorateHandler(end, stack).Handle(ctx, nil)
	return err
}

// table finds a table. The caller holds the lock.
func (e *Engine) table(name *string) (*table, error) {
	if t := e.tables[aws.ToString(name)]; t != nil {
		return t, nil
	}
	return nil, &types.ResourceNotFoundException{Message: aws.String("Requested resource not found: Table: " +
		aws.ToString(name) + " not found")}
}

// CreateTable makes a table, which is active at once.
func (e *Engine) CreateTable(ctx context.Context, in *dynamodb.CreateTableInput,
	options ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	name := aws.ToString(in.TableName)
	if e.tables[name] != nil {
		return nil, &types.ResourceInUseException{Message: aws.String("Table already exists: " + name)}
	}
	t, err := newTable(in)
	if err != nil {
		return nil, err
	}
	e.tables[name] = t
	return &dynamodb.CreateTableOutput{TableDescription: t.description()}, nil
}

// DeleteTable removes a table with its items.
func (e *Engine) DeleteTable(ctx context.Context, in *dynamodb.DeleteTableInput,
	options ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	delete(e.tables, t.name)
	return &dynamodb.DeleteTableOutput{TableDescription: t.description()}, nil
}

// DescribeTable returns a table's schema.
func (e *Engine) DescribeTable(ctx context.Context, in *dynamodb.DescribeTableInput,
	options ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	return &dynamodb.DescribeTableOutput{Table: t.description()}, nil
}

// Change is one record of a table's stream.
type Change struct {
	Table string
	// Event is INSERT, MODIFY or REMOVE.
	Event string
	// Old and New are the item before and after.
	Old, New map[string]types.AttributeValue
	// Expired reports a REMOVE by Expire.
	Expired bool
}

// Changes returns the changes of a table, in their order, beginning with the given one.
func (e *Engine) Changes(table string, from int) []Change {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[table]
	if t == nil || from >= len(t.changes) {
		return nil
	}
	return slices.Clone(t.changes[from:])
}
