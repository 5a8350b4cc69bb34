package store_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// The store shows a confined call the data of its profiles and the records of the account, and takes nothing else.
func TestAConfinedCallStaysWithinItsProfiles(t *testing.T) {
	db := storetest.Open(t, time.Now)
	all := tenant.Of("acc_1", tenant.Live)
	make := func(ctx context.Context, o tenant.Owner, name string) error {
		it, err := store.NewItem("thing", o, name, map[string]string{"name": name})
		if err != nil {
			t.Fatal(err)
		}
		it.Parent = store.Key{PK: "parent", SK: name}
		tx := &store.Tx{}
		tx.Create(it, nil)
		return db.Commit(ctx, tx)
	}
	for name, o := range map[string]tenant.Owner{"a": all.Of("prf_a"), "b": all.Of("prf_b"), "none": all,
		"record": tenant.Of("acc_1", "")} {
		if err := make(t.Context(), o, name); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"a", "b", "none", "record"}
	for _, c := range []struct {
		name               string
		ctx                context.Context
		get, list, creates string
	}{
		{"the account", t.Context(), "a b none record", "a b none", "a b none"},
		{"one profile", tenant.Confine(t.Context(), []tenant.Profile{"prf_a"}), "a record", "a", "a"},
		{"two profiles", tenant.Confine(t.Context(), []tenant.Profile{"prf_a", "prf_b"}), "a b record", "a b", "a b"},
		{"a record of the service", tenant.Unconfined(tenant.Confine(t.Context(), []tenant.Profile{"prf_a"})),
			"a b none record", "a b none", "a b none"},
	} {
		var got, batch, made []string
		keys := []store.Key{}
		for _, name := range names {
			keys = append(keys, store.IDKey(name))
			if it, err := db.Get(c.ctx, store.IDKey(name)); err == nil {
				got = append(got, it.PK)
			} else if !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
		}
		items, err := db.GetAll(c.ctx, keys...)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if it.Kind != "" {
				batch = append(batch, it.PK)
			}
		}
		if strings.Join(got, " ") != c.get || !slices.Equal(got, batch) {
			t.Errorf("%s reads %v alone and %v together, want %s", c.name, got, batch, c.get)
		}
		for _, q := range []store.Query{{Index: store.ByOwner, Partition: store.OwnerPartition(all, "thing"), Limit: 1},
			{Index: store.ByParent, Partition: "parent", Limit: 2}} {
			var listed []string
			q.OldestFirst = true
			if err := db.Each(c.ctx, q, func(it store.Item) error {
				if it.Mode != "" {
					listed = append(listed, it.PK)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if strings.Join(listed, " ") != c.list {
				t.Errorf("%s lists %v, want %s", c.name, listed, c.list)
			}
		}
		for name, o := range map[string]tenant.Owner{"a": all.Of("prf_a"), "b": all.Of("prf_b"), "none": all} {
			if err := make(c.ctx, o, c.name+name); err == nil {
				made = append(made, name)
				tx := &store.Tx{}
				it, err := db.Get(t.Context(), store.IDKey(c.name+name))
				if tx.Delete(it); err != nil || db.Commit(t.Context(), tx) != nil {
					t.Fatal("not removed", err)
				}
			}
		}
		if slices.Sort(made); strings.Join(made, " ") != c.creates {
			t.Errorf("%s creates %v, want %s", c.name, made, c.creates)
		}
	}
}
