package record_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// owner owns the data of a profile of the account.
var ledgerOwner = tenant.Of(acc, tenant.Live).Of("prf_1")

// purse reads the purse of the profile.
func (w *ledgerWorld) purse() store.Item {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.PurseKey(ledgerOwner))
	if err != nil {
		w.T.Fatal(err)
	}
	return it
}

// work tries a reservation of work for the profile, by a person if the key is empty.
func (w *ledgerWorld) work(key string, credits int64) (h ledger.Hold, err error) {
	w.T.Helper()
	b, now := w.balance(), w.Clock.Now()
	err = w.try(func(tx *store.Tx) (err error) {
		h, err = ledger.Reserve(tx, now, ledger.Reservation{Account: acc, Profile: ledgerOwner.Profile,
			Subject: "cnt_1", Credits: credits, Payer: ledger.PayerOf(now, caller(key, nil))}, b)
		return err
	})
	return h, err
}

func (w *ledgerWorld) openPurse(limit *int64) {
	w.T.Helper()
	w.Commit(func(tx *store.Tx) error { ledger.OpenPurse(tx, ledgerOwner, ledger.Bounds{Limit: limit}); return nil })
}

// shows fails the test unless the profile has spent and has left what it should; a negative rest means no limit.
func (w *ledgerWorld) shows(what string, spent, left int64) {
	w.T.Helper()
	s := ledger.SpendingOf(w.purse(), w.Clock.Now())
	if rest := aws.ToInt64(s.Left); s.Spent != spent || (s.Left == nil) != (left < 0) || s.Left != nil && rest != left {
		w.T.Errorf("%s: spent %d, left %d (limited %v); want %d and %d", what, s.Spent, rest, s.Left != nil, spent, left)
	}
}

func TestAProfileSpendsUpToItsLimit(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.openPurse(aws.Int64(100))
	w.unchanged("more than the limit at once", func() {
		if _, err := w.work("key_1", 101); errs.CodeOf(err) != errs.SpendLimitReached {
			t.Errorf("101 of 100: %v", err)
		}
	})
	h, err := w.work("key_1", 60)
	if err != nil {
		t.Fatal(err)
	}
	w.shows("after 60", 60, 40)
	_, err = w.work("", 41) // a person is held as well
	want := errs.SpendContext{SpendLimitCredits: 100, RequiredCredits: 41, AvailableCredits: 40}
	if errs.CodeOf(err) != errs.SpendLimitReached || errs.As(err).Context != want {
		t.Errorf("41 of 40: %v, %+v", err, errs.As(err).Context)
	}
	w.Commit(func(tx *store.Tx) error { return ledger.Release(tx, w.Clock.Now(), acc, h, 10) })
	w.shows("after the release of 50", 10, 90)
	if _, err := w.work("key_2", 90); err != nil {
		t.Errorf("90 of 90: %v", err)
	}
	w.shows("at the limit", 100, 0)
	w.Clock.Add(32 * 24 * time.Hour)
	w.shows("in the next month", 0, 100)
	if _, err := w.work("key_1", 100); err != nil {
		t.Errorf("100 in the next month: %v", err)
	}
}

func TestANewLimitOfAProfileCountsForTheMonth(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.openPurse(nil)
	if _, err := w.work("key_1", 300); err != nil {
		t.Fatal(err)
	}
	w.shows("without a limit", 300, -1)
	change := func(limit *int64) {
		it := w.purse()
		w.Commit(func(tx *store.Tx) error {
			ledger.ChangePurse(tx, w.Clock.Now(), it, ledger.Bounds{Limit: limit})
			return nil
		})
	}
	change(aws.Int64(310))
	w.shows("with a limit of 310", 300, 10)
	change(aws.Int64(200))
	w.shows("with a limit below what was spent", 300, 0)
	if _, err := w.work("key_1", 1); errs.CodeOf(err) != errs.SpendLimitReached {
		t.Errorf("1 above the limit: %v", err)
	}
	change(nil)
	if _, err := w.work("key_1", 1); err != nil {
		t.Errorf("without a limit again: %v", err)
	}
	w.shows("in the end", 301, -1)
}

