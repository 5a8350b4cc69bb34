package record_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// A deleted item makes room, one from before the bound does not, and owners count apart.
func TestSoManyOfAKind(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
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
		quota.Free(tx, clock.Now(), it)
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

// things are the resources of a table, of which an account has two, or makes two in a day.
type things struct {
	t     *testing.T
	db    *store.DB
	clock *apitest.Clock
	bound quota.Bound
	made  int
}

func newThings(t *testing.T, daily bool) *things {
	clock := apitest.NewClock()
	return &things{t: t, clock: clock, db: storetest.Open(t, clock.Now),
		bound: quota.Bound{Name: "things", Remedy: "Drop one", Live: 2, Test: 1, Daily: daily}}
}

func (w *things) create(o tenant.Owner) (store.Item, error) {
	w.t.Helper()
	w.made++
	it, err := store.NewItem("thing", o, "thing_"+strconv.Itoa(w.made), struct{}{})
	if err != nil {
		w.t.Fatal(err)
	}
	tx := &store.Tx{}
	w.bound.Take(tx, w.clock.Now(), &it)
	tx.Create(it, nil)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		return it, err
	}
	it, err = w.db.Get(w.t.Context(), it.Key)
	return it, err
}

func (w *things) must(o tenant.Owner) store.Item {
	w.t.Helper()
	it, err := w.create(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return it
}

// refused checks that there is no room, and that nothing changes.
func (w *things) refused(o tenant.Owner, message string) {
	w.t.Helper()
	before := storetest.Snapshot(w.t, w.db)
	_, err := w.create(o)
	if errs.CodeOf(err) != errs.InvalidState || errs.As(err).Message != message {
		w.t.Errorf("it is answered by %v", err)
	}
	if after := storetest.Snapshot(w.t, w.db); after != before {
		w.t.Errorf("the table was\n%s\nand is\n%s", before, after)
	}
}

func (w *things) remove(it store.Item) {
	w.t.Helper()
	tx := &store.Tx{}
	quota.Free(tx, w.clock.Now(), it)
	tx.Delete(it)
	if err := w.db.Commit(w.t.Context(), tx); err != nil {
		w.t.Error(err)
	}
}

// The profiles of an account count together, live and sandbox apart.
func TestAnAccountHasSoManyOfAKind(t *testing.T) {
	w := newThings(t, false)
	o, test := tenant.Of("acc_1", tenant.Live), tenant.Of("acc_1", tenant.Test)
	const full = "The account already has 2 things, which is the maximum. Drop one."
	first := w.must(o.Of("prf_1"))
	w.must(o)
	w.refused(o, full)
	w.refused(o.Of("prf_2"), full)
	w.must(test)
	w.refused(test.Of("prf_1"), "The sandbox already has 1 things, which is the maximum. Drop one.")
	w.must(tenant.Of("acc_2", tenant.Live))
	w.remove(first)
	w.must(o.Of("prf_2"))
	w.refused(o, full)
	w.clock.Add(365 * 24 * time.Hour)
	w.refused(o, full)
}

// What was made on an earlier day makes no room, and needs none.
func TestAnAccountMakesSoManyOfAKindInADay(t *testing.T) {
	w := newThings(t, true)
	o := tenant.Of("acc_1", tenant.Live)
	const full = "The account already has 2 things of today (UTC), which is the maximum. Drop one, or wait until tomorrow."
	first, second := w.must(o), w.must(o.Of("prf_1"))
	w.refused(o, full)
	w.remove(first)
	third := w.must(o)
	w.refused(o.Of("prf_2"), full)
	w.clock.Add(12 * time.Hour) // midnight
	w.must(o)
	w.remove(second)
	w.must(o)
	w.refused(o, full)
	w.clock.Add(36 * time.Hour)
	storetest.Expire(t, w.db, w.clock.Now())
	w.remove(third)
	if left := storetest.Snapshot(t, w.db); strings.Contains(left, "2026-05-01") {
		t.Errorf("the count of the first day stays:\n%s", left)
	}
}

// A lost answer counts once.
func TestALostAnswerCountsOnce(t *testing.T) {
	for _, daily := range []bool{false, true} {
		w := newThings(t, daily)
		faults := &storetest.Faults{}
		w.db = storetest.Open(t, w.clock.Now, faults.Attach)
		o := tenant.Of("acc_1", tenant.Live)
		faults.Lose("TransactWriteItems", 1)
		first := w.must(o)
		w.must(o)
		faults.Lose("TransactWriteItems", 1)
		w.remove(first)
		w.must(o)
		if n := apitest.CountQuota(t, w.db, w.bound, "thing", o, w.clock.Now()); n != 2 {
			t.Errorf("%d count", n)
		}
	}
}
