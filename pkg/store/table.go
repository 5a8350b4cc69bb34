package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
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
			tries.lastError = errOverloaded
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
	// CallerFilters are filters that the caller judges itself. They are a part of the list, and have no effect here.
	CallerFilters map[string][]string
	// Keep, if it is set, decides which items a list has. CallerFilters say what it decides by.
	Keep  func(Item) bool
	Limit int
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

// mostKept is the number of items that a list with Keep reads in a round trip, if these are small: a megabyte at most.
const mostKept = 1000

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
			if !q.Index.keysOnly && (!it.Visible(ctx) || q.Keep != nil && !q.Keep(it)) {
				continue // of an index of keys, GetAll leaves out what is not visible, and the caller judges the rest
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

// ChangeSome commits, for each item of the first page of a list that has any, what change adds to a transaction for the
// item as it is now. An item that others change at the same time is left for the next call. It reports whether there
// were items: the rest of the list may have more.
func (db *DB) ChangeSome(ctx context.Context, q Query, change func(*Tx, Item) error) (found bool, err error) {
	return db.Some(ctx, q, func(listed Item) error {
		it, err := db.Lookup(ctx, listed.Key)
		tx := &Tx{}
		if err == nil && it.PK != "" {
			err = change(tx, it)
		}
		if err == nil {
			err = db.Commit(ctx, tx)
		}
		if errors.Is(err, ErrConflict) {
			return nil
		}
		return err
	})
}

// bytes returns the approximate size of the item.
func (it *Item) bytes() int {
	n := len(it.Doc)
	for _, value := range it.Attributes {
		n += len(value)
	}
	return n
}

func (it *Item) key(x Index) Key {
	switch x {
	case ByOwner:
		return it.ListKey
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

// Client makes the calls to a table that this package needs.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput,
		...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput,
		...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
		...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

var _ Client = (*dynamodb.Client)(nil)

// WithClient replaces the client of the AWS configuration, such as by one in memory.
func WithClient(c Client) Option { return func(db *DB) { db.client = c } }

// Index is a way to list items: the table's own key or a secondary index.
type Index struct {
	name, pk, sk string
	// keysOnly reports that the index holds only keys. A list by it reads the items from the table.
	keysOnly bool
}

// The ways to list items.
var (
	// Table lists the items of one partition by sort key, strongly consistent.
	Table = Index{"", attrPK, attrSK, false}
	// ByOwner lists the items of one owner and kind by id.
	ByOwner = Index{"by_owner", "owner_pk", "owner_sk", false}
	// ByParent lists the items that belong to a resource, such as a factory's content, by id.
	ByParent = Index{"by_parent", "parent_pk", "parent_sk", false}
	// ByDue lists items by the time at which work on them is due. It is sparse: an item without due work is not in it.
	// It holds keys only, because it changes with every step of a task and is read every few minutes. It also lists the
	// events of all accounts by time, so that missing deliveries can be found. The partitions of items that a busy
	// stack writes are shards: one partition takes 1,000 writes a second.
	ByDue = Index{"by_due", "due_pk", "due_sk", true}
)

// Name returns the index's name in DynamoDB, which is empty for Table.
func (x Index) Name() string { return x.name }

// Key returns the names of the attributes that form the index's key. Both are texts.
func (x Index) Key() (partition, sort string) { return x.pk, x.sk }

// KeysOnly reports whether the index holds keys only, not whole items.
func (x Index) KeysOnly() bool { return x.keysOnly }

// The indexes of each table, from which the stacks and the tests make them.
var (
	StateIndexes = []Index{ByOwner, ByParent, ByDue}
	AuditIndexes = []Index{}
)

// ExpiryAttribute is the attribute by which DynamoDB removes expired items.
const ExpiryAttribute = attrTTL

// CreateInput returns the call that creates a table with the given indexes.
func CreateInput(name string, indexes []Index) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest,
		KeySchema: Table.schema()}
	names := []string{Table.pk, Table.sk}
	for _, x := range indexes {
		names = append(names, x.pk, x.sk)
		projection := &types.Projection{ProjectionType: types.ProjectionTypeAll}
		if x.keysOnly {
			projection.ProjectionType = types.ProjectionTypeKeysOnly
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.name), KeySchema: x.schema(), Projection: projection})
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: &name, AttributeType: types.ScalarAttributeTypeS})
	}
	return in
}

func (x Index) schema() []types.KeySchemaElement {
	return []types.KeySchemaElement{{AttributeName: &x.pk, KeyType: types.KeyTypeHash},
		{AttributeName: &x.sk, KeyType: types.KeyTypeRange}}
}

