package storetest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/memtable"
)

// raw is the access to a table without pkg/store.
type raw struct {
	client *dynamodb.Client
	name   string
	// memory is the engine of a table in memory, or nil. Many tests read their whole table after each step, and need no
	// JSON in between.
	memory *memtable.Engine
}

// opened maps each open table to its raw access.
var opened sync.Map // *store.DB to raw

// Raw returns a client of the table's engine, and the name of the table.
func Raw(t testing.TB, db *store.DB) (client *dynamodb.Client, name string) {
	t.Helper()
	r := rawOf(t, db)
	return r.client, r.name
}

func rawOf(t testing.TB, db *store.DB) raw {
	t.Helper()
	v, ok := opened.Load(db)
	if !ok {
		t.Fatal("storetest: the table was not opened by Open")
	}
	return v.(raw)
}

// Contents returns the items of a table, for Refill. It reports false if the table is not in memory.
func Contents(db *store.DB) (items []map[string]types.AttributeValue, inMemory bool) {
	v, _ := opened.Load(db)
	r, _ := v.(raw)
	if r.memory == nil {
		return nil, false
	}
	out, err := r.memory.Scan(context.Background(), &dynamodb.ScanInput{TableName: &r.name})
	return out.Items, err == nil
}

// Refill puts items into an empty table in memory.
func Refill(db *store.DB, items []map[string]types.AttributeValue) error {
	v, _ := opened.Load(db)
	r := v.(raw)
	return r.memory.Restore(r.name, items...)
}

// Row is an item as it is stored, but with a readable document: each attribute as text.
type Row map[string]string

// Rows reads the items of some kinds, or the whole table without any, including the items that pkg/store would hide.
func Rows(t testing.TB, db *store.DB, kinds ...string) []Row {
	t.Helper()
	var rows []Row
	for _, item := range rawOf(t, db).items(t) {
		if len(kinds) > 0 && !slices.Contains(kinds, text(item["kind"])) {
			continue
		}
		row, err := rowOf(item)
		if err != nil {
			t.Fatalf("storetest: read the table: %v", err)
		}
		rows = append(rows, row)
	}
	return rows
}

func (r raw) items(t testing.TB) (items []map[string]types.AttributeValue) {
	t.Helper()
	all := &dynamodb.ScanInput{TableName: &r.name}
	if r.memory != nil { // which answers in one page
		out, err := r.memory.Scan(t.Context(), all)
		if err != nil {
			t.Fatalf("storetest: read the table: %v", err)
		}
		return out.Items
	}
	for pages := dynamodb.NewScanPaginator(r.client, all); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatalf("storetest: read the table: %v", err)
		}
		items = append(items, page.Items...)
	}
	return items
}

// documents has the documents that were unpacked, by their packed form: most are the same the next time that a test
// reads its table.
var documents sync.Map

func rowOf(item map[string]types.AttributeValue) (Row, error) {
	row := Row{}
	for name, value := range item {
		row[name] = text(value)
	}
	value, ok := item["packed"].(*types.AttributeValueMemberB)
	if !ok {
		return row, nil
	}
	delete(row, "packed")
	packed := string(value.Value)
	if doc, ok := documents.Load(packed); ok {
		row["doc"] = doc.(string)
		return row, nil
	}
	unpacked, err := store.Unpack(item)
	if err != nil {
		return nil, err
	}
	row["doc"] = text(unpacked["doc"])
	documents.Store(packed, row["doc"])
	return row, nil
}

// Snapshot returns the table as a text that stays the same while nothing changes: a line for each attribute. It omits
// items of the kinds in without.
func Snapshot(t testing.TB, db *store.DB, without ...string) string {
	t.Helper()
	rows := slices.DeleteFunc(Rows(t, db), func(row Row) bool { return slices.Contains(without, row["kind"]) })
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(a["pk"], b["pk"]), strings.Compare(a["sk"], b["sk"]))
	})
	var b strings.Builder
	for _, row := range rows {
		b.WriteString(row["pk"] + " " + row["sk"] + "\n")
		for _, name := range slices.Sorted(maps.Keys(row)) {
			b.WriteString(" " + name + " " + row[name] + "\n")
		}
	}
	return b.String()
}

func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	default:
		return "?"
	}
}

// Expire removes the expired items, as DynamoDB does some time later, and returns their number.
func Expire(t testing.TB, db *store.DB, now time.Time) (removed int) {
	t.Helper()
	client, table := Raw(t, db)
	for pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
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
	}
	return removed
}
