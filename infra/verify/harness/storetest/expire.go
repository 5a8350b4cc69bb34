package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/store"
)

// Expire removes the expired items, as DynamoDB does some time later, and returns their number.
func Expire(t testing.TB, db *store.DB, now time.Time) (removed int) {
	t.Helper()
	client, table := Raw(t, db)
	all, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range all.Items {
		ttl, err := strconv.ParseInt(text(it["ttl"]), 10, 64)
		if err != nil || ttl > now.Unix() {
			continue
		}
		key := map[string]types.AttributeValue{"pk": it["pk"], "sk": it["sk"]}
		if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table,
			Key: key}); err != nil {
			t.Fatal(err)
		}
		removed++
	}
	return removed
}
