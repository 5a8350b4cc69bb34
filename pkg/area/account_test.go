package area_test

import (
	"crypto/rand"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/servicetest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/auth/credential"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

// world is a table with the services of accounts and keys.
type world struct {
	*servicetest.World
	accounts *account.Service
	keys     *apikey.Service
}

func newWorld(t *testing.T) *world {
	w := &world{World: servicetest.New(t)}
	w.accounts = account.NewService(w.DB, w.Now)
	w.keys = apikey.NewService(w.DB, w.accounts, w.Now, rand.Reader)
	return w
}

func to[T any](v T) *T { return &v }

// account makes an account with the given name.
func (w *world) account(name string) account.Account {
	w.T.Helper()
	a, err := w.accounts.Create(w.T.Context(), account.Settings{Name: &name})
	if err != nil {
		w.T.Fatal(err)
	}
	return a
}

// key makes a key.
func (w *world) key(a account.Account, kind tenant.Mode) apikey.NewKey {
	w.T.Helper()
	k, err := w.keys.Issue(w.T.Context(), tenant.Account(a.ID), kind,
		apikey.Settings{Name: "key", Scopes: auth.AllScopes()})
	if err != nil {
		w.T.Fatal(err)
	}
	return k
}

// secret returns the authorizer's view of a key.
func (w *world) secret(k apikey.NewKey) *credential.Credential {
	w.T.Helper()
	s, err := credential.NewCounter(w.DB, w.Now).Count(w.T.Context(), auth.HashKey(k.Secret),
		w.Now().Unix()/60, "203.0.113.9")
	if err != nil {
		w.T.Fatal(err)
	}
	return s
}

func TestANewAccountHasDefaults(t *testing.T) {
	w := newWorld(t)
	a := w.account("Ümläut & Söhne")
	if a.Plan != "enterprise" || a.RateLimits != (account.RateLimits{Test: 60, Live: 600}) || a.LowThreshold != 1000 ||
		a.IPAllowList == nil || len(a.IPAllowList) != 0 {
		t.Errorf("%+v", a)
	}
	if !id.Valid(id.Account, a.ID) || a.Version != 1 || !a.CreatedAt.Equal(w.Now()) {
		t.Errorf("%+v", a.Resource)
	}
	got, _, err := w.accounts.Get(t.Context(), tenant.Account(a.ID))
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("read as %+v, %v", got, err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	long := strings.Repeat("ü", 100)
	for _, c := range []struct {
		set   account.Settings
		param string
	}{
		{account.Settings{Name: &long}, ""},
		{account.Settings{Name: to(long + "ü")}, "/name"},
		{account.Settings{Name: to("")}, "/name"},
		{account.Settings{Name: to("Ac\nme")}, "/name"},
		{account.Settings{Plan: to("starter")}, ""},
		{account.Settings{Plan: to("Enterprise")}, "/plan"},
		{account.Settings{Plan: to("")}, "/plan"},
		{account.Settings{TestLimit: to(1)}, ""},
		{account.Settings{TestLimit: to(0)}, "/rate_limits"},
		{account.Settings{TestLimit: to(1_000_001)}, "/rate_limits"},
		{account.Settings{LiveLimit: to(1_000_000)}, ""},
		{account.Settings{LiveLimit: to(-1)}, "/rate_limits"},
		{account.Settings{LiveLimit: to(1_000_001)}, "/rate_limits"},
		{account.Settings{IPAllowList: to([]string{"10.0.0.0/8", "2001:DB8::/32"})}, ""},
		{account.Settings{IPAllowList: to([]string{"10.0.0.0/8", "10.0.0.1/8"})}, "/ip_allow_list/1"},
		{account.Settings{LowThreshold: to(int64(0))}, ""},
		{account.Settings{LowThreshold: to(int64(-1))}, "/low_threshold"},
		{account.Settings{LowThreshold: to(int64(ledger.MaxCredits + 1))}, "/low_threshold"},
	} {
		before := storetest.Snapshot(t, w.DB)
		_, err := w.accounts.Update(t.Context(), tenant.Account(a.ID), c.set)
		if c.param == "" {
			if err != nil {
				t.Errorf("%+v: %v", c.set, err)
			}
			continue
		}
		var e *errs.Error
		if !errors.As(err, &e) || e.Code != errs.ValidationFailed || e.Param != c.param {
			t.Errorf("%+v: %v, want %s", c.set, err, c.param)
		}
		if storetest.Snapshot(t, w.DB) != before {
			t.Errorf("%+v has changed something", c.set)
		}
		if c.set.Name == nil {
			c.set.Name = to("new")
		}
		if _, err := w.accounts.Create(t.Context(), c.set); !errors.As(err, &e) || e.Param != c.param {
			t.Errorf("create with %+v: %v", c.set, err)
		}
	}
	if _, err := w.accounts.Create(t.Context(), account.Settings{}); errs.CodeOf(err) != errs.ValidationFailed {
		t.Errorf("an account without a name: %v", err)
	}
	got, _, err := w.accounts.Get(t.Context(), tenant.Account(a.ID))
	if err != nil || got.Name != long || got.Plan != "starter" ||
		got.RateLimits != (account.RateLimits{Test: 1, Live: 1_000_000}) ||
		!slices.Equal(got.IPAllowList, []string{"10.0.0.0/8", "2001:db8::/32"}) || got.LowThreshold != 0 ||
		got.Version != 7 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNoAccountIsNotFound(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 1); err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{id.New(id.Account, w.Now()), "balance#" + a.ID, "acc", "x"} {
		if _, _, err := w.accounts.Get(t.Context(), tenant.Account(unknown)); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("get %s: %v", unknown, err)
		}
		if _, err := w.accounts.Update(t.Context(), tenant.Account(unknown),
			account.Settings{}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("update %s: %v", unknown, err)
		}
		if _, err := w.accounts.TopUp(t.Context(), tenant.Account(unknown), 1); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("top up %s: %v", unknown, err)
		}
	}
}

