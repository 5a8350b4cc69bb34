package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/store"
)

// The bounds of how often the store itself tries a call, and a transaction.
const (
	mostTries   = 6
	mostCommits = 9
)

// pair is a transaction of two writes.
func pair(t *testing.T) func(*store.Tx) {
	return func(tx *store.Tx) {
		tx.Create(thing(t, "thing_1", "made"), nil)
		tx.Count(store.IDKey("count"), 1, 10, errors.New("full"))
	}
}

// counted reads the counter that pair counts.
func counted(t *testing.T, db *store.DB) int64 {
	t.Helper()
	it, err := db.Get(t.Context(), store.IDKey("count"))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
	return it.Count()
}

// oneToken checks that all tries of a transaction carry the same request token.
func oneToken(t *testing.T, calls []storetest.Call, want int) {
	t.Helper()
	seen, n := "", 0
	for _, c := range calls {
		if c.Operation != "TransactWriteItems" {
			continue
		}
		n++
		var sent struct{ ClientRequestToken string }
		if err := json.Unmarshal(c.Body, &sent); err != nil || sent.ClientRequestToken == "" {
			t.Fatalf("a transaction without a request token: %v %s", err, c.Body)
		}
		if seen != "" && seen != sent.ClientRequestToken {
			t.Errorf("try %d has another request token", n)
		}
		seen = sent.ClientRequestToken
	}
	if n != want {
		t.Errorf("there were %d tries, want %d", n, want)
	}
}

func TestContentionPasses(t *testing.T) {
	for name, cause := range map[string]func(*storetest.Faults, int){
		"another transaction": func(f *storetest.Faults, n int) { f.Cancel(n, "None", "TransactionConflict") },
		"two of them": func(f *storetest.Faults, n int) {
			f.Cancel(n, "TransactionConflict",
				"TransactionConflict")
		},
		"load within the transaction": func(f *storetest.Faults, n int) { f.Cancel(n, "ThrottlingError", "None") },
		"a hot partition within it": func(f *storetest.Faults,
			n int) {
			f.Cancel(n, "None", "ProvisionedThroughputExceeded")
		},
		"a transaction of the moment": func(f *storetest.Faults,
			n int) {
			f.Reject("TransactWriteItems", "TransactionConflictException", n)
		},
		"our own that is still going": func(f *storetest.Faults,
			n int) {
			f.Reject("TransactWriteItems", "TransactionInProgressException", n)
		},
		"throttling": func(f *storetest.Faults,
			n int) {
			f.Reject("TransactWriteItems", "ThrottlingException", n)
		},
		"a limit of the whole account": func(f *storetest.Faults,
			n int) {
			f.Reject("TransactWriteItems", "RequestLimitExceeded", n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, faults, _ := faulty(t)
			cause(faults, 3)
			commit(t, db, pair(t))
			oneToken(t, faults.Calls(), 4)
			if n := counted(t, db); n != 1 {
				t.Errorf("counted %d", n)
			}
			faults.Reset()
			it, _ := get(t, db, "thing_1")
			cause(faults, 1000)
			err := try(t.Context(), db, func(tx *store.Tx) {
				tx.Delete(it)
				tx.Count(store.IDKey("count"), 1, 10, nil)
			})
			if errs.CodeOf(err) != errs.ProviderUnavailable {
				t.Errorf("without an end: %v", err)
			}
			if n := len(faults.Calls()); n > 1+mostCommits*storetest.Attempts {
				t.Errorf("it was tried %d times", n)
			}
			if n := counted(t, db); n != 1 {
				t.Errorf("counted %d", n)
			}
		})
	}
}

func TestAFailedConditionIsNoContention(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Cancel(1, "TransactionConflict", "ConditionalCheckFailed")
	full := errors.New("full")
	is(t, "the commit", try(t.Context(), db, func(tx *store.Tx) {
		tx.Create(thing(t, "thing_1", "made"), nil)
		tx.Count(store.IDKey("count"), 1, 10, full)
	}), full)
	oneToken(t, faults.Calls(), 1)
}

func TestARefusedTransactionIsNotTriedAgain(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Cancel(1, "None", "ValidationError")
	err := try(t.Context(), db, pair(t))
	if err == nil || errors.Is(err, store.ErrConflict) || errs.CodeOf(err) != errs.Internal {
		t.Errorf("it gives %v", err)
	}
	oneToken(t, faults.Calls(), 1)
}

func TestContentionOfOnePut(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Reject("PutItem", "TransactionConflictException", 3)
	create(t, db, "thing_1")
	if n := len(faults.Calls()); n != 4 {
		t.Errorf("there were %d tries", n)
	}
	faults.Reset()
	faults.Reject("PutItem", "TransactionConflictException", 1000)
	err := try(t.Context(), db, func(tx *store.Tx) { tx.Create(thing(t, "thing_2", "made"), nil) })
	if errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("without an end: %v", err)
	}
	if n := len(faults.Calls()); n != mostTries {
		t.Errorf("there were %d tries", n)
	}
}

func TestThrottledReads(t *testing.T) {
	for operation, read := range map[string]func(*store.DB) error{
		"GetItem": func(db *store.DB) error {
			_, err := db.Get(t.Context(), store.IDKey("thing_1"))
			return err
		},
		"BatchGetItem": func(db *store.DB) error {
			_, err := db.GetAll(t.Context(), store.IDKey("thing_1"))
			return err
		},
		"Query": func(db *store.DB) error {
			_, err := db.List(t.Context(), list(10))
			return err
		},
	} {
		t.Run(operation, func(t *testing.T) {
			db, faults, _ := faulty(t)
			create(t, db, "thing_1")
			faults.Reject(operation, "ThrottlingException", storetest.Attempts-1)
			if err := read(db); err != nil {
				t.Errorf("for a while: %v", err)
			}
			faults.Reset()
			faults.Reject(operation, "ProvisionedThroughputExceededException", 1000)
			if err := read(db); errs.CodeOf(err) != errs.ProviderUnavailable {
				t.Errorf("without an end: %v", err)
			}
			if n := len(faults.Calls()); n != storetest.Attempts {
				t.Errorf("there were %d tries", n)
			}
		})
	}
}

