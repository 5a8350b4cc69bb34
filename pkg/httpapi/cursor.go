package httpapi

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// A cursor is the position in a list at which the next page begins, after a MAC over the position and the list:
// operation, account, mode, filters, order. It is not encrypted: it contains only ids, and the partition is always that
// of the caller.

func formatCursor(ctx context.Context, at store.Cursor, list string) (string, error) {
	keys, err := cursorKeys(ctx)
	if err != nil {
		return "", err
	}
	place, err := json.Marshal(at)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(cursorMAC(keys[0], list, place), place...)), nil
}

func parseCursor(ctx context.Context, s, list string) (*store.Cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || len(b) < sha256.Size {
		return nil, errInvalidCursor()
	}
	keys, err := cursorKeys(ctx)
	if err != nil {
		return nil, err
	}
	mac, place := b[:sha256.Size], b[sha256.Size:]
	for _, key := range keys {
		if hmac.Equal(mac, cursorMAC(key, list, place)) {
			at := &store.Cursor{}
			return at, json.Unmarshal(place, at)
		}
	}
	return nil, errInvalidCursor()
}

func cursorKeys(ctx context.Context) ([][]byte, error) {
	return callFrom(ctx).secret.Keys(ctx, nil, "cursor")
}

func cursorMAC(key []byte, list string, place []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(list)) // JSON: it has no NUL in it
	mac.Write([]byte{0})
	mac.Write(place)
	return mac.Sum(nil)
}

func errInvalidCursor() error {
	e := errs.New(errs.InvalidCursor, "The cursor does not belong to this list with these filters and this order. "+
		"Send it with those of the request that returned it, or start without a cursor.")
	e.Param = "cursor"
	return e
}
