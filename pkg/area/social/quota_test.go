package social_test

import (
	"net/http"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/record/quota"
)

// So many accounts of a day wait for their owners, in each mode. One that is disconnected counts no more, nor does one
// that is connected, whose count is given back once.
func TestSoManyAccountsArePending(t *testing.T) {
	w := newWorld(t)
	body := object{"platform": "youtube"}
	path := "/v1/social/accounts"
	disconnect := func(c *apitest.Caller, id string) {
		c.Call(http.MethodDelete, path+"/"+id, nil).Into(t, http.StatusOK, new(social.Account))
	}
	of := apitest.QuotaCase{DB: w.DB, Bound: quota.PendingAccounts, Kind: social.Kind, Now: w.Now,
		Create: func(c *apitest.Caller, headers ...string) apitest.Answer {
			return c.Call(http.MethodPost, path, body, headers...)
		},
		Remove: disconnect,
	}
	of.Check(t, w.test)

	count := func(want int64) {
		t.Helper()
		if n := apitest.CountQuota(t, w.DB, of.Bound, of.Kind, w.Principal.Owner, w.Now()); n != want {
			t.Errorf("%d count, not %d", n, want)
		}
	}
	first := w.connect(w.Caller, body)
	again := w.connect(w.Caller, object{"social_account_id": first.ID}) // it waits already
	count(1)
	w.shows(w.visit(w.allow(again)), http.StatusOK, "is connected")
	count(0)
	w.connect(w.Caller, object{"social_account_id": first.ID})
	disconnect(w.Caller, first.ID)
	count(0)
	// The channel is connected in the place of the first account, and the second one is disconnected.
	second := w.connect(w.Caller, body)
	count(1)
	w.shows(w.visit(w.allow(second)), http.StatusOK, "is connected")
	count(0)
	of.Check(t, w.Caller)
	// Accounts that are connected at once do not count.
	w.connect(w.Caller, telegramBody())
}
