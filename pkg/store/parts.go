package store

import (
	"context"
	"encoding/base64"
	"slices"
	"strconv"
)

// PartSize is how many bytes Tx.CreateParts puts into one item, which may have
// 400 KB with all that is in it: in base64 they take a third more.
const PartSize = 256 << 10

// CreateParts writes data that is too large for one item as several, which must
// not exist yet. Each is like the given item, whose key is the name of all. It
// gives their number.
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

// Parts reads what CreateParts has written. It returns ErrNotFound where a part is
// missing or has expired.
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

// partKey puts each part into a partition of its own: so many writes at once would be
// too many for one.
func partKey(name string, n int) Key { return IDKey(name + "#" + strconv.Itoa(n)) }
