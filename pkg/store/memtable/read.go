package memtable

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The bounds of reads.
const (
	maxBatchKeys  = 100
	maxBatchBytes = 16 << 20
	maxPageBytes  = 1 << 20
)

// GetItem reads an item.
func (e *Engine) GetItem(ctx context.Context, in *dynamodb.GetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if in.ProjectionExpression != nil {
		return nil, invalid("memtable: items are read whole")
	}
	key, err := t.checkKey(t.main, in.Key)
	if err != nil {
		return nil, err
	}
	out := &dynamodb.GetItemOutput{}
	out.Item = t.get(key).item()
	return out, nil
}

// BatchGetItem reads items, in any order. Beyond 16 MB it leaves keys unprocessed.
func (e *Engine) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	out := &dynamodb.BatchGetItemOutput{
		Responses:       map[string][]map[string]types.AttributeValue{},
		UnprocessedKeys: map[string]types.KeysAndAttributes{},
	}
	asked, bytes := 0, 0
	for _, name := range slices.Sorted(maps.Keys(in.RequestItems)) {
		t, err := e.table(&name)
		if err != nil {
			return nil, err
		}
		of := in.RequestItems[name]
		if asked += len(of.Keys); len(of.Keys) == 0 || asked > maxBatchKeys {
			return nil, invalid("Too many items requested for the BatchGetItem call, or none: %d", asked)
		}
		if of.ProjectionExpression != nil {
			return nil, invalid("memtable: items are read whole")
		}
		keys := make([]item, len(of.Keys))
		for i, k := range of.Keys {
			if keys[i], err = t.checkKey(t.main, k); err != nil {
				return nil, err
			}
			if slices.ContainsFunc(keys[:i], func(other item) bool { return same(other, keys[i]) }) {
				return nil, invalid("Provided list of item keys contains duplicates")
			}
		}
		left := of
		left.Keys = nil
		for _, k := range keys {
			r := t.get(k)
			if r == nil {
				continue
			}
			if bytes += int(r.size); bytes > maxBatchBytes {
				left.Keys = append(left.Keys, k)
				continue
			}
			out.Responses[name] = append(out.Responses[name], r.item())
		}
		if left.Keys != nil {
			out.UnprocessedKeys[name] = left
		}
	}
	if asked == 0 {
		return nil, invalid("The requestItems parameter is required for BatchGetItem")
	}
	return out, nil
}

// Query reads a page of a partition of the table or of an index.
func (e *Engine) Query(ctx context.Context, in *dynamodb.QueryInput,
	options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	x := t.main
	if in.IndexName != nil {
		if x = t.indexes[*in.IndexName]; x == nil {
			return nil, invalid("The table does not have the specified index: %s", *in.IndexName)
		}
		if aws.ToBool(in.ConsistentRead) {
			return nil, invalid("Consistent reads are not supported on global secondary indexes")
		}
	}
	if in.ProjectionExpression != nil || (in.Select != "" && in.Select != types.SelectAllAttributes) {
		return nil, invalid("memtable: items are read whole")
	}
	q, err := t.query(x, in)
	if err != nil {
		return nil, err
	}
	page := q.page(in.Limit, in.ExclusiveStartKey)
	return &dynamodb.QueryOutput{Items: page.items, Count: int32(len(page.items)), ScannedCount: page.scannedItems,
		LastEvaluatedKey: page.last}, nil
}

type query struct {
	table       *table
	index       *index
	scope       scope
	key, filter *expression
	hash        string
	sorts       span // of the sort keys
	backward    bool
}

func (t *table) query(x *index, in *dynamodb.QueryInput) (*query, error) {
	q := &query{table: t, index: x, backward: in.ScanIndexForward != nil && !*in.ScanIndexForward}
	if aws.ToString(in.KeyConditionExpression) == "" {
		return nil, invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the " +
			"request.")
	}
	var err error
	if q.key, err = parseCondition(*in.KeyConditionExpression); err != nil {
		return nil, err
	}
	if q.filter, err = conditionOf(in.FilterExpression); err != nil {
		return nil, err
	}
	if q.scope, err = newScope(in.ExpressionAttributeNames, in.ExpressionAttributeValues, q.key, q.filter); err != nil {
		return nil, err
	}
	if err := x.isKeyCondition(q.scope, q.key); err != nil {
		return nil, err
	}
	if q.filter != nil {
		for _, path := range q.filter.paths {
			if name := q.scope.attribute(path); slices.Contains(x.names(), name) {
				return nil, invalid("Filter Expression can only contain non-primary key attributes: Primary key "+
					"attribute: %s", name)
			}
		}
		if missing := q.missing(); len(missing) > 0 {
			return nil, invalid("One or more parameter values were invalid: Secondary index %s does not project one "+
				"or more filter attributes: [%s]",
				*in.IndexName, strings.Join(missing, ", "))
		}
	}
	if in.Limit != nil && *in.Limit < 1 {
		return nil, invalid("Limit must be greater than or equal to 1")
	}
	q.hash, q.sorts = q.scope.partition(x, q.key.root)
	if len(in.ExclusiveStartKey) > 0 {
		from, err := t.checkKey(x, in.ExclusiveStartKey)
		if err != nil {
			return nil, invalid("The provided starting key is invalid: %v", err)
		}
		if text(from[x.hash]) != q.hash {
			return nil, invalid("The provided starting key is outside query boundaries based on provided conditions")
		}
		q.scope.item = from
		if !q.scope.holds(q.key) || in.IndexName == nil && q.ends(q.key.root) {
			return nil, invalid("The provided starting key does not match the range key predicate")
		}
	}
	return q, nil
}

