package record_test

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/ledger"
	"github.com/content-automation/api/pkg/store"
)

const (
	path = "/v1/balance/entries"
	fac  = "fac_01h455vb4pex5vsknk084sn02q"
)

// caller is a caller with a live key of the account.
func (w *ledgerWorld) caller() *apitest.Caller {
	return apitest.New(w.T, w.DB, &apitest.Log{}, w.Clock.Now, account.NewService(w.DB, w.Clock.Now)).
		As(func(p *auth.Principal) { p.Account, p.Mode = acc, tenant.Live })
}

// history makes some entries, a minute between them, and returns their ids.
func (w *ledgerWorld) history() (ids []string) {
	w.T.Helper()
	step := func(do func()) {
		before := w.entries()
		do()
		for made := range w.entries() {
			if _, ok := before[made]; !ok {
				ids = append(ids, made)
			}
		}
		w.Clock.Add(time.Minute)
	}
	var charged, released ledger.Hold
	w.open(0, 0)
	step(func() { w.topUp(100) })                   // 0
	step(func() { charged = w.hold("cnt_1", 10) })  // 1
	step(func() { released = w.hold("cnt_2", 20) }) // 2
	step(func() {                                   // 3
		if err := errors.Join(w.charge(charged), w.release(released)); err != nil {
			w.T.Fatal(err)
		}
	})
	step(func() { // 4
		w.Commit(func(tx *store.Tx) error {
			_, err := ledger.Adjust(tx, w.Clock.Now(), acc, -5, "of no concern to callers", w.balance())
			return err
		})
	})
	step(func() { w.hold("cnt_2", 1) }) // 5
	return ids
}

func TestEntriesAreListedNewestFirst(t *testing.T) {
	w := ledgerNewWorld(t)
	start := w.Clock.Now()
	ids := w.history()
	c := w.caller()
	other := id.New(id.Factory, start)
	at := func(i int) string {
		return url.QueryEscape(start.Add(time.Duration(i) * time.Minute).Format(time.RFC3339))
	}
	for query, want := range map[string][]int{
		"":                                       {5, 4, 3, 2, 1, 0},
		"kind=reserve":                           {5, 2, 1},
		"kind=release":                           {3},
		"kind=top_up":                            {0},
		"kind=adjust":                            {4},
		"subject=cnt_2":                          {5, 3, 2},
		"subject=" + acc:                         {4, 0},
		"subject=cnt_2&kind=reserve":             {5, 2},
		"subject=cnt_3":                          nil,
		"kind=top_up,release":                    {3, 0},
		"order=asc&kind=adjust,release":          {3, 4},
		"factory_id=" + fac:                      {5, 3, 2},
		"order=asc&factory_id=" + fac:            {2, 3, 5},
		"factory_id=" + fac + "&kind=reserve":    {5, 2},
		"factory_id=" + fac + "&subject=cnt_1":   nil,
		"factory_id=" + fac + "&subject=cnt_2":   {5, 3, 2},
		"factory_id=" + other:                    nil,
		"from=" + at(4):                          {5, 4},
		"to=" + at(1):                            {0},
		"from=" + at(1) + "&to=" + at(4):         {3, 2, 1},
		"subject=cnt_2&from=" + at(3):            {5, 3},
		"subject=cnt_2&kind=reserve&to=" + at(5): {2},
	} {
		for limit := 1; limit <= 7; limit += 2 {
			var got []int
			for _, e := range apitest.All[ledger.Entry](c, path+"?"+query, limit) {
				got = append(got, slices.Index(ids, e.ID))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d at a time: got %v, want %v", query, limit, got, want)
			}
		}
	}
	w.Faults.Reset()
	a := c.Call(http.MethodGet, path, nil)
	if got := w.Faults.Operations(); got != "Query" {
		t.Errorf("it took %s", got)
	}
	var all []struct {
		Kind    string
		Credits int64
		Subject string
		State   *string
		Version int
		Reason  *string
	}
	a.Into(t, http.StatusOK, &all)
	var sum int64
	var states []string
	for _, e := range all {
		sum += e.Credits
		state := "null"
		if e.State != nil {
			state = *e.State
		}
		states = append(states, e.Kind+" "+state)
		if e.Reason != nil {
			t.Errorf("the operator's reason is shown: %+v", e)
		}
	}
	if want := []string{"reserve held", "adjust null", "release null", "reserve released", "reserve charged",
		"top_up null"}; !slices.Equal(states, want) {
		t.Errorf("got %q", states)
	}
	if b := w.balance(); sum != b.Credits || sum != 84 {
		t.Errorf("they add up to %d, the balance is %+v", sum, b)
	}
}

func TestEntriesOfOthersAreNotListed(t *testing.T) {
	w := ledgerNewWorld(t)
	w.history()
	c := w.caller()
	for name, other := range map[string]*apitest.Caller{
		"another account": c.Stranger(),
		"a test key":      c.As(func(p *auth.Principal) { p.Mode = tenant.Test }),
	} {
		for _, query := range []string{"", "?subject=cnt_2", "?subject=" + acc, "?kind=reserve"} {
			a := other.Call(http.MethodGet, path+query, nil)
			if a.Status != http.StatusOK || string(a.Data) != "[]" || a.NextCursor != nil {
				t.Errorf("%s%s: %s", name, query, a.Raw)
			}
		}
	}
}

func TestAListThatIsAskedForWrongly(t *testing.T) {
	w := ledgerNewWorld(t)
	w.history()
	c := w.caller()
	for query, param := range map[string]string{"kind=refund": "kind", "kind=reserve,refund": "kind",
		"factory_id=fac_1": "factory_id", "factory_id=": "factory_id", "from=x": "from",
		"from=2026-05-02T00:00:00Z&to=2026-05-01T00:00:00Z": "from", "state=held": "state", "limit=0": "limit"} {
		c.Call(http.MethodGet, path+"?"+query, nil).Refused(t, http.StatusUnprocessableEntity,
			errs.ValidationFailed, param)
	}
	a := c.Call(http.MethodGet, path+"?limit=1", nil)
	if a.NextCursor == nil {
		t.Fatal(a.Raw)
	}
	c.Call(http.MethodGet, path+"?kind=reserve&cursor="+*a.NextCursor, nil).Refused(t, http.StatusBadRequest,
		errs.InvalidCursor, "cursor")
	c.Call(http.MethodGet, path+"?factory_id="+fac+"&cursor="+*a.NextCursor, nil).Refused(t, http.StatusBadRequest,
		errs.InvalidCursor, "cursor")
	c.Call(http.MethodGet, path+"?subject=cnt_2&cursor="+*a.NextCursor, nil).Refused(t, http.StatusBadRequest,
		errs.InvalidCursor, "cursor")
	c.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.AccountManage} }).Call(http.MethodGet, path, nil).
		Refused(t, http.StatusForbidden, errs.InsufficientScope, "")
}
