package memtable

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
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

type (
	value = types.AttributeValue
	item  = map[string]types.AttributeValue
)

// maxDigits is the precision of a number.
const maxDigits = 38

// maxScale is the largest number of digits after the decimal point.
const maxScale = 130 + maxDigits

// largest is the bound of the magnitude of numbers, and smallest their least magnitude.
var (
	largest  = power(126)
	smallest = new(big.Rat).Inv(power(130))
)

func power(of int64) *big.Rat {
	return new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(of), nil))
}

// maxItem is the largest size of an item.
const maxItem = 400 << 10

// stored returns a value as the table stores it: numbers lose leading and trailing zeros.
func stored(v value) (value, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS, *types.AttributeValueMemberB, *types.AttributeValueMemberBOOL,
		*types.AttributeValueMemberNULL:
		return v, nil
	case *types.AttributeValueMemberN:
		n, err := numeral(v.Value)
		if err != nil || n == v.Value {
			return v, err
		}
		return &types.AttributeValueMemberN{Value: n}, nil
	default:
		return nil, invalid("memtable: no attribute may be a %T", v)
	}
}

// storedAll returns a copy of the attributes as the table stores them.
func storedAll(from item) (item, error) {
	to := make(item, len(from))
	for name, v := range from {
		kept, err := stored(v)
		if err != nil {
			return nil, err
		}
		to[name] = kept
	}
	return to, nil
}

// numeral writes a number in its shortest form.
func numeral(s string) (string, error) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok || strings.ContainsAny(s, "/xXpP_") {
		return "", invalid("The parameter cannot be converted to a numeric value: %s", s)
	}
	if size := new(big.Rat).Abs(r); size.Cmp(largest) >= 0 || r.Sign() != 0 && size.Cmp(smallest) < 0 {
		return "", invalid("Number overflow or underflow. Attempting to store a number with magnitude outside the "+
			"supported range: %s", s)
	}
	text := r.FloatString(maxScale)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	if strings.TrimLeft(text, "-0.") == "" {
		text = "0"
	}
	if exact, _ := new(big.Rat).SetString(text); exact.Cmp(r) != 0 || len(significant(text)) > maxDigits {
		return "", invalid("Attempting to store more than %d significant digits in a Number", maxDigits)
	}
	return text, nil
}

var signs = strings.NewReplacer("-", "", ".", "")

// significant returns the digits of a number without the zeros at its ends.
func significant(number string) string { return strings.Trim(signs.Replace(number), "0") }

// sum adds two numbers.
func sum(a, b string, sign int64) (string, error) {
	m, err := strconv.ParseInt(a, 10, 64)
	n, err2 := strconv.ParseInt(b, 10, 64)
	const half = 1 << 62
	if err == nil && err2 == nil && max(m, n) < half && min(m, n) > -half { // most are counters
		return strconv.FormatInt(m+sign*n, 10), nil
	}
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 {
		return "", invalid("The parameter cannot be converted to a numeric value: %s, %s", a, b)
	}
	return numeral(x.Add(x, y.Mul(y, big.NewRat(sign, 1))).FloatString(maxDigits))
}

// kind returns the type of a value as expressions name it.
func kind(v value) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	default:
		return fmt.Sprintf("%T", v)
	}
}

// compare orders two values; comparable reports whether they are of the same type.
func compare(a, b value) (order int, comparable bool) {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		if !ok {
			return 0, false
		}
		return strings.Compare(a.Value, b.Value), true
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		if !ok {
			return 0, false
		}
		return bytes.Compare(a.Value, b.Value), true
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		if !ok {
			return 0, false
		}
		return compareNumbers(a.Value, b.Value), true
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		if !ok {
			return 0, false
		}
		if a.Value == b.Value {
			return 0, true
		}
		return 1, true // any order but equal will do
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return 0, ok
	default:
		return 0, false
	}
}

func compareNumbers(a, b string) int {
	x, err := strconv.ParseInt(a, 10, 64)
	y, err2 := strconv.ParseInt(b, 10, 64)
	if err == nil && err2 == nil {
		return cmp.Compare(x, y)
	}
	r, _ := new(big.Rat).SetString(a) // both are numbers: stored checked them
	s, _ := new(big.Rat).SetString(b)
	return r.Cmp(s)
}

// equal reports whether two values are the same.
func equal(a, b value) bool {
	order, comparable := compare(a, b)
	return comparable && order == 0
}

// size returns the size of an item by DynamoDB's rules: the names and the values.
func size(it item) int {
	n := 0
	for name, v := range it {
		n += len(name) + valueSize(v)
	}
	return n
}

func valueSize(v value) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	default:
		return 1
	}
}

func numberSize(number string) int { return 1 + (len(significant(number))+1)/2 }

// An item is kept packed: the number of its attributes, then each attribute in the order of the names, as its tag, its
// name and its value. So a table takes little more memory than its data, and an item that changes in nothing is packed
// as before. Lengths are written as varints. The length 0, which no name has, stands before the number of a name that
// most items have.

// names are the names that have a number, which is their place here. A journal has these numbers: names are only added.
var names = [...]string{"pk", "sk", "kind", "acc", "mode", "ver", "doc", "packed", "ttl", "owner_pk", "owner_sk",
	"parent_pk", "parent_sk", "due_pk", "due_sk", "f_state", "f_kind", "f_type", "f_factory", "f_object", "f_approval",
	"f_publish_at", "f_region", "f_status", "f_request", "f_key_id", "f_operation_id", "x_region", "x_request",
	"x_write"}

// numbers are the numbers of the names.
var numbers = func() map[string]byte {
	all := make(map[string]byte, len(names))
	for i, name := range names {
		all[name] = byte(i)
	}
	return all
}()

