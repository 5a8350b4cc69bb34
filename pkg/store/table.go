package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/base/tenant"
)

// ErrNotFound is returned when a key has no item.
var ErrNotFound = errors.New("store: no such item")

// DB is one table. It is safe for concurrent use.
type DB struct {
	client Client
	name   string
	now    func() time.Time
}

// Option is an option of Open.
type Option func(*DB)

// WithClock sets the clock by which expiry is judged.
func WithClock(now func() time.Time) Option { return func(db *DB) { db.now = now } }

// Open returns the table with the given name.
func Open(cfg aws.Config, name string, options ...Option) *DB {
	db := &DB{client: dynamodb.NewFromConfig(cfg), name: name, now: time.Now}
	for _, o := range options {
		o(db)
	}
	return db
}

// Get reads one item, strongly consistent. It returns ErrNotFound if there is none.
func (db *DB) Get(ctx context.Context, key Key) (Item, error) {
	tries := db.reading()
	out, err := db.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &db.name, Key: key.attributes(), ConsistentRead: aws.Bool(true),
	}, tries.follow)
	if err != nil {
		return Item{}, tries.failure(ctx, err, "store: get %s", key.PK)
	}
	if out.Item == nil {
		return Item{}, ErrNotFound
	}
	it, err := unmarshal(out.Item)
	if err != nil {
		return Item{}, err
	}
	if db.expired(&it) || !it.Visible(ctx) {
		return Item{}, ErrNotFound
	}
	return it, nil
}

// Lookup is Get for an item that may not exist. Then it returns the zero Item, which has no key, and no error.
func (db *DB) Lookup(ctx context.Context, key Key) (Item, error) {
	it, err := db.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return Item{}, nil
	}
	return it, err
}

// expired reports whether an item has expired. DynamoDB deletes it within days, not at once.
func (db *DB) expired(it *Item) bool {
	return !it.ExpireAt.IsZero() && it.ExpireAt.Unix() <= db.now().Unix()
}

// maxKeys is the number of items that one round trip reads.
const maxKeys = 100

// GetAll reads items, strongly consistent, and returns them in the order of their keys. It reads up to 100 in one round
// trip, and more in several concurrent ones. A key may be given twice. The item of a missing key is the zero Item.
func (db *DB) GetAll(ctx context.Context, keys ...Key) ([]Item, error) {
	if len(keys) <= maxKeys {
		return db.getAll(ctx, keys)
	}
	calls := (len(keys) + maxKeys - 1) / maxKeys
	items, failed := make([][]Item, calls), make([]error, calls)
	var all sync.WaitGroup
	for i := range calls {
		all.Go(func() { items[i], failed[i] = db.getAll(ctx, keys[i*maxKeys:min(len(keys), (i+1)*maxKeys)]) })
	}
	all.Wait()
	return slices.Concat(items...), errors.Join(failed...)
}

func (db *DB) getAll(ctx context.Context, keys []Key) ([]Item, error) {
	var asked []attributes
	at := make(map[Key][]int, len(keys))
	for i, k := range keys {
		if at[k] = append(at[k], i); len(at[k]) == 1 { // DynamoDB refuses to read an item twice
			asked = append(asked, k.attributes())
		}
	}
	items, tries := make([]Item, len(keys)), db.reading()
	for attempt := 0; len(asked) > 0; attempt++ {
		if attempt == maxConflicts {
			return nil, fmt.Errorf("store: get %d items: %w", len(keys), errOverloaded)
		}
		if err := db.pause(ctx, attempt); err != nil {
			return nil, tries.failure(ctx, err, "store: get %d items", len(keys))
		}
		out, err := db.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{db.name: {Keys: asked, ConsistentRead: aws.Bool(true)}},
		}, tries.follow)
		if err != nil {
			return nil, tries.failure(ctx, err, "store: get %d items", len(keys))
		}
		for _, a := range out.Responses[db.name] {
			it, err := unmarshal(a)
			if err != nil {
				return nil, err
			}
			if !db.expired(&it) && it.Visible(ctx) {
				for _, i := range at[it.Key] {
					items[i] = it
				}
			}
		}
		if asked = out.UnprocessedKeys[db.name].Keys; len(asked) > 0 {
			tries.met = errOverloaded
		}
	}
	return items, nil
}

// Query describes a list of items.
type Query struct {
	Index     Index
	Partition string
	// From and To bound the sort key, both inclusive. Empty bounds have no effect.
	From, To string
	// Filters keep only the items with these values. Empty values have no effect.
	Filters map[string]string
	// Prefixes keep only the items whose values begin with one of these. Empty lists have no effect.
	Prefixes map[string][]string
	// OneOf keeps only the items that have one of these values. Empty lists have no effect.
	OneOf map[string][]string
	// Ranges keep only the items whose value lies in a range.
	Ranges map[string]Range
	// Contains keeps only the items whose value contains all of these texts. Empty lists have no effect.
	Contains map[string][]string
	// Bounds keep the items whose value lies on one side of a bound, and those without the value.
	Bounds map[string]Bound
	// Either keeps the items that lie within all bounds of one of these. An empty list has no effect.
	Either []map[string]Bound
	// Judged are filters that the caller judges itself. They are a part of the list, and have no effect here.
	Judged map[string][]string
	Limit  int
	// After continues the list behind the item with this cursor, from Page.Next.
	After *Cursor
	// OldestFirst reverses the order, which is newest first.
	OldestFirst bool
	// Expired also returns items that have expired, until DynamoDB removes them.
	Expired bool
}

