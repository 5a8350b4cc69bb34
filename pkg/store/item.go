// Package store is the only place that knows the shape of the DynamoDB tables: their keys and indexes, transactions,
// optimistic versions and cursors. An area keeps each of its resources as one JSON document in one item: as the text
// attribute "doc", or compressed as the binary attribute "packed" if that saves a write unit. Start with DB in
// table.go, Item in item.go and Tx in tx.go.
package store

import (
	"bytes"
	"compress/flate"
	"context"
	_ "embed" // the dictionary
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/content-automation/api/pkg/base/tenant"
)

const (
	attrPK      = "pk"
	attrSK      = "sk"
	attrKind    = "kind"
	attrAccount = "acc"
	attrMode    = "mode"
	attrVersion = "ver"
	attrDoc     = "doc"
	attrPacked  = "packed" // the document, compressed; such an item has no attrDoc
	attrTTL     = "ttl"
	// The prefixes of the attributes outside the document: those that a list may be filtered by, texts, and numbers.
	filterPrefix = "f_"
	textPrefix   = "x_"
	numberPrefix = "n_"
)

// ProfileFilter is the name of the filter by the profile of an item's owner. Item.Filters does not have it.
const ProfileFilter = "profile"

// Key is the primary key of an item.
type Key struct{ PK, SK string }

// onlySK is the sort key of items that have a partition of their own.
const onlySK = "#"

// IDKey returns the key of an item that is found by its id alone.
func IDKey(id string) Key { return Key{id, onlySK} }

// IDKeys returns the keys of items that are found by their ids alone, in the order of the ids.
func IDKeys(ids []string) []Key {
	keys := make([]Key, len(ids))
	for i, id := range ids {
		keys[i] = IDKey(id)
	}
	return keys
}

// Item is one item of a table.
type Item struct {
	Key
	Kind string // the type of the document, such as "factory"
	tenant.Owner
	Version int64 // counts the writes; 0 before the first
	Doc     json.RawMessage
	// ListKey, Parent and Due are the item's keys in ByOwner, ByParent and ByDue. With an empty partition the item is
	// not in that index.
	ListKey, Parent, Due Key
	// Filters are the values that a list may be filtered by.
	Filters map[string]string
	// Attributes are texts that change without the document, such as the time at which a key was last used. Numbers are
	// counters. A write of the item writes both.
	Attributes map[string]string
	Numbers    map[string]int64
	// documentFilters are filters that follow from the document: Encode and NewItem set them. They win over Filters.
	documentFilters map[string]string
	// Traced makes the transaction that creates the item note its origin.
	Traced bool
	// ExpireAt is the time at which the item expires. The zero time means never.
	ExpireAt time.Time
}

// OwnerPartition is the partition of ByOwner that lists one kind of resource of one account and mode.
func OwnerPartition(o tenant.Owner, kind string) string { return o.String() + "#" + kind }

// NewItem makes the item of a resource that is found by its id and listed by its owner. It writes doc as JSON.
func NewItem(kind string, o tenant.Owner, id string, doc any) (Item, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return Item{}, fmt.Errorf("store: encode %s %s: %w", kind, id, err)
	}
	return Item{
		Key: IDKey(id), Kind: kind, Owner: o, Doc: b, documentFilters: describe(doc),
		ListKey: Key{OwnerPartition(o, kind), id},
	}, nil
}

// Filterable is a document with values that lists may be filtered by. An empty value is none. Members with the tag
// filter, which are texts or pointers to texts, need no method: their values are filters under the name in the tag.
type Filterable interface{ Describe() map[string]string }

// describe returns the filters of a document.
func describe(doc any) map[string]string {
	var all map[string]string
	if d, ok := doc.(Filterable); ok {
		all = d.Describe()
	}
	v := reflect.Indirect(reflect.ValueOf(doc))
	if v.Kind() != reflect.Struct {
		return all
	}
	for name, index := range filtersOf(v.Type()) {
		if all == nil {
			all = map[string]string{}
		}
		all[name] = ""
		if member := reflect.Indirect(v.FieldByIndex(index)); member.IsValid() {
			all[name] = member.String()
		}
	}
	return all
}

// tagged are the members of types with the tag filter, by its name.
var tagged sync.Map // of reflect.Type to map[string][]int

func filtersOf(t reflect.Type) map[string][]int {
	if known, ok := tagged.Load(t); ok {
		return known.(map[string][]int)
	}
	found := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("filter"); name != "" {
			found[name] = f.Index
		}
	}
	tagged.Store(t, found)
	return found
}

// ErrUnreadable is wrapped by the error of an item that cannot be decoded. Reading the item again does not help.
var ErrUnreadable = errors.New("the item cannot be decoded")