// ends reports whether the starting key is the bound at which the query ends. DynamoDB refuses that for a table, and
// accepts it for an index.
func (q *query) ends(n *node) bool {
	bound := 0
	switch {
	case n.op == "AND":
		return slices.ContainsFunc(n.kids, q.ends)
	case n.op == "<=" && !q.backward, n.op == ">=" && q.backward, n.op == "BETWEEN" && q.backward:
		bound = 1
	case n.op == "BETWEEN":
		bound = 2
	default:
		return false
	}
	return equal(q.scope.value(n.args[0]), q.scope.value(n.args[bound]))
}

// missing returns the attributes of the filter that the index does not hold.
func (q *query) missing() (names []string) {
	if !q.index.keysOnly {
		return nil
	}
	held := slices.Concat(q.index.names(), q.table.main.names())
	for _, path := range q.filter.paths {
		if name := q.scope.attribute(path); !slices.Contains(held, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// span is a range of texts.
type span struct {
	low, high         string
	lowOpen, highOpen bool // whether the bound itself is outside
	unbounded         bool // whether there is no upper bound
}

func (s span) tooLow(text string) bool { return text < s.low || s.lowOpen && text == s.low }

func (s span) tooHigh(text string) bool {
	return !s.unbounded && (text > s.high || s.highOpen && text == s.high)
}

// partition returns the hash key and the range of sort keys that a key condition selects.
func (s scope) partition(x *index, n *node) (hash string, sorts span) {
	sorts.unbounded = true
	leaves := []*node{n}
	if n.op == "AND" {
		leaves = n.kids
	}
	for _, leaf := range leaves {
		bound := text(s.value(leaf.args[1]))
		if s.attribute(leaf.args[0].ref) == x.hash {
			hash = bound
			continue
		}
		switch leaf.op {
		case "=":
			sorts = span{low: bound, high: bound}
		case "<", "<=":
			sorts = span{high: bound, highOpen: leaf.op == "<"}
		case ">", ">=":
			sorts = span{low: bound, lowOpen: leaf.op == ">", unbounded: true}
		case "BETWEEN":
			sorts = span{low: bound, high: text(s.value(leaf.args[2]))}
		case "begins_with":
			sorts = span{low: bound, high: bound + last}
		}
	}
	return hash, sorts
}

// last is after all texts, as no text has this byte.
const last = "\xff"

// page is the result of one read.
type page struct {
	items        []map[string]types.AttributeValue
	scannedItems int32
	last         item
}

// page reads up to limit items, or up to 1 MB.
func (q *query) page(limit *int32, from item) page {
	var p page
	bytes := 0
	q.walk(from, func(e entry) bool {
		held := item(nil)
		if q.index.keysOnly {
			held = q.place(e)
		} else {
			held = e.row.item()
		}
		p.scannedItems++
		bytes += int(e.row.size)
		q.scope.item = held
		if q.scope.holds(q.filter) {
			p.items = append(p.items, held)
		}
		if (limit != nil && p.scannedItems == *limit) || bytes >= maxPageBytes {
			p.last = q.place(e)
			return false
		}
		return true
	})
	return p
}

// walk calls f with the entries of the query behind a key, which may be empty, until f returns false. It begins at the
// first of them, however many there are before.
func (q *query) walk(from item, f func(entry) bool) {
	begin := entryOf(q.hash, q.sorts.low, "", "")
	each, isEarly, isLate := q.index.entries.Ascend, q.sorts.tooLow, q.sorts.tooHigh
	if q.backward {
		each, isEarly, isLate = q.index.entries.Descend, q.sorts.tooHigh, q.sorts.tooLow
		high := q.sorts.high
		if q.sorts.unbounded {
			high = last
		}
		begin = entryOf(q.hash, high, last, "")
	}
	after := begin
	if len(from) > 0 {
		after = q.index.place(q.table, from)
		if before(begin, after) != q.backward {
			begin = after
		}
	}
	each(begin, func(e entry) bool {
		switch {
		case e.hash() != q.hash || isLate(e.sort()):
			return false
		case isEarly(e.sort()), len(from) > 0 && !before(after, e) && !before(e, after): // from itself
			return true
		}
		return f(e)
	})
}

// place returns the key after which a list continues.
func (q *query) place(e entry) item {
	main := q.table.main
	key := item{main.hash: &types.AttributeValueMemberS{Value: e.row.pk()}}
	if main.sort != "" {
		key[main.sort] = &types.AttributeValueMemberS{Value: e.row.sk()}
	}
	key[q.index.hash] = &types.AttributeValueMemberS{Value: e.hash()}
	if q.index.sort != "" {
		key[q.index.sort] = &types.AttributeValueMemberS{Value: e.sort()}
	}
	return key
}

// Scan reads the whole table at once, sorted by its keys.
func (e *Engine) Scan(ctx context.Context, in *dynamodb.ScanInput,
	options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if err := admit(ctx, options); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.table(in.TableName)
	if err != nil {
		return nil, err
	}
	if in.FilterExpression != nil || in.ProjectionExpression != nil || in.IndexName != nil {
		return nil, invalid("memtable: a scan reads the whole table")
	}
	out := &dynamodb.ScanOutput{}
	t.main.entries.Scan(func(e entry) bool {
		out.Items = append(out.Items, e.row.item())
		return true
	})
	out.Count = int32(len(out.Items))
	out.ScannedCount = out.Count
	return out, nil
}
