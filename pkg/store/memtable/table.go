package memtable

import (
	"slices"
	"sort"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// table is a table with its secondary indexes.
type table struct {
	name    string
	kinds   map[string]string // of the attributes that are keys
	main    *index
	indexes map[string]*index
	schema  *dynamodb.CreateTableInput
	changes []Change
}

// index lists the items that have its key. The table's own key is also an index.
type index struct {
	hash, sort string // sort is empty if the key has one attribute
	table      *index // the table's own key, which orders items with equal keys
	keysOnly   bool
	kinds      map[string]string // of the attributes that are keys of the table or of an index
	partitions map[string][]*row
}

// row is an item. It is replaced, never changed.
type row struct {
	item item
	size int
}

func newTable(in *dynamodb.CreateTableInput) (*table, error) {
	t := &table{name: aws.ToString(in.TableName), kinds: map[string]string{}, indexes: map[string]*index{}, schema: in}
	for _, a := range in.AttributeDefinitions {
		t.kinds[aws.ToString(a.AttributeName)] = string(a.AttributeType)
	}
	var err error
	if t.main, err = t.newIndex(in.KeySchema); err != nil {
		return nil, err
	}
	for _, g := range in.GlobalSecondaryIndexes {
		x, err := t.newIndex(g.KeySchema)
		if err != nil {
			return nil, err
		}
		switch {
		case g.Projection == nil || g.Projection.ProjectionType == types.ProjectionTypeInclude:
			return nil, invalid("memtable: index %s holds neither whole items nor keys", aws.ToString(g.IndexName))
		case g.Projection.ProjectionType == types.ProjectionTypeKeysOnly:
			x.keysOnly = true
		}
		x.table = t.main
		t.indexes[aws.ToString(g.IndexName)] = x
	}
	return t, nil
}

func (t *table) newIndex(schema []types.KeySchemaElement) (*index, error) {
	x := &index{partitions: map[string][]*row{}, kinds: t.kinds}
	for i, k := range schema {
		name := aws.ToString(k.AttributeName)
		if t.kinds[name] == "" {
			return nil, invalid("One or more parameter values were invalid: Some index key attributes are not "+
				"defined in AttributeDefinitions: %s", name)
		}
		switch {
		case i == 0 && k.KeyType == types.KeyTypeHash:
			x.hash = name
		case i == 1 && k.KeyType == types.KeyTypeRange:
			x.sort = name
		default:
			return nil, invalid("Invalid KeySchema: %v", schema)
		}
	}
	if x.hash == "" {
		return nil, invalid("Invalid KeySchema: there is no hash key")
	}
	return x, nil
}

func (t *table) description() *types.TableDescription {
	d := &types.TableDescription{
		TableName: &t.name, TableStatus: types.TableStatusActive,
		AttributeDefinitions: t.schema.AttributeDefinitions, KeySchema: t.schema.KeySchema,
	}
	for _, g := range t.schema.GlobalSecondaryIndexes {
		d.GlobalSecondaryIndexes = append(d.GlobalSecondaryIndexes, types.GlobalSecondaryIndexDescription{
			IndexName: g.IndexName, KeySchema: g.KeySchema, Projection: g.Projection,
			IndexStatus: types.IndexStatusActive,
		})
	}
	return d
}

// names returns the attributes of the index's key.
func (x *index) names() []string {
	if x.sort == "" {
		return []string{x.hash}
	}
	return []string{x.hash, x.sort}
}

// has reports whether the index lists an item.
func (x *index) has(it item) bool {
	return it[x.hash] != nil && (x.sort == "" || it[x.sort] != nil)
}

// partition names the partition of a key.
func (x *index) partition(it item) string {
	switch v := it[x.hash].(type) {
	case *types.AttributeValueMemberS:
		return "S" + v.Value
	case *types.AttributeValueMemberN:
		return "N" + v.Value
	default:
		return ""
	}
}

// order compares the positions of two items in a partition.
func (x *index) order(a, b item) int {
	if x.sort != "" {
		if order, _ := compare(a[x.sort], b[x.sort]); order != 0 {
			return order
		}
	}
	if x.table == nil {
		return 0
	}
	if order, _ := compare(a[x.table.hash], b[x.table.hash]); order != 0 {
		return order
	}
	return x.table.order(a, b)
}

// find returns the position of an item among the rows of its partition.
func (x *index) find(it item) (rows []*row, at int, found bool) {
	rows = x.partitions[x.partition(it)]
	at, found = sort.Find(len(rows), func(i int) int { return x.order(it, rows[i].item) })
	return rows, at, found
}

func (x *index) put(r *row) {
	if !x.has(r.item) {
		return
	}
	rows, at, found := x.find(r.item)
	if found {
		rows[at] = r
		return
	}
	x.partitions[x.partition(r.item)] = slices.Insert(rows, at, r)
}

func (x *index) remove(r *row) {
	if !x.has(r.item) {
		return
	}
	rows, at, found := x.find(r.item)
	switch {
	case !found:
	case len(rows) == 1:
		delete(x.partitions, x.partition(r.item))
	default:
		x.partitions[x.partition(r.item)] = slices.Delete(rows, at, at+1)
	}
}

// get returns the item of a key, or nil if there is none.
func (t *table) get(key item) *row {
	if rows, at, found := t.main.find(key); found {
		return rows[at]
	}
	return nil
}

// index replaces one item of a key by another in all indexes. Either may be nil.
func (t *table) index(before, after *row) {
	all := []*index{t.main}
	for _, x := range t.indexes {
		all = append(all, x)
	}
	for _, x := range all {
		if before != nil {
			x.remove(before)
		}
		if after != nil {
			x.put(after)
		}
	}
}

// replace replaces one item of a key by another, and records the change. Either may be nil.
func (e *Engine) replace(t *table, before, after *row) {
	t.index(before, after)
	switch {
	case before == nil && after != nil:
		e.record(t, Change{Table: t.name, Event: "INSERT", New: after.item})
	case before != nil && after == nil:
		e.record(t, Change{Table: t.name, Event: "REMOVE", Old: before.item})
	case before != nil && !same(before.item, after.item):
		e.record(t, Change{Table: t.name, Event: "MODIFY", Old: before.item, New: after.item})
	}
}

func same(a, b item) bool {
	if len(a) != len(b) {
		return false
	}
	for name, v := range a {
		if w := b[name]; w == nil || !equal(v, w) {
			return false
		}
	}
	return true
}

// checkKey checks that the attributes are exactly a key of the index, and of the table if the index is a secondary one.
func (t *table) checkKey(x *index, key item) (item, error) {
	want := x.names()
	if x != t.main {
		for _, name := range t.main.names() {
			if !slices.Contains(want, name) {
				want = append(want, name)
			}
		}
	}
	if len(key) != len(want) {
		return nil, invalid("The provided key element does not match the schema")
	}
	for _, name := range want {
		if v := key[name]; v == nil || kind(v) != t.kinds[name] {
			return nil, invalid("The provided key element does not match the schema")
		}
	}
	if err := t.checkKeys(key); err != nil {
		return nil, err
	}
	if err := t.main.checkLengths(key); err != nil {
		return nil, err
	}
	return storedAll(key)
}

// checkKeys checks the attributes of an item that are keys, of the table or of an index: each must have its type, and
// none may be empty.
func (t *table) checkKeys(it item) error {
	for name, want := range t.kinds {
		v := it[name]
		if v == nil {
			continue
		}
		if kind(v) != want {
			return invalid("One or more parameter values were invalid: Type mismatch for key %s expected: %s actual: "+
				"%s", name, want, kind(v))
		}
		if s, ok := v.(*types.AttributeValueMemberS); ok && s.Value == "" {
			return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute "+
				"cannot contain an empty string value. Key: %s", name)
		}
	}
	return nil
}

// checkItem checks an item before it is stored.
func (t *table) checkItem(it item) (*row, error) {
	for _, name := range t.main.names() {
		if it[name] == nil {
			return nil, invalid("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
	}
	if err := t.checkKeys(it); err != nil {
		return nil, err
	}
	if err := t.checkLengths(it); err != nil {
		return nil, err
	}
	r := &row{item: it, size: size(it)}
	if r.size > maxItem {
		return nil, invalid("Item size has exceeded the maximum allowed size")
	}
	return r, nil
}
