package record_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// A release neither gives more than the reservation nor charges more.
func TestAReleaseOfNonsenseIsRefused(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	h := w.hold("cnt_1", 30)
	for _, charged := range []int64{-1, -30, 31} {
		tx := &store.Tx{}
		if err := ledger.Release(tx, w.Clock.Now(), acc, h, charged); err == nil || tx.Len() != 0 {
			t.Errorf("%d of 30: %v, and %d writes", charged, err, tx.Len())
		}
	}
	w.check("while it is held", 70, 2)
}

// What holds nothing any more, or never did, is not settled, though its amount is the same.
func TestWhatIsNotHeldIsNotSettled(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	h := w.hold("cnt_1", 30)
	w.Commit(func(tx *store.Tx) error {
		return ledger.ChargeMore(tx, w.Clock.Now(), acc, h, 5, w.balance())
	})
	var more ledger.Hold // the charge beyond the reservation, as a hold of nothing
	for entry, e := range w.entries() {
		if e.Credits == -5 {
			more = ledger.Hold{Entry: entry, Subject: "cnt_1"}
		}
	}
	if err := w.release(h); err != nil {
		t.Fatal(err)
	}
	w.unchanged("a settlement", func() {
		for _, settled := range []ledger.Hold{more, {Entry: h.Entry, Subject: "cnt_1"}} {
			conflict(t, "a charge", w.charge(settled))
			conflict(t, "a release", w.release(settled))
		}
	})
}

// A profile may spend what it has left to the last credit, and no more.
func TestAProfileSpendsExactlyItsRest(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	w.openPurse(aws.Int64(100))
	if _, err := w.work("key_1", 60); err != nil {
		t.Fatal(err)
	}
	if _, err := w.work("key_1", 41); errs.CodeOf(err) != errs.SpendLimitReached {
		t.Errorf("41 of 40: %v", err)
	}
	p := ledger.PayerOf(w.Clock.Now(), caller("key_1", nil))
	p.Profile = ledgerOwner.Profile
	items, err := w.DB.GetAll(t.Context(), p.Counters(acc)...)
	if err != nil || p.Covers(w.balance(), items, 40) != nil || p.Covers(w.balance(), items, 41) == nil {
		t.Errorf("the rest of 40 covers too much or too little: %v", err)
	}
	if _, err := w.work("key_1", 40); err != nil {
		t.Errorf("40 of 40: %v", err)
	}
	if _, err := w.work("key_1", 1); errs.CodeOf(err) != errs.SpendLimitReached || errors.Is(err, store.ErrConflict) {
		t.Errorf("1 of 0: %v", err)
	}
	w.shows("at last", 100, 0)
}