// A profile that was used since it was read is not closed.
func TestAUsedProfileConflicts(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.openPurse(aws.Int64(100))
	read := func() (purse, uses store.Item) {
		items, err := w.DB.GetAll(t.Context(), ledger.PurseKey(ledgerOwner), ledger.UsesKey(ledgerOwner))
		if err != nil {
			t.Fatal(err)
		}
		return items[0], items[1]
	}
	use := func() error {
		return w.try(func(tx *store.Tx) error {
			ledger.Use(tx, w.Clock.Now(), ledgerOwner, errs.Missing("profile", "prf_1"))
			return nil
		})
	}
	purse, uses := read()
	if err := use(); err != nil {
		t.Fatal(err)
	}
	if err := w.try(func(tx *store.Tx) error { ledger.ClosePurse(tx, purse, uses); return nil }); !errors.Is(err,
		store.ErrConflict) {
		t.Errorf("closed after a use: %v", err)
	}
	if purse, uses = read(); !ledger.UsedAt(uses).Equal(w.Clock.Now()) {
		t.Errorf("used at %s", ledger.UsedAt(uses))
	}
	if _, err := w.work("key_1", 1); err != nil {
		t.Fatal(err)
	}
	for what, try := range map[string]func(*store.Tx){
		"changed": func(tx *store.Tx) { ledger.ChangePurse(tx, w.Clock.Now(), purse, ledger.Bounds{}) },
		"closed":  func(tx *store.Tx) { ledger.ClosePurse(tx, purse, uses) },
	} {
		if err := w.try(func(tx *store.Tx) error { try(tx); return nil }); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s after work: %v", what, err)
		}
	}
	purse, uses = read()
	w.Commit(func(tx *store.Tx) error { ledger.ClosePurse(tx, purse, uses); return nil })
	if err := use(); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("the use of a closed profile: %v", err)
	}
}

// Work that costs more than a profile allows without a quote needs one.
func TestAProfileRequiresAQuote(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.Commit(func(tx *store.Tx) error {
		ledger.OpenPurse(tx, ledgerOwner, ledger.Bounds{Limit: aws.Int64(300), QuoteAbove: aws.Int64(50)})
		return nil
	})
	quoted := func(credits int64) error {
		b := w.balance()
		return w.try(func(tx *store.Tx) error {
			_, err := ledger.Reserve(tx, w.Clock.Now(), ledger.Reservation{Account: acc, Profile: ledgerOwner.Profile,
				Subject: "cnt_1", Credits: credits, About: ledger.About{QuoteID: "qte_1"},
				Payer: ledger.PayerOf(w.Clock.Now(), caller("key_1", nil))}, b)
			return err
		})
	}
	if _, err := w.work("key_1", 50); err != nil {
		t.Error(err)
	}
	w.unchanged("51 credits without a quote", func() {
		_, err := w.work("key_1", 51)
		if e := errs.As(err); e.Code != errs.ValidationFailed || e.Param != "/quote_id" {
			t.Errorf("it is refused with %v", err)
		}
	})
	if err := quoted(51); err != nil {
		t.Errorf("with a quote: %v", err)
	}
	w.unchanged("more than the limit, with a quote", func() {
		if err := quoted(250); errs.CodeOf(err) != errs.SpendLimitReached {
			t.Errorf("it is refused with %v", err)
		}
	})
	w.Commit(func(tx *store.Tx) error {
		ledger.ChangePurse(tx, w.Clock.Now(), w.purse(), ledger.Bounds{Limit: aws.Int64(300)})
		return nil
	})
	if _, err := w.work("key_1", 51); err != nil {
		t.Errorf("once it requires none: %v", err)
	}
	w.shows("in the end", 152, 148)
}
