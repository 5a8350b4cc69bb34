package store_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Expressions have at most so many bytes, operators and operands. AWS's own engine has the
// same limits.
func TestLimitsOfExpressions(t *testing.T) {
	_, c := client(t, time.Now)
	limits(t, c)
	if real, there := engine(); there {
		in := things()
		if _, err := real.CreateTable(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_, _ = real.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: aws.String(table)})
		})
		limits(t, real)
	}
}

func limits(t *testing.T, c *dynamodb.Client) {
	t.Helper()
	for _, l := range []struct {
		form, between string
		most          int
		whole         string
	}{
		{"x=:%d", " OR ", 150, "%s"}, // with 149 times OR
		{"x=:%d", " AND ", 150, "%s"},
		{"begins_with(x,:%d)", " OR ", 150, "%s"},
		{"NOT x=:%d", " OR ", 100, "%s"},
		{":%d", ",", 100, "x IN (%s)"},
	} {
		for n, taken := range map[int]bool{l.most: true, l.most + 1: false} {
			values, parts := item{":p": str("a")}, make([]string, n)
			for i := range parts {
				parts[i] = fmt.Sprintf(l.form, i)
				values[fmt.Sprint(":", i)] = str(fmt.Sprint(i))
			}
			filter := fmt.Sprintf(l.whole, strings.Join(parts, l.between))
			_, err := c.Query(t.Context(), &dynamodb.QueryInput{
				TableName: aws.String(table), KeyConditionExpression: aws.String("pk = :p"), FilterExpression: &filter,
				ExpressionAttributeValues: values,
			})
			if (err == nil) != taken {
				t.Errorf("%d times %s%s: %v", n, l.form, l.between, err)
			}
		}
	}
	for n, taken := range map[int]bool{4096: true, 4097: false} {
		change := "REMOVE " + strings.Repeat("x", 255)
		change += strings.Repeat(" ", n-len(change))
		_, err := c.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(table), Key: key("a", "1"),
			UpdateExpression: &change})
		if (err == nil) != taken {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
