package record_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

func TestATopUpIsAnEntryAndACount(t *testing.T) {
	w := ledgerNewWorld(t)
	for _, credits := range []int64{-1, 0, ledger.MaxCredits + 1} {
		tx := &store.Tx{}
		var e *errs.Error
		if _, err := ledger.TopUp(tx, w.Clock.Now(), acc, credits); !errors.As(err, &e) ||
			e.Code != errs.ValidationFailed || e.Param != "/credits" || tx.Len() != 0 {
			t.Errorf("%d: %v, and %d writes", credits, err, tx.Len())
		}
	}
	topUp := func(credits int64) (made ledger.Entry, err error) {
		err = w.try(func(tx *store.Tx) (err error) {
			made, err = ledger.TopUp(tx, w.Clock.Now(), acc,
				credits)
			return err
		})
		return made, err
	}
	made, err := topUp(ledger.MaxCredits)
	if err != nil || made.Credits != ledger.MaxCredits || made.Kind != "top_up" || made.Subject != acc ||
		made.Version != 1 || !made.CreatedAt.Equal(w.Clock.Now()) || made.State != nil {
		t.Fatalf("%+v, %v", made, err)
	}
	it, err := w.DB.Get(t.Context(), store.IDKey(made.ID))
	if err != nil || it.Account != acc || it.Mode != "live" {
		t.Errorf("%+v, %v", it, err)
	}
	w.Clock.Add(time.Second)
	var e *errs.Error
	if _, err := topUp(1); !errors.As(err, &e) || e.Param != "/credits" {
		t.Errorf("beyond the bound: %v", err)
	}
	w.check("after it", ledger.MaxCredits, 1)
}

func TestAReservationIsCharged(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	h := w.hold("cnt_1", 30)
	e := w.entry(h)
	if h.Credits != 30 || h.Subject != "cnt_1" || !id.Valid(id.LedgerEntry, h.Entry) || e.Credits != -30 ||
		e.Kind != "reserve" || e.Subject != "cnt_1" || *e.State != "held" || e.Version != 1 {
		t.Errorf("%+v is %+v", h, e)
	}
	w.check("while it is held", 70, 2)
	w.Clock.Add(time.Minute)
	w.Faults.Reset()
	if err := w.charge(h); err != nil {
		t.Fatal(err)
	}
	if got := w.Faults.Operations(); got != "TransactWriteItems" {
		t.Errorf("it took %s", got)
	}
	if e := w.entry(h); *e.State != "charged" || e.Version != 2 || !e.UpdatedAt.Equal(w.Clock.Now()) ||
		e.CreatedAt.Equal(e.UpdatedAt.Time) || e.Credits != -30 {
		t.Errorf("%+v", e)
	}
	w.check("once it is charged", 70, 2)
}

func TestAReservationIsReleased(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	h := w.hold("cnt_1", 30)
	// Work keeps its hold as JSON.
	b, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	var kept ledger.Hold
	if err := json.Unmarshal(b, &kept); err != nil || kept != h {
		t.Errorf("%s is %+v, %v", b, kept, err)
	}
	w.Faults.Reset()
	if err := w.release(kept); err != nil {
		t.Fatal(err)
	}
	if got := w.Faults.Operations(); got != "TransactWriteItems" {
		t.Errorf("it took %s", got)
	}
	if e := w.entry(h); *e.State != "released" || e.Credits != -30 {
		t.Errorf("%+v", e)
	}
	w.check("once it is released", 100, 3)
	for _, e := range w.entries() {
		if e.Kind == "release" && (e.Credits != 30 || e.Subject != "cnt_1" || e.State != nil) {
			t.Errorf("%+v", e)
		}
	}
}

func TestAReservationIsSettledOnce(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	charged, released := w.hold("cnt_1", 10), w.hold("cnt_2", 20)
	if err := errors.Join(w.charge(charged), w.release(released)); err != nil {
		t.Fatal(err)
	}
	other := w.hold("cnt_3", 5)
	w.unchanged("a repeat", func() {
		for _, h := range []ledger.Hold{charged, released} {
			conflict(t, "a charge", w.charge(h))
			conflict(t, "a release", w.release(h))
			_, _, err := w.split(h, ledger.Part{Subject: "cnt_4", Credits: 1})
			conflict(t, "a split", err)
		}
		// Nor by the reason for which it is wrong.
		wrong := other
		wrong.Credits = 50
		conflict(t, "another amount", w.release(wrong))
		conflict(t, "what was never made",
			w.release(ledger.Hold{Entry: id.New(id.LedgerEntry, w.Clock.Now()), Credits: 5}))
		conflict(t, "another account's",
			w.try(func(tx *store.Tx) error { return ledger.Release(tx, w.Clock.Now(), "acc_2", other, 0) }))
	})
}

