package operate_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/content-automation/api/infra/operate/reshape"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/store"
)

// split is an example of a change: the name of a factory becomes two members.
var split = reshape.Change{Name: "factory-names", Kind: "factory", Apply: func(it *store.Item) (bool, error) {
	var doc map[string]any
	if err := it.Decode(&doc); err != nil {
		return false, err
	}
	name, old := doc["name"]
	if !old {
		return false, nil
	}
	delete(doc, "name")
	doc["names"] = map[string]any{"public": name}
	return true, it.Encode(doc)
}}

var reshapeAccounts = []string{"acc_1", "acc_2", "acc_3"}

// all calls f with every account, and fails before the given one.
func all(failsAt string) func(func(string) error) error {
	return func(f func(string) error) error {
		for _, account := range reshapeAccounts {
			if account == failsAt {
				return errors.New("interrupted")
			}
			if err := f(account); err != nil {
				return err
			}
		}
		return nil
	}
}

func reshapeKey(account string, mode tenant.Mode) store.Key {
	return store.IDKey(fmt.Sprint("fac_", account, mode))
}

// table has one factory for each account and mode.
func table(t *testing.T) *store.DB {
	t.Helper()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	db := storetest.Open(t, func() time.Time { return now })
	tx := &store.Tx{}
	for _, account := range reshapeAccounts {
		for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
			it, err := store.NewItem("factory", tenant.Of(tenant.Account(account), mode), reshapeKey(account, mode).PK,
				map[string]any{"name": account})
			if err != nil {
				t.Fatal(err)
			}
			tx.Create(it, nil)
		}
	}
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	return db
}

func name(t *testing.T, db *store.DB, account string, mode tenant.Mode) (name string, version int64) {
	t.Helper()
	it, err := db.Get(t.Context(), reshapeKey(account, mode))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Names struct{ Public string } }
	if err := it.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc.Names.Public, it.Version
}

func TestAnInterruptedRunGoesOn(t *testing.T) {
	db := table(t)
	if r, err := reshape.Run(t.Context(), db, split, false, all("")); err != nil ||
		r != (reshape.Result{Accounts: 3, Items: 6, Changed: 6}) {
		t.Fatalf("counted %+v, %v", r, err)
	}
	if got, _ := name(t, db, "acc_1", tenant.Live); got != "" {
		t.Error("counting has changed something")
	}
	if r, err := reshape.Run(t.Context(), db, split, true, all("acc_3")); err == nil ||
		r != (reshape.Result{Accounts: 2, Items: 4, Changed: 4}) {
		t.Fatalf("interrupted, %+v, %v", r, err)
	}
	if r, err := reshape.Run(t.Context(), db, split, true, all("")); err != nil ||
		r != (reshape.Result{Accounts: 1, Items: 2, Changed: 2}) {
		t.Fatalf("gone on, %+v, %v", r, err)
	}
	for _, account := range reshapeAccounts {
		for _, mode := range []tenant.Mode{tenant.Live, tenant.Test} {
			if got, version := name(t, db, account, mode); got != account || version != 2 {
				t.Errorf("%s %s: %q in version %d", account, mode, got, version)
			}
		}
	}
}

// A change by a caller at the same time is not lost.
func TestAChangeOfOthersIsKept(t *testing.T) {
	db, at := table(t), reshapeKey("acc_1", tenant.Live)
	first := true
	contended := split
	contended.Apply = func(it *store.Item) (bool, error) {
		changed, err := split.Apply(it)
		if it.Key != at || !first {
			return changed, err
		}
		first = false
		other, err := db.Get(t.Context(), at)
		if err != nil {
			return false, err
		}
		if err := other.Encode(map[string]any{"name": "renamed"}); err != nil {
			return false, err
		}
		tx := &store.Tx{}
		tx.Replace(other)
		return changed, db.Commit(t.Context(), tx)
	}
	if r, err := reshape.Run(t.Context(), db, contended, true, all("")); err != nil || r.Changed != 6 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got, version := name(t, db, "acc_1", tenant.Live); got != "renamed" || version != 3 {
		t.Errorf("%q in version %d", got, version)
	}
}

func TestAnItemThatCannotBeChangedEndsTheRun(t *testing.T) {
	db := table(t)
	broken := split
	broken.Apply = func(*store.Item) (bool, error) { return false, errors.New("no such member") }
	if r, err := reshape.Run(t.Context(), db, broken, true, all("")); err == nil || r.Accounts != 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := reshape.Run(t.Context(), db, split, true, all("")); err != nil || r.Accounts != 3 {
		t.Errorf("after a correction: %+v, %v", r, err)
	}
}
