package memtable

import (
	"math"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/tidwall/btree"
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

// index lists the items that have its key, in the order of its keys. The table's own key is also an index.
type index struct {
	hash, sort string // sort is empty if the key has one attribute
	keysOnly   bool
	entries    *btree.BTreeG[entry]
}

// entry is the place of a row in an index.
type entry struct {
	row *row
	key key
}

func (e entry) hash() string { return e.key.hash(e.row.data) }
func (e entry) sort() string { return e.key.sort(e.row.data) }

// row is an item, packed. It is replaced, never changed.
type row struct {
	data string
	own  key // the table's own
	size uint32
}

func (r *row) pk() string { return r.own.hash(r.data) }
func (r *row) sk() string { return r.own.sort(r.data) }

// key is where the data of a row have the two parts of a key. A large table has many keys: texts would take almost
// three times the memory, and the collector of garbage would follow each of them.
type key struct {
	hashAt, sortAt         uint32
	hashLength, sortLength uint16
}

func (k key) hash(data string) string { return data[k.hashAt:][:k.hashLength] }
func (k key) sort(data string) string { return data[k.sortAt:][:k.sortLength] }

// entryOf returns the place of a key. Keys that are stored have at most 2,048 bytes, so that what a call names beyond
// the length that fits does not change its place among them.
func entryOf(hash, sort, pk, sk string) entry {
	for _, text := range []*string{&hash, &sort, &pk, &sk} {
		*text = (*text)[:min(len(*text), math.MaxUint16)]
	}
	at := func(texts ...string) (at uint32) {
		for _, text := range texts {
			at += uint32(len(text))
		}
		return at
	}
	own := key{at(hash, sort), at(hash, sort, pk), uint16(len(pk)), uint16(len(sk))}
	return entry{&row{data: hash + sort + pk + sk, own: own}, key{0, at(hash), uint16(len(hash)), uint16(len(sort))}}
}

// before orders the entries of an index. Those with equal keys are in the order of the table's own key.
func before(a, b entry) bool {
	if order := strings.Compare(a.hash(), b.hash()); order != 0 {
		return order < 0
	}
	if order := strings.Compare(a.sort(), b.sort()); order != 0 {
		return order < 0
	}
	if order := strings.Compare(a.row.pk(), b.row.pk()); order != 0 {
		return order < 0
	}
	return a.row.sk() < b.row.sk()
}

// item returns the item of a row, or nil without a row.
func (r *row) item() item {
	if r == nil {
		return nil
	}
	it, err := unpacked(r.data)
	if err != nil {
		panic(err) // it was packed here, or checked by Restore
	}
	return it
}

func newTable(in *dynamodb.CreateTableInput) (*table, error) {
	t := &table{name: aws.ToString(in.TableName), kinds: map[string]string{}, indexes: map[string]*index{}, schema: in}
	for _, a := range in.AttributeDefinitions {
		if a.AttributeType != types.ScalarAttributeTypeS {
			return nil, invalid("memtable: the key %s is no text", aws.ToString(a.AttributeName))
		}
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
		t.indexes[aws.ToString(g.IndexName)] = x
	}
	return t, nil
}

func (t *table) newIndex(schema []types.KeySchemaElement) (*index, error) {
	x := &index{entries: btree.NewBTreeGOptions(before, btree.Options{NoLocks: true})}
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

// entry returns the place of a row in the index. It reports false if the row lacks an attribute of the key.
func (x *index) entry(r *row) (e entry, has bool) {
	k, has := keyOf(r.data, x)
	return entry{r, k}, has
}

// keyOf returns where the data of a row have the key of an index. It reports false if they lack a part of it.
func keyOf(data string, x *index) (k key, has bool) {
	hash, at := attributeOf(data, x.hash)
	k.hashAt, k.hashLength = uint32(at), uint16(len(hash.value))
	if x.sort == "" {
		return k, hash.tag != 0
	}
	sort, at := attributeOf(data, x.sort)
	k.sortAt, k.sortLength = uint32(at), uint16(len(sort.value))
	return k, hash.tag != 0 && sort.tag != 0
}

// place returns the place of a key in the index. A key of a secondary index has the attributes of the table's own, too.
func (x *index) place(t *table, key item) entry {
	return entryOf(text(key[x.hash]), text(key[x.sort]), text(key[t.main.hash]), text(key[t.main.sort]))
}

// get returns the row of a key, or nil if there is none.
func (t *table) get(key item) *row {
	e, _ := t.main.entries.Get(t.main.place(t, key))
	return e.row
}

// index replaces one row of a key by another in all indexes. Either may be nil.
func (t *table) index(old, new *row) {
	t.main.replace(old, new)
	for _, x := range t.indexes {
		x.replace(old, new)
	}
}

// replace replaces one row of a key by another. Either may be nil.
func (x *index) replace(old, new *row) {
	var gone, there entry
	var had, has bool
	if old != nil {
		gone, had = x.entry(old)
	}
	if new != nil {
		there, has = x.entry(new)
	}
	if had && (!has || gone.hash() != there.hash() || gone.sort() != there.sort()) {
		x.entries.Delete(gone)
	}
	if has {
		x.entries.Set(there)
	}
}

// version is an item before or after a write, with its row.
type version struct {
	*row
	item item
}

// versionOf returns the item of a row, or nil without a row.
func versionOf(r *row) *version {
	if r == nil {
		return nil
	}
	return &version{r, r.item()}
}

// replace replaces one item of a key by another, and records the change. Either may be nil.
func (e *Engine) replace(t *table, old, new *version) {
	switch {
	case old == nil && new == nil:
	case old == nil:
		t.index(nil, new.row)
		e.record(t, Change{Table: t.name, Event: "INSERT", New: new.item})
	case new == nil:
		t.index(old.row, nil)
		e.record(t, Change{Table: t.name, Event: "REMOVE", Old: old.item})
	case old.data != new.data:
		t.index(old.row, new.row)
		e.record(t, Change{Table: t.name, Event: "MODIFY", Old: old.item, New: new.item})
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

// checkItem checks an item before it is stored, and packs it.
func (t *table) checkItem(it item) (*version, error) {
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
	n := size(it)
	if n > maxItem {
		return nil, invalid("Item size has exceeded the maximum allowed size")
	}
	return &version{t.row(string(EncodeItem(it)), n), it}, nil
}

// row returns the row of a packed item that is valid.
func (t *table) row(data string, size int) *row {
	own, _ := keyOf(data, t.main)
	return &row{data: data, own: own, size: uint32(size)}
}
