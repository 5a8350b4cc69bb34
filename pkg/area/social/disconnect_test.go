package social_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/tenant"
	factoryrecord "github.com/content-automation/api/pkg/record/factory"
	"github.com/content-automation/api/pkg/store"
)

// fakeFactory puts a factory with accounts into the table.
func (w *accountWorld) fakeFactory(id, state string, accounts ...string) {
	w.T.Helper()
	it, err := store.NewItem("factory", owner, id,
		map[string]any{"id": id, "version": 1, "social_account_ids": accounts})
	if err != nil {
		w.T.Fatal(err)
	}
	it.Filters = map[string]string{"state": state}
	w.commit(func(tx *store.Tx) error { tx.Create(it, nil); return nil })
}

func (w *accountWorld) accountsOf(factory string) []string {
	w.T.Helper()
	it, err := w.DB.Get(w.T.Context(), store.IDKey(factory))
	if err != nil {
		w.T.Fatal(err)
	}
	ids, err := factoryrecord.Accounts(&it)
	if err != nil {
		w.T.Fatal(err)
	}
	return ids
}

// cleaner ends something twice.
type cleaner struct{ calls int }

func (e *cleaner) Clean(context.Context, tenant.Owner, string) (more bool, err error) {
	e.calls++
	if e.calls == 2 {
		return false, errors.New("no route to host")
	}
	return e.calls < 4, nil
}

func TestADisconnectedAccountIsDetachedFromItsFactories(t *testing.T) {
	w := accountNewWorld(t)
	e := &cleaner{}
	w.Cleaners = []social.Cleaner{e}
	id := w.connect("fac_1", "fac_2", "fac_3")
	w.fakeFactory("fac_1", "active", "soc_x", id)
	w.fakeFactory("fac_2", "paused", id)
	it, r := w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Now(), it) })
	for range 12 {
		w.work(1)
		w.Clock.Add(3 * time.Second)
	}
	if got := w.accountsOf("fac_1"); !slices.Equal(got, []string{"soc_x"}) || len(w.accountsOf("fac_2")) != 0 {
		t.Errorf("the factories have %v and %v", got, w.accountsOf("fac_2"))
	}
	if e.calls != 4 || w.fake.Calls() != 1 {
		t.Errorf("the cleaner was called %d times, and the platform %d times", e.calls, w.fake.Calls())
	}
}

// A revocation that came after a new connection would end that one at some platforms.
func TestAnAccountThatIsConnectedAgainIsNotRevoked(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	it, r := w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Now(), it) })
	it, r = w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Connect(tx, w.Now(), it, platform.Token{}) })
	for range 3 {
		w.work(1)
	}
	if w.fake.Calls() != 0 {
		t.Error("the token was revoked")
	}
}

func TestARevocationThatNeverSucceedsIsGivenUp(t *testing.T) {
	w := accountNewWorld(t)
	id := w.connect()
	it, r := w.read(id)
	w.commit(func(tx *store.Tx) error { return r.Disconnect(tx, w.Now(), it) })
	w.fake.Fail(1, platformtest.ServerError)
	w.work(1)
	w.Clock.Add(25 * time.Hour)
	w.work(1)
	w.Clock.Add(time.Hour)
	w.work(1)
	if w.fake.Calls() != 1 {
		t.Errorf("the platform was called %d times", w.fake.Calls())
	}
	for _, row := range storetest.Rows(t, w.DB) {
		if strings.Contains(row["doc"], `"sealed":"`) {
			t.Errorf("a token is kept in %s", row["pk"])
		}
	}
}

func TestADeletedFactoryLosesItsAccounts(t *testing.T) {
	w := accountNewWorld(t)
	first, second := w.connect("fac_1", "fac_2"), w.connect("fac_2")
	e := social.FactoryCleaner{DB: w.DB, Now: w.Clock.Now}
	for more := true; more; {
		var err error
		if more, err = e.Clean(t.Context(), owner, "fac_1"); err != nil {
			t.Fatal(err)
		}
	}
	_, one := w.read(first)
	_, two := w.read(second)
	if !slices.Equal(one.FactoryIDs, []string{"fac_2"}) || !slices.Equal(two.FactoryIDs, []string{"fac_2"}) {
		t.Errorf("they serve %v and %v", one.FactoryIDs, two.FactoryIDs)
	}
}