// Range has the values from a text up to but excluding another. An empty bound is open.
type Range struct{ From, To string }

// Bound keeps the values after a text, or those up to and including it.
type Bound struct {
	At    string
	After bool
}

// Cursor is a position in a list: the keys of the last item that was returned.
type Cursor struct {
	PK string `json:"p"`
	SK string `json:"s"`
	// Sort is the item's sort key in the index that was queried.
	Sort string `json:"i,omitempty"`
}

// Page is a part of a list.
type Page struct {
	Items []Item
	// Next is the cursor for the next page, nil at the end of the list. A page before the end may be short or empty, if
	// the filter passes few items or the items are large.
	Next *Cursor
}

// maxReads bounds the round trips of a List whose filter passes few items.
const maxReads = 8

// maxPageBytes is the size at which a page ends before its limit: a function's response is limited to 6 MB, and
// encoding a page as JSON may double its size.
const maxPageBytes = 2 << 20

// List reads a page.
func (db *DB) List(ctx context.Context, q Query) (Page, error) {
	page, err := db.list(ctx, q)
	if err != nil || !q.Index.keysOnly || len(page.Items) == 0 {
		return page, err
	}
	page.Items, err = db.Whole(ctx, q.Index, page.Items)
	if err != nil {
		return Page{}, err
	}
	return page, nil
}

func (db *DB) list(ctx context.Context, q Query) (Page, error) {
	var page Page
	if q.To != "" && q.From > q.To {
		return page, nil // DynamoDB refuses bounds that nothing lies between
	}
	in, err := q.input(db)
	if err != nil {
		return page, err
	}
	if len(tenant.Bounds(ctx)) > 0 {
		in.Limit = aws.Int32(max(*in.Limit, 100)) // as with a filter
	}
	tries := db.reading()
	bytes := 0
	for range maxReads {
		out, err := db.client.Query(ctx, in, tries.follow)
		if err != nil {
			return Page{}, tries.failure(ctx, err, "store: query %s %s", q.Index.name, q.Partition)
		}
		for _, a := range out.Items {
			it, err := unmarshal(a)
			if err != nil {
				return Page{}, err
			}
			if !q.Index.keysOnly && !it.Visible(ctx) {
				continue // of an index of keys, GetAll leaves it out
			}
			if len(page.Items) == q.Limit || bytes >= maxPageBytes {
				// There is at least one more item, so the list continues.
				page.Next = cursorOf(page.Items[len(page.Items)-1], q.Index)
				return page, nil
			}
			page.Items = append(page.Items, it)
			bytes += it.bytes()
		}
		if out.LastEvaluatedKey == nil {
			page.Next = nil // the cursor of an earlier read no longer matters
			return page, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		page.Next = &Cursor{
			PK: text(out.LastEvaluatedKey[attrPK]), SK: text(out.LastEvaluatedKey[attrSK]),
			Sort: text(out.LastEvaluatedKey[q.Index.sk]),
		}
	}
	return page, nil
}

// Under reads all items of a partition, strongly consistent, in the order of their sort keys.
func (db *DB) Under(ctx context.Context, partition string) (under []Item, err error) {
	err = db.Each(ctx, Query{Index: Table, Partition: partition, OldestFirst: true, Limit: maxKeys},
		func(it Item) error {
			under = append(under, it)
			return nil
		})
	return under, err
}

// Each reads a whole list, a page at a time, and calls f with each item until f returns an error.
func (db *DB) Each(ctx context.Context, q Query, f func(Item) error) error {
	for {
		page, err := db.List(ctx, q)
		if err != nil {
			return err
		}
		for _, it := range page.Items {
			if err := f(it); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return nil
		}
		q.After = page.Next
	}
}

// Some calls f with each item of the first page of a list that has any, until f returns an error. It reports whether
// there were items: the rest of the list may have more.
func (db *DB) Some(ctx context.Context, q Query, f func(Item) error) (found bool, err error) {
	for {
		page, err := db.List(ctx, q)
		for i := 0; err == nil && i < len(page.Items); i++ {
			err = f(page.Items[i])
		}
		if q.After = page.Next; err != nil || len(page.Items) > 0 || q.After == nil {
			return len(page.Items) > 0, err
		}
	}
}

// bytes returns the approximate size of the item.
func (it *Item) bytes() int {
	n := len(it.Doc)
	for _, value := range it.Attributes {
		n += len(value)
	}
	return n
}

// key returns the item's key in an index.
func (it *Item) key(x Index) Key {
	switch x {
	case ByOwner:
		return it.Listed
	case ByParent:
		return it.Parent
	case ByDue:
		return it.Due
	default:
		return it.Key
	}
}

func cursorOf(it Item, x Index) *Cursor { return &Cursor{PK: it.PK, SK: it.SK, Sort: it.key(x).SK} }

// maxConflicts bounds the attempts of a call that meets contention or is answered only in part.
const maxConflicts = 6

// pause waits before a retry.
func (db *DB) pause(ctx context.Context, attempt int) error {
	return backoff.Wait(ctx, attempt, 10*time.Millisecond, 320*time.Millisecond)
}
