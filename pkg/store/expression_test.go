package store_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// hasState is the condition that an account's item has a state, and moves is the
// update to another one.
func hasState(account, state string) expression.ConditionBuilder {
	return store.Account.Equal(expression.Value(account)).And(store.Attribute("state").Equal(expression.Value(state)))
}

func moves(state string) expression.UpdateBuilder {
	return store.BumpVersion(expression.Set(store.Attribute("state"), expression.Value(state)).Add(store.Number("moves"),
		expression.Value(1)))
}

// held creates a thing whose state is held.
func held(t *testing.T, db *store.DB) store.Item {
	t.Helper()
	it := thing(t, "thing_1", "made")
	it.Attributes = map[string]string{"state": "held", "of": "5"}
	commit(t, db, func(tx *store.Tx) { tx.Create(it, nil) })
	it, _ = get(t, db, "thing_1")
	return it
}

func TestNumbersAreAdded(t *testing.T) {
	db := storetest.Open(t, time.Now)
	add := func(numbers map[string]int64) store.Item {
		it := thing(t, "sums", "")
		it.Doc, it.Numbers = nil, numbers
		commit(t, db, func(tx *store.Tx) { tx.Add(it) })
		got, err := db.Get(t.Context(), it.Key)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := add(map[string]int64{"made": 2, "of/a zone": 1})
	if first.Version != 1 || first.Kind != "thing" || first.Owner != owner ||
		first.ListKey != (store.Key{PK: store.OwnerPartition(owner, "thing"), SK: "sums"}) ||
		!reflect.DeepEqual(first.Numbers, map[string]int64{"made": 2, "of/a zone": 1}) {
		t.Errorf("%+v", first)
	}
	if second := add(map[string]int64{"made": -3, "more": 7}); second.Version != 2 ||
		!reflect.DeepEqual(second.Numbers, map[string]int64{"made": -1, "of/a zone": 1, "more": 7}) {
		t.Errorf("%+v", second)
	}
	is(t, "a write of what was read before", try(t.Context(), db, func(tx *store.Tx) { tx.Replace(first) }),
		store.ErrConflict)
	expiring := store.Item{Key: store.IDKey("expiring"), Numbers: map[string]int64{"made": 1},
		ExpireAt: time.Now().Add(time.Hour)}
	commit(t, db, func(tx *store.Tx) { tx.Add(expiring) })
	if got, err := db.Get(t.Context(), expiring.Key); err != nil || got.ExpireAt.Unix() != expiring.ExpireAt.Unix() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAttributesChangeWithoutTheDocument(t *testing.T) {
	db := storetest.Open(t, time.Now)
	want := held(t, db)
	move := func(id, account, from string) error {
		return try(t.Context(), db, func(tx *store.Tx) {
			tx.Update(store.IDKey(id), moves("charged"), hasState(account, from), store.Conflict)
		})
	}
	unchanged(t, db, func() {
		is(t, "another value", move("thing_1", "acc_1", "new"), store.ErrConflict)
		is(t, "another account", move("thing_1", "acc_2", "held"), store.ErrConflict)
		is(t, "no item", move("thing_2", "acc_1", "held"), store.ErrConflict)
	})
	is(t, "the change", move("thing_1", "acc_1", "held"), nil)
	want.Version, want.Attributes["state"], want.Numbers["moves"] = 2, "charged", 1
	if got, _ := get(t, db, "thing_1"); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	is(t, "the same again", move("thing_1", "acc_1", "held"), store.ErrConflict)
}

func TestAFailedConditionIsJudgedByTheItem(t *testing.T) {
	db := storetest.Open(t, time.Now)
	want, ours := held(t, db), errors.New("ours")
	for id, want := range map[string]store.Item{"thing_1": want, "thing_2": {}} {
		var got store.Item
		is(t, id, try(t.Context(), db, func(tx *store.Tx) {
			tx.Update(store.IDKey(id), moves("charged"), hasState("acc_1", "new"), func(it store.Item) error {
				got = it
				return ours
			})
		}), ours)
		if got.Key != want.Key || got.Kind != want.Kind || got.Attributes["of"] != want.Attributes["of"] {
			t.Errorf("%s: it was judged by %+v", id, got)
		}
	}
}

func TestAnUpdateReturnsTheItemAsItIs(t *testing.T) {
	db, faults, _ := faulty(t)
	want := held(t, db)
	faults.Reset()
	got, err := db.Update(t.Context(), want.Key, moves("charged"), hasState("acc_1", "held"))
	want.Version, want.Attributes["state"], want.Numbers["moves"] = 2, "charged", 1
	if err != nil || !reflect.DeepEqual(got, want) || faults.Operations() != "UpdateItem" {
		t.Errorf("got  %+v, %v by %s\nwant %+v", got, err, faults.Operations(), want)
	}
	unchanged(t, db, func() {
		for id, want := range map[string]store.Item{"thing_1": want, "thing_2": {}} {
			_, err := db.Update(t.Context(), store.IDKey(id), moves("charged"), hasState("acc_1", "held"))
			is(t, id, err, store.ErrConflict)
			var refused *store.ConflictError
			if !errors.As(err, &refused) || refused.Item.Key != want.Key ||
				refused.Item.Attributes["state"] != want.Attributes["state"] {
				t.Errorf("%s: refused by %+v", id, refused)
			}
		}
	})
}

func TestContentionOfAnUpdate(t *testing.T) {
	db, faults, _ := faulty(t)
	it := held(t, db)
	update := func() (store.Item, error) {
		return db.Update(t.Context(), it.Key, moves("held"), hasState("acc_1", "held"))
	}
	faults.Reset()
	faults.Reject("UpdateItem", "TransactionConflictException", mostTries-1)
	if got, err := update(); err != nil || got.Numbers["moves"] != 1 || len(faults.Calls()) != mostTries {
		t.Errorf("%+v, %v after %d tries", got, err, len(faults.Calls()))
	}
	faults.Reset()
	faults.Reject("UpdateItem", "TransactionConflictException", mostTries)
	if _, err := update(); errs.CodeOf(err) != errs.ProviderUnavailable || len(faults.Calls()) != mostTries {
		t.Errorf("%v after %d tries", err, len(faults.Calls()))
	}
	faults.Reject("UpdateItem", "AccessDeniedException", 1)
	if _, err := update(); err == nil || errs.CodeOf(err) != errs.Internal {
		t.Errorf("without permission: %v", err)
	}
}
