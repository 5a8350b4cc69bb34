package store_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

// A rehearsed transaction writes nothing, and tells each write that would refuse it.
func TestARehearsalTellsAllThatRefusesIt(t *testing.T) {
	var faults storetest.Faults
	db := storetest.Open(t, time.Now, faults.Attach)
	create(t, db, "thing_1")
	create(t, db, "thing_2")
	first, second := errors.New("first"), errors.New("second")
	rehearse := func(fill func(*store.Tx)) ([]error, error) {
		t.Helper()
		tx := &store.Tx{}
		fill(tx)
		var refused []error
		var err error
		unchanged(t, db, func() { refused, err = db.Rehearse(t.Context(), tx) })
		return refused, err
	}
	refused, err := rehearse(func(tx *store.Tx) {
		tx.Create(thing(t, "thing_1", "again"), first)
		tx.Create(thing(t, "thing_3", "new"), nil)
		tx.Create(thing(t, "thing_2", "again"), second)
	})
	if is(t, "the rehearsal", err, nil); !reflect.DeepEqual(refused, []error{first, second}) {
		t.Errorf("it would be refused for %v", refused)
	}
	faults.Cancel(1, "None", "TransactionConflict")
	refused, err = rehearse(func(tx *store.Tx) { tx.Create(thing(t, "thing_3", "new"), nil) })
	if is(t, "what would be committed", err, nil); refused != nil {
		t.Errorf("it would be refused for %v", refused)
	}
	_, err = rehearse(func(tx *store.Tx) { tx.Create(thing(t, "thing_1", "again"), nil) })
	is(t, "what has changed", err, store.ErrConflict)
	refused, err = rehearse(func(*store.Tx) {})
	if is(t, "nothing", err, nil); refused != nil {
		t.Errorf("nothing would be refused for %v", refused)
	}
}
