package record_test

import (
	"testing"
	"time"

	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// notified checks the credits of the events balance.low, in their order.
func (w *ledgerWorld) notified(what string, want ...int64) {
	w.T.Helper()
	got := w.lows()
	if len(got) != len(want) {
		w.T.Fatalf("%s: there are %d events: %+v", what, len(got), got)
	}
	for i, e := range got {
		if e.Balance.Credits != want[i] {
			w.T.Errorf("%s: event %d has %+v, want %d", what, i, e, want[i])
		}
	}
}

func TestALowBalanceIsNotifiedOnce(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(50, 100)
	h := w.hold("cnt_1", 50)
	w.notified("at the threshold")
	w.Clock.Add(time.Second)
	first := w.hold("cnt_2", 1)
	w.notified("below it", 49)
	if e := w.lows()[0]; e.ID != acc || e.Name != "Acme" || e.Balance.LowThreshold != 50 {
		t.Errorf("%+v", e)
	}
	w.hold("cnt_3", 9)
	w.hold("cnt_4", 1)
	w.notified("further below it", 49)
	if err := w.release(first); err != nil { // 40
		t.Fatal(err)
	}
	w.hold("cnt_5", 1)
	w.notified("a little less below it", 49)
	if err := w.release(h); err != nil { // 90
		t.Fatal(err)
	}
	if b := w.balance(); b.Low || b.Above != 39 {
		t.Errorf("%+v", b)
	}
	w.Clock.Add(time.Second)
	w.hold("cnt_6", 80)
	w.notified("below it once more", 49, 9)
	w.topUp(41)
	w.Clock.Add(time.Second)
	w.hold("cnt_7", 1)
	w.notified("after a top-up to it", 49, 9, 49)
	w.topUp(1)
	w.Clock.Add(time.Second)
	w.Commit(func(tx *store.Tx) error {
		_, err := ledger.Adjust(tx, w.Clock.Now(), acc, -20, "why", w.balance())
		return err
	})
	w.notified("by the operator", 49, 9, 49, 30)
}

// An account that never reached its threshold is notified at its first debit.
func TestABalanceThatWasAlwaysLow(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(1000, 100)
	w.notified("before")
	w.hold("cnt_1", 1)
	w.hold("cnt_2", 1)
	w.notified("when it spends", 99)
}

func TestTheThresholdMoves(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	move := func(to int64) {
		t.Helper()
		w.Clock.Add(time.Second)
		if err := w.setThreshold(to, w.balance()); err != nil {
			t.Fatal(err)
		}
		if b := w.balance(); b.Above != b.Credits-to {
			t.Errorf("%+v with a threshold of %d", b, to)
		}
	}
	move(100)
	w.notified("at the balance")
	move(101)
	w.notified("above the balance", 100)
	if e := w.lows()[0]; e.Balance.LowThreshold != 101 || e.Name != "Acme Ltd" {
		t.Errorf("%+v", e)
	}
	w.hold("cnt_1", 10)
	move(200)
	w.notified("further above it", 100)
	move(50)
	w.hold("cnt_2", 40)
	w.notified("below it, which is spent to it", 100)
	w.Clock.Add(time.Second)
	w.hold("cnt_3", 1)
	w.notified("and beyond", 100, 49)
}

func TestAnAccountThatWasNeverOpened(t *testing.T) {
	w := ledgerNewWorld(t)
	w.topUp(10)
	if b := w.balance(); b.Credits != 10 || b.Above != 10 {
		t.Errorf("%+v", b)
	}
	w.hold("cnt_1", 10)
	w.notified("without a threshold")
	if err := w.setThreshold(5, w.balance()); err != nil {
		t.Fatal(err)
	}
	w.notified("with one", 0)
}

// A decision by a balance that is out of date does not hold, in either way.
func TestTheEventIsDecidedByTheBalanceAsItIs(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(50, 100)
	before := w.balance()
	w.hold("cnt_1", 40)
	w.unchanged("a crossing that was not foreseen", func() {
		_, err := w.reserve("cnt_2", 20, before)
		conflict(t, "the reservation", err)
		conflict(t, "the threshold", w.setThreshold(61, before))
	})
	near := w.balance()
	w.topUp(20)
	w.unchanged("a crossing that is none any more", func() {
		_, err := w.reserve("cnt_2", 20, near)
		conflict(t, "the reservation", err)
		conflict(t, "the threshold", w.setThreshold(70, near))
	})
	again := w.balance()
	w.hold("cnt_3", 1)
	w.unchanged("a crossing at other credits than were read", func() {
		_, err := w.reserve("cnt_4", 40, again)
		conflict(t, "the reservation", err)
	})
	same := w.balance()
	if err := w.setThreshold(49, same); err != nil {
		t.Fatal(err)
	}
	w.unchanged("a crossing of another threshold than was read", func() {
		_, err := w.reserve("cnt_4", same.Credits, same)
		conflict(t, "the reservation", err)
	})
	if err := w.setThreshold(50, w.balance()); err != nil {
		t.Fatal(err)
	}
	above := w.balance()
	w.hold("cnt_5", 79)
	low := w.balance()
	w.unchanged("a crossing that another transaction notified", func() {
		_, err := w.reserve("cnt_6", 0, above)
		if err != nil {
			t.Error(err)
		}
		conflict(t, "the threshold", w.setThreshold(100, above))
	})
	if !low.Low {
		t.Errorf("%+v", low)
	}
	w.topUp(200)
	w.unchanged("a low balance that is not low any more", func() {
		_, err := w.reserve("cnt_6", 160, low)
		conflict(t, "the reservation", err)
	})
	w.notified("in all", 0)
}