func TestWhatCostsNothingIsNoEntry(t *testing.T) {
	w := ledgerNewWorld(t)
	w.unchanged("nothing", func() {
		h, err := w.reserve("cnt_1", 0, w.balance())
		if err != nil || h != (ledger.Hold{}) {
			t.Errorf("%+v, %v", h, err)
		}
		if err := errors.Join(w.charge(h), w.release(h)); err != nil {
			t.Error(err)
		}
	})
}

func TestAReservationOfNonsenseIsRefused(t *testing.T) {
	w := ledgerNewWorld(t)
	for _, credits := range []int64{-1, math.MinInt64, ledger.MaxCredits + 1, math.MaxInt64} {
		tx := &store.Tx{}
		if _, err := ledger.Reserve(tx, w.Clock.Now(), ledger.Reservation{Account: acc, Subject: "cnt_1",
			Credits: credits}, w.balance()); err == nil || tx.Len() != 0 {
			t.Errorf("%d: %v, and %d writes", credits, err, tx.Len())
		}
	}
}

func TestTheBalanceIsNotEnough(t *testing.T) {
	w := ledgerNewWorld(t)
	w.unchanged("an account without a balance", func() {
		_, err := w.reserve("cnt_1", 1, w.balance())
		code(t, "the reservation", err, errs.InsufficientBalance)
	})
	w.open(10, 100)
	w.unchanged("a price above the balance", func() {
		_, err := w.reserve("cnt_1", 101, w.balance())
		code(t, "the reservation", err, errs.InsufficientBalance)
		if m := errs.As(err).Message; !strings.Contains(m, "101") || !strings.Contains(m, "100") ||
			!strings.Contains(m, "Top up") {
			t.Errorf("the message is %q", m)
		}
		if want := (errs.BalanceContext{RequiredCredits: 101, AvailableCredits: 100}); errs.As(err).Context != want {
			t.Errorf("the context is %+v", errs.As(err).Context)
		}
	})
	// The commit decides, whatever was read.
	old := w.balance()
	w.hold("cnt_1", 90)
	w.unchanged("a balance that was read too early", func() {
		_, err := w.reserve("cnt_2", 11, old)
		code(t, "the reservation", err, errs.InsufficientBalance)
	})
	w.topUp(100)
	if _, err := w.reserve("cnt_2", 100, ledger.Balance{Credits: 1, Above: -9, Low: true}); !errors.Is(err,
		store.ErrConflict) && err != nil {
		t.Errorf("what was read as too little is refused: %v", err)
	}
	w.hold("cnt_3", w.balance().Credits) // to the last credit
	w.unchanged("an empty balance", func() {
		_, err := w.reserve("cnt_4", 1, w.balance())
		code(t, "the reservation", err, errs.InsufficientBalance)
	})
}

func TestAdjust(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	adjust := func(credits int64) (e ledger.Entry, err error) {
		b := w.balance()
		err = w.try(func(tx *store.Tx) (err error) {
			e, err = ledger.Adjust(tx, w.Clock.Now(), acc, credits, "a refund by hand", b)
			return err
		})
		return e, err
	}
	for _, c := range []struct {
		credits int64
		ok      bool
		balance int64
	}{{-40, true, 60}, {-61, false, 60}, {5, true, 65}, {ledger.MaxCredits, false, 65}, {-65, true, 0}, {-1, false, 0},
		{1, true, 1}} {
		e, err := adjust(c.credits)
		if c.ok && (err != nil || e.Kind != "adjust" || e.Credits != c.credits || e.Subject != acc || e.State != nil) {
			t.Errorf("%d: %+v, %v", c.credits, e, err)
		}
		if !c.ok && (errs.CodeOf(err) != errs.ValidationFailed || errs.As(err).Param != "/credits") {
			t.Errorf("%d: %v", c.credits, err)
		}
		if got := w.balance().Credits; got != c.balance {
			t.Errorf("after %d: %d", c.credits, got)
		}
	}
	w.check("at last", 1, 5)
	if !strings.Contains(storetest.Snapshot(t, w.DB), "a refund by hand") {
		t.Error("the reason is lost")
	}
	for _, credits := range []int64{0, ledger.MaxCredits + 1, -ledger.MaxCredits - 1, math.MinInt64} {
		tx := &store.Tx{}
		if _, err := ledger.Adjust(tx, w.Clock.Now(), acc, credits, "why",
			w.balance()); errs.CodeOf(err) != errs.ValidationFailed || tx.Len() != 0 {
			t.Errorf("%d: %v, and %d writes", credits, err, tx.Len())
		}
	}
}