// The tags of attributes. A null and a boolean have no value but their tag.
const (
	tagString = 'S'
	tagNumber = 'N'
	tagBinary = 'B'
	tagTrue   = 'T'
	tagFalse  = 'F'
	tagNull   = '0'
	tagNoNull = '1' // a null whose value is false, which a caller may send
)

// EncodeItem returns an item packed. All attributes are of the types that the engine supports.
func EncodeItem(it map[string]types.AttributeValue) []byte {
	var space [32]string
	sorted := space[:0]
	length := binary.MaxVarintLen32
	for name, v := range it {
		sorted = append(sorted, name)
		length += 1 + 2*binary.MaxVarintLen32 + len(name) + valueSize(v)
	}
	slices.Sort(sorted)
	out := binary.AppendUvarint(make([]byte, 0, length), uint64(len(sorted)))
	for _, name := range sorted {
		tag, value := byte(tagNull), ""
		switch v := it[name].(type) {
		case *types.AttributeValueMemberS:
			tag, value = tagString, v.Value
		case *types.AttributeValueMemberN:
			tag, value = tagNumber, v.Value
		case *types.AttributeValueMemberB:
			out = appendPart(appendName(append(out, tagBinary), name), v.Value)
			continue
		case *types.AttributeValueMemberBOOL:
			if tag = tagFalse; v.Value {
				tag = tagTrue
			}
		case *types.AttributeValueMemberNULL:
			if !v.Value {
				tag = tagNoNull
			}
		}
		out = appendName(append(out, tag), name)
		if tag == tagString || tag == tagNumber {
			out = appendPart(out, value)
		}
	}
	return out
}

func appendName(out []byte, name string) []byte {
	if n, has := numbers[name]; has {
		return append(out, 0, n)
	}
	return appendPart(out, name)
}

func appendPart[T string | []byte](out []byte, part T) []byte {
	return append(binary.AppendUvarint(out, uint64(len(part))), part...)
}

var errPacked = errors.New("memtable: the data is no packed item")

// DecodeItem is the reverse of EncodeItem.
func DecodeItem(data []byte) (map[string]types.AttributeValue, error) { return unpacked(string(data)) }

// unpacked returns a packed item. Its texts share the memory of the data.
func unpacked(data string) (item, error) {
	n, data, ok := number(data)
	if !ok || n > len(data) {
		return nil, errPacked
	}
	it := make(item, n)
	// One allocation for all values of a type.
	texts := make([]types.AttributeValueMemberS, 0, n)
	for range n {
		var a packedAttribute
		if a, data, ok = nextAttribute(data); !ok || it[a.name] != nil {
			return nil, errPacked
		}
		switch a.tag {
		case tagString:
			texts = append(texts, types.AttributeValueMemberS{Value: a.value})
			it[a.name] = &texts[len(texts)-1]
		case tagNumber:
			it[a.name] = &types.AttributeValueMemberN{Value: a.value}
		case tagBinary:
			it[a.name] = &types.AttributeValueMemberB{Value: []byte(a.value)}
		case tagTrue, tagFalse:
			it[a.name] = &types.AttributeValueMemberBOOL{Value: a.tag == tagTrue}
		case tagNull, tagNoNull:
			it[a.name] = &types.AttributeValueMemberNULL{Value: a.tag == tagNull}
		default:
			return nil, errPacked
		}
	}
	if data != "" {
		return nil, errPacked
	}
	return it, nil
}

// packedAttribute is an attribute of a packed item.
type packedAttribute struct {
	tag         byte
	name, value string
}

// nextAttribute reads the first attribute of the data.
func nextAttribute(data string) (a packedAttribute, rest string, ok bool) {
	if data == "" {
		return a, "", false
	}
	a.tag = data[0]
	if a.name, rest, ok = nextPart(data[1:]); !ok {
		return a, "", false
	}
	if a.name == "" {
		if rest == "" || int(rest[0]) >= len(names) {
			return a, "", false
		}
		a.name, rest = names[rest[0]], rest[1:]
	}
	if a.tag == tagString || a.tag == tagNumber || a.tag == tagBinary {
		a.value, rest, ok = nextPart(rest)
	}
	return a, rest, ok
}

func nextPart(data string) (part, rest string, ok bool) {
	n, data, ok := number(data)
	if !ok || n > len(data) {
		return "", "", false
	}
	return data[:n], data[n:], true
}

// number reads a varint. Most have one byte.
func number(data string) (n int, rest string, ok bool) {
	for i := range min(len(data), binary.MaxVarintLen32) {
		n |= int(data[i]&0x7f) << (7 * i)
		if data[i] < 0x80 {
			return n, data[i+1:], true
		}
	}
	return 0, "", false
}

// packedSize returns the size of a packed item as size does, or an error if the data is none.
func packedSize(data string) (int, error) {
	n, data, ok := number(data)
	bytes := 0
	for range n {
		var a packedAttribute
		if a, data, ok = nextAttribute(data); !ok {
			return 0, errPacked
		}
		bytes += len(a.name)
		switch a.tag {
		case tagString, tagBinary:
			bytes += len(a.value)
		case tagNumber:
			bytes += numberSize(a.value)
		case tagTrue, tagFalse, tagNull, tagNoNull:
			bytes++
		default:
			return 0, errPacked
		}
	}
	if !ok || data != "" {
		return 0, errPacked
	}
	return bytes, nil
}

// attributeOf returns an attribute of a packed item, which is valid, and where its value is. It is empty if the item
// lacks the attribute.
func attributeOf(data, name string) (a packedAttribute, at int) {
	_, rest, ok := number(data)
	for ok && rest != "" {
		if a, rest, ok = nextAttribute(rest); ok && a.name == name {
			return a, len(data) - len(rest) - len(a.value)
		}
	}
	return packedAttribute{}, 0
}
