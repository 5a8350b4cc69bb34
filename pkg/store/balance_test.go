package store_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/content-automation/api/pkg/httpapi/apitest"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/store/storetest"
)

var balanceKey = store.IDKey("balance#acc_1")

// purse is a table with one balance.
type purse struct {
	*testing.T
	db *store.DB
}

func newPurse(t *testing.T, threshold, credits int64) purse {
	p := purse{t, storetest.Open(t, apitest.NewClock().Now)}
	commit(t, p.db, func(tx *store.Tx) {
		tx.OpenBalance(store.Item{Key: balanceKey, Kind: "balance", Account: "acc_1", Doc: json.RawMessage(`{"name":"Acme"}`)}, threshold)
	})
	if credits > 0 {
		commit(t, p.db, func(tx *store.Tx) { tx.AddCredits(balanceKey, credits, credits, nil) })
	}
	return p
}

// is checks the balance.
func (p purse) is(what string, credits, above int64, low bool) {
	p.Helper()
	it, err := p.db.Get(p.Context(), balanceKey)
	if err != nil || it.Counter != credits || it.Above != above || it.Low != low {
		p.Errorf("%s: %d credits, %d above, low %v, %v; want %d, %d, %v", what, it.Counter, it.Above, it.Low, err, credits, above, low)
	}
}

func TestABalanceIsOpenedOnce(t *testing.T) {
	p := newPurse(t, 10, 0)
	p.is("at first", 0, -10, false)
	unchanged(t, p.db, func() {
		is(t, "again", try(t.Context(), p.db, func(tx *store.Tx) { tx.OpenBalance(store.Item{Key: balanceKey}, 5) }), store.ErrConflict)
	})
}

func TestCreditsAreAddedUpToABound(t *testing.T) {
	p := newPurse(t, 10, 5)
	full := errors.New("full")
	unchanged(t, p.db, func() {
		is(t, "too much", try(t.Context(), p.db, func(tx *store.Tx) { tx.AddCredits(balanceKey, 6, 10, full) }), full)
	})
	commit(t, p.db, func(tx *store.Tx) { tx.AddCredits(balanceKey, 5, 10, full) })
	p.is("as much as may be", 10, 0, false)
}

func TestCreditsAreTakenAsTheyAre(t *testing.T) {
	missing := errors.New("missing")
	for name, c := range map[string]struct {
		threshold, credits, take int64
		told, tell               bool
		read                     store.Reading
		want                     error
	}{
		"above the threshold":                 {10, 30, 20, false, false, store.Reading{Credits: 30, Above: 20}, nil},
		"above it, whatever was read":         {10, 30, 20, false, false, store.Reading{Credits: 99, Above: 89}, nil},
		"below it, without telling":           {10, 30, 21, false, false, store.Reading{Credits: 30, Above: 20}, missing},
		"below it":                            {10, 30, 21, false, true, store.Reading{Credits: 30, Above: 20}, nil},
		"below it, by another balance":        {10, 30, 21, false, true, store.Reading{Credits: 31, Above: 21}, missing},
		"below it, by another threshold":      {10, 30, 21, false, true, store.Reading{Credits: 30, Above: 19}, missing},
		"telling without need":                {10, 30, 20, false, true, store.Reading{Credits: 30, Above: 20}, missing},
		"from below it":                       {50, 30, 1, false, true, store.Reading{Credits: 30, Above: -20}, nil},
		"from below it, told before":          {50, 30, 1, true, false, store.Reading{Credits: 30, Above: -20}, nil},
		"from below it, told before, telling": {50, 30, 1, true, true, store.Reading{Credits: 30, Above: -20}, missing},
		"from below it, not told, untold":     {50, 30, 1, false, false, store.Reading{Credits: 30, Above: -20}, missing},
		"all":                                 {0, 30, 30, false, false, store.Reading{Credits: 30, Above: 30}, nil},
		"more than there is":                  {0, 30, 31, false, false, store.Reading{Credits: 30, Above: 30}, missing},
		"more than there is, telling":         {0, 30, 31, false, true, store.Reading{Credits: 30, Above: 30}, missing},
		"more than there is, told before":     {50, 30, 31, true, false, store.Reading{Credits: 30, Above: -20}, missing},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPurse(t, c.threshold, c.credits)
			if c.told {
				commit(t, p.db, func(tx *store.Tx) { tx.AddCredits(balanceKey, 1, 1000, nil) })
				commit(t, p.db, func(tx *store.Tx) {
					tx.TakeCredits(balanceKey, 1, true, store.Reading{Credits: c.credits + 1, Above: c.credits + 1 - c.threshold}, nil)
				})
			}
			before := storetest.Snapshot(t, p.db)
			var is store.Item
			err := try(t.Context(), p.db, func(tx *store.Tx) {
				tx.TakeCredits(balanceKey, c.take, c.tell, c.read, func(it store.Item) error {
					is = it
					return missing
				})
			})
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Fatalf("it gives %v", err)
			}
			if err != nil {
				if is.Counter != c.credits || is.Kind != "balance" || is.Above != c.credits-c.threshold || is.Low != c.told || storetest.Snapshot(t, p.db) != before {
					t.Errorf("it was shown %+v, or something was written", is)
				}
				return
			}
			left := c.credits - c.take
			p.is("then", left, left-c.threshold, left < c.threshold)
		})
	}
	db := storetest.Open(t, apitest.NewClock().Now)
	is(t, "where there is no balance", try(t.Context(), db, func(tx *store.Tx) {
		tx.TakeCredits(balanceKey, 1, true, store.Reading{}, func(it store.Item) error {
			if it.PK != "" || it.Counter != 0 {
				t.Errorf("it was shown %+v", it)
			}
			return missing
		})
	}), missing)
}