func TestABatchIsSplit(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	batch := w.hold("batch", 60)
	w.check("before", 40, 2)
	rest, holds, err := w.split(batch, ledger.Part{Subject: "cnt_1", Credits: 10}, ledger.Part{Subject: "cnt_2"},
		ledger.Part{Subject: "cnt_3", Credits: 15, Free: true}, ledger.Part{Subject: "cnt_4", Credits: 5})
	if err != nil || rest.Credits != 30 || rest.Entry != batch.Entry || len(holds) != 4 || holds[0].Credits != 10 ||
		holds[0].Subject != "cnt_1" || holds[1] != (ledger.Hold{}) || holds[2] != (ledger.Hold{}) ||
		holds[3].Credits != 5 {
		t.Fatalf("%+v, %+v, %v", rest, holds, err)
	}
	w.check("after the first", 55, 5)
	if e := w.entry(batch); *e.State != "held" || e.Credits != -60 {
		t.Errorf("%+v", e)
	}
	w.unchanged("a repeat", func() {
		_, _, err := w.split(batch, ledger.Part{Subject: "cnt_1", Credits: 10})
		conflict(t, "a split", err)
		conflict(t, "a release of all", w.release(batch))
		conflict(t, "a charge of all", w.charge(batch))
	})
	none, more, err := w.split(rest, ledger.Part{Subject: "cnt_5", Credits: 30})
	if err != nil || none != (ledger.Hold{}) || len(more) != 1 {
		t.Fatalf("%+v, %+v, %v", none, more, err)
	}
	w.check("after the second", 55, 7)
	if e := w.entry(batch); *e.State != "released" {
		t.Errorf("%+v", e)
	}
	if err := errors.Join(w.charge(holds[0]), w.release(holds[3]), w.charge(more[0]), w.release(none)); err != nil {
		t.Fatal(err)
	}
	w.check("at last", 60, 8)
}

func TestWhatIsLeftOfABatchIsReleased(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 100)
	batch := w.hold("batch", 60)
	rest, _, err := w.split(batch, ledger.Part{Subject: "cnt_1", Credits: 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.release(rest); err != nil {
		t.Fatal(err)
	}
	w.check("after it", 80, 5)
	if e := w.entry(batch); *e.State != "released" {
		t.Errorf("%+v", e)
	}
	conflict(t, "a second release", w.release(rest))
}

func TestASplitFitsItsTransactionAndItsBatch(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1000)
	batch := w.hold("batch", 100)
	many := make([]ledger.Part, ledger.MaxParts)
	for i := range many {
		many[i] = ledger.Part{Subject: "cnt", Credits: 2, Free: i == 0}
	}
	for name, parts := range map[string][]ledger.Part{
		"too many":                   append([]ledger.Part{{Subject: "cnt"}}, many...),
		"more than there is":         {{Subject: "a", Credits: 60}, {Subject: "b", Credits: 41}},
		"less than nothing":          {{Subject: "a", Credits: -1}},
		"so much that it turns over": {{Subject: "a", Credits: 100}, {Subject: "b", Credits: math.MaxInt64}},
	} {
		tx := &store.Tx{}
		if _, _, err := ledger.Split(tx, w.Clock.Now(), acc, batch, parts); err == nil || tx.Len() != 0 {
			t.Errorf("%s: %v, and %d writes", name, err, tx.Len())
		}
	}
	w.unchanged("a split of nothing", func() {
		if rest, holds, err := w.split(batch, ledger.Part{Subject: "a"}); rest != batch ||
			len(holds) != 1 || err != nil {
			t.Errorf("%+v, %+v, %v", rest, holds, err)
		}
	})
	tx := &store.Tx{}
	if _, _, err := ledger.Split(tx, w.Clock.Now(), acc, batch, many); err != nil || tx.Len() > ledger.MaxParts+3 {
		t.Errorf("%d writes, %v", tx.Len(), err)
	}
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Error(err)
	}
}
