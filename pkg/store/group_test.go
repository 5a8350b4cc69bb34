package store_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/content-automation/api/pkg/store"
)

func TestCallersOfAGroupShareRoundTrips(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 60)
	faults.Reset()
	g := db.Group(t.Context(), len(all))
	failed := make([]error, len(all))
	var callers sync.WaitGroup
	for i, it := range all {
		callers.Go(func() {
			defer g.Leave()
			if failed[i] = g.Update(taken(it, "me")); failed[i] == nil {
				it.Version++
				failed[i] = g.Update(taken(it, fmt.Sprint("me ", i)))
			}
		})
	}
	callers.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Fatal(err)
	}
	for i, it := range all {
		if now, _ := get(t, db, it.PK); now.Version != 3 || now.Extra["by"] != fmt.Sprint("me ", i) {
			t.Errorf("%+v", now)
		}
	}
	calls := 0
	for _, c := range faults.Calls() {
		if c.Operation == "BatchExecuteStatement" {
			calls++
		}
	}
	if calls >= len(all) {
		t.Errorf("%d calls for two updates of each of %d", calls, len(all))
	}
}

func TestTheLastCallersOfAGroupWaitForNobody(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 3)
	faults.Reset()
	g := db.Group(t.Context(), 3)
	var callers sync.WaitGroup
	for _, it := range all[:2] {
		callers.Go(func() {
			defer g.Leave()
			if err := g.Update(taken(it, "me")); err != nil {
				t.Error(err)
			}
		})
	}
	g.Leave() // the third has nothing to say
	callers.Wait()
	if n := len(faults.Calls()); n > 2 {
		t.Errorf("%d calls", n)
	}
}

func TestACallerOfAGroupGetsItsOwnError(t *testing.T) {
	db, faults, _ := faulty(t)
	all := things(t, db, 2)
	if err := db.UpdateAll(t.Context(), taken(all[0], "another"))[0]; err != nil {
		t.Fatal(err)
	}
	g := db.Group(t.Context(), 2)
	var callers sync.WaitGroup
	callers.Go(func() {
		defer g.Leave()
		err := g.Update(taken(all[0], "me"))
		if met, ok := store.ConflictOf(err); !ok || met.Extra["by"] != "another" {
			t.Errorf("it gives %v", err)
		}
	})
	callers.Go(func() {
		defer g.Leave()
		if err := g.Update(taken(all[1], "me")); err != nil {
			t.Error(err)
		}
	})
	callers.Wait()
	faults.Refuse("BatchExecuteStatement", "ValidationException", 1)
	if err := db.Group(t.Context(), 1).Update(taken(all[1], "you")); err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("it gives %v", err)
	}
}
