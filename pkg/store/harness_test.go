package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

func init() { storetest.UseSDK() }

// doc is the document of the tests' items.
type doc struct {
	Name string `json:"name"`
}

// owner is the owner of the tests' items.
var owner = tenant.Of("acc_1", tenant.Test)

// thing makes the item of a resource.
func thing(t testing.TB, id, name string) store.Item {
	t.Helper()
	it, err := store.NewItem("thing", owner, id, doc{name})
	if err != nil {
		t.Fatal(err)
	}
	return it
}

// list asks for the things.
func list(limit int) store.Query {
	return store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(owner, "thing"), Limit: limit}
}

// commit carries out a transaction that must hold.
func commit(t testing.TB, db *store.DB, fill func(*store.Tx)) {
	t.Helper()
	if err := try(t.Context(), db, fill); err != nil {
		t.Fatal(err)
	}
}

func try(ctx context.Context, db *store.DB, fill func(*store.Tx)) error {
	tx := &store.Tx{}
	fill(tx)
	return db.Commit(ctx, tx)
}

// create puts things with the given ids into the table.
func create(t testing.TB, db *store.DB, ids ...string) {
	t.Helper()
	for _, id := range ids {
		commit(t, db, func(tx *store.Tx) { tx.Create(thing(t, id, "made"), nil) })
	}
}

// get reads a thing that must be there, and its name.
func get(t testing.TB, db *store.DB, id string) (store.Item, string) {
	t.Helper()
	it, err := db.Get(t.Context(), store.IDKey(id))
	if err != nil {
		t.Fatalf("%s: %v", id, err)
	}
	var d doc
	if err := it.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return it, d.Name
}

// renamed returns the item with another name in its document.
func renamed(t testing.TB, it store.Item, name string) store.Item {
	t.Helper()
	if err := it.Encode(doc{name}); err != nil {
		t.Fatal(err)
	}
	return it
}

// faulty opens a table whose round trips the faults see.
func faulty(t testing.TB) (*store.DB, *storetest.Faults, *apitest.Clock) {
	t.Helper()
	faults, clock := &storetest.Faults{}, apitest.NewClock()
	return storetest.Open(t, clock.Now, faults.Attach), faults, clock
}

// unchanged checks that a call of do leaves the table as it is.
func unchanged(t *testing.T, db *store.DB, do func()) {
	t.Helper()
	before := storetest.Snapshot(t, db)
	do()
	if after := storetest.Snapshot(t, db); after != before {
		t.Errorf("the table has changed from\n%s\nto\n%s", before, after)
	}
}

// impatient returns a context whose time is over shortly after the next round trip has begun, however long it takes to
// get there.
func impatient(t *testing.T, faults *storetest.Faults) context.Context {
	ctx := outOfTime{t.Context(), make(chan struct{})}
	var once sync.Once
	faults.Begun = func(storetest.Call) {
		once.Do(func() { time.AfterFunc(20*time.Millisecond, func() { close(ctx.over) }) })
	}
	return ctx
}

// outOfTime is a context that ends because its time is over.
type outOfTime struct {
	context.Context
	over chan struct{}
}

func (c outOfTime) Done() <-chan struct{} { return c.over }

func (c outOfTime) Err() error {
	select {
	case <-c.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// is checks an error.
func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s gives %v, want %v", what, err, want)
	}
}

// ids numbers n ids in ascending order.
func ids(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("thing_%03d", i)
	}
	return all
}
