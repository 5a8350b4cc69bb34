package store

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
)

// PartSize is the number of bytes that Tx.CreateParts puts into one item. An item may have 400 KB in all, and base64
// adds a third.
const PartSize = 256 << 10

// CreateParts writes data that is too large for one item as several items, and returns their number. The items must not
// exist yet. Each is a copy of the given item, whose partition key names them all.
func (tx *Tx) CreateParts(like Item, data []byte) (n int) {
	name := like.PK
	for part := range slices.Chunk(data, PartSize) {
		n++
		like.Key = partKey(name, n)
		like.Doc = base64.StdEncoding.AppendEncode(nil, part)
		tx.Create(like, nil)
	}
	return n
}

// Parts reads data that CreateParts has written. It returns ErrNotFound if a part is missing or has expired.
func (db *DB) Parts(ctx context.Context, name string, n int) ([]byte, error) {
	keys := make([]Key, n)
	for i := range keys {
		keys[i] = partKey(name, i+1)
	}
	parts, err := db.GetAll(ctx, keys...)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, part := range parts {
		if part.PK == "" {
			return nil, ErrNotFound
		}
		if data, err = base64.StdEncoding.AppendDecode(data, part.Doc); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// partKey returns the key of a part. Each part has a partition of its own, since one partition cannot take so many
// writes at once.
func partKey(name string, n int) Key { return IDKey(name + "#" + strconv.Itoa(n)) }
