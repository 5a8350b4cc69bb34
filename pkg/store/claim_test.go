package store_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

var (
	errTaken = errors.New("taken")
	errHeld  = errors.New("held")
)

// claimed is a transaction that makes a thing, of which its claim is the first write.
func claimed(t *testing.T, db *store.DB, at time.Time) error {
	return try(t.Context(), db, func(tx *store.Tx) {
		tx.Create(thing(t, "thing_1", "made"), nil)
		tx.Count(store.IDKey("count"), 1, 10, errors.New("full"))
		record := thing(t, "record", "ours")
		record.ExpireAt = at.Add(time.Hour)
		tx.Claim(record, at.Unix(), errTaken, errHeld)
	})
}

func TestATakenClaimIsToldBeforeAllElse(t *testing.T) {
	db, _, clock := faulty(t)
	is(t, "the first", claimed(t, db, clock.Now()), nil)
	unchanged(t, db, func() { is(t, "the second", claimed(t, db, clock.Now()), errTaken) })
	// Once the claim has expired, the commit returns the next failed condition.
	clock.Add(time.Hour)
	unchanged(t, db, func() { is(t, "the third", claimed(t, db, clock.Now()), store.ErrConflict) })
}

func TestAHeldClaimIsToldAfterTheLastTry(t *testing.T) {
	for name, c := range map[string]struct {
		plan func(*storetest.Faults)
		held bool
	}{
		"the claim's item": {func(f *storetest.Faults) { f.Cancel(1000, "TransactionConflict", "None", "None") }, true},
		"all items": {func(f *storetest.Faults) {
			f.Cancel(1000, "TransactionConflict", "TransactionConflict", "TransactionConflict")
		}, true},
		"another item": {func(f *storetest.Faults) {
			f.Cancel(1000, "None", "TransactionConflict",
				"None")
		}, false},
		"load": {func(f *storetest.Faults) { f.Cancel(1000, "ThrottlingError", "None", "None") },
			false},
		"the transaction itself": {func(f *storetest.Faults) {
			f.Reject("TransactWriteItems",
				"TransactionInProgressException", 1000)
		}, true},
		"load of the whole account": {func(f *storetest.Faults) {
			f.Reject("TransactWriteItems", "RequestLimitExceeded",
				1000)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, faults, clock := faulty(t)
			c.plan(faults)
			unchanged(t, db, func() {
				err := claimed(t, db, clock.Now())
				if errors.Is(err, errHeld) != c.held || !c.held && errs.CodeOf(err) != errs.ProviderUnavailable {
					t.Errorf("it gives %v", err)
				}
			})
			if n := len(faults.Calls()); n > mostCommits*storetest.Attempts {
				t.Errorf("it was tried %d times", n)
			}
			faults.Reset()
			is(t, "then", claimed(t, db, clock.Now()), nil)
		})
	}
}

func TestNothingIsTriedAfterItsTime(t *testing.T) {
	for operation, write := range map[string]func(*store.Tx){
		"TransactWriteItems": pair(t),
		"PutItem":            func(tx *store.Tx) { tx.Create(thing(t, "thing_1", "made"), nil) },
	} {
		t.Run(operation, func(t *testing.T) {
			db, faults, clock := faulty(t)
			until := clock.Now().Add(time.Minute)
			bounded := func(tx *store.Tx) {
				write(tx)
				tx.Until(until)
			}
			clock.Add(time.Minute + time.Second)
			unchanged(t, db, func() {
				if err := try(t.Context(), db, bounded); errs.CodeOf(err) != errs.Timeout {
					t.Errorf("after its time: %v", err)
				}
			})
			if n := len(faults.Calls()); n != 0 {
				t.Errorf("%d tries went out", n)
			}
			// Nor does the SDK try it again by itself.
			until = clock.Now().Add(time.Minute)
			faults.After = func(storetest.Call) error {
				clock.Add(time.Hour)
				return &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
			}
			if err := try(t.Context(), db, bounded); errs.CodeOf(err) != errs.Timeout {
				t.Errorf("a repeat after its time: %v", err)
			}
			if n := len(faults.Calls()); n != 1 {
				t.Errorf("%d tries went out", n)
			}
			faults.After = nil
			if _, name := get(t, db, "thing_1"); name != "made" {
				t.Errorf("it is called %s", name)
			}
		})
	}
}

func TestParts(t *testing.T) {
	db, faults, clock := faulty(t)
	like := thing(t, "blob", "")
	like.ListKey = store.Key{}
	like.ExpireAt = clock.Now().Add(time.Hour)
	data := bytes.Repeat([]byte("0123456789abcdef"), (2*store.PartSize+16)/16)
	n := 0
	commit(t, db, func(tx *store.Tx) { n = tx.CreateParts(like, data) })
	if n != 3 {
		t.Fatalf("%d parts", n)
	}
	faults.Reset()
	got, err := db.Parts(t.Context(), "blob", n)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes of %d, %v", len(got), len(data), err)
	}
	if got := faults.Operations(); got != "BatchGetItem" {
		t.Errorf("it took %s", got)
	}
	_, err = db.Parts(t.Context(), "blob", n+1)
	is(t, "one part too many", err, store.ErrNotFound)
	is(t, "the same again", try(t.Context(), db, func(tx *store.Tx) { tx.CreateParts(like, data) }), store.ErrConflict)
	clock.Add(time.Hour)
	_, err = db.Parts(t.Context(), "blob", n)
	is(t, "after their time", err, store.ErrNotFound)
}
