// Package recovery helps operators after a disaster, and at the end of a contract. It checks a
// restored table, and exports and erases an account. It reads whole tables; no function that
// serves callers does that.
package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/store"
)

// Scanner reads a table.
type Scanner interface {
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
}

// row is an item as stored.
type row map[string]types.AttributeValue

func (r row) text(name string) string {
	if s, ok := r[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func (r row) number(name string) int64 {
	n, _ := r[name].(*types.AttributeValueMemberN)
	if n == nil {
		return 0
	}
	v, _ := strconv.ParseInt(n.Value, 10, 64) // The service writes only integers.
	return v
}

func (r row) account() string { return r.text("acc") }

// decode decodes the document of the item.
func (r row) decode(into any) error {
	if err := json.Unmarshal([]byte(r.text("doc")), into); err != nil {
		return fmt.Errorf("the document of %s cannot be read: %w", r.text("pk"), err)
	}
	return nil
}

// each calls f for all items of a table.
func each(ctx context.Context, s Scanner, table string, f func(row) error) error {
	in := &dynamodb.ScanInput{TableName: &table}
	for {
		page, err := s.Scan(ctx, in)
		if err != nil {
			return fmt.Errorf("read the table %s: %w", table, err)
		}
		for _, item := range page.Items {
			item, err := store.Unpack(item)
			if err == nil {
				err = f(item)
			}
			if err != nil {
				return err
			}
		}
		if in.ExclusiveStartKey = page.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return nil
		}
	}
}
