package quota

import (
	"context"
	"math"

	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// BytesKind is the kind of the item that says how many bytes are counted for the files of a resource.
const BytesKind = "stored_bytes"

// heldBytes is the document of such an item.
type heldBytes struct {
	Bytes int64 `json:"bytes"`
}

// BytesKey is the key of the count of the bytes that an owner stores.
func BytesKey(o tenant.Owner) store.Key { return store.IDKey("media-bytes#" + o.String()) }

// heldKey is the key of the item with the bytes of a resource.
func heldKey(subject string) store.Key { return store.IDKey("bytes#" + subject) }

// HoldBytes adds to the transaction that an owner stores more bytes, for a resource. The commit fails with the error if
// they would be more than most.
func HoldBytes(tx *store.Tx, o tenant.Owner, subject string, bytes, most int64, failed error) error {
	it := store.Item{Key: heldKey(subject), Kind: BytesKind, Owner: o}
	if err := it.Encode(heldBytes{bytes}); err != nil {
		return err
	}
	tx.Create(it, nil)
	tx.Count(BytesKey(o), bytes, most, failed)
	return nil
}

// FreeBytes adds to the transaction that the bytes that are held for a resource are free again, if there are any.
func FreeBytes(ctx context.Context, db *store.DB, tx *store.Tx, subject string) error {
	it, err := db.Lookup(ctx, heldKey(subject))
	if err != nil || it.Kind != BytesKind {
		return err
	}
	var held heldBytes
	if err := it.Decode(&held); err != nil {
		return err
	}
	tx.Delete(it)
	tx.Count(BytesKey(it.Owner), -held.Bytes, math.MaxInt64, store.ErrConflict)
	return nil
}
