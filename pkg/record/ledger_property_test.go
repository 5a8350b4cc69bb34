package record_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// The fates of the process that carries out an operation.
const (
	lives      = "lives"
	diesBefore = "dies before the commit"
	diesAfter  = "dies after the commit"
)

// deed is one operation on one account, and its outcome.
type deed struct {
	what, fate string
	account    tenant.Account
	// stale is the balance that it goes by at first, if it is not the current one.
	stale *ledger.Balance
	// again reports whether it reads and runs again after a conflict, as calls of the
	// API do; workers do not.
	again bool
	fill  func(tx *store.Tx, b ledger.Balance) error
	// apply does the same to the books, and reports whether they permit it. It is
	// called after the operation.
	apply func(b *books) bool
	holds []ledger.Hold // those that it made, if it was committed

	mark      string
	err       error
	committed bool
}

// errDied is the error of an operation whose process died.
var errDied = errors.New("it died")

// game is a table with some accounts, whose books are kept beside it.
type game struct {
	t        *testing.T
	db       *store.DB
	faults   *storetest.Faults
	now      time.Time
	accounts []tenant.Account
	books    map[tenant.Account]*books
	// holds has every reservation of an account in every stage that anybody may
	// believe it to be in.
	holds map[tenant.Account][]ledger.Hold
	// stale has the balances that there were.
	stale map[tenant.Account][]ledger.Balance
	n     int
}

func (g *game) unique(what string) string {
	g.n++
	return what + "_" + strconv.Itoa(g.n)
}