func TestALostAnswerOfAPut(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Lose("PutItem", storetest.Attempts-1)
	create(t, db, "thing_1")
	it, _ := get(t, db, "thing_1")
	if it.Version != 1 {
		t.Errorf("the version is %d", it.Version)
	}
	faults.Lose("PutItem", 1)
	commit(t, db, func(tx *store.Tx) { tx.Replace(renamed(t, it, "second")) })
	it, name := get(t, db, "thing_1")
	if it.Version != 2 || name != "second" {
		t.Errorf("version %d is called %s", it.Version, name)
	}
	// Another caller's write is not taken for our own.
	faults.Reject("PutItem", "ThrottlingException", 1)
	faults.Before("PutItem", func() {
		commit(t, db, func(tx *store.Tx) { tx.Replace(renamed(t, it, "theirs")) })
	})
	is(t, "another's write in between", try(t.Context(), db, func(tx *store.Tx) { tx.Replace(renamed(t, it, "ours")) }),
		store.ErrConflict)
	if _, name := get(t, db, "thing_1"); name != "theirs" {
		t.Errorf("it is called %s", name)
	}
}

func TestALostAnswerOfATransaction(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Lose("TransactWriteItems", storetest.Attempts-1)
	commit(t, db, pair(t))
	oneToken(t, faults.Calls(), storetest.Attempts)
	if n := counted(t, db); n != 1 {
		t.Errorf("counted %d", n)
	}
}

// The SDK's tries may end while the first is still being carried out: ours that
// follow must know it again.
func TestALostAnswerOfATransactionThatIsStillGoing(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Lose("TransactWriteItems", 1)
	faults.Reject("TransactWriteItems", "TransactionInProgressException", storetest.Attempts)
	commit(t, db, pair(t))
	oneToken(t, faults.Calls(), 2+storetest.Attempts)
	if n := counted(t, db); n != 1 {
		t.Errorf("counted %d", n)
	}
}

func TestAnswersThatAllAreLostAreAnError(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Lose("TransactWriteItems", storetest.Attempts)
	err := try(t.Context(), db, pair(t))
	if err == nil || errors.Is(err, store.ErrConflict) {
		t.Errorf("it gives %v", err)
	}
	if n := counted(t, db); n != 1 {
		t.Errorf("counted %d", n)
	}
}

func TestNoCallOutlivesItsContext(t *testing.T) {
	for operation, call := range map[string]func(context.Context, *store.DB) error{
		"GetItem": func(ctx context.Context, db *store.DB) error {
			_, err := db.Get(ctx, store.IDKey("thing_1"))
			return err
		},
		"BatchGetItem": func(ctx context.Context, db *store.DB) error {
			_, err := db.GetAll(ctx, store.IDKey("thing_1"))
			return err
		},
		"Query": func(ctx context.Context, db *store.DB) error {
			_, err := db.List(ctx, list(10))
			return err
		},
		"TransactWriteItems": func(ctx context.Context, db *store.DB) error { return try(ctx, db, pair(t)) },
		"PutItem": func(ctx context.Context, db *store.DB) error {
			return try(ctx, db, func(tx *store.Tx) { tx.Create(thing(t, "thing_1", "made"), nil) })
		},
		"UpdateItem": func(ctx context.Context, db *store.DB) error {
			_, err := db.Update(ctx, store.IDKey("thing_1"), expression.Remove(store.Attribute("state")), store.Exists)
			return err
		},
	} {
		t.Run(operation, func(t *testing.T) {
			db, faults, _ := faulty(t)
			faults.Hang(operation, 1000)
			unchanged(t, db, func() {
				if err := call(impatient(t, faults), db); errs.CodeOf(err) != errs.Timeout {
					t.Errorf("it gives %v", err)
				}
			})
			if n := len(faults.Calls()); n != 1 {
				t.Errorf("there were %d tries", n)
			}
		})
	}
}

func TestRepeatsEndWithTheContext(t *testing.T) {
	db, faults, _ := faulty(t)
	// Far less than the pauses between the tries.
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	faults.Cancel(1000, "TransactionConflict", "None")
	is(t, "the commit", try(ctx, db, pair(t)), context.DeadlineExceeded)
}

func TestKeysThatWereNotReadAreAskedForAgain(t *testing.T) {
	db, faults, _ := faulty(t)
	create(t, db, "thing_1")
	faults.Reset()
	faults.Postpone(2)
	items, err := db.GetAll(t.Context(), store.IDKey("thing_2"), store.IDKey("thing_1"))
	if err != nil || len(items) != 2 || items[0].Kind != "" || items[1].PK != "thing_1" {
		t.Errorf("%v, %v", items, err)
	}
	if got := faults.Operations(); got != "BatchGetItem BatchGetItem BatchGetItem" {
		t.Errorf("it took %s", got)
	}
	faults.Reset()
	faults.Postpone(1000)
	if _, err := db.GetAll(t.Context(), store.IDKey("thing_1")); errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("without an end: %v", err)
	}
	if n := len(faults.Calls()); n != mostTries {
		t.Errorf("there were %d tries", n)
	}
}
