package store_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/content-automation/api/pkg/store/memtable"
)

// A page has the items of its range behind its starting key, in both directions, in a table and in an index whose sort
// keys are often equal.
func TestPagesOfRanges(t *testing.T) {
	const items = 60
	e := memtable.New(time.Now)
	if _, err := e.CreateTable(t.Context(), things()); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 1))
	for _, i := range random.Perm(items) {
		it := with(key(fmt.Sprint("p", i%2), fmt.Sprintf("%03d", i)), "g", str("g"))
		it["at"] = str(fmt.Sprintf("%02d", i/6))
		if err := e.Restore(table, it); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		condition, low, high string
		holds                func(string) bool
	}{
		{"", "", "", func(string) bool { return true }},
		{" = :low", "04", "", func(s string) bool { return s == "04" }},
		{" < :low", "04", "", func(s string) bool { return s < "04" }},
		{" <= :low", "04", "", func(s string) bool { return s <= "04" }},
		{" > :low", "04", "", func(s string) bool { return s > "04" }},
		{" >= :low", "04", "", func(s string) bool { return s >= "04" }},
		{" BETWEEN :low AND :high", "02", "05", func(s string) bool { return s >= "02" && s <= "05" }},
		{"begins_with", "0", "", func(s string) bool { return s[0] == '0' }},
	} {
		for _, indexed := range []bool{false, true} {
			for _, forward := range []bool{true, false} {
				in := &dynamodb.QueryInput{TableName: aws.String(table), Limit: aws.Int32(int32(1 + random.IntN(7))),
					ScanIndexForward: &forward, ExpressionAttributeValues: item{":hash": str("p1")}}
				hash, sort := "pk", "sk"
				if indexed {
					hash, sort, in.IndexName = "g", "at", aws.String("by_g")
					in.ExpressionAttributeValues[":hash"] = str("g")
				}
				condition := hash + " = :hash"
				switch {
				case c.condition == "begins_with":
					condition += " AND begins_with(" + sort + ", :low)"
				case c.condition != "":
					condition += " AND " + sort + c.condition
				}
				if in.KeyConditionExpression = &condition; c.low != "" {
					in.ExpressionAttributeValues[":low"] = str(c.low)
				}
				if c.high != "" {
					in.ExpressionAttributeValues[":high"] = str(c.high)
				}
				var want []string
				for i := range items {
					place := fmt.Sprintf("%03d", i)
					if indexed && c.holds(fmt.Sprintf("%02d", i/6)) || !indexed && i%2 == 1 && c.holds(place) {
						want = append(want, place)
					}
				}
				if indexed { // those with equal sort keys are in the order of the table's key
					slices.SortFunc(want, func(a, b string) int { return slices.Compare(inIndex(a), inIndex(b)) })
				}
				if !forward {
					slices.Reverse(want)
				}
				if got := walked(t, e, in); !reflect.DeepEqual(got, want) {
					t.Errorf("%s, forward %t: %v, want %v", condition, forward, got, want)
				}
			}
		}
	}
}

// inIndex returns the key by which the test's index orders an item.
func inIndex(sk string) []int {
	i, _ := strconv.Atoi(sk)
	return []int{i / 6, i % 2, i}
}

// walked returns the sort keys of all pages of a query.
func walked(t *testing.T, e *memtable.Engine, in *dynamodb.QueryInput) (all []string) {
	t.Helper()
	for {
		out, err := e.Query(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range out.Items {
			all = append(all, fmt.Sprint(reflect.Indirect(reflect.ValueOf(it["sk"])).FieldByName("Value")))
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all
		}
	}
}

// The time of a page does not depend on its place: each call steps over no item that it does not return.
func BenchmarkPage(b *testing.B) {
	for _, n := range []int{1_000, 50_000} {
		e := memtable.New(time.Now)
		if _, err := e.CreateTable(b.Context(), things()); err != nil {
			b.Fatal(err)
		}
		for i := range n {
			if err := e.Restore(table, key("p", fmt.Sprintf("%06d", i))); err != nil {
				b.Fatal(err)
			}
		}
		in := &dynamodb.QueryInput{TableName: aws.String(table), Limit: aws.Int32(100),
			KeyConditionExpression:    aws.String("pk = :pk AND sk > :from"),
			ExpressionAttributeValues: item{":pk": str("p"), ":from": str(fmt.Sprintf("%06d", n-101))}}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if out, err := e.Query(b.Context(), in); err != nil || len(out.Items) != 100 {
					b.Fatal(out, err)
				}
			}
		})
	}
}