// input returns the call that reads the list. A list of keys takes no filters.
func (q Query) input(db *DB) (*dynamodb.QueryInput, error) {
	x := expressions{names: map[string]string{"#p": q.Index.pk}, values: attributes{":p": str(q.Partition)}}
	cond := x.key(q)
	// DynamoDB refuses a filter by an attribute that the index does not have. GetAll, which reads the items of an index
	// of keys, leaves out the expired ones.
	if !q.Index.keysOnly && !q.Expired {
		x.filter = append(x.filter, "(attribute_not_exists(#ttl) OR #ttl > :now)")
		x.names["#ttl"], x.values[":now"] = attrTTL, num(db.now().Unix())
	}
	x.filters(q)
	x.bounds(q)
	if x.n > 0 && q.Index.keysOnly {
		return nil, fmt.Errorf("store: query %s %s: the index holds keys only, which no filter can judge",
			q.Index.name, q.Partition)
	}
	// Without a filter, one item beyond the limit shows whether the list continues.
	// With one, larger reads find the items that pass in fewer round trips.
	read := int32(q.Limit + 1)
	if x.n > 0 {
		read = max(read, 100)
	}
	if q.Keep != nil {
		read = mostKept
	}
	in := &dynamodb.QueryInput{
		TableName: &db.name, KeyConditionExpression: &cond,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
		Limit: &read, ScanIndexForward: aws.Bool(q.OldestFirst),
	}
	if len(x.filter) > 0 {
		in.FilterExpression = aws.String(strings.Join(x.filter, " AND "))
	}
	if q.Index.name != "" {
		in.IndexName = aws.String(q.Index.name)
	} else {
		in.ConsistentRead = aws.Bool(true)
	}
	if c := q.After; c != nil {
		in.ExclusiveStartKey = Key{c.PK, c.SK}.attributes()
		if q.Index.name != "" {
			in.ExclusiveStartKey[q.Index.pk] = str(q.Partition)
			in.ExclusiveStartKey[q.Index.sk] = str(c.Sort)
		}
	}
	return in, nil
}

// expressions are the expressions of a query, with the names and values in them.
type expressions struct {
	names  map[string]string
	values attributes
	filter []string // all of these hold
	n      int      // filters by attributes so far
}

// key returns the condition on the keys.
func (x *expressions) key(q Query) string {
	if q.From == "" && q.To == "" {
		return "#p = :p"
	}
	x.names["#s"] = q.Index.sk
	if q.From != "" {
		x.values[":from"] = str(q.From)
	}
	if q.To != "" {
		x.values[":to"] = str(q.To)
	}
	switch {
	case q.To == "":
		return "#p = :p AND #s >= :from"
	case q.From == "":
		return "#p = :p AND #s <= :to"
	}
	return "#p = :p AND #s BETWEEN :from AND :to"
}

// keep adds the condition that form holds for a filter and the values, which join connects.
func (x *expressions) keep(name string, values []string, form, join string) {
	if len(values) == 0 {
		return
	}
	at, all := fmt.Sprint("#f", x.n), make([]string, len(values))
	for i, value := range values {
		to := fmt.Sprint(":f", x.n, "_", i)
		x.values[to], all[i] = str(value), fmt.Sprintf(form, at, to)
	}
	x.n++
	x.names[at] = filterPrefix + name
	x.filter = append(x.filter, "("+strings.Join(all, join)+")")
}

// filters adds the filters by values.
func (x *expressions) filters(q Query) {
	for name, value := range q.Filters {
		if value != "" {
			x.keep(name, []string{value}, "%s = %s", " OR ")
		}
	}
	for name, list := range q.OneOf {
		x.keep(name, list, "%s = %s", " OR ")
	}
	for name, list := range q.Prefixes {
		x.keep(name, list, "begins_with(%s, %s)", " OR ")
	}
	for name, list := range q.Contains {
		x.keep(name, list, "contains(%s, %s)", " AND ")
	}
	for name, r := range q.Ranges {
		if r.From != "" {
			x.keep(name, []string{r.From}, "%s >= %s", "")
		}
		if r.To != "" {
			x.keep(name, []string{r.To}, "%s < %s", "")
		}
	}
}

// bounds adds the filters by bounds.
func (x *expressions) bounds(q Query) {
	if len(q.Bounds) > 0 {
		x.filter = append(x.filter, x.within(q.Bounds))
	}
	either := make([]string, len(q.Either))
	for i, bounds := range q.Either {
		either[i] = x.within(bounds)
	}
	switch condition := strings.Join(either, " OR "); len(either) { // AND binds tighter; more parentheses are refused
	case 0:
	case 1:
		x.filter = append(x.filter, condition)
	default:
		x.filter = append(x.filter, "("+condition+")")
	}
}

// within returns the condition that an item lies within bounds.
func (x *expressions) within(bounds map[string]Bound) string {
	all := make([]string, 0, len(bounds))
	for name, b := range bounds {
		at, to, side := fmt.Sprint("#f", x.n), fmt.Sprint(":f", x.n), "<="
		if b.After {
			side = ">"
		}
		x.n++
		x.names[at], x.values[to] = filterPrefix+name, str(b.At)
		all = append(all, fmt.Sprintf("(attribute_not_exists(%s) OR %s %s %s)", at, at, side, to))
	}
	return strings.Join(all, " AND ")
}