// What was told before the credits rose to the threshold does not count below it again.
func TestALowBalanceThatRises(t *testing.T) {
	p := newPurse(t, 10, 10)
	take := func(tell bool) error {
		return try(t.Context(), p.db, func(tx *store.Tx) {
			tx.TakeCredits(balanceKey, 1, tell, store.Reading{Credits: 10}, func(store.Item) error { return store.ErrConflict })
		})
	}
	is(t, "a first", take(true), nil)
	p.is("below", 9, -1, true)
	commit(t, p.db, func(tx *store.Tx) { tx.AddCredits(balanceKey, 1, 1000, nil) })
	p.is("risen", 10, 0, false)
	is(t, "a second that tells nothing", take(false), store.ErrConflict)
	is(t, "a second", take(true), nil)
	p.is("below again", 9, -1, true)
}

func TestTheThresholdIsSet(t *testing.T) {
	set := func(p purse, threshold int64, tell bool, read int64) error {
		return try(p.Context(), p.db, func(tx *store.Tx) {
			tx.SetThreshold(balanceKey, threshold, json.RawMessage(`{"name":"Other"}`), tell, read)
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
	db := storetest.Open(t, apitest.NewClock().Now)
	is(t, "none", set(purse{t, db}, 7, false, 0), nil)
	purse{t, db}.is("none", 0, -7, false)
}

func TestExtrasChangeWithoutTheDocument(t *testing.T) {
	db := storetest.Open(t, apitest.NewClock().Now)
	it := thing(t, "thing_1", "made")
	it.Extra = map[string]string{"state": "held", "of": "5"}
	commit(t, db, func(tx *store.Tx) { tx.Create(it, nil) })
	change := func(id, account string, want, set map[string]string) error {
		return try(t.Context(), db, func(tx *store.Tx) { tx.ChangeExtras(store.IDKey(id), account, want, set) })
	}
	to := map[string]string{"state": "charged", "at": "now"}
	unchanged(t, db, func() {
		is(t, "another value", change("thing_1", "acc_1", map[string]string{"state": "held", "of": "6"}, to), store.ErrConflict)
		is(t, "no value", change("thing_1", "acc_1", map[string]string{"none": "5"}, to), store.ErrConflict)
		is(t, "another account", change("thing_1", "acc_2", map[string]string{"state": "held"}, to), store.ErrConflict)
		is(t, "no item", change("thing_2", "acc_1", map[string]string{"state": "held"}, to), store.ErrConflict)
	})
	is(t, "the change", change("thing_1", "acc_1", map[string]string{"state": "held", "of": "5"}, to), nil)
	got, name := get(t, db, "thing_1")
	if name != "made" || got.Version != 2 || len(got.Extra) != 3 || got.Extra["state"] != "charged" || got.Extra["of"] != "5" || got.Extra["at"] != "now" {
		t.Errorf("%s, %+v", name, got)
	}
	is(t, "the same again", change("thing_1", "acc_1", map[string]string{"state": "held", "of": "5"}, to), store.ErrConflict)
}

func TestTransactionsThatMeetConflict(t *testing.T) {
	db, faults, _ := faulty(t)
	faults.Contend()
	met := 0
	// The first one is under way while the second comes, which gives way until it ends.
	faults.After = func(c storetest.Call) error {
		if faults.After = nil; c.Operation != "TransactWriteItems" {
			return nil
		}
		for _, count := range []string{"other", "count"} {
			before := len(faults.Calls())
			err := try(t.Context(), db, func(tx *store.Tx) {
				tx.Count(store.IDKey(count), 1, 10, nil)
				tx.Create(thing(t, "of_"+count, "made"), nil)
			})
			if err != nil {
				met++
			}
			if n := len(faults.Calls()) - before; (count == "count") != (err != nil) || err != nil && n != mostCommits {
				t.Errorf("%s: %v after %d tries", count, err, n)
			}
		}
		return nil
	}
	commit(t, db, pair(t))
	if met != 1 {
		t.Errorf("%d met", met)
	}
	faults.Reset()
	commit(t, db, func(tx *store.Tx) {
		tx.Count(store.IDKey("count"), 1, 10, nil)
		tx.Create(thing(t, "thing_2", "made"), nil)
	})
}
