package store

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Scan reads the next items of the whole table, of all accounts, up to a megabyte of them. Items that have expired are
// among them until DynamoDB removes them. It is for the erasure of an account alone: it costs a read of all that is
// stored. It may miss what was written in the second before, which halves that cost.
func (db *DB) Scan(ctx context.Context, after *Cursor) (page Page, err error) {
	in := &dynamodb.ScanInput{TableName: &db.name}
	if after != nil {
		in.ExclusiveStartKey = Key{after.PK, after.SK}.attributes()
	}
	tries := db.reading()
	out, err := db.client.Scan(ctx, in, tries.follow)
	if err != nil {
		return page, tries.failure(ctx, err, "store: scan")
	}
	for _, a := range out.Items {
		it, err := unmarshal(a)
		if err != nil {
			return page, err
		}
		page.Items = append(page.Items, it)
	}
	if last := out.LastEvaluatedKey; last != nil {
		page.Next = &Cursor{PK: text(last[attrPK]), SK: text(last[attrSK])}
	}
	return page, nil
}

// Remove removes an item whatever its version, and whether it exists or not.
func (tx *Tx) Remove(key Key) {
	tx.ops = append(tx.ops, op{failed: ErrConflict, write: types.TransactWriteItem{Delete: &types.Delete{
		Key: key.attributes()}}})
}
