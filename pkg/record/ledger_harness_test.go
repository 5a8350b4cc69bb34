package record_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// acc is the account of most tests.
const acc = "acc_1"

// world is a table with a clock and faults.
type ledgerWorld struct{ *servicetest.World }

func ledgerNewWorld(t *testing.T) *ledgerWorld { return &ledgerWorld{servicetest.New(t)} }

// try commits a transaction that fill makes.
func (w *ledgerWorld) try(fill func(tx *store.Tx) error) error {
	w.T.Helper()
	tx := &store.Tx{}
	if err := fill(tx); err != nil {
		w.T.Fatal(err)
	}
	return w.DB.Commit(w.T.Context(), tx)
}

// open creates the account's balance with a low threshold.
func (w *ledgerWorld) open(threshold, credits int64) {
	w.T.Helper()
	w.Commit(func(tx *store.Tx) error {
		return ledger.Open(tx, acc, threshold, ledger.DefaultLostLimit, map[string]any{"id": acc, "name": "Acme"})
	})
	if credits > 0 {
		w.topUp(credits)
	}
}

func (w *ledgerWorld) topUp(credits int64) {
	w.T.Helper()
	w.Commit(func(tx *store.Tx) error {
		_, err := ledger.TopUp(tx, w.Clock.Now(), acc, credits)
		return err
	})
}

// balance reads the account's balance.
func (w *ledgerWorld) balance() ledger.Balance {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.BalanceKey(acc))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.T.Fatal(err)
	}
	return ledger.BalanceOf(it)
}

// abouts are the texts that the entries of a subject show about it.
var abouts = map[string]ledger.About{"cnt_2": {FactoryID: fac}}

// reserve tries a reservation by the balance as it was read.
func (w *ledgerWorld) reserve(subject string, credits int64, b ledger.Balance) (h ledger.Hold, err error) {
	w.T.Helper()
	err = w.try(func(tx *store.Tx) (err error) {
		h, err = ledger.Reserve(tx, w.Clock.Now(), ledger.Reservation{Account: acc, Subject: subject, Credits: credits,
			About: abouts[subject]}, b)
		return err
	})
	return h, err
}

// hold makes a reservation that must hold.
func (w *ledgerWorld) hold(subject string, credits int64) ledger.Hold {
	w.T.Helper()
	h, err := w.reserve(subject, credits, w.balance())
	if err != nil {
		w.T.Fatal(err)
	}
	return h
}

func (w *ledgerWorld) charge(h ledger.Hold) error {
	w.T.Helper()
	return w.try(func(tx *store.Tx) error { ledger.Charge(tx, w.Clock.Now(), acc, h); return nil })
}

func (w *ledgerWorld) release(h ledger.Hold) error {
	w.T.Helper()
	return w.try(func(tx *store.Tx) error { return ledger.Release(tx, w.Clock.Now(), acc, h, 0) })
}

func (w *ledgerWorld) split(batch ledger.Hold, parts ...ledger.Part) (rest ledger.Hold, holds []ledger.Hold,
	err error) {
	w.T.Helper()
	err = w.try(func(tx *store.Tx) (err error) {
		rest, holds, err = ledger.Split(tx, w.Clock.Now(), acc, batch, parts)
		return err
	})
	return rest, holds, err
}

// setThreshold moves the low threshold by the balance as it was read.
func (w *ledgerWorld) setThreshold(threshold int64, b ledger.Balance) error {
	w.T.Helper()
	return w.try(func(tx *store.Tx) error {
		return ledger.Change(tx, w.Clock.Now(), acc, b, threshold, ledger.DefaultLostLimit,
			map[string]any{"id": acc, "name": "Acme Ltd"})
	})
}

// entries returns the account's entries by id, as they lie in the table.
func (w *ledgerWorld) entries() map[string]ledger.Entry {
	w.T.Helper()
	all := map[string]ledger.Entry{}
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(acc, tenant.Live),
		ledger.Kind), Limit: 100}
	err := w.DB.Each(w.T.Context(), q, func(it store.Item) error {
		e, err := ledger.EntryOf(it)
		all[it.PK] = e
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// entry returns the entry of a reservation.
func (w *ledgerWorld) entry(h ledger.Hold) ledger.Entry {
	w.T.Helper()
	e, ok := w.entries()[h.Entry]
	if !ok || e.State == nil {
		w.T.Fatalf("the entry of %+v is %+v", h, e)
	}
	return e
}

// notice is the object of the event balance.low.
type notice struct {
	ID, Name string
	Balance  struct {
		Credits      int64
		LowThreshold int64 `json:"low_threshold"`
	}
}

// lows returns the events balance.low of the account.
func (w *ledgerWorld) lows() (all []notice) {
	w.T.Helper()
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(acc, tenant.Live), event.Kind),
		Limit: 100, OldestFirst: true}
	err := w.DB.Each(w.T.Context(), q, func(it store.Item) error {
		var doc struct{ Data struct{ Object notice } }
		if it.Filters["type"] != string(event.BalanceLow) {
			w.T.Errorf("there is an event of type %s", it.Filters["type"])
		}
		err := json.Unmarshal(it.Doc, &doc)
		all = append(all, doc.Data.Object)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

// check compares the balance, and the entries, which must add up to it.
func (w *ledgerWorld) check(what string, credits int64, entries int) {
	w.T.Helper()
	var sum int64
	all := w.entries()
	for _, e := range all {
		sum += e.Credits
	}
	if b := w.balance(); b.Credits != credits || sum != credits || len(all) != entries {
		w.T.Errorf("%s: the balance is %d, and %d entries add up to %d; want %d by %d", what, b.Credits, len(all), sum,
			credits, entries)
	}
}

// unchanged checks that a call of do leaves the table as it is.
func (w *ledgerWorld) unchanged(what string, do func()) {
	w.T.Helper()
	before := storetest.Snapshot(w.T, w.DB)
	do()
	if after := storetest.Snapshot(w.T, w.DB); after != before {
		w.T.Errorf("%s changed the table from\n%s\nto\n%s", what, before, after)
	}
}

// code checks the code of an error.
func code(t testing.TB, what string, err error, want errs.Code) {
	t.Helper()
	if errs.CodeOf(err) != want {
		t.Errorf("%s gives %v, want %s", what, err, want)
	}
}

// conflict checks that an error is a conflict.
func conflict(t testing.TB, what string, err error) {
	t.Helper()
	if !errors.Is(err, store.ErrConflict) {
		t.Errorf("%s gives %v, want a conflict", what, err)
	}
}