// Scan reads the next items of the whole table, of all accounts, up to a megabyte of them. Items that have expired are
// among them until DynamoDB removes them. It is for the erasure of an account alone: it costs a read of all that is
// stored. It may miss what was written in the second before, which halves that cost.
func (db *DB) Scan(ctx context.Context, after *Cursor) (page Page, err error) {
	in := &dynamodb.ScanInput{TableName: &db.name}
	if after != nil {
		in.ExclusiveStartKey = Key{after.PK, after.SK}.attributes()
	}
	tries := db.reading()
	out, err := db.client.Scan(ctx, in, tries.follow)
	if err != nil {
		return page, tries.failure(ctx, err, "store: scan")
	}
	for _, a := range out.Items {
		it, err := unmarshal(a)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, it)
	}
	if last := out.LastEvaluatedKey; last != nil {
		page.Next = &Cursor{PK: text(last[attrPK]), SK: text(last[attrSK])}
	}
	return page, nil
}

// Remove removes an item whatever its version, and whether it exists or not.
func (tx *Tx) Remove(key Key) {
	tx.ops = append(tx.ops, op{conditionError: ErrConflict, write: types.TransactWriteItem{Delete: &types.Delete{
		Key: key.attributes()}}})
}

// Merge reads several partitions of an index of keys as if they were one, in the order of their sort keys, oldest
// first. It holds one page of keys of each partition, and the items of one page.
type Merge struct {
	db    *DB
	limit int
	parts []*mergePart
}

// mergePart is one partition: the keys that were read and not yet returned, and whether there are more.
type mergePart struct {
	q    Query
	keys []Item
	more bool
}

// Merge returns the merged list of the partitions. The query sets everything else. Its index must hold keys only. Its
// limit is the size of a page.
func (db *DB) Merge(q Query, partitions []string) *Merge {
	m := &Merge{db: db, limit: q.Limit}
	q.OldestFirst = true
	for _, p := range partitions {
		q.Partition = p
		m.parts = append(m.parts, &mergePart{q: q, more: true})
	}
	return m
}

// Next returns the next items, at most the limit, or none at the end.
func (m *Merge) Next(ctx context.Context) ([]Item, error) {
	for {
		var keys []Key
		for len(keys) < m.limit {
			if err := m.fill(ctx); err != nil {
				return nil, err
			}
			first := m.first()
			if first == nil {
				break
			}
			keys = append(keys, first.keys[0].Key)
			first.keys = first.keys[1:]
		}
		if len(keys) == 0 {
			return nil, nil
		}
		items, err := m.db.GetAll(ctx, keys...)
		if err != nil {
			return nil, err
		}
		// The index lags: leave out items that no longer exist.
		there := items[:0]
		for _, it := range items {
			if it.Kind != "" {
				there = append(there, it)
			}
		}
		if len(there) > 0 {
			return there, nil
		}
	}
}

// fill reads the next page of each partition whose keys are used up.
func (m *Merge) fill(ctx context.Context) error {
	failed := make([]error, len(m.parts))
	var all sync.WaitGroup
	for i, p := range m.parts {
		if len(p.keys) == 0 && p.more {
			all.Go(func() { failed[i] = p.read(ctx, m.db) })
		}
	}
	all.Wait()
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads pages until one has keys.
func (p *mergePart) read(ctx context.Context, db *DB) error {
	for len(p.keys) == 0 && p.more {
		page, err := db.list(ctx, p.q)
		if err != nil {
			return err
		}
		p.keys, p.q.After, p.more = page.Items, page.Next, page.Next != nil
	}
	return nil
}

// first returns the partition whose next key is the smallest, or nil at the end.
func (m *Merge) first() (first *mergePart) {
	for _, p := range m.parts {
		if len(p.keys) > 0 && (first == nil || p.sort() < first.sort()) {
			first = p
		}
	}
	return first
}

// sort returns the sort key of the next key.
func (p *mergePart) sort() string { return p.keys[0].key(p.q.Index).SK }

// DueAt returns the place of an item in a partition of ByDue that lists items by the time at which they are due.
func DueAt(partition string, at time.Time, id string) Key {
	return Key{PK: partition, SK: dueFrom(at) + id}
}

// dueFrom is the beginning of the sort keys of all items that are due at a time.
func dueFrom(t time.Time) string { return t.UTC().Format(time.RFC3339) + "#" }

// EachDue calls f for each item of such a partition that is due, the longest due first, and returns the sum of what f
// returns. An item for which f fails stays in the list for the next call, and its error is among those returned,
// unless it is ErrConflict: the item has changed since, or the index is behind.
func (db *DB) EachDue(ctx context.Context, partition string, now time.Time, f func(Item) (int, error)) (sum int,
	err error) {
	q := Query{Index: ByDue, Partition: partition, To: dueFrom(now.Add(time.Second)), Limit: 100, OldestFirst: true}
	var failed error
	err = db.Each(ctx, q, func(it Item) error {
		n, err := f(it)
		switch {
		case errors.Is(err, ErrConflict):
		case err != nil:
			failed = errors.Join(failed, err)
		default:
			sum += n
		}
		return ctx.Err()
	})
	return sum, errors.Join(err, failed)
}
