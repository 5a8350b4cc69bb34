package ledger

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/store"
)

var balanceKey = BalanceKey("acc_1")

// commit carries out a transaction that must hold.
func commit(t *testing.T, db *store.DB, fill func(*store.Tx)) {
	t.Helper()
	is(t, "the commit", try(t, db, fill), nil)
}

func try(t *testing.T, db *store.DB, fill func(*store.Tx)) error {
	tx := &store.Tx{}
	fill(tx)
	return db.Commit(t.Context(), tx)
}

// is checks an error.
func is(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s returns %v, want %v", what, err, want)
	}
}

// unchanged checks that a call of do leaves the table as it is.
func unchanged(t *testing.T, db *store.DB, do func()) {
	t.Helper()
	before := storetest.Snapshot(t, db)
	do()
	if after := storetest.Snapshot(t, db); after != before {
		t.Errorf("the table has changed from\n%s\nto\n%s", before, after)
	}
}

// purse is a table with one balance.
type purse struct {
	*testing.T
	db *store.DB
}

func newPurse(t *testing.T, threshold, credits int64) purse {
	p := purse{t, storetest.Open(t, time.Now)}
	commit(t, p.db, func(tx *store.Tx) {
		is(t, "open", Open(tx, "acc_1", threshold, 0, map[string]string{"name": "Acme"}), nil)
	})
	if credits > 0 {
		commit(t, p.db, func(tx *store.Tx) { addCredits(tx, balanceKey, credits, credits, nil) })
	}
	return p
}

// is checks the balance.
func (p purse) is(what string, credits, above int64, low bool) {
	p.Helper()
	it, err := p.db.Get(p.Context(), balanceKey)
	b := BalanceOf(it)
	if err != nil || b.Credits != credits || b.Above != above || b.Low != low {
		p.Errorf("%s: %d credits, %d above, low %v, %v; want %d, %d, %v", what, b.Credits, b.Above, b.Low, err,
			credits, above, low)
	}
}

func TestABalanceIsOpenedOnce(t *testing.T) {
	p := newPurse(t, 10, 0)
	p.is("at first", 0, -10, false)
	unchanged(t, p.db, func() {
		is(t, "again", try(t, p.db, func(tx *store.Tx) { is(t, "open", Open(tx, "acc_1", 5, 0, nil), nil) }),
			store.ErrConflict)
	})
}

func TestCreditsAreAddedUpToABound(t *testing.T) {
	p := newPurse(t, 10, 5)
	full := errors.New("full")
	unchanged(t, p.db, func() {
		is(t, "too much", try(t, p.db, func(tx *store.Tx) { addCredits(tx, balanceKey, 6, 10, full) }), full)
	})
	commit(t, p.db, func(tx *store.Tx) { addCredits(tx, balanceKey, 5, 10, full) })
	p.is("as much as may be", 10, 0, false)
}

