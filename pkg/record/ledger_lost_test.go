package record_test

import (
	"testing"

	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// The more was lost, the more of the work in flight counts.
func TestWhatMayBeInFlight(t *testing.T) {
	last := int64(1 << 40)
	for _, c := range []struct{ limit, lost, want int64 }{
		{5000, 0, 50_000}, {5000, 100, 49_000}, {5000, 250, 47_500}, {5000, 1000, 10_000}, {5000, 2500, 2500},
		{5000, 4999, 1}, {5000, 5000, 0}, {5000, 6000, 0},
		{160, 154, 6}, {0, 0, 0}, {0, 1, 0}, {ledger.MaxCredits, 0, 10 * ledger.MaxCredits},
	} {
		got := ledger.Balance{LostCredits: c.lost, LostLimit: c.limit}.MayRisk()
		if got != c.want {
			t.Errorf("%d lost of %d: %d may be in flight, want %d", c.lost, c.limit, got, c.want)
		}
		if c.limit == 5000 && got > last {
			t.Errorf("%d lost: more may be in flight than before", c.lost)
		}
		last = got
	}
}

// Work that was priced by losses that have grown since does not begin.
func TestLossesSinceTheBalanceWasRead(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	lose := func(credits int64) {
		w.Commit(func(tx *store.Tx) error { ledger.Lose(tx, w.Clock.Now(), acc, credits); return nil })
	}
	fence := func(b ledger.Balance) error {
		return w.try(func(tx *store.Tx) error { ledger.Fence(tx, w.Clock.Now(), acc, b); return nil })
	}
	lose(7)
	if err := fence(ledger.Balance{LostCredits: 7}); err != nil {
		t.Errorf("nothing was lost since: %v", err)
	}
	lose(1)
	conflict(t, "a loss of 1 since", fence(ledger.Balance{LostCredits: 7}))
	if err := fence(ledger.Balance{LostCredits: 8}); err != nil {
		t.Errorf("read again: %v", err)
	}
}
