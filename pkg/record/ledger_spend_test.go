package record_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// spent returns the credits that a key has spent in the month of the clock, and when its counter ends.
func (w *ledgerWorld) spent(key string) (int64, time.Time) {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.SpendKey(acc, key, w.Clock.Now()))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.T.Fatal(err)
	}
	return it.Count(), it.ExpireAt
}

// caller is a caller with a key, or a person if it is empty.
func caller(key string, limit *int64, makers ...auth.KeyLimit) *auth.Principal {
	p := &auth.Principal{Actor: auth.Key(key), SpendLimit: limit, Makers: makers}
	if key == "" {
		p.Actor = auth.Actor{Kind: auth.Person, ID: "usr_1"}
	}
	return p
}

// buy tries a reservation for a key with a limit.
func (w *ledgerWorld) buy(key string, limit *int64, credits int64, makers ...auth.KeyLimit) (h ledger.Hold, err error) {
	w.T.Helper()
	b := w.balance()
	err = w.try(func(tx *store.Tx) (err error) {
		now := w.Clock.Now()
		h, err = ledger.Reserve(tx, now, ledger.Reservation{Account: acc, Subject: "cnt_1", Credits: credits,
			Payer: ledger.PayerOf(now, caller(key, limit, makers...))}, b)
		return err
	})
	return h, err
}

func TestAKeySpendsUpToItsLimit(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	limit := aws.Int64(100)
	buy := func(credits int64) (ledger.Hold, errs.Code) {
		h, err := w.buy("key_1", limit, credits)
		if err == nil {
			return h, ""
		}
		return h, errs.CodeOf(err)
	}
	w.unchanged("more than the limit at once", func() {
		if _, code := buy(101); code != errs.SpendLimitReached {
			t.Errorf("101 of 100: %s", code)
		}
	})
	first, _ := buy(60)
	_, err := w.buy("key_1", limit, 41)
	if want := (errs.SpendContext{SpendLimitCredits: 100, RequiredCredits: 41,
		AvailableCredits: 40}); errs.As(err).Context != want {
		t.Errorf("the context is %+v", errs.As(err).Context)
	}
	if _, code := buy(40); code != "" {
		t.Errorf("the rest: %s", code)
	}
	if _, code := buy(1); code != errs.SpendLimitReached {
		t.Errorf("more than the rest: %s", code)
	}
	if n, end := w.spent("key_1"); n != 100 || end.Before(w.Clock.Now().AddDate(1, 0, 0)) {
		t.Errorf("%d, kept until %v", n, end)
	}
	// A release gives the key back the part that was not charged, and no more.
	if err := w.try(func(tx *store.Tx) error { return ledger.Release(tx, w.Clock.Now(), acc, first, 25) }); err != nil {
		t.Fatal(err)
	}
	if n, _ := w.spent("key_1"); n != 65 || w.balance().Credits != 1000-65 {
		t.Errorf("%d, the balance is %d", n, w.balance().Credits)
	}
	// Another key, and the next month, have a count of their own.
	if _, err := w.buy("key_2", limit, 100); err != nil {
		t.Error(err)
	}
	w.Clock.Add(32 * 24 * time.Hour)
	if _, code := buy(100); code != "" {
		t.Errorf("next month: %s", code)
	}
}

// The spending of a key without a limit is counted, for a limit that it gets later. A person has none.
func TestSpendingIsCountedWithoutALimit(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	for _, key := range []string{"key_1", ""} {
		if _, err := w.buy(key, nil, 70); err != nil {
			t.Fatal(err)
		}
	}
	if n, _ := w.spent("key_1"); n != 70 {
		t.Errorf("%d", n)
	}
	if n, _ := w.spent(""); n != 0 {
		t.Errorf("a person's spending is counted: %d", n)
	}
	if _, err := w.buy("key_1", aws.Int64(100), 31); errs.CodeOf(err) != errs.SpendLimitReached {
		t.Errorf("a limit set later: %v", err)
	}
}

// Credits that a split frees are given back; moved ones stay counted once.
func TestASplitKeepsItsPayer(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	batch, err := w.buy("key_1", nil, 100)
	if err != nil {
		t.Fatal(err)
	}
	_, holds, err := w.split(batch, ledger.Part{Subject: "cnt_1", Credits: 30},
		ledger.Part{Subject: "cnt_2", Credits: 20, Free: true})
	if err != nil || holds[0].Payer != batch.Payer {
		t.Fatalf("%+v, %v", holds, err)
	}
	if n, _ := w.spent("key_1"); n != 80 {
		t.Errorf("%d, want 80", n)
	}
}

func TestWhatCostsMoreIsChargedWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		more    int64
		limit   int64
		want    error
		balance int64
	}{
		"covered":        {50, 150, nil, 850},
		"no balance":     {901, 2000, store.ErrConflict, 900},
		"over the limit": {51, 150, store.ErrConflict, 900},
	} {
		w := ledgerNewWorld(t)
		w.open(0, 1000)
		h, err := w.buy("key_1", &c.limit, 100)
		if err != nil {
			t.Fatal(err)
		}
		b := w.balance()
		err = w.try(func(tx *store.Tx) error {
			ledger.Charge(tx, w.Clock.Now(), acc, h)
			return ledger.ChargeMore(tx, w.Clock.Now(), acc, h, c.more, b)
		})
		var sum int64
		for _, e := range w.entries() {
			sum += e.Credits
		}
		if n, _ := w.spent("key_1"); !errors.Is(err, c.want) || w.balance().Credits != c.balance || sum != c.balance ||
			n != 1000-c.balance {
			t.Errorf("%s: %v; the balance is %d, the entries add up to %d, %d are spent", name, err,
				w.balance().Credits, sum, n)
		}
		if covers := h.Payer.Covers(b, []store.Item{{Numbers: map[string]int64{"count": 100}}, {}},
			c.more); (covers == nil) != (c.want == nil) {
			t.Errorf("%s: %v", name, covers)
		}
	}
}

func TestAnAccountThatLosesTooMuchIsRefused(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.Commit(func(tx *store.Tx) error {
		return ledger.Change(tx, w.Clock.Now(), acc, w.balance(), 0, 30, map[string]any{"id": acc})
	})
	funds := func() ledger.Balance {
		items, err := w.DB.GetAll(t.Context(), ledger.FundsKeys(acc, w.Clock.Now())...)
		if err != nil {
			t.Fatal(err)
		}
		return ledger.FundsOf(items)
	}
	reserve := func() error { _, err := w.reserve("cnt_1", 10, funds()); return err }
	lose := func(n int64) {
		w.Commit(func(tx *store.Tx) error { ledger.Lose(tx, w.Clock.Now(), acc, n); return nil })
	}
	lose(20)
	lose(10)
	if err := reserve(); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	lose(1)
	if b := funds(); b.LostCredits != 31 || b.LostLimit != 30 {
		t.Errorf("%+v", b)
	}
	tx := &store.Tx{}
	_, err := ledger.Reserve(tx, w.Clock.Now(), ledger.Reservation{Account: acc, Subject: "cnt_1",
		Credits: 10}, funds())
	midnight := w.Clock.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	var e *errs.Error
	if !errors.As(err, &e) || e.Code != errs.RateLimited || !w.Clock.Now().Add(e.RetryAfter).Equal(midnight) ||
		tx.Len() != 0 {
		t.Errorf("above it: %v, %d writes", err, tx.Len())
	}
	w.Clock.Add(e.RetryAfter)
	if err := reserve(); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

// What the keys of a key spend counts for its limit, also side by side, and is given back.
func TestTheKeysOfAKeySpendUpToItsLimitTogether(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	limit := aws.Int64(5)
	root := auth.KeyLimit{Key: "key_root", Limit: limit}
	var bought atomic.Int64
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			child, makers := fmt.Sprint("key_child", i%6), []auth.KeyLimit{root}
			if i%2 == 1 {
				child, makers = fmt.Sprint("key_grandchild", i%6), []auth.KeyLimit{{Key: "key_child1"}, root}
			}
			switch _, err := w.buy(child, limit, 1, makers...); errs.CodeOf(err) {
			case errs.SpendLimitReached:
			default:
				if err == nil {
					bought.Add(1)
				} else if !errors.Is(err, store.ErrConflict) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for bought.Load() < 5 { // those that met others
		if _, err := w.buy("key_child0", limit, 1, root); err != nil {
			t.Fatal(err)
		}
		bought.Add(1)
	}
	w.unchanged("more than the limit of the maker", func() {
		_, err := w.buy("key_child7", limit, 1, root)
		if want := (errs.SpendContext{SpendLimitCredits: 5, RequiredCredits: 1}); errs.CodeOf(err) !=
			errs.SpendLimitReached || errs.As(err).Context != want || !strings.Contains(err.Error(), "key_root") {
			t.Errorf("%v", err)
		}
		if _, err := w.buy("key_root", limit, 1); errs.CodeOf(err) != errs.SpendLimitReached {
			t.Errorf("the maker itself: %v", err)
		}
	})
	if n, _ := w.spent("key_root"); n != 5 || bought.Load() != 5 {
		t.Errorf("%d were bought, and %d counted", bought.Load(), n)
	}
	// A higher limit counts at once. What is released is given back to all.
	root.Limit = aws.Int64(9)
	h, err := w.buy("key_child7", limit, 4, auth.KeyLimit{Key: "key_between"}, root)
	if err != nil {
		t.Fatal(err)
	}
	items, err := w.DB.GetAll(t.Context(), h.Payer.Counters(acc)...)
	if err != nil || h.Payer.Covers(w.balance(), items, 1) == nil || h.Payer.Covers(w.balance(), items, 0) != nil {
		t.Errorf("the limit of the maker covers too much or too little: %v", err)
	}
	if err := w.try(func(tx *store.Tx) error { return ledger.Release(tx, w.Clock.Now(), acc, h, 1) }); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int64{"key_root": 6, "key_between": 1, "key_child7": 1} {
		if n, _ := w.spent(key); n != want {
			t.Errorf("%d are counted for %s after a release", n, key)
		}
	}
}