// readAsV1 makes the decoder read what encoding/json reads, in three fifths of its time.
var readAsV1 = jsonv1.DefaultOptionsV1()

// Decode reads the document into v.
func (it *Item) Decode(v any) error {
	if err := jsonv2.Unmarshal(it.Doc, v, readAsV1); err != nil {
		return fmt.Errorf("store: decode %s %s: %w: %w", it.Kind, it.PK, ErrUnreadable, err)
	}
	return nil
}

// Encode replaces the document by v.
func (it *Item) Encode(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store: encode %s %s: %w", it.Kind, it.PK, err)
	}
	it.Doc, it.documentFilters = b, describe(v)
	return nil
}

type attributes = map[string]types.AttributeValue

func str(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
func num(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func (k Key) attributes() attributes {
	return attributes{attrPK: str(k.PK), attrSK: str(k.SK)}
}

// marshal returns the item as attributes, with its version incremented.
func (it *Item) marshal() attributes { return pack(it.plain()) }

// plain is marshal without compression.
func (it *Item) plain() attributes {
	a := it.Key.attributes()
	a[attrKind] = str(it.Kind)
	a[attrVersion] = num(it.Version + 1)
	a[attrDoc] = str(string(it.Doc))
	// An index takes no item without its key, and no key may be empty.
	for name, value := range map[string]string{
		attrAccount: string(it.Account), attrMode: string(it.Mode),
		ByOwner.pk: it.ListKey.PK, ByOwner.sk: it.ListKey.SK,
		ByParent.pk: it.Parent.PK, ByParent.sk: it.Parent.SK,
		ByDue.pk: it.Due.PK, ByDue.sk: it.Due.SK,
	} {
		if value != "" {
			a[name] = str(value)
		}
	}
	for name, value := range it.Filters {
		a[filterPrefix+name] = str(value)
	}
	for name, value := range it.documentFilters {
		if a[filterPrefix+name] = str(value); value == "" {
			delete(a, filterPrefix+name)
		}
	}
	if it.Profile != "" {
		a[filterPrefix+ProfileFilter] = str(string(it.Profile))
	}
	for name, value := range it.Attributes {
		a[textPrefix+name] = str(value)
	}
	for name, value := range it.Numbers {
		a[numberPrefix+name] = num(value)
	}
	if !it.ExpireAt.IsZero() {
		a[attrTTL] = num(it.ExpireAt.Unix())
	}
	return a
}

// unmarshal returns the item that has the attributes, or the zero Item if there are none.
func unmarshal(a attributes) (Item, error) {
	doc, err := documentOf(a)
	if err != nil {
		return Item{}, err
	}
	version, err := number(a, attrVersion)
	if err != nil {
		return Item{}, err
	}
	ttl, err := number(a, attrTTL)
	if err != nil {
		return Item{}, err
	}
	it := Item{
		Key:        Key{text(a[attrPK]), text(a[attrSK])},
		Kind:       text(a[attrKind]),
		Owner:      tenant.Of(tenant.Account(text(a[attrAccount])), tenant.Mode(text(a[attrMode]))),
		Version:    version,
		Doc:        doc,
		ListKey:    Key{text(a[ByOwner.pk]), text(a[ByOwner.sk])},
		Parent:     Key{text(a[ByParent.pk]), text(a[ByParent.sk])},
		Due:        Key{text(a[ByDue.pk]), text(a[ByDue.sk])},
		Filters:    map[string]string{},
		Attributes: map[string]string{},
		Numbers:    map[string]int64{},
	}
	for name, value := range a {
		if rest, ok := strings.CutPrefix(name, filterPrefix); ok && rest == ProfileFilter {
			it.Profile = tenant.Profile(text(value))
		} else if ok {
			it.Filters[rest] = text(value)
		} else if rest, ok := strings.CutPrefix(name, textPrefix); ok {
			it.Attributes[rest] = text(value)
		} else if rest, ok := strings.CutPrefix(name, numberPrefix); ok {
			if it.Numbers[rest], err = number(a, name); err != nil {
				return Item{}, err
			}
		}
	}
	if ttl != 0 {
		it.ExpireAt = time.Unix(ttl, 0).UTC()
	}
	return it, nil
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// number returns the number of an attribute, 0 if there is no such attribute.
func number(a attributes, name string) (int64, error) {
	switch v := a[name].(type) {
	case nil:
		return 0, nil
	case *types.AttributeValueMemberN:
		if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("store: the number %s of %s %s: %w", name, text(a[attrPK]), text(a[attrSK]), ErrUnreadable)
}

// Keys reads a page of an index that holds keys only. It does not read the items: each has only its key and its key in
// the index. An item may have moved in the index since.
func (db *DB) Keys(ctx context.Context, q Query) (Page, error) { return db.list(ctx, q) }

// Whole reads the items that Keys listed by an index. The index lags: Whole leaves out the items that no longer exist,
// that have expired, or that have moved in the index since.
func (db *DB) Whole(ctx context.Context, x Index, listed []Item) ([]Item, error) {
	keys := make([]Key, len(listed))
	for i, it := range listed {
		keys[i] = it.Key
	}
	items, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var whole []Item
	for i, it := range items {
		if it.key(x) == listed[i].key(x) {
			whole = append(whole, it)
		}
	}
	return whole, nil
}

// FromRecord returns the item of an image in a record of the table's stream.
func FromRecord(image map[string]events.DynamoDBAttributeValue) (Item, error) {
	a := make(attributes, len(image))
	for name, v := range image {
		switch v.DataType() {
		case events.DataTypeString:
			a[name] = str(v.String())
		case events.DataTypeNumber:
			a[name] = &types.AttributeValueMemberN{Value: v.Number()}
		case events.DataTypeBinary:
			a[name] = &types.AttributeValueMemberB{Value: v.Binary()}
		}
	}
	return unmarshal(a)
}

// writeUnit is the size by which DynamoDB counts writes: in the table, and again in each index that has whole items.
const writeUnit = 1024

// pack compresses the document of an item if that saves a write unit. Other documents stay readable in the console.
func pack(a attributes) attributes {
	doc := text(a[attrDoc])
	whole := sizeOf(a)
	if whole <= writeUnit {
		return a
	}
	packed := Pack([]byte(doc))
	if small := whole - len(attrDoc) - len(doc) + len(attrPacked) + len(packed); units(small) < units(whole) {
		delete(a, attrDoc)
		a[attrPacked] = &types.AttributeValueMemberB{Value: packed}
	}
	return a
}

func units(size int) int { return (size + writeUnit - 1) / writeUnit }

// sizeOf returns the size of an item by DynamoDB's rules, except that it counts numbers, which have two digits in a
// byte, as texts.
func sizeOf(a attributes) (n int) {
	for name, value := range a {
		n += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			n += len(v.Value)
		case *types.AttributeValueMemberN:
			n += len(v.Value)
		}
	}
	return n
}

// documentOf returns the document of an item.
func documentOf(a attributes) (json.RawMessage, error) {
	packed, ok := a[attrPacked].(*types.AttributeValueMemberB)
	if !ok {
		return json.RawMessage(text(a[attrDoc])), nil
	}
	doc, err := DeflateUnpack(packed.Value)
	if err != nil {
		return nil, fmt.Errorf("store: the document of %s %s: %w: %w", text(a[attrPK]), text(a[attrSK]),
			ErrUnreadable, err)
	}
	return doc, nil
}

// Unpack returns an item that was read without this package, with its document as the text attribute "doc".
func Unpack(item map[string]types.AttributeValue) (map[string]types.AttributeValue, error) {
	if item[attrPacked] == nil {
		return item, nil
	}
	doc, err := documentOf(item)
	if err != nil {
		return nil, err
	}
	item = maps.Clone(item)
	delete(item, attrPacked)
	item[attrDoc] = str(string(doc))
	return item, nil
}

// dictionary1 has the members of documents and of answers as they are stored, the most frequent last. It does not
// change once it is deployed, because stored data depends on it: a new dictionary is added with the next number. A
// release that reads it must precede the release that writes with it.
//
//go:embed dictionary1.txt
var dictionary1 []byte

// current is the number of the dictionary for new data.
const current = 1

// writers and readers are pooled, because each takes more memory than most documents.
var (
	writers = sync.Pool{New: func() any {
		w, err := flate.NewWriterDict(nil, flate.DefaultCompression, dictionary1)
		if err != nil {
			panic(err) // the level is a constant
		}
		return w
	}}
	readers = sync.Pool{New: func() any { return flate.NewReaderDict(nil, dictionary1) }}
)

// Pack compresses data. The first byte is the number of the dictionary.
func Pack(data []byte) []byte {
	packed := bytes.NewBuffer(append(make([]byte, 0, 64+len(data)/2), current))
	w := writers.Get().(*flate.Writer)
	defer writers.Put(w)
	w.Reset(packed)
	_, err := w.Write(data)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // a buffer refuses nothing
	}
	return packed.Bytes()
}

// DeflateUnpack returns the data that Pack compressed.
func DeflateUnpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 || packed[0] != current {
		return nil, fmt.Errorf("deflate: the data is not written by dictionary %d", current)
	}
	r := readers.Get().(io.ReadCloser)
	defer readers.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(packed[1:]), dictionary1); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	data := bytes.NewBuffer(make([]byte, 0, 4*len(packed)))
	if _, err := io.Copy(data, r); err != nil {
		return nil, fmt.Errorf("deflate: %w", err)
	}
	return data.Bytes(), nil
}