func TestAChangeReachesEveryKeyInOneTransaction(t *testing.T) {
	w := newWorld(t)
	a, other := w.account("Acme"), w.account("Other")
	test, live, revoked := w.key(a, tenant.Test), w.key(a, tenant.Live), w.key(a, tenant.Live)
	theirs := w.key(other, tenant.Live)
	if _, err := w.keys.End(t.Context(), tenant.Account(a.ID), revoked.ID); err != nil {
		t.Fatal(err)
	}
	w.Faults.Reset()
	w.Clock.Add(time.Hour)
	_, err := w.accounts.Update(t.Context(), tenant.Account(a.ID), account.Settings{
		Plan: to("growth"), TestLimit: to(7), LiveLimit: to(70), IPAllowList: to([]string{"203.0.113.9"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Faults.Operations(); strings.Count(got, "Write")+strings.Count(got, "Put")+strings.Count(got,
		"Update") != 1 {
		t.Errorf("it took %s", got)
	}
	for limit, k := range map[int]apikey.NewKey{7: test, 70: live} {
		if s := w.secret(k); s.Plan != "growth" || s.Limit != limit ||
			!slices.Equal(s.AccountIPs, []string{"203.0.113.9/32"}) || len(s.Scopes) != 13 || s.Ended(w.Now()) {
			t.Errorf("the %s key: %+v", k.Kind, *s)
		}
	}
	if s := w.secret(revoked); !s.Revoked {
		t.Errorf("the revoked key: %+v", *s)
	}
	if s := w.secret(theirs); s.Plan != "enterprise" || s.Limit != 600 || len(s.AccountIPs) != 0 {
		t.Errorf("another account's key: %+v", *s)
	}
	// And back: the ranges are gone from the copies, too.
	if _, err := w.accounts.Update(t.Context(), tenant.Account(a.ID),
		account.Settings{Plan: to("enterprise"), IPAllowList: to([]string{})}); err != nil {
		t.Fatal(err)
	}
	if s := w.secret(live); s.Plan != "enterprise" || len(s.AccountIPs) != 0 || s.Limit != 70 {
		t.Errorf("%+v", *s)
	}
}

func TestAChangeReachesAsManyKeysAsThereMayBe(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	const most = 80
	// Those that are revoked do not count, and nothing is left to change of them.
	for range 25 {
		k := w.key(a, tenant.Test)
		if _, err := w.keys.End(t.Context(), tenant.Account(a.ID), k.ID); err != nil {
			t.Fatal(err)
		}
	}
	var all []apikey.NewKey
	for range most {
		all = append(all, w.key(a, tenant.Test))
	}
	if _, err := w.accounts.Update(t.Context(), tenant.Account(a.ID), account.Settings{TestLimit: to(7)}); err != nil {
		t.Fatal(err)
	}
	for _, k := range all {
		if s := w.secret(k); s.Limit != 7 {
			t.Fatalf("%+v", *s)
		}
	}
}

// Whatever overtakes a change of the account, no secret keeps an old copy of it.
func TestWhatHappensDuringAChange(t *testing.T) {
	for name, meanwhile := range map[string]func(w *world, a account.Account, k apikey.NewKey) apikey.NewKey{
		"a key is made": func(w *world, a account.Account, k apikey.NewKey) apikey.NewKey {
			return w.key(a,
				tenant.Live)
		},
		"a key is rotated": func(w *world, a account.Account, k apikey.NewKey) apikey.NewKey {
			return w.rotate(a, k, 0)
		},
		"a key is rotated and lives on": func(w *world, a account.Account, k apikey.NewKey) apikey.NewKey {
			w.rotate(a, k, time.Hour)
			return k
		},
		"the account is changed": func(w *world, a account.Account, k apikey.NewKey) apikey.NewKey {
			if _, err := w.accounts.Update(w.T.Context(), tenant.Account(a.ID),
				account.Settings{Name: to("New")}); err != nil {
				w.T.Error(err)
			}
			return k
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.account("Acme")
			k := w.key(a, tenant.Live)
			w.Faults.Before("TransactWriteItems", func() { k = meanwhile(w, a, k) })
			if _, err := w.accounts.Update(t.Context(), tenant.Account(a.ID),
				account.Settings{Plan: to("starter")}); err != nil {
				t.Fatal(err)
			}
			if s := w.secret(k); s.Plan != "starter" {
				t.Errorf("%+v", *s)
			}
		})
	}
}

func (w *world) rotate(a account.Account, k apikey.NewKey, overlap time.Duration) apikey.NewKey {
	w.T.Helper()
	held, err := w.keys.FindHeld(w.T.Context(), tenant.Account(a.ID), tenant.Live, k.ID)
	if err != nil {
		w.T.Fatal(err)
	}
	tx := &store.Tx{}
	made, err := w.keys.Rotate(tx, held, overlap)
	if err == nil {
		err = w.DB.Commit(w.T.Context(), tx)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return made
}

func TestAChangeThatIsAlwaysOvertakenGivesUp(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	w.Faults.Cancel(1000, "ConditionalCheckFailed", "None")
	_, err := w.accounts.Update(t.Context(), tenant.Account(a.ID), account.Settings{Plan: to("starter")})
	if errs.CodeOf(err) != errs.ProviderUnavailable {
		t.Errorf("%v", err)
	}
	if n := strings.Count(w.Faults.Operations(), "TransactWriteItems"); n > 5 {
		t.Errorf("it was tried %d times", n)
	}
}

func TestAccountsAreListedOldestFirst(t *testing.T) {
	w := newWorld(t)
	var want []string
	for range 103 { // more than a page
		want = append(want, w.account("Acme").ID)
		w.Clock.Add(time.Millisecond)
	}
	var got []string
	if err := w.accounts.All(t.Context(),
		func(a account.Account) error { got = append(got, a.ID); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %d accounts %v", len(got), got)
	}
	enough := errors.New("enough")
	if err := w.accounts.All(t.Context(), func(account.Account) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

func TestTopUps(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	balance := func() int64 {
		it, err := w.DB.Get(t.Context(), ledger.BalanceKey(tenant.Account(a.ID)))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Fatal(err)
		}
		return ledger.BalanceOf(it).Credits
	}
	for _, c := range []struct {
		credits int64
		ok      bool
		balance int64
	}{
		{0, false, 0}, {-5, false, 0}, {ledger.MaxCredits + 1, false, 0},
		{500, true, 500}, {ledger.MaxCredits, false, 500}, {ledger.MaxCredits - 500, true, ledger.MaxCredits},
		{1, false, ledger.MaxCredits},
	} {
		before := storetest.Snapshot(t, w.DB)
		e, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), c.credits)
		switch {
		case c.ok && (err != nil || e.Credits != c.credits || e.Kind != "top_up" || e.Subject != a.ID ||
			!id.Valid(id.LedgerEntry, e.ID)):
			t.Errorf("%d: %+v, %v", c.credits, e, err)
		case !c.ok && (errs.CodeOf(err) != errs.ValidationFailed || storetest.Snapshot(t, w.DB) != before):
			t.Errorf("%d: %v, or something was written", c.credits, err)
		}
		if got := balance(); got != c.balance {
			t.Errorf("after %d the balance is %d, want %d", c.credits, got, c.balance)
		}
	}
}

func TestEntriesAddUpToTheBalance(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	var all sync.WaitGroup
	for i := range 5 {
		all.Go(func() {
			if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), int64(i+1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	page, err := w.DB.List(t.Context(),
		store.Query{Index: store.ByOwner, Partition: store.OwnerPartition(tenant.Of(tenant.Account(a.ID), tenant.Live),
			"balance_entry"), Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, it := range page.Items {
		var e ledger.Entry
		if err := it.Decode(&e); err != nil {
			t.Fatal(err)
		}
		sum += e.Credits
	}
	it, err := w.DB.Get(t.Context(), ledger.BalanceKey(tenant.Account(a.ID)))
	if err != nil || ledger.BalanceOf(it).Credits != 15 || sum != 15 || len(page.Items) != 5 {
		t.Errorf("the balance is %d, %v; %d entries add up to %d", ledger.BalanceOf(it).Credits, err,
			len(page.Items), sum)
	}
}
