package quota_test

import (
	"strconv"
	"testing"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

// A deleted item makes room, one from before the bound does not, and owners count apart.
func TestSoManyOfAKind(t *testing.T) {
	db := storetest.Open(t, apitest.NewClock().Now)
	made := 0
	create := func(o tenant.Owner, counts bool) (store.Item, error) {
		made++
		it, err := store.NewItem("thing", o, "thing_"+strconv.Itoa(made), struct{}{})
		if err != nil {
			t.Fatal(err)
		}
		tx := &store.Tx{}
		if counts {
			quota.Take(tx, &it, 2, "things")
		}
		tx.Create(it, nil)
		if err = db.Commit(t.Context(), tx); err != nil {
			return it, err
		}
		it, err = db.Get(t.Context(), it.Key)
		return it, err
	}
	remove := func(it store.Item) {
		t.Helper()
		tx := &store.Tx{}
		quota.Free(tx, it)
		tx.Delete(it)
		if err := db.Commit(t.Context(), tx); err != nil {
			t.Error(err)
		}
	}
	want := func(err error, code errs.Code) {
		t.Helper()
		if (err != nil) != (code != "") || err != nil && errs.CodeOf(err) != code {
			t.Errorf("%v, want %s", err, code)
		}
	}
	o := tenant.Of("acc_1", tenant.Live)
	old, err := create(o, false)
	want(err, "")
	first, err := create(o, true)
	want(err, "")
	_, err = create(o, true)
	want(err, "")
	_, err = create(o, true)
	want(err, errs.InvalidState)
	_, err = create(o.Of("prf_1"), true)
	want(err, "")
	remove(old)
	_, err = create(o, true)
	want(err, errs.InvalidState)
	remove(first)
	_, err = create(o, true)
	want(err, "")
}
