package record_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/testdata/breadth"
)

// agent is a caller whose key has a mandate of credits a day.
func agent(key string, credits int64, makers ...auth.KeyLimit) *auth.Principal {
	p := caller(key, nil, makers...)
	p.Mandate = &auth.Mandate{ID: key + ":1", CreditsADay: &credits}
	return p
}

// pay tries a reservation for a caller, again after a conflict.
func (w *ledgerWorld) pay(p *auth.Principal, credits int64) (h ledger.Hold, err error) {
	for range 50 {
		b := w.balance()
		tx, now := &store.Tx{}, w.Clock.Now()
		if h, err = ledger.Reserve(tx, now, ledger.Reservation{Account: acc, Subject: "cnt_1", Credits: credits,
			Payer: ledger.PayerOf(now, p)}, b); err != nil {
			return h, err
		}
		if err = w.DB.Commit(w.T.Context(), tx); !errors.Is(err, store.ErrConflict) {
			return h, err
		}
	}
	return h, err
}

func (w *ledgerWorld) today(key string) int64 {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.SpendKey(acc, key, w.Clock.Now()))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		w.T.Fatal(err)
	}
	return ledger.SpentOn(it, w.Clock.Now())
}

func TestAMandateBoundsTheSpendingOfADay(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 10_000)
	p := agent("key_1", 100)
	if _, err := w.pay(p, 101); errs.CodeOf(err) != errs.SpendLimitReached {
		t.Errorf("101 of 100: %v", err)
	}
	first, err := w.pay(p, 60)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.pay(p, 41)
	ends := w.Clock.Now().UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
	if want := (errs.SpendContext{SpendLimitCredits: 100, RequiredCredits: 41, AvailableCredits: 40, Mandate: "key_1:1",
		DayEndsAt: ends.Format("2006-01-02T15:04:05.000Z")}); errs.As(err).Context != want {
		t.Errorf("the context is %+v, want %+v", errs.As(err).Context, want)
	}
	if text := errs.As(err).Message; !strings.Contains(text, "key_1:1") || !strings.Contains(text,
		ends.Format(time.RFC3339)) {
		t.Errorf("it does not name the mandate and the end of the day: %s", text)
	}
	// What is released can be spent again, and the next day begins anew: what is released then counts for its own day.
	if err := w.release(first); err != nil || w.today("key_1") != 0 {
		t.Errorf("%v, %d", err, w.today("key_1"))
	}
	second, err := w.pay(p, 100)
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Add(24 * time.Hour)
	if _, err := w.pay(p, 100); err != nil {
		t.Errorf("the next day: %v", err)
	}
	if err := w.release(second); err != nil {
		t.Fatal(err)
	}
	if _, err := w.pay(p, 1); errs.CodeOf(err) != errs.SpendLimitReached || w.today("key_1") != 100 {
		t.Errorf("what an earlier day got back is spent today: %v, %d", err, w.today("key_1"))
	}
	// A child spends of its maker's day, too.
	w.Clock.Add(24 * time.Hour)
	child := agent("key_2", 80, auth.KeyLimit{Key: "key_1", Mandate: p.Mandate})
	if _, err := w.pay(child, 80); err != nil || w.today("key_1") != 80 || w.today("key_2") != 80 {
		t.Errorf("%v, %d, %d", err, w.today("key_1"), w.today("key_2"))
	}
	other := agent("key_3", 80, auth.KeyLimit{Key: "key_1", Mandate: p.Mandate})
	if _, err := w.pay(other, 21); errs.CodeOf(err) != errs.SpendLimitReached ||
		!strings.Contains(errs.As(err).Message, "key_1:1") {
		t.Errorf("children spend more than their maker may: %v", err)
	}
	p.Mandate.NeedsPerson = []auth.Act{auth.ActSpend}
	if _, err := w.pay(p, 1); errs.CodeOf(err) != errs.PersonRequired {
		t.Errorf("spending that is left to people: %v", err)
	}
}

// sequence is a random sequence of an agent and of a key that it has made, with what they have spent by the entries of
// the work, not by the counters.
type sequence struct {
	w      *ledgerWorld
	random *rand.Rand
	most   int64
	keys   []*auth.Principal
	mu     sync.Mutex
	holds  []ledger.Hold
	spent  map[string]int64 // by key and day
}

