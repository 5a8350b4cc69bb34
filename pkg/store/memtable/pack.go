package memtable

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

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