func newGame(t *testing.T, rt *rapid.T) *game {
	clock := apitest.NewClock()
	g := &game{t: t, faults: &storetest.Faults{}, now: clock.Now(), books: map[tenant.Account]*books{},
		holds: map[tenant.Account][]ledger.Hold{}, stale: map[tenant.Account][]ledger.Balance{}}
	db, drop, err := storetest.Make(context.Background(), clock.Now, g.faults.Attach)
	if err != nil {
		t.Fatal(err)
	}
	rt.Cleanup(func() {
		if err := drop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	g.db = db
	for i := range rapid.IntRange(1, 3).Draw(rt, "accounts") {
		account := tenant.Account(fmt.Sprintf("acc_%d", i))
		b := &books{threshold: rapid.Int64Range(0, 40).Draw(rt, "threshold"), holds: map[string]held{}}
		tx := &store.Tx{}
		if err := ledger.Open(tx, account, b.threshold, ledger.DefaultLostLimit,
			map[string]any{"id": account}); err != nil {
			t.Fatal(err)
		}
		if err := db.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		g.accounts, g.books[account] = append(g.accounts, account), b
	}
	return g
}

// draw draws a deed.
func (g *game) draw(rt *rapid.T) *deed {
	d := &deed{account: rapid.SampledFrom(g.accounts).Draw(rt, "account"),
		fate: rapid.SampledFrom([]string{lives, lives, lives, lives, diesBefore, diesAfter}).Draw(rt, "fate")}
	if were := g.stale[d.account]; were != nil && rapid.Bool().Draw(rt, "stale") {
		d.stale = &were[rapid.IntRange(0, len(were)-1).Draw(rt, "as of")]
	}
	kinds := []string{"top up", "adjust", "reserve", "reserve", "reserve", "threshold"}
	if len(g.holds[d.account]) > 0 {
		kinds = append(kinds, "charge", "charge", "release", "release", "split", "split")
	}
	credits := rapid.Int64Range(1, 40)
	hold := func() ledger.Hold { return rapid.SampledFrom(g.holds[d.account]).Draw(rt, "hold") }
	switch kind := rapid.SampledFrom(kinds).Draw(rt, "kind"); kind {
	case "top up":
		n := credits.Draw(rt, "credits")
		d.what, d.again = fmt.Sprintf("top up %d", n), true
		d.fill = func(tx *store.Tx, _ ledger.Balance) error {
			_, err := ledger.TopUp(tx, g.now, d.account, n)
			return err
		}
		d.apply = func(b *books) bool { b.add(n); return true }
	case "adjust":
		n := credits.Draw(rt, "credits")
		down := rapid.Bool().Draw(rt, "down")
		signed := n
		if down {
			signed = -n
		}
		d.what, d.again = fmt.Sprintf("adjust by %d", signed), true
		d.fill = func(tx *store.Tx, b ledger.Balance) error {
			_, err := ledger.Adjust(tx, g.now, d.account, signed, "why", b)
			return err
		}
		d.apply = func(b *books) bool {
			if down {
				return b.take(n)
			}
			b.add(n)
			return true
		}
	case "reserve":
		r := ledger.Reservation{Account: d.account, Subject: g.unique("cnt"),
			Credits: rapid.Int64Range(0, 40).Draw(rt, "price"),
			Payer:   ledger.PayerOf(g.now, caller("key_1", aws.Int64(spendLimit)))}
		d.what, d.again = fmt.Sprintf("reserve %d for %s", r.Credits, r.Subject), true
		d.fill = func(tx *store.Tx, b ledger.Balance) error {
			h, err := ledger.Reserve(tx, g.now, r, b)
			d.holds = []ledger.Hold{h}
			return err
		}
		d.apply = func(b *books) bool { return b.reserve(d.holds[0]) }
	case "threshold":
		to := rapid.Int64Range(0, 40).Draw(rt, "to")
		d.what, d.again = fmt.Sprintf("threshold to %d", to), true
		d.fill = func(tx *store.Tx, b ledger.Balance) error {
			return ledger.Change(tx, g.now, d.account, b, to, ledger.DefaultLostLimit, map[string]any{"id": d.account})
		}
		d.apply = func(b *books) bool { return b.move(to) }
	case "charge":
		h := hold()
		d.what = fmt.Sprintf("charge %+v", h)
		d.fill = func(tx *store.Tx, _ ledger.Balance) error { ledger.Charge(tx, g.now, d.account, h); return nil }
		d.apply = func(b *books) bool { return b.settle(h, h.Credits) }
	case "release":
		h := hold()
		d.what = fmt.Sprintf("release %+v", h)
		charged := rapid.Int64Range(0, h.Credits).Draw(rt, "charged")
		d.what += fmt.Sprintf(" but for %d", charged)
		d.fill = func(tx *store.Tx, _ ledger.Balance) error {
			return ledger.Release(tx, g.now, d.account, h, charged)
		}
		d.apply = func(b *books) bool { return b.settle(h, charged) }
	case "split":
		g.drawSplit(rt, d, hold())
	}
	return d
}

// drawSplit draws the parts that a reservation is split into.
func (g *game) drawSplit(rt *rapid.T, d *deed, h ledger.Hold) {
	var parts []ledger.Part
	left := h.Credits
	for range rapid.IntRange(1, 4).Draw(rt, "parts") {
		p := ledger.Part{Subject: g.unique("cnt"), Credits: rapid.Int64Range(0, left).Draw(rt, "share"),
			Free: rapid.Bool().Draw(rt, "free")}
		left -= p.Credits
		parts = append(parts, p)
	}
	d.what = fmt.Sprintf("split %+v into %+v", h, parts)
	var holds []ledger.Hold
	d.fill = func(tx *store.Tx, _ ledger.Balance) error {
		rest, made, err := ledger.Split(tx, g.now, d.account, h, parts)
		holds, d.holds = made, append([]ledger.Hold{rest}, made...)
		return err
	}
	d.apply = func(b *books) bool { return b.split(h, parts, holds) }
}

// do carries a deed out, up to the fate of its doer.
func (g *game) do(d *deed, mark string) {
	const runs = 4
	for run := range runs {
		b := d.stale
		if b == nil || run > 0 {
			it, err := g.db.Get(g.t.Context(), ledger.BalanceKey(d.account))
			if err != nil {
				d.err = fmt.Errorf("unread: %w", err)
				return
			}
			current := ledger.BalanceOf(it)
			b = &current
		}
		tx := &store.Tx{}
		if d.err = d.fill(tx, *b); d.err != nil {
			return
		}
		// The mark shows later whether the operation was committed.
		d.mark = mark + "_" + strconv.Itoa(run)
		tx.Create(store.Item{Key: store.IDKey(d.mark), Kind: "mark", Doc: json.RawMessage("{}")}, nil)
		if d.fate == diesBefore {
			d.err = errDied
			return
		}
		if d.err = g.db.Commit(g.t.Context(), tx); d.fate == diesAfter {
			d.err = errDied
		}
		if !errors.Is(d.err, store.ErrConflict) || !d.again {
			return
		}
	}
}

// step has some deeds done at once, and checks their results.
func (g *game) step(rt *rapid.T) {
	var deeds []*deed
	for range rapid.SampledFrom([]int{1, 1, 1, 2, 3, 4}).Draw(rt, "at once") {
		deeds = append(deeds, g.draw(rt))
	}
	g.faults.Reset()
	if rapid.IntRange(0, 4).Draw(rt, "lost") == 0 {
		g.faults.Lose("TransactWriteItems", 1)
	}
	if rapid.Bool().Draw(rt, "contend") {
		g.faults.Contend()
	}
	var all sync.WaitGroup
	for _, d := range deeds {
		mark := g.unique("mark")
		all.Go(func() { g.do(d, mark) })
	}
	all.Wait()
	g.judge(rt, deeds)
}

// judge checks the table after some deeds: there must be an order in which the books permit the committed deeds,
// forbid the refused ones, and end as the table.
func (g *game) judge(rt *rapid.T, deeds []*deed) {
	is, marks := g.read(rt)
	for _, d := range deeds {
		d.committed = marks[d.mark]
		code := errs.CodeOf(d.err)
		refused := code == errs.InsufficientBalance || code == errs.SpendLimitReached ||
			code == errs.ValidationFailed || errors.Is(d.err, store.ErrConflict)
		switch {
		case d.err == nil && !d.committed, refused && d.committed, d.fate == diesBefore && d.committed:
			rt.Fatalf("%s of %s, whose doer %s: committed %v, error %v", d.what, d.account, d.fate, d.committed, d.err)
		case d.err != nil && !refused && d.fate == lives && code != errs.ProviderUnavailable:
			rt.Fatalf("%s of %s: %v", d.what, d.account, d.err)
		// Without concurrent operations, a fresh read is enough.
		case d.again && len(deeds) == 1 && errors.Is(d.err, store.ErrConflict):
			rt.Fatalf("%s of %s has no end: %v", d.what, d.account, d.err)
		}
	}
	found := explain(g.books, deeds, func(end map[tenant.Account]*books) bool {
		if !maps.EqualFunc(end, is, (*books).same) {
			return false
		}
		g.books = end
		return true
	})
	if !found {
		var history []string
		for _, d := range deeds {
			history = append(history, fmt.Sprintf("%s of %s, whose doer %s: committed %v, %v", d.what, d.account,
				d.fate, d.committed, d.err))
		}
		rt.Fatalf("from\n%v\nno order of\n%s\nleads to\n%v", g.books, strings.Join(history, "\n"), is)
	}
	for _, d := range deeds {
		if !d.committed {
			continue
		}
		for _, h := range d.holds {
			if h != (ledger.Hold{}) {
				g.holds[d.account] = append(g.holds[d.account], h)
			}
		}
	}
}

// explain tries every order of the deeds on the books until one ends well.
func explain(from map[tenant.Account]*books, deeds []*deed, ends func(map[tenant.Account]*books) bool) bool {
	if len(deeds) == 0 {
		return ends(from)
	}
	for i, d := range deeds {
		to := maps.Clone(from)
		to[d.account] = from[d.account].clone()
		code := errs.CodeOf(d.err)
		switch {
		case d.committed:
			if !d.apply(to[d.account]) {
				continue
			}
		case code == errs.InsufficientBalance || code == errs.SpendLimitReached || code == errs.ValidationFailed ||
			!d.again && errors.Is(d.err, store.ErrConflict):
			// The books are the reason of the refusal.
			if d.apply(to[d.account]) {
				continue
			}
			to[d.account] = from[d.account]
		default: // it lost to contention, or died before
			to[d.account] = from[d.account]
		}
		if explain(to, slices.Delete(slices.Clone(deeds), i, i+1), ends) {
			return true
		}
	}
	return false
}

// read reads the books from the table, and checks that its entries add up.
func (g *game) read(rt *rapid.T) (map[tenant.Account]*books, map[string]bool) {
	all, marks := map[tenant.Account]*books{}, map[string]bool{}
	for _, account := range g.accounts {
		all[account] = &books{holds: map[string]held{}}
	}
	number := func(s string) int64 {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			rt.Fatal(err)
		}
		return n
	}
	type reservation struct {
		account tenant.Account
		entry   string
	}
	sums, reserved, released := map[tenant.Account]int64{}, map[string]reservation{}, map[string]int64{}
	for _, row := range storetest.Rows(g.t, g.db) {
		if account, ok := strings.CutPrefix(strings.TrimSuffix(row["pk"], "#key_1#"+g.now.Format("2006-01")),
			"spend#"); ok {
			all[tenant.Account(account)].spent = number(row["n_count"])
		}
		account := tenant.Account(row["acc"])
		b := all[account]
		switch row["kind"] {
		case "mark":
			marks[row["pk"]] = true
		case "balance":
			b.credits = number(row["n_credits"])
			b.threshold = b.credits - number(row["n_above"])
			b.notified = row["x_low"] == "true" && b.credits < b.threshold
			if b.credits < 0 {
				rt.Fatalf("%s has %d credits", row["acc"], b.credits)
			}
			it, err := g.db.Get(g.t.Context(), store.Key{PK: row["pk"], SK: row["sk"]})
			if err != nil {
				rt.Fatal(err)
			}
			g.stale[account] = append(g.stale[account], ledger.BalanceOf(it))
		case "event":
			var doc struct{ Data struct{ Object notice } }
			if err := json.Unmarshal([]byte(row["doc"]), &doc); err != nil {
				rt.Fatal(err)
			}
			b.lows = append(b.lows, low{doc.Data.Object.Balance.Credits, doc.Data.Object.Balance.LowThreshold})
		case ledger.Kind:
			var e ledger.Entry
			if err := json.Unmarshal([]byte(row["doc"]), &e); err != nil {
				rt.Fatal(err)
			}
			sums[account] += e.Credits
			switch e.Kind {
			case "reserve":
				if _, twice := reserved[e.Subject]; twice {
					rt.Fatalf("%s is reserved for twice", e.Subject)
				}
				reserved[e.Subject] = reservation{account, e.ID}
				b.holds[e.ID] = held{row["x_state"], number(row["x_held"])}
				released[e.Subject] += e.Credits + b.holds[e.ID].left // the part that is not held any more, negative
			case "release":
				released[e.Subject] += e.Credits
			}
		}
	}
	for account, b := range all {
		if sums[account] != b.credits {
			rt.Fatalf("the entries of %s add up to %d, its balance is %d", account, sums[account], b.credits)
		}
	}
	// A hold that has ended was released, except for the charged part.
	for subject, at := range reserved {
		if state := all[at.account].holds[at.entry].state; (released[subject] != 0) != (state == "charged") ||
			released[subject] > 0 {
			rt.Fatalf("%s is %s, and %d of it was neither released nor is held", subject, state, -released[subject])
		}
	}
	return all, marks
}

// TestAnyInterleaving plays random games: top-ups, adjustments, reservations and their ends, on several accounts,
// some at once, by doers that may die and be followed by others who do the same again.
func TestAnyInterleaving(t *testing.T) {
	// A step is some round trips: fewer games than of a function in memory.
	for name, value := range map[string]string{"rapid.checks": "20", "rapid.steps": "40"} {
		f := flag.Lookup(name)
		if f.Value.String() != f.DefValue {
			continue // asked for on the command line
		}
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
	rapid.Check(t, func(rt *rapid.T) {
		g := newGame(t, rt)
		rt.Repeat(map[string]func(*rapid.T){"step": g.step})
	})
}