func TestCreditsAreTakenAsTheyAre(t *testing.T) {
	missing := errors.New("missing")
	for name, c := range map[string]struct {
		threshold, credits, take int64
		notified, notify         bool
		read                     Balance
		want                     error
	}{
		"above the threshold":                    {10, 30, 20, false, false, Balance{Credits: 30, Above: 20}, nil},
		"above it, whatever was read":            {10, 30, 20, false, false, Balance{Credits: 99, Above: 89}, nil},
		"below it, without telling":              {10, 30, 21, false, false, Balance{Credits: 30, Above: 20}, missing},
		"below it":                               {10, 30, 21, false, true, Balance{Credits: 30, Above: 20}, nil},
		"below it, by another balance":           {10, 30, 21, false, true, Balance{Credits: 31, Above: 21}, missing},
		"below it, by another threshold":         {10, 30, 21, false, true, Balance{Credits: 30, Above: 19}, missing},
		"telling without need":                   {10, 30, 20, false, true, Balance{Credits: 30, Above: 20}, missing},
		"from below it":                          {50, 30, 1, false, true, Balance{Credits: 30, Above: -20}, nil},
		"from below it, notified before":         {50, 30, 1, true, false, Balance{Credits: 30, Above: -20}, nil},
		"from below it, notified before, notify": {50, 30, 1, true, true, Balance{Credits: 30, Above: -20}, missing},
		"from below it, not notified, no notify": {50, 30, 1, false, false, Balance{Credits: 30, Above: -20}, missing},
		"all":                                    {0, 30, 30, false, false, Balance{Credits: 30, Above: 30}, nil},
		"more than there is":                     {0, 30, 31, false, false, Balance{Credits: 30, Above: 30}, missing},
		"more than there is, telling":            {0, 30, 31, false, true, Balance{Credits: 30, Above: 30}, missing},
		"more than there is, notified before":    {50, 30, 31, true, false, Balance{Credits: 30, Above: -20}, missing},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPurse(t, c.threshold, c.credits)
			if c.notified {
				commit(t, p.db, func(tx *store.Tx) { addCredits(tx, balanceKey, 1, 1000, nil) })
				commit(t, p.db, func(tx *store.Tx) {
					takeCredits(tx, balanceKey, 1, true,
						Balance{Credits: c.credits + 1, Above: c.credits + 1 - c.threshold}, nil)
				})
			}
			before := storetest.Snapshot(t, p.db)
			var is store.Item
			err := try(t, p.db, func(tx *store.Tx) {
				takeCredits(tx, balanceKey, c.take, c.notify, c.read, func(it store.Item) error {
					is = it
					return missing
				})
			})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("it gives %v", err)
			}
			if err != nil {
				b := BalanceOf(is)
				if b.Credits != c.credits || is.Kind != "balance" || b.Above != c.credits-c.threshold ||
					b.Low != c.notified || storetest.Snapshot(t, p.db) != before {
					t.Errorf("it was shown %+v, or something was written", is)
				}
				return
			}
			left := c.credits - c.take
			p.is("then", left, left-c.threshold, left < c.threshold)
		})
	}
	db := storetest.Open(t, time.Now)
	is(t, "where there is no balance", try(t, db, func(tx *store.Tx) {
		takeCredits(tx, balanceKey, 1, true, Balance{}, func(it store.Item) error {
			if it.PK != "" || BalanceOf(it).Credits != 0 {
				t.Errorf("it was shown %+v", it)
			}
			return missing
		})
	}), missing)
}

// A notice from before the credits rose to the threshold does not count below it again.
func TestALowBalanceThatRises(t *testing.T) {
	p := newPurse(t, 10, 10)
	take := func(notify bool) error {
		return try(t, p.db, func(tx *store.Tx) {
			takeCredits(tx, balanceKey, 1, notify, Balance{Credits: 10},
				func(store.Item) error { return store.ErrConflict })
		})
	}
	is(t, "a first", take(true), nil)
	p.is("below", 9, -1, true)
	commit(t, p.db, func(tx *store.Tx) { addCredits(tx, balanceKey, 1, 1000, nil) })
	p.is("risen", 10, 0, false)
	is(t, "a second that tells nothing", take(false), store.ErrConflict)
	is(t, "a second", take(true), nil)
	p.is("below again", 9, -1, true)
}

func TestTheThresholdIsSet(t *testing.T) {
	set := func(p purse, threshold int64, notify bool, read int64) error {
		return try(p.T, p.db, func(tx *store.Tx) {
			setThreshold(tx, balanceKey, threshold, 0, json.RawMessage(`{"name":"Other"}`), notify, read)
		})
	}
	p := newPurse(t, 10, 30)
	unchanged(t, p.db, func() {
		is(t, "above the credits, without telling", set(p, 31, false, 30), store.ErrConflict)
		is(t, "to the credits, telling", set(p, 30, true, 30), store.ErrConflict)
		is(t, "above other credits, telling", set(p, 31, true, 29), store.ErrConflict)
	})
	is(t, "to the credits", set(p, 30, false, 0), nil)
	p.is("at them", 30, 0, false)
	is(t, "above them", set(p, 31, true, 30), nil)
	p.is("above them", 30, -1, true)
	unchanged(t, p.db, func() { is(t, "further, telling", set(p, 40, true, 30), store.ErrConflict) })
	is(t, "further", set(p, 40, false, 0), nil)
	is(t, "below them", set(p, 0, false, 0), nil)
	p.is("below them", 30, 30, false)
	if it, _ := p.db.Get(t.Context(), balanceKey); string(it.Doc) != `{"name":"Other"}` || it.Account != "acc_1" {
		t.Errorf("%+v", it)
	}
	// Where there is no balance, setting begins one.
	db := storetest.Open(t, time.Now)
	is(t, "none", set(purse{t, db}, 7, false, 0), nil)
	purse{t, db}.is("none", 0, -7, false)
}
