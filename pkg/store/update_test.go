package store_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// things creates things with all that an update may change, and returns them as read.
func things(t *testing.T, db *store.DB, n int) (all []store.Item) {
	t.Helper()
	for _, id := range ids(n) {
		it := thing(t, id, "made")
		it.Parent = store.Key{PK: "parent", SK: id}
		it.Filters = map[string]string{"state": "new", "color": "red"}
		it.Attributes = map[string]string{"by": "nobody", "note": "kept"}
		commit(t, db, func(tx *store.Tx) { tx.Create(it, nil) })
		it, _ = get(t, db, id)
		all = append(all, it)
	}
	return all
}

// taken is an update of a thing that assigns it to somebody.
func taken(it store.Item, by string) store.Update {
	return store.Update{Key: it.Key, Version: it.Version, Attributes: []store.Value{{Name: "by", Value: by}}}
}

func TestAnUpdateChangesWhatItNames(t *testing.T) {
	db, _, clock := faulty(t)
	it := things(t, db, 1)[0]
	it.ExpireAt = clock.Now().Add(time.Hour)
	commit(t, db, func(tx *store.Tx) { tx.Replace(it) })
	it, _ = get(t, db, it.PK)
	for _, c := range []struct {
		update store.Update
		change func(*store.Item)
	}{
		{store.Update{Attributes: []store.Value{{Name: "by", Value: "me 'and' \"you\" ?"}}},
			func(it *store.Item) { it.Attributes["by"] = "me 'and' \"you\" ?" }},
		{store.Update{Attributes: []store.Value{{Name: "by"}, {Name: "fresh", Value: "1"}}},
			func(it *store.Item) { delete(it.Attributes, "by"); it.Attributes["fresh"] = "1" }},
		{store.Update{Filters: []store.Value{{Name: "state", Value: "old"}, {Name: "color"}}},
			func(it *store.Item) { it.Filters["state"] = "old"; delete(it.Filters, "color") }},
		{store.Update{Parent: &store.Key{PK: "other", SK: "x"}},
			func(it *store.Item) { it.Parent = store.Key{PK: "other", SK: "x"} }},
		{store.Update{Parent: &store.Key{}, Attributes: []store.Value{{Name: "absent"}}},
			func(it *store.Item) { it.Parent = store.Key{} }},
		{store.Update{Due: &store.Key{PK: "due", SK: "x"}},
			func(it *store.Item) { it.Due = store.Key{PK: "due", SK: "x"} }},
		{store.Update{Due: &store.Key{}}, func(it *store.Item) { it.Due = store.Key{} }},
		{store.Update{}, func(*store.Item) {}},
	} {
		c.update.Key, c.update.Version = it.Key, it.Version
		if err := db.UpdateAll(t.Context(), c.update)[0]; err != nil {
			t.Fatalf("%+v: %v", c.update, err)
		}
		c.change(&it)
		it.Version++
		if got, _ := get(t, db, it.PK); !reflect.DeepEqual(got, it) {
			t.Errorf("%+v makes\n%+v, want\n%+v", c.update, got, it)
		}
	}
	page, err := db.List(t.Context(), store.Query{Index: store.ByParent, Partition: "other", Limit: 10})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("it is still listed by its parent: %v, %v", page.Items, err)
	}
}

func TestUpdatesShareRoundTrips(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 51)
	updates := make([]store.Update, len(all))
	for i, it := range all {
		updates[i] = taken(it, "me")
	}
	faults.Reset()
	if err := errors.Join(db.UpdateAll(t.Context(), updates...)...); err != nil {
		t.Fatal(err)
	}
	if got := faults.Operations(); got != "BatchExecuteStatement BatchExecuteStatement BatchExecuteStatement" {
		t.Errorf("%s", got)
	}
	for _, it := range all {
		if got, _ := get(t, db, it.PK); got.Attributes["by"] != "me" || got.Version != 2 {
			t.Errorf("%+v", got)
		}
	}
	faults.Reset()
	if failed := db.UpdateAll(t.Context()); len(failed) != 0 || faults.Operations() != "" {
		t.Errorf("no update gives %v and calls %s", failed, faults.Operations())
	}
}

