package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// ConflictError is an ErrConflict with the current item, which is the zero Item if there is none.
type ConflictError struct{ Item Item }

// Error names the item.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%v: %s %s", ErrConflict, e.Item.PK, e.Item.SK)
}

// conflict returns the error of a condition that fails for the stored item.
func conflict(stored attributes) error {
	it, err := unmarshal(stored)
	if err != nil {
		return err
	}
	return &ConflictError{it}
}

// Unwrap returns ErrConflict.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// ConflictOf returns the current item of a ConflictError.
func ConflictOf(err error) (Item, bool) {
	var changed *ConflictError
	if errors.As(err, &changed) {
		return changed.Item, true
	}
	return Item{}, false
}

// Note sets attributes of an item, removes those that are empty, and leaves all others as they are, so that several
// writers may share one item. It creates the item if there is none, and checks no version.
func (db *DB) Note(ctx context.Context, it Item) error {
	names, values := map[string]string{"#kind": attrKind, "#ttl": attrTTL},
		attributes{":kind": str(it.Kind), ":ttl": num(it.ExpireAt.Unix())}
	set, remove := "SET #kind = :kind, #ttl = :ttl", ""
	n := 0
	for name, value := range it.Attributes {
		ref := strconv.Itoa(n)
		n++
		names["#x"+ref] = textPrefix + name
		switch {
		case value != "":
			set += ", #x" + ref + " = :x" + ref
			values[":x"+ref] = str(value)
		case remove == "":
			remove = " REMOVE #x" + ref
		default:
			remove += ", #x" + ref
		}
	}
	tries := db.writing(time.Time{})
	_, err := db.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &db.name, Key: it.Key.attributes(), UpdateExpression: aws.String(set + remove),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	}, tries.follow)
	if err != nil {
		return tries.failure(ctx, err, "store: note %s", it.PK)
	}
	return nil
}
