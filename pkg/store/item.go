// Package store is the only place that knows the shape of the DynamoDB tables:
// their keys and indexes, transactions, optimistic versions and cursors. An area
// keeps each of its resources as one JSON document in one item.
package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of an item.
const (
	attrPK      = "pk"
	attrSK      = "sk"
	attrKind    = "kind"
	attrAccount = "acc"
	attrMode    = "mode"
	attrVersion = "ver"
	attrDoc     = "doc"
	attrTTL     = "ttl"
	attrCount   = "n"
	// Prefix of the attributes that a list may be filtered by.
	filterPrefix = "f_"
	// Prefix of attributes that change beside the document.
	extraPrefix = "x_"
)

// Index names a way to list items: the table's own key or a secondary index.
type Index struct{ name, pk, sk string }

// The indexes of the tables.
var (
	// Table lists the items of one partition by sort key, strongly consistent.
	Table = Index{"", attrPK, attrSK}
	// ByOwner lists the items of one account, mode and kind by id.
	ByOwner = Index{"by_owner", "g1pk", "g1sk"}
	// ByParent lists the items of one parent, such as a factory, by id.
	ByParent = Index{"by_parent", "g2pk", "g2sk"}
	// ByRequest lists the audit entries of one request. Its table alone has it.
	ByRequest = Index{"by_request", "request_id", attrSK}
)

// Key is the primary key of an item.
type Key struct{ PK, SK string }

// onlySK is the sort key of items that have their partition to themselves.
const onlySK = "#"

// IDKey is the key of an item that is found by its id alone.
func IDKey(id string) Key { return Key{id, onlySK} }

// Item is one item of a table.
type Item struct {
	Key
	Kind    string // what the document is, such as "factory"
	Account string
	Mode    string
	Version int64 // counts the writes; 0 before the first
	Doc     json.RawMessage
	// Owner and Parent are the item's keys in ByOwner and ByParent; with an empty
	// partition it is not in that index.
	Owner, Parent Key
	// Request is the item's key in ByRequest.
	Request string
	// Filters are the values that a list may be filtered by.
	Filters map[string]string
	// Extra are values that change without the document, such as when a key was
	// last used. A write of the item writes them too.
	Extra map[string]string
	// Counter is the value of an item that Tx.Count has made, or the credits of a
	// balance. Of a balance, Above is how far they lie above the low threshold, and
	// Low tells whether the account was told that they lie below. Only reads set these.
	Counter, Above int64
	Low            bool
	// ExpireAt is when the item may be forgotten; zero: never.
	ExpireAt time.Time
}

// OwnerPartition is the partition of ByOwner that lists one kind of resource of
// one account and mode.
func OwnerPartition(account, mode, kind string) string {
	return account + "#" + mode + "#" + kind
}

// NewItem makes the item of a resource that is found by its id and listed by
// its owner; doc is written as JSON.
func NewItem(kind, account, mode, id string, doc any) (Item, error) {
	b, err := json.Marshal(doc)
	if err != nil {
		return Item{}, fmt.Errorf("store: encode %s %s: %w", kind, id, err)
	}
	return Item{
		Key: IDKey(id), Kind: kind, Account: account, Mode: mode, Doc: b,
		Owner: Key{OwnerPartition(account, mode, kind), id},
	}, nil
}

// Decode reads the document into v.
func (it *Item) Decode(v any) error {
	if err := json.Unmarshal(it.Doc, v); err != nil {
		return fmt.Errorf("store: decode %s %s: %w", it.Kind, it.PK, err)
	}
	return nil
}

// Encode replaces the document by v.
func (it *Item) Encode(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store: encode %s %s: %w", it.Kind, it.PK, err)
	}
	it.Doc = b
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

// marshal writes the item as attributes, with its version counted up by one.
func (it *Item) marshal() attributes {
	a := it.Key.attributes()
	a[attrKind] = str(it.Kind)
	a[attrVersion] = num(it.Version + 1)
	a[attrDoc] = str(string(it.Doc))
	// An index takes no item without its key, and no key may be empty.
	for name, value := range map[string]string{
		attrAccount: it.Account, attrMode: it.Mode,
		ByOwner.pk: it.Owner.PK, ByOwner.sk: it.Owner.SK,
		ByParent.pk: it.Parent.PK, ByParent.sk: it.Parent.SK,
		ByRequest.pk: it.Request,
	} {
		if value != "" {
			a[name] = str(value)
		}
	}
	for name, value := range it.Filters {
		a[filterPrefix+name] = str(value)
	}
	for name, value := range it.Extra {
		a[extraPrefix+name] = str(value)
	}
	if !it.ExpireAt.IsZero() {
		a[attrTTL] = num(it.ExpireAt.Unix())
	}
	return a
}

func unmarshal(a attributes) Item {
	it := Item{
		Key:     Key{text(a[attrPK]), text(a[attrSK])},
		Kind:    text(a[attrKind]),
		Account: text(a[attrAccount]),
		Mode:    text(a[attrMode]),
		Version: number(a[attrVersion]),
		Doc:     json.RawMessage(text(a[attrDoc])),
		Owner:   Key{text(a[ByOwner.pk]), text(a[ByOwner.sk])},
		Parent:  Key{text(a[ByParent.pk]), text(a[ByParent.sk])},
		Request: text(a[ByRequest.pk]),
		Counter: number(a[attrCount]),
		Above:   number(a[attrAbove]),
		Filters: map[string]string{},
		Extra:   map[string]string{},
	}
	for name, value := range a {
		if len(name) < len(filterPrefix) {
			continue
		}
		switch name[:len(filterPrefix)] {
		case filterPrefix:
			it.Filters[name[len(filterPrefix):]] = text(value)
		case extraPrefix:
			it.Extra[name[len(extraPrefix):]] = text(value)
		}
	}
	// Once the credits have risen to the threshold, what was told of before is over.
	_, told := a[attrLow]
	it.Low = told && it.Above < 0
	if ttl := number(a[attrTTL]); ttl != 0 {
		it.ExpireAt = time.Unix(ttl, 0).UTC()
	}
	return it
}

func text(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func number(v types.AttributeValue) int64 {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		i, _ := strconv.ParseInt(n.Value, 10, 64)
		return i
	}
	return 0
}