func TestAnUpdateFailsForItself(t *testing.T) {
	db, _, _ := faulty(t)
	all := things(t, db, 3)
	if err := db.UpdateAll(t.Context(), taken(all[1], "another"))[0]; err != nil {
		t.Fatal(err)
	}
	gone := thing(t, "thing_never", "made")
	failed := db.UpdateAll(t.Context(), taken(all[0], "me"), taken(all[1], "me"), taken(gone, "me"),
		taken(all[2], "me"))
	if failed[0] != nil || failed[3] != nil {
		t.Errorf("the others give %v and %v", failed[0], failed[3])
	}
	is(t, "what was changed", failed[1], store.ErrConflict)
	is(t, "what was never made", failed[2], store.ErrConflict)
	now, _ := get(t, db, all[1].PK)
	if met, ok := store.ConflictOf(failed[1]); !ok || !reflect.DeepEqual(met, now) ||
		met.Attributes["by"] != "another" {
		t.Errorf("it met %+v, there is %+v", met, now)
	}
	if met, ok := store.ConflictOf(failed[2]); !ok || !reflect.DeepEqual(met, store.Item{Key: gone.Key}) {
		t.Errorf("it met %+v", met)
	}
	if _, ok := store.ConflictOf(errors.New("other")); ok {
		t.Error("any error is a conflict")
	}
	if text := failed[1].Error(); !strings.Contains(text, all[1].PK) || strings.Contains(text, "kept") {
		t.Errorf("the error is %q", text)
	}
	for i, want := range []string{"me", "another", "me"} {
		if it, _ := get(t, db, all[i].PK); it.Attributes["by"] != want || it.Version != 2 {
			t.Errorf("%+v", it)
		}
	}
}

func TestOfManyUpdatesOfAVersionOneWins(t *testing.T) {
	db, _, _ := faulty(t)
	it := things(t, db, 1)[0]
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = db.UpdateAll(t.Context(), taken(it, fmt.Sprint(i)))[0] })
	}
	group.Wait()
	won := slices.Index(errs, nil)
	for i, err := range errs {
		if i != won {
			is(t, "a later update", err, store.ErrConflict)
		}
	}
	if now, _ := get(t, db, it.PK); won < 0 || now.Attributes["by"] != fmt.Sprint(won) || now.Version != 2 {
		t.Errorf("update %d won, there is %+v", won, now)
	}
}

func TestALostAnswerOfUpdates(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 3)
	faults.Lose("BatchExecuteStatement", 2)
	failed := db.UpdateAll(t.Context(), taken(all[0], "me"),
		store.Update{Key: all[1].Key, Version: 1, Attributes: []store.Value{{Name: "by"}}, Parent: &store.Key{}},
		taken(all[2], "me"))
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
	for i, want := range []string{"me", "", "me"} {
		if it, _ := get(t, db, all[i].PK); it.Version != 2 || it.Attributes["by"] != want {
			t.Errorf("%+v", it)
		}
	}
}

func TestAnotherOneIsNotTakenForALostAnswer(t *testing.T) {
	for name, other := range map[string]store.Update{
		"another value": {Attributes: []store.Value{{Name: "by", Value: "another"}},
			Filters: []store.Value{{Name: "state", Value: "old"}}},
		"another filter": {Attributes: []store.Value{{Name: "by", Value: "me"}},
			Filters: []store.Value{{Name: "state", Value: "older"}}},
		"another time": {Attributes: []store.Value{{Name: "by", Value: "me"}},
			Filters: []store.Value{{Name: "state", Value: "old"}}, Due: &store.Key{PK: "x", SK: "y"}},
		"another parent": {Attributes: []store.Value{{Name: "by", Value: "me"}},
			Filters: []store.Value{{Name: "state", Value: "old"}}, Parent: &store.Key{PK: "x", SK: "y"}},
	} {
		t.Run(name, func(t *testing.T) {
			db, _, _ := faulty(t)
			it := things(t, db, 1)[0]
			other.Key, other.Version = it.Key, it.Version
			if err := db.UpdateAll(t.Context(), other)[0]; err != nil {
				t.Fatal(err)
			}
			ours := store.Update{Key: it.Key, Version: it.Version, Attributes: []store.Value{{Name: "by", Value: "me"}},
				Filters: []store.Value{{Name: "state", Value: "old"}}, Parent: &it.Parent, Due: &it.Due}
			is(t, "ours", db.UpdateAll(t.Context(), ours)[0], store.ErrConflict)
		})
	}
}

