package area_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// reserve takes credits of an account's balance as accepted work does.
func (w *world) reserve(a account.Account, credits int64) {
	w.T.Helper()
	tx := &store.Tx{}
	_, err := ledger.Reserve(tx, w.Now(), ledger.Reservation{Account: tenant.Account(a.ID), Subject: "cnt_1",
		Credits: credits}, w.balance(a))
	if err == nil {
		err = w.DB.Commit(w.T.Context(), tx)
	}
	if err != nil {
		w.T.Fatal(err)
	}
}

func (w *world) balance(a account.Account) ledger.Balance {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), ledger.BalanceKey(tenant.Account(a.ID)))
	if err != nil {
		w.T.Fatal(err)
	}
	return ledger.BalanceOf(it)
}

// lows returns the objects of the events balance.low.
func (w *world) lows(a account.Account) (all []account.View) {
	w.T.Helper()
	q := store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(tenant.Account(a.ID), tenant.Live),
		event.Kind), Limit: 100, OldestFirst: true}
	err := w.DB.Each(w.T.Context(), q, func(it store.Item) error {
		var doc event.Event
		if err := it.Decode(&doc); err != nil {
			return err
		}
		var v account.View
		d := json.NewDecoder(bytes.NewReader(doc.Data.Object))
		d.DisallowUnknownFields()
		all = append(all, v)
		return d.Decode(&all[len(all)-1])
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return all
}

func TestALowBalanceShowsTheAccount(t *testing.T) {
	w := newWorld(t)
	a, err := w.accounts.Create(t.Context(), account.Settings{Name: to("Acme"), LowThreshold: to(int64(50)),
		IPAllowList: to([]string{"203.0.113.9"}), LiveLimit: to(70)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 100); err != nil {
		t.Fatal(err)
	}
	w.reserve(a, 60)
	lows := w.lows(a)
	if len(lows) != 1 {
		t.Fatalf("%+v", lows)
	}
	got := lows[0]
	if got.ID != a.ID || got.Name != "Acme" || got.Plan != "enterprise" || got.Mode != "live" ||
		got.Balance != (account.MeBalance{Credits: 40, LowThreshold: 50}) ||
		got.RateLimit != (account.RateLimit{Limit: 70, WindowSeconds: 60}) || len(got.IPAllowList) != 1 ||
		!got.CreatedAt.Equal(a.CreatedAt.Time) || got.Version != 1 || got.Metadata == nil {
		t.Errorf("%+v", got)
	}
	// The sample of the event has the members that the event has.
	var sample, object map[string]any
	b, err := json.Marshal(got)
	if err == nil {
		err = json.Unmarshal(b, &object)
	}
	if err == nil {
		err = json.Unmarshal(event.SampleObject(event.BalanceLow), &sample)
	}
	if err != nil || len(sample) != len(object) {
		t.Errorf("%v: the sample is %v, the event %v", err, sample, object)
	}
	for member := range object {
		if _, ok := sample[member]; !ok {
			t.Errorf("the sample has no %s", member)
		}
	}
}

func TestAChangeOfTheAccountReachesItsBalance(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme") // with a threshold of 1000
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 1500); err != nil {
		t.Fatal(err)
	}
	update := func(set account.Settings) {
		t.Helper()
		w.Faults.Reset()
		var err error
		if a, err = w.accounts.Update(t.Context(), tenant.Account(a.ID), set); err != nil {
			t.Fatal(err)
		}
		if got := w.Faults.Operations(); got != "BatchGetItem Query TransactWriteItems Query" {
			t.Errorf("it took %s", got)
		}
		if b := w.balance(a); b.Credits != 1500 || b.Above != 1500-a.LowThreshold {
			t.Errorf("%+v with a threshold of %d", b, a.LowThreshold)
		}
	}
	update(account.Settings{LowThreshold: to(int64(1500))})
	update(account.Settings{Name: to("Acme Ltd")})
	if lows := w.lows(a); len(lows) != 0 {
		t.Errorf("%+v", lows)
	}
	update(account.Settings{LowThreshold: to(int64(2000)), Plan: to("growth")})
	lows := w.lows(a)
	if len(lows) != 1 || lows[0].Name != "Acme Ltd" || lows[0].Plan != "growth" ||
		lows[0].Balance != (account.MeBalance{Credits: 1500, LowThreshold: 2000}) || lows[0].Version != 4 {
		t.Errorf("%+v", lows)
	}
}

// Spending between the read and the write of a change counts.
func TestAChangeOfTheThresholdWhileItIsSpent(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 1500); err != nil {
		t.Fatal(err)
	}
	w.Faults.Before("TransactWriteItems", func() { w.reserve(a, 400) })
	if _, err := w.accounts.Update(t.Context(), tenant.Account(a.ID),
		account.Settings{LowThreshold: to(int64(1200))}); err != nil {
		t.Fatal(err)
	}
	if lows := w.lows(a); len(lows) != 1 || lows[0].Balance != (account.MeBalance{Credits: 1100, LowThreshold: 1200}) {
		t.Errorf("%+v", lows)
	}
	if b := w.balance(a); b.Credits != 1100 || b.Above != -100 || !b.Low {
		t.Errorf("%+v", b)
	}
}

func TestAdjust(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })
	for _, c := range []struct {
		credits int64
		reason  string
		param   string
		balance int64
	}{
		{-1, "why", "/credits", 0}, {100, "", "/reason", 0}, {100, "a\nb", "/reason", 0},
		{100, strings.Repeat("ü", 501), "/reason", 0},
		{100, strings.Repeat("ü", 500), "", 100}, {-40, "a refund", "", 60}, {0, "why", "/credits", 60},
		{-61, "why", "/credits", 60}, {-60, "all", "", 0},
	} {
		table := storetest.Snapshot(t, w.DB)
		log.Reset()
		e, err := w.accounts.Adjust(t.Context(), tenant.Account(a.ID), c.credits, c.reason)
		if c.param == "" {
			if err != nil || e.Kind != "adjust" || e.Credits != c.credits || !strings.Contains(log.String(), e.ID) ||
				!strings.Contains(log.String(), c.reason) {
				t.Errorf("%d for %q: %+v, %v, logged as %s", c.credits, c.reason, e, err, log.String())
			}
		} else if errs.CodeOf(err) != errs.ValidationFailed || errs.As(err).Param != c.param ||
			storetest.Snapshot(t, w.DB) != table || log.Len() != 0 {
			t.Errorf("%d for %q: %v, logged as %s", c.credits, c.reason, err, log.String())
		}
		if b := w.balance(a); b.Credits != c.balance {
			t.Errorf("%d for %q: the balance is %d, want %d", c.credits, c.reason, b.Credits, c.balance)
		}
	}
	if _, err := w.accounts.Adjust(t.Context(), tenant.Account(tenant.Account(id.New(id.Account, w.Now()))), 5,
		"why"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an unknown account: %v", err)
	}
	// Spending between its read and its write is seen.
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 2000); err != nil {
		t.Fatal(err)
	}
	w.Faults.Before("TransactWriteItems", func() { w.reserve(a, 900) })
	if _, err := w.accounts.Adjust(t.Context(), tenant.Account(a.ID), -200, "why"); err != nil {
		t.Fatal(err)
	}
	// The first event is of the 100 credits that were always low.
	if lows := w.lows(a); w.balance(a).Credits != 900 || len(lows) != 2 || lows[1].Balance.Credits != 900 {
		t.Errorf("%+v, %+v", w.balance(a), lows)
	}
}
