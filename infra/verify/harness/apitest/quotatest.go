package apitest

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
)

// at returns the key of the count of a bound.
func at(b quota.Bound, kind string, o tenant.Owner, now time.Time) store.Key {
	key := "quota#" + kind + "#" + o.String()
	if b.Daily {
		key += "#" + now.UTC().Format(time.DateOnly)
	}
	return store.IDKey(key)
}

// FillQuotas counts so many resources of a kind that the owner's account and mode have room for one more.
func FillQuotas(t testing.TB, db *store.DB, b quota.Bound, kind string, o tenant.Owner, now time.Time) {
	t.Helper()
	most := b.Live
	if o.Mode == tenant.Test {
		most = b.Test
	}
	tx := &store.Tx{}
	tx.Count(at(b, kind, o, now), most-1-CountQuota(t, db, b, kind, o, now), math.MaxInt64, store.ErrConflict)
	if err := db.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
}

// CountQuota returns the resources of a kind that count.
func CountQuota(t testing.TB, db *store.DB, b quota.Bound, kind string, o tenant.Owner, now time.Time) int64 {
	t.Helper()
	items, err := db.GetAll(t.Context(), at(b, kind, o, now))
	if err != nil {
		t.Fatal(err)
	}
	return items[0].Count()
}

// QuotaCase is a bound and the calls that it is about.
type QuotaCase struct {
	DB    *store.DB
	Bound quota.Bound
	Kind  string
	Now   func() time.Time
	// Create makes a resource. The headers are those of Caller.Call.
	Create func(c *Caller, headers ...string) Answer
	// Remove ends a resource, or makes it count no more. It is nil if none is ended.
	Remove func(c *Caller, id string)
}

// Check checks that the bound holds for a caller. It leaves no room.
func (c QuotaCase) Check(t *testing.T, caller *Caller) {
	t.Helper()
	o, most := caller.Principal.Owner, c.Bound.Live
	if o.Mode == tenant.Test {
		most = c.Bound.Test
	}
	count := func(want int64) {
		t.Helper()
		if n := CountQuota(t, c.DB, c.Bound, c.Kind, o, c.Now()); n != want {
			t.Errorf("%d count, not %d", n, want)
		}
	}
	create := func(headers ...string) string {
		t.Helper()
		var made struct{ ID string }
		c.Create(caller, headers...).Into(t, http.StatusCreated, &made)
		return made.ID
	}
	refused := func() {
		t.Helper()
		before := storetest.Snapshot(t, c.DB)
		a := c.Create(caller)
		a.Refused(t, http.StatusConflict, errs.InvalidState, "")
		if a.Error != nil && !strings.Contains(a.Error.Message, c.Bound.Name) {
			t.Errorf("the error does not say what there are too many of: %s", a.Error.Message)
		}
		if storetest.Snapshot(t, c.DB) != before {
			t.Error("a call that is refused changes something")
		}
		count(most)
	}
	FillQuotas(t, c.DB, c.Bound, c.Kind, o, c.Now())
	key := "the last of " + c.Now().String()
	made := create("Idempotency-Key", key)
	if again := create("Idempotency-Key", key); again != made {
		t.Errorf("a repeat has made %s, not %s", again, made)
	}
	refused()
	if c.Remove != nil {
		c.Remove(caller, made)
		count(most - 1)
		create()
		refused()
	}
}