func TestUpdatesThatMeetLoadAreRepeatedAlone(t *testing.T) {
	for _, code := range []string{"ThrottlingError", "TransactionConflict", "ProvisionedThroughputExceeded",
		"RequestLimitExceeded", "InternalServerError"} {
		t.Run(code, func(t *testing.T) {
			db, faults, _ := faulty(t)
			all := things(t, db, 3)
			faults.Reset()
			faults.RejectStatements(1, code, 1)
			faults.RejectStatements(1, code, 0)
			failed := db.UpdateAll(t.Context(), taken(all[0], "me"), taken(all[1], "me"), taken(all[2], "me"))
			if err := errors.Join(failed...); err != nil {
				t.Error(err)
			}
			if n := len(faults.Calls()); n != 3 {
				t.Errorf("%d calls", n)
			}
			for i := range all {
				if it, _ := get(t, db, all[i].PK); it.Version != 2 {
					t.Errorf("%+v", it)
				}
			}
			faults.RejectStatements(1000, code, 0)
			it, _ := get(t, db, all[0].PK)
			other, _ := get(t, db, all[1].PK)
			failed = db.UpdateAll(t.Context(), taken(it, "you"), taken(other, "you"))
			if errs.CodeOf(failed[0]) != errs.ProviderUnavailable || failed[1] != nil {
				t.Errorf("without an end: %v", failed)
			}
		})
	}
}

func TestARefusedUpdateIsNotRepeated(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 2)
	faults.Reset()
	faults.RejectStatements(1, "ValidationError", 1)
	failed := db.UpdateAll(t.Context(), taken(all[0], "me"), taken(all[1], "me"))
	if failed[0] != nil || failed[1] == nil || errors.Is(failed[1], store.ErrConflict) ||
		errs.CodeOf(failed[1]) != errs.Internal || len(faults.Calls()) != 1 {
		t.Errorf("%v after %d calls", failed, len(faults.Calls()))
	}
	faults.Reject("BatchExecuteStatement", "ValidationException", 1)
	for _, err := range db.UpdateAll(t.Context(), taken(all[0], "me"), taken(all[1], "me")) {
		if err == nil || errors.Is(err, store.ErrConflict) || errs.CodeOf(err) != errs.Internal {
			t.Errorf("it gives %v", err)
		}
	}
	faults.Reject("BatchExecuteStatement", "ThrottlingException", 1000)
	for _, err := range db.UpdateAll(t.Context(), taken(all[1], "me"), taken(all[0], "me")) {
		if errs.CodeOf(err) != errs.ProviderUnavailable {
			t.Errorf("it gives %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	is(t, "after the end", db.UpdateAll(ended, taken(all[0], "me"))[0], context.Canceled)
}

func TestNotesOfSeveralLieSideBySide(t *testing.T) {
	db, faults, clock := faulty(t)
	key, until := store.Key{PK: "notes", SK: "1"}, clock.Now().Add(time.Hour)
	note := func(extra map[string]string) {
		t.Helper()
		if err := db.Note(t.Context(), store.Item{Key: key, Kind: "note", ExpireAt: until,
			Attributes: extra}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want map[string]string) {
		t.Helper()
		it, err := db.Get(t.Context(), key)
		if err != nil || it.Kind != "note" || !it.ExpireAt.Equal(until) || !reflect.DeepEqual(it.Attributes, want) {
			t.Errorf("there is %+v, %v; want %v", it, err, want)
		}
	}
	note(map[string]string{"one": "1"})
	check(map[string]string{"one": "1"})
	until = until.Add(time.Minute)
	note(map[string]string{"two": "2", "three": "3"})
	check(map[string]string{"one": "1", "two": "2", "three": "3"})
	note(map[string]string{"two": "22", "one": "", "three": "", "never": ""})
	check(map[string]string{"two": "22"})
	faults.Reject("UpdateItem", "ThrottlingException", 100)
	if err := db.Note(t.Context(),
		store.Item{Key: key, Kind: "note", ExpireAt: until}); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("it gives %v", err)
	}
}
