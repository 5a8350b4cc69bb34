package verify_test

import (
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

func TestEachTestHasATableOfItsOwn(t *testing.T) {
	ctx := t.Context()
	one, other := storetest.Open(t, time.Now), storetest.Open(t, time.Now)
	it, err := store.NewItem("thing", tenant.Of("acc", tenant.Test), "thing_1", map[string]int{"n": 7})
	if err != nil {
		t.Fatal(err)
	}
	it.Parent, it.Due = store.Key{PK: "parent", SK: "thing_1"}, store.Key{PK: "due", SK: "1"}
	tx := &store.Tx{}
	tx.Create(it, nil)
	if err := one.Commit(ctx, tx); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Get(ctx, it.Key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the other table gives %v, want ErrNotFound", err)
	}
	for index, partition := range map[store.Index]string{
		store.Table: "thing_1", store.ByOwner: "acc#test#thing", store.ByParent: "parent", store.ByDue: "due",
	} {
		page, err := one.List(ctx, store.Query{Index: index, Partition: partition, Limit: 10})
		if err != nil || len(page.Items) != 1 || page.Items[0].PK != "thing_1" {
			t.Errorf("index %v gives %v, %v", index, page.Items, err)
		}
	}
}