// note adds to what the key of a hold and those that have made it have spent.
func (s *sequence) note(of *ledger.Payer, credits int64) {
	for ; of != nil; of = of.Maker {
		s.spent[of.Key+" "+of.Day] += credits
	}
}

func (s *sequence) reserve(p *auth.Principal, credits int64) error {
	h, err := s.w.pay(p, credits)
	if code := errs.CodeOf(err); err != nil && code != errs.SpendLimitReached && !errors.Is(err, store.ErrConflict) {
		return err
	}
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = append(s.holds, h)
	s.note(&h.Payer, credits)
	return nil
}

// settle settles a hold in one of the ways that work has.
func (s *sequence) settle(h ledger.Hold) error {
	w, part, extra := s.w, s.random.Int64N(h.Credits+1), 1+s.random.Int64N(20)
	way := s.random.IntN(3)
	tx, now := &store.Tx{}, w.Clock.Now()
	var delta int64
	switch way {
	case 0:
		ledger.Charge(tx, now, acc, h)
	case 1:
		if err := ledger.Release(tx, now, acc, h, part); err != nil {
			return err
		}
		delta = part - h.Credits
	default:
		ledger.Charge(tx, now, acc, h)
		if err := ledger.ChargeMore(tx, now, acc, h, extra, w.balance()); err != nil {
			return err
		}
		delta = extra
	}
	err := w.DB.Commit(w.T.Context(), tx)
	if err == nil {
		s.note(&h.Payer, delta)
	}
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	return err
}

func (s *sequence) check() error {
	for of, spent := range s.spent {
		if spent > s.most {
			return fmt.Errorf("%s: %d credits of %d", of, spent, s.most)
		}
	}
	for _, p := range s.keys {
		of := p.KeyID() + " " + s.w.Clock.Now().UTC().Format(time.DateOnly)
		if got := s.w.today(p.KeyID()); got != s.spent[of] {
			return fmt.Errorf("%s: the counter has %d, and %d were spent", of, got, s.spent[of])
		}
	}
	return nil
}

// run makes a sequence: reservations, also several at once, the ends of works, and the passing of time.
func (s *sequence) run() error {
	for range 4 + s.random.IntN(8) {
		switch s.random.IntN(6) {
		case 0:
			s.w.Clock.Add(time.Duration(s.random.IntN(20)) * time.Hour)
		case 1, 2:
			if len(s.holds) > 0 {
				i := s.random.IntN(len(s.holds))
				h := s.holds[i]
				s.holds = append(s.holds[:i], s.holds[i+1:]...)
				if err := s.settle(h); err != nil {
					return err
				}
			}
		default:
			all := make([]error, 1+s.random.IntN(3))
			var calls sync.WaitGroup
			for i := range all {
				p, credits := s.keys[s.random.IntN(len(s.keys))], 1+s.random.Int64N(s.most/2+2)
				calls.Go(func() { all[i] = s.reserve(p, credits) })
			}
			calls.Wait()
			if err := errors.Join(all...); err != nil {
				return err
			}
		}
		if err := s.check(); err != nil {
			return err
		}
	}
	return nil
}

// No sequence of calls spends more on a day than a mandate permits, by one key or by the keys that it has made,
// whatever becomes of the work and however many calls are made at once.
func TestNoSequenceSpendsMoreThanAMandate(t *testing.T) {
	w := ledgerNewWorld(t)
	w.open(0, 1_000_000_000)
	for seed := range breadth.Of(150, 10_000) {
		s := &sequence{w: w, random: rand.New(rand.NewPCG(uint64(seed), 50)), spent: map[string]int64{}}
		s.most = 1 + s.random.Int64N(200)
		maker := agent(fmt.Sprint("key_", seed), s.most)
		s.keys = []*auth.Principal{maker, agent(fmt.Sprint("key_", seed, "a"), s.most, auth.KeyLimit{Key: maker.KeyID(),
			Mandate: maker.Mandate})}
		if err := s.run(); err != nil {
			t.Fatalf("sequence %d: %v", seed, err)
		}
	}
}
