package generate_test

import (
	"testing"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// avatar is an avatar of 3 seconds, at 10 credits each.
func avatar(id string) generate.Order {
	a := work(id)
	a.Parts = []generate.Part{{Kind: provider.KindAvatar, Model: "heygen-avatar-4", Provider: "fake", Credits: 30}}
	return a
}

// A result that is longer than was reserved for is charged as it is, unless the
// difference is a second or a tenth.
func TestALongerResultIsChargedOnce(t *testing.T) {
	for seconds, cost := range map[float64]int64{1: 30, 3: 30, 4: 30, 4.1: 41, 50: 500} {
		w := newWorld(t)
		w.objects.typ, w.objects.seconds = media.Video, seconds
		w.acceptWork(avatar("thing_1"))
		for range most {
			w.relay()
			j, ok := w.pop()
			if !ok {
				break
			}
			// The answer to each commit is lost, and the message comes twice.
			w.faults.Lose("TransactWriteItems", 1)
			_ = w.do(t.Context(), j) // a step that holds a lease finds its write by itself
			w.faults.Reset()
			if err := w.do(t.Context(), j); err != nil {
				t.Fatal(err)
			}
		}
		if v := w.ended("thing_1", "generated"); v.Cost != cost {
			t.Errorf("%v s: it cost %d", seconds, v.Cost)
		}
		w.settled(cost)
	}
}

// A longer result that cannot be paid for is withheld: its files are removed, nothing is charged, and its cost is
// lost.
func TestALongerResultThatIsNotCoveredIsWithheld(t *testing.T) {
	for name, c := range map[string]struct {
		limit, left int64
		code        errs.Code
	}{
		"by the balance": {1000, 19, errs.InsufficientBalance},
		"by the limit":   {49, 970, errs.SpendLimitReached},
	} {
		w := newWorld(t)
		w.objects.typ, w.objects.seconds = media.Video, 5
		tx := &store.Tx{}
		limited := payer
		limited.Limit = &c.limit
		ticket, err := generate.Accept(tx, w.clock.Now(), avatar("thing_1"), limited, w.balance())
		if err != nil {
			t.Fatal(err)
		}
		tx.Create(item(t, thing{ID: "thing_1", State: "queued", Attempt: 1, Ticket: ticket}), nil)
		w.commit(tx)
		if spare := 970 - c.left; spare > 0 {
			tx = &store.Tx{}
			if _, err := ledger.Adjust(tx, w.clock.Now(), account, -spare, "test", w.balance()); err != nil {
				t.Fatal(err)
			}
			w.commit(tx)
		}
		w.drain()
		v := w.ended("thing_1", "failed")
		if string(v.Failure.Code) != string(c.code) || len(w.objects.saved) != 0 {
			t.Errorf("%s: %+v, and there are the files %v", name, v.Failure, w.objects.saved)
		}
		if b := w.balance(); b.Credits != c.left+30 || b.LostCredits != 50 {
			t.Errorf("%s: %+v", name, b)
		}
		if it, err := w.db.Get(t.Context(), payer.Counters(account)[0]); err != nil || it.Count() != 0 {
			t.Errorf("%s: the key has spent %d, %v", name, it.Count(), err)
		}
	}
}

// A generation that its provider cannot stop is charged once it was accepted.
func TestCancelChargesWhatCannotBeStopped(t *testing.T) {
	w := newWorld(t)
	w.fake.unstoppable, w.fake.polls = true, 1<<20
	w.accept("thing_1")
	for w.fake.count(provider.KindImage) == 0 {
		w.relay()
		j, _ := w.pop()
		if err := w.do(t.Context(), j); err != nil {
			t.Fatal(err)
		}
	}
	w.cancel("thing_1")
	w.drain()
	if v := w.ended("thing_1", "canceled"); v.Cost != 10 || w.balance().LostCredits != 0 {
		t.Errorf("%+v, and %d are lost", v, w.balance().LostCredits)
	}
	w.settled(10)
}

// The cost of a failed part is lost as far as a provider was paid for it.
func TestWhatFailsIsLostAsFarAsItWasPaid(t *testing.T) {
	refusal := &provider.Error{Kind: provider.Rejected, Code: "content_policy", Message: "No."}
	for name, c := range map[string]struct {
		fault func(w *world)
		lost  int64
	}{
		"nothing was submitted": {func(w *world) { w.fake.submit = refusal }, 0},
		"the picture is refused": {func(w *world) {
			w.fake.status = &provider.Status{State: provider.Failed, Failure: refusal}
		}, 3},
		"the picture is not stored":  {func(w *world) { w.objects.err = errs.New(errs.UnsupportedMedia, "No.") }, 10},
		"the picture takes too long": {func(w *world) { w.fake.polls = 1 << 20 }, 10},
		"the picture is lost":        {func(w *world) { w.fake.fetch = refusal }, 10},
		"no answer, three times": {func(w *world) {
			w.fake.submit = &provider.Error{Kind: provider.UnknownOutcome, Code: "no_answer", Message: "None."}
		}, 9},
	} {
		w := newWorld(t)
		w.accept("thing_1")
		c.fault(w)
		day := w.clock.Now()
		w.drain()
		w.ended("thing_1", "failed")
		it, err := w.db.GetAll(t.Context(), ledger.LostKey(account, day))
		if err != nil || it[0].Count() != c.lost {
			t.Errorf("%s: %d are lost, %v; want %d", name, it[0].Count(), err, c.lost)
		}
	}
}

// A result of quoted work that has cost more than was reserved is charged what was reserved. The rest is lost.
func TestAQuoteBoundsTheChargeOfALongerResult(t *testing.T) {
	w := newWorld(t)
	w.objects.typ, w.objects.seconds = media.Video, 50
	order := avatar("thing_1")
	order.Quote = &ledger.QuoteShare{QuoteID: "qte_1", Credits: 20}
	w.acceptWork(order)
	if b := w.balance(); b.Credits != 980 {
		t.Errorf("it reserves %d", 1000-b.Credits)
	}
	w.drain()
	if v := w.ended("thing_1", "generated"); v.Cost != 20 {
		t.Errorf("it cost %d", v.Cost)
	}
	if b := w.balance(); b.Credits != 980 || b.LostCredits != 470 {
		t.Errorf("the balance is %+v", b)
	}
}
