package metered

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// metered opens a table whose meter counts capacity units.
func metered(t *testing.T) (*store.DB, *Meter) {
	m := &Meter{Weigh: true}
	return storetest.Open(t, time.Now, m.install), m
}

// used returns the cost of a piece of work.
func used(t *testing.T, m *Meter, work func(context.Context) error) Reading {
	t.Helper()
	before, err := m.Read()
	if err == nil {
		err = work(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	after, err := m.Read()
	if err != nil {
		t.Fatal(err)
	}
	return after.Minus(before)
}

// thing returns an item of about the given size, which does not depend on the compression of documents. An item
// with an owner is in one index.
func thing(t *testing.T, id string, size int, owner string) store.Item {
	t.Helper()
	it, err := store.NewItem("thing", tenant.Of("acc", tenant.Test), id, "")
	if err != nil {
		t.Fatal(err)
	}
	it.Attributes = map[string]string{"bulk": strings.Repeat("x", size)}
	it.ListKey = store.Key{}
	if owner != "" {
		it.ListKey = store.Key{PK: owner, SK: id}
	}
	return it
}

func TestWritesAreCountedByTheRules(t *testing.T) {
	db, m := metered(t)
	errTaken := errors.New("taken")
	stored := func(id string) store.Item {
		it, err := db.Get(t.Context(), store.IDKey(id))
		if err != nil {
			t.Fatal(err)
		}
		return it
	}
	// The cases build on each other. The reads that prepare a case are not part of its cost.
	for _, c := range []struct {
		what string
		puts func(*store.Tx)
		want float64
	}{
		{"a small item", func(tx *store.Tx) { tx.Create(thing(t, "small", 100, ""), nil) }, 1},
		{"an item of 3 KB in an index", func(tx *store.Tx) { tx.Create(thing(t, "large", 2500, "o"), nil) }, 3 + 3},
		{"two items together, one of them in an index", func(tx *store.Tx) {
			tx.Create(thing(t, "a", 1500, ""), nil)
			tx.Create(thing(t, "b", 5000, "o"), nil)
		}, 2*2 + 2*5 + 5},
		{"a create that is refused", func(tx *store.Tx) { tx.Create(thing(t, "large", 1, "o"), errTaken) }, 3},
		{"a condition beside a small item", func(tx *store.Tx) {
			tx.Unchanged(stored("b"))
			tx.Create(thing(t, "c", 10, ""), nil)
		}, 2*5 + 2},
		{"an item that shrinks and leaves its index", func(tx *store.Tx) {
			it := stored("large")
			it.Attributes, it.ListKey = nil, store.Key{}
			tx.Replace(it)
		}, 3 + 3},
		{"an item that moves in its index", func(tx *store.Tx) {
			it := stored("b")
			it.ListKey.PK = "other"
			tx.Replace(it)
		}, 5 + 5 + 5},
		{"an item that goes", func(tx *store.Tx) { tx.Delete(stored("b")) }, 2*5 + 5},
	} {
		tx := &store.Tx{}
		c.puts(tx)
		got := used(t, m, func(ctx context.Context) error {
			if err := db.Commit(ctx, tx); err != nil && !errors.Is(err, errTaken) {
				return err
			}
			return nil
		})
		if got.Trips != 1 || got.Reads != 0 || got.Writes != c.want {
			t.Errorf("%s costs %+v, want %v write units", c.what, got, c.want)
		}
	}
}

func TestReadsAreRoundedAsDynamoDBDoes(t *testing.T) {
	db, m := metered(t)
	for _, id := range []string{"1", "2", "3"} {
		tx := &store.Tx{}
		tx.Create(thing(t, id, 3000, "o"), nil)
		if err := db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	list := func(x store.Index, partition string) func(context.Context) error {
		return func(ctx context.Context) error {
			page, err := db.List(ctx, store.Query{Index: x, Partition: partition, Limit: 10})
			if err == nil && len(page.Items) == 0 {
				err = errors.New("the list is empty")
			}
			return err
		}
	}
	// The list reads nine KB in three items: half of three units, because the read of an index is eventually
	// consistent.
	if got := used(t, m, list(store.ByOwner, "o")); got.Reads != 1.5 || got.Trips != 1 {
		t.Errorf("the index costs %+v", got)
	}
	if got := used(t, m, list(store.Table, "1")); got.Reads != 1 {
		t.Errorf("the table costs %+v", got)
	}
	// Items that are read by their keys count one by one, including those that do not exist.
	if got := used(t, m, func(ctx context.Context) error {
		_, err := db.GetAll(ctx, store.IDKey("1"), store.IDKey("2"), store.IDKey("none"))
		return err
	}); got.Reads != 3 || got.Trips != 1 {
		t.Errorf("three items cost %+v", got)
	}
	// The items that a filter drops are read too.
	if got := used(t, m, func(ctx context.Context) error {
		page, err := db.List(ctx, store.Query{Index: store.ByOwner, Partition: "o",
			Filters: map[string]string{"state": "x"}, Limit: 10})
		if err == nil && len(page.Items) > 0 {
			err = errors.New("the filter drops nothing")
		}
		return err
	}); got.Reads != 1.5 || got.Trips != 1 {
		t.Errorf("the filtered index costs %+v", got)
	}
}

// TestWritesAreCountedAsTheEngineCountsThem checks that the meter and the engine agree on plain writes and
// transactions without conditions. The two counts have the same rules and separate implementations.
func TestWritesAreCountedAsTheEngineCountsThem(t *testing.T) {
	cfg, table, m := storetest.Local(t), aws.String("units-"+rand.Text()), &Meter{Weigh: true}
	if err := storetest.CreateTable(t.Context(), dynamodb.NewFromConfig(cfg), *table); err != nil {
		t.Fatal(err)
	}
	m.install(&cfg)
	client := dynamodb.NewFromConfig(cfg)
	tx := &store.Tx{}
	tx.Create(thing(t, "there", 1200, "o"), nil)
	if err := store.Open(cfg, *table).Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	item := func(id string, size int, owner string) attributes {
		a := attributes{"pk": text(id), "sk": text("#"), "doc": text(strings.Repeat("x", size)),
			"n": &types.AttributeValueMemberN{Value: "-12.50"}, "b": &types.AttributeValueMemberBOOL{Value: true}}
		if owner != "" {
			a["owner_pk"], a["owner_sk"] = text(owner), text(id)
		}
		return a
	}
	key := func(id string) attributes { return attributes{"pk": text(id), "sk": text("#")} }
	for what, call := range map[string]func(context.Context) ([]types.ConsumedCapacity, error){
		"put": func(ctx context.Context) ([]types.ConsumedCapacity, error) {
			out, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item("new", 3000, "o"),
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
			return []types.ConsumedCapacity{*out.ConsumedCapacity}, err
		},
		"update": func(ctx context.Context) ([]types.ConsumedCapacity, error) {
			out, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: table, Key: key("there"), UpdateExpression: aws.String("SET kind = :k"),
				ExpressionAttributeValues: attributes{":k": text(strings.Repeat("y", 1500))},
				ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
			})
			return []types.ConsumedCapacity{*out.ConsumedCapacity}, err
		},
		"transaction": func(ctx context.Context) ([]types.ConsumedCapacity, error) {
			out, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
				TransactItems: []types.TransactWriteItem{
					{Put: &types.Put{TableName: table, Item: item("x", 2000, "")}},
					{Put: &types.Put{TableName: table, Item: item("y", 900, "o")}},
					{Delete: &types.Delete{TableName: table, Key: key("z")}},
				},
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			return out.ConsumedCapacity, err
		},
	} {
		var engine float64
		ours := used(t, m, func(ctx context.Context) error {
			consumed, err := call(ctx)
			for _, c := range consumed {
				engine += aws.ToFloat64(c.CapacityUnits)
			}
			return err
		})
		if ours.Writes != engine || engine == 0 {
			t.Errorf("%s: %v write units, the engine counts %v", what, ours.Writes, engine)
		}
	}
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func TestSizeOfAnItem(t *testing.T) {
	for _, c := range []struct {
		value types.AttributeValue
		want  int
	}{
		{text("grün"), 5}, // bytes, not characters
		{&types.AttributeValueMemberN{Value: "7"}, 2},
		{&types.AttributeValueMemberN{Value: "1795255200"}, 5}, // two digits a byte, without zeros at the ends
		{&types.AttributeValueMemberN{Value: "-12.50"}, 3},
		{&types.AttributeValueMemberBOOL{Value: true}, 1},
	} {
		if got := size(attributes{"name": c.value}) - len("name"); got != c.want {
			t.Errorf("%v has %d bytes, want %d", c.value, got, c.want)
		}
	}
}
