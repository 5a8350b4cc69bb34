package store

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
