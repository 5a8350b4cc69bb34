package record_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/content-automation/api/pkg/record/ledger"
)

// books is a model of a balance: the rules of the ledger without a table.
type books struct {
	credits, threshold int64
	// notified reports whether the account was notified of its low balance; it is
	// reset as soon as the balance is not low.
	notified bool
	lows     []low
	holds    map[string]held // by entry
	// spent is the part of its limit that the key has spent.
	spent int64
}

// spendLimit is the spend limit of the key of each account.
const spendLimit int64 = 120

// low is one event balance.low.
type low struct{ credits, threshold int64 }

// held is the state of a reservation.
type held struct {
	state string
	left  int64
}

func (b *books) clone() *books {
	c := *b
	c.lows, c.holds = slices.Clone(b.lows), maps.Clone(b.holds)
	return &c
}

// same reports whether both are alike; events have no order.
func (b *books) same(o *books) bool {
	return b.credits == o.credits && b.threshold == o.threshold && b.notified == o.notified && b.spent == o.spent &&
		maps.Equal(b.holds, o.holds) &&
		slices.Equal(sorted(b.lows), sorted(o.lows))
}

func sorted(all []low) []low {
	return slices.SortedFunc(slices.Values(all), func(a, b low) int {
		return int((a.credits-b.credits)*1000 + a.threshold - b.threshold)
	})
}

func (b *books) String() string {
	return fmt.Sprintf("%d credits, %d spent, threshold %d, notified %v, events %v, holds %v", b.credits, b.spent,
		b.threshold, b.notified, b.lows, b.holds)
}

func (b *books) tell() {
	b.notified = true
	b.lows = append(b.lows, low{b.credits, b.threshold})
}

// add adds credits.
func (b *books) add(credits int64) {
	if b.credits += credits; b.credits >= b.threshold {
		b.notified = false
	}
}

// take takes credits, if they are there.
func (b *books) take(credits int64) bool {
	if b.credits < credits {
		return false
	}
	if b.credits -= credits; b.credits < b.threshold && !b.notified {
		b.tell()
	}
	return true
}

// move sets the threshold.
func (b *books) move(threshold int64) bool {
	fell := b.credits >= b.threshold && b.credits < threshold
	if b.threshold = threshold; b.credits >= threshold {
		b.notified = false
	}
	if fell {
		b.tell()
	}
	return true
}

func (b *books) reserve(h ledger.Hold) bool {
	if h.Credits == 0 {
		return true
	}
	if b.spent+h.Credits > spendLimit || !b.take(h.Credits) {
		return false
	}
	b.spent += h.Credits
	b.holds[h.Entry] = held{"held", h.Credits}
	return true
}

// settle ends a reservation, if its amount is unchanged, and charges part of it.
func (b *books) settle(h ledger.Hold, charged int64) bool {
	if h == (ledger.Hold{}) {
		return true
	}
	if b.holds[h.Entry] != (held{"held", h.Credits}) {
		return false
	}
	state := "released"
	if charged > 0 {
		state = "charged"
	}
	b.holds[h.Entry] = held{state, 0}
	b.spent -= h.Credits - charged
	if charged < h.Credits {
		b.add(h.Credits - charged)
	}
	return true
}

// split moves parts of a reservation to reservations of their own, and frees others.
func (b *books) split(batch ledger.Hold, parts []ledger.Part, holds []ledger.Hold) bool {
	var all, free int64
	for _, p := range parts {
		all += p.Credits
		if p.Free {
			free += p.Credits
		}
	}
	switch {
	case all == 0:
		return true
	case b.holds[batch.Entry] != held{"held", batch.Credits}:
		return false
	case all == batch.Credits:
		b.holds[batch.Entry] = held{"released", 0}
	default:
		b.holds[batch.Entry] = held{"held", batch.Credits - all}
	}
	for _, h := range holds {
		if h != (ledger.Hold{}) {
			b.holds[h.Entry] = held{"held", h.Credits}
		}
	}
	if free > 0 {
		b.add(free)
		b.spent -= free
	}
	return true
}
