package store_test

import (
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

func TestAnItemIsReadAsItWasWritten(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	want := thing(t, "thing_1", "äöü 😀 \"quoted\"")
	want.Parent = store.Key{PK: "parent", SK: "thing_1"}
	want.Due = store.Key{PK: "due", SK: "2026"}
	want.Filters = map[string]string{"state": "queued", "empty": ""}
	want.Attributes = map[string]string{"secret": "hash"}
	want.Numbers = map[string]int64{"credits": -5}
	want.ExpireAt = clock.Now().Add(time.Hour)
	commit(t, db, func(tx *store.Tx) { tx.Create(want, nil) })
	got, _ := get(t, db, "thing_1")
	want.Version = 1
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestAnItemIsCreatedOnce(t *testing.T) {
	db := storetest.Open(t, time.Now)
	create(t, db, "thing_1")
	ours := errors.New("ours")
	unchanged(t, db, func() {
		is(t, "a second create", try(t.Context(), db,
			func(tx *store.Tx) { tx.Create(thing(t, "thing_1", "again"), nil) }), store.ErrConflict)
		is(t, "a second create", try(t.Context(), db,
			func(tx *store.Tx) { tx.Create(thing(t, "thing_1", "again"), ours) }), ours)
	})
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	db := storetest.Open(t, time.Now)
	_, err := db.Get(t.Context(), store.IDKey("thing_1"))
	is(t, "get", err, store.ErrNotFound)
}

func TestOnlyTheVersionThatWasReadIsReplaced(t *testing.T) {
	db := storetest.Open(t, time.Now)
	create(t, db, "thing_1")
	first, _ := get(t, db, "thing_1")
	if first.Version != 1 {
		t.Errorf("the first version is %d", first.Version)
	}
	commit(t, db, func(tx *store.Tx) { tx.Replace(renamed(t, first, "second")) })
	if second, name := get(t, db, "thing_1"); name != "second" || second.Version != 2 {
		t.Errorf("version %d is called %s", second.Version, name)
	}
	never := thing(t, "thing_2", "never made")
	unchanged(t, db, func() {
		for what, fill := range map[string]func(*store.Tx){
			"replace of an old version":      func(tx *store.Tx) { tx.Replace(renamed(t, first, "third")) },
			"delete of an old version":       func(tx *store.Tx) { tx.Delete(first) },
			"check of an old version":        func(tx *store.Tx) { tx.Unchanged(first) },
			"replace of what was never made": func(tx *store.Tx) { tx.Replace(never) },
			"delete of what was never made":  func(tx *store.Tx) { tx.Delete(never) },
			"check of what was never made":   func(tx *store.Tx) { tx.Unchanged(never) },
		} {
			is(t, what, try(t.Context(), db, fill), store.ErrConflict)
		}
	})
}

func TestADeletedItemIsGone(t *testing.T) {
	db := storetest.Open(t, time.Now)
	create(t, db, "thing_1")
	it, _ := get(t, db, "thing_1")
	commit(t, db, func(tx *store.Tx) { tx.Delete(it) })
	_, err := db.Get(t.Context(), it.Key)
	is(t, "get", err, store.ErrNotFound)
	if page, err := db.List(t.Context(), list(10)); err != nil || len(page.Items) != 0 {
		t.Errorf("it is listed still: %v, %v", page, err)
	}
}

func TestOfManyWritersOfAVersionOneWins(t *testing.T) {
	db := storetest.Open(t, time.Now)
	create(t, db, "thing_1")
	it, _ := get(t, db, "thing_1")
	var won, lost int
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, name := range ids(8) {
		all.Go(func() {
			err := try(t.Context(), db, func(tx *store.Tx) { tx.Replace(renamed(t, it, name)) })
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case errors.Is(err, store.ErrConflict):
				lost++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if won != 1 || lost != 7 {
		t.Errorf("%d won and %d lost", won, lost)
	}
	if now, _ := get(t, db, "thing_1"); now.Version != 2 {
		t.Errorf("the version is %d", now.Version)
	}
}

func TestATransactionIsAllOrNothing(t *testing.T) {
	db := storetest.Open(t, time.Now)
	create(t, db, "thing_0", "thing_1")
	zero, _ := get(t, db, "thing_0")
	one, _ := get(t, db, "thing_1")
	first, second := errors.New("first"), errors.New("second")
	gone := one
	gone.Version = 7
	unchanged(t, db, func() {
		for what, c := range map[string]struct {
			fill func(*store.Tx)
			want error
		}{
			"the last fails": {func(tx *store.Tx) {
				tx.Create(thing(t, "thing_2", "new"), nil)
				tx.Replace(renamed(t, zero, "changed"))
				tx.Count(store.IDKey("count"), 1, 10, nil)
				tx.Delete(gone)
			}, store.ErrConflict},
			"the first fails": {func(tx *store.Tx) {
				tx.Create(thing(t, "thing_1", "again"), first)
				tx.Create(thing(t, "thing_2", "new"), nil)
			}, first},
			"two fail": {func(tx *store.Tx) {
				tx.Create(thing(t, "thing_2", "new"), nil)
				tx.Create(thing(t, "thing_1", "again"), second)
				tx.Create(thing(t, "thing_0", "again"), first)
			}, second},
			"a condition fails": {func(tx *store.Tx) {
				tx.Create(thing(t, "thing_2", "new"), nil)
				state := expression.Name("f_state")
				tx.Update(zero.Key, expression.Set(state, expression.Value("paused")),
					state.Equal(expression.Value("active")), func(store.Item) error { return first })
			}, first},
			"a bound is crossed": {func(tx *store.Tx) {
				tx.Create(thing(t, "thing_2", "new"), nil)
				tx.Count(store.IDKey("count"), -1, 10, second)
			}, second},
		} {
			is(t, what, try(t.Context(), db, c.fill), c.want)
		}
	})
	commit(t, db, func(tx *store.Tx) {
		if tx.Len() != 0 {
			t.Errorf("an empty transaction has %d writes", tx.Len())
		}
		tx.Create(thing(t, "thing_2", "new"), nil)
		tx.Replace(renamed(t, zero, "changed"))
		tx.Delete(one)
		if tx.Len() != 3 {
			t.Errorf("there are %d writes", tx.Len())
		}
	})
	if _, name := get(t, db, "thing_0"); name != "changed" {
		t.Errorf("thing_0 is called %s", name)
	}
	get(t, db, "thing_2")
	_, err := db.Get(t.Context(), one.Key)
	is(t, "the deleted one", err, store.ErrNotFound)
}

func TestNothingToCommitIsNoCall(t *testing.T) {
	db, faults, _ := faulty(t)
	if err := db.Commit(t.Context(), &store.Tx{}); err != nil || len(faults.Calls()) != 0 {
		t.Errorf("%v after %v", err, faults.Calls())
	}
}

func TestOneWriteAloneIsAPlainPut(t *testing.T) {
	db, faults, _ := faulty(t)
	create(t, db, "thing_1")
	it, _ := get(t, db, "thing_1")
	commit(t, db, func(tx *store.Tx) { tx.Replace(it) })
	if got := faults.Operations(); got != "PutItem GetItem PutItem" {
		t.Errorf("the round trips are %s", got)
	}
}

func TestACounterStaysWithinItsBounds(t *testing.T) {
	db := storetest.Open(t, time.Now)
	key, full := store.IDKey("count"), errors.New("full")
	for i, c := range []struct {
		delta, most int64
		want        error
		value       int64
	}{
		{-1, 5, full, 0}, // it is not below zero before it was begun, either
		{6, 5, full, 0},
		{5, 5, nil, 5},
		{1, 5, full, 5},
		{-6, 5, full, 5},
		{-5, 5, nil, 0},
		{-1, 5, full, 0},
		{3, 5, nil, 3},
		{2, 4, full, 3},
		{1, 4, nil, 4},
	} {
		err := try(t.Context(), db, func(tx *store.Tx) { tx.Count(key, c.delta, c.most, full) })
		is(t, "count", err, c.want)
		it, err := db.Get(t.Context(), key)
		if err != nil && !(c.value == 0 && errors.Is(err, store.ErrNotFound)) || it.Count() != c.value {
			t.Errorf("step %d: the counter is %d, %v; want %d", i, it.Count(), err, c.value)
		}
	}
}

func TestManyCountTogether(t *testing.T) {
	db := storetest.Open(t, time.Now)
	key, full := store.IDKey("count"), errors.New("full")
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			if err := try(t.Context(), db, func(tx *store.Tx) { tx.Count(key, 1, 10, full) }); err != nil &&
				!errors.Is(err, full) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if it, err := db.Get(t.Context(), key); err != nil || it.Count() != 10 {
		t.Errorf("the counter is %d, %v", it.Count(), err)
	}
}

func TestAnExpiredItemMakesPlace(t *testing.T) {
	clock := apitest.NewClock()
	db := storetest.Open(t, clock.Now)
	ours := errors.New("ours")
	claim := func(name string) error {
		it := thing(t, "thing_1", name)
		it.ExpireAt = clock.Now().Add(time.Hour)
		return try(t.Context(), db, func(tx *store.Tx) { tx.CreateExpiring(it, clock.Now().Unix(), ours) })
	}
	is(t, "the first", claim("first"), nil)
	clock.Add(time.Hour - time.Second)
	is(t, "the second, just before the end", claim("second"), ours)
	if _, name := get(t, db, "thing_1"); name != "first" {
		t.Errorf("it is called %s", name)
	}
	clock.Add(time.Second)
	_, err := db.Get(t.Context(), store.IDKey("thing_1"))
	is(t, "get at the end", err, store.ErrNotFound)
	is(t, "the third, at the end", claim("third"), nil)
	if it, name := get(t, db, "thing_1"); name != "third" || it.Version != 1 {
		t.Errorf("version %d is called %s", it.Version, name)
	}
	// A record that never expires is never replaced.
	create(t, db, "thing_2")
	clock.Add(24 * 365 * time.Hour)
	err = try(t.Context(), db, func(tx *store.Tx) {
		tx.CreateExpiring(thing(t, "thing_2", "again"),
			clock.Now().Unix(), ours)
	})
	is(t, "the place of what lives on", err, ours)
}

func TestCountedHoldsOnlyForTheValueThatWasRead(t *testing.T) {
	db := storetest.Open(t, time.Now)
	key := store.IDKey("count")
	counted := func(n int64) error {
		return try(t.Context(), db, func(tx *store.Tx) { tx.CounterIs(key, n) })
	}
	is(t, "0 before the first count", counted(0), nil)
	is(t, "1 before the first count", counted(1), store.ErrConflict)
	commit(t, db, func(tx *store.Tx) { tx.Count(key, 2, 10, nil) })
	is(t, "2 of 2", counted(2), nil)
	is(t, "1 of 2", counted(1), store.ErrConflict)
	is(t, "0 of 2", counted(0), store.ErrConflict)
}

func TestTransactionsThatMeetConflict(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Contend()
	met := 0
	// The first one is under way while the second arrives, which waits until it ends.
	faults.After = func(c storetest.Call) error {
		if faults.After = nil; c.Operation != "TransactWriteItems" {
			return nil
		}
		for _, count := range []string{"other", "count"} {
			before := len(faults.Calls())
			err := try(t.Context(), db, func(tx *store.Tx) {
				tx.Count(store.IDKey(count), 1, 10, nil)
				tx.Create(thing(t, "of_"+count, "made"), nil)
			})
			if err != nil {
				met++
			}
			if n := len(faults.Calls()) - before; (count == "count") != (err != nil) || err != nil && n != mostCommits {
				t.Errorf("%s: %v after %d tries", count, err, n)
			}
		}
		return nil
	}
	commit(t, db, pair(t))
	if met != 1 {
		t.Errorf("%d met", met)
	}
	faults.Reset()
	commit(t, db, func(tx *store.Tx) {
		tx.Count(store.IDKey("count"), 1, 10, nil)
		tx.Create(thing(t, "thing_2", "made"), nil)
	})
}
