package social_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/event"
	"github.com/content-automation/api/pkg/store"
)

// accountsOf returns the accounts of a factory as it shows them.
func (w *world) accountsOf(factory string) []string {
	w.T.Helper()
	var f struct {
		Accounts []string `json:"social_account_ids"`
	}
	w.Call(http.MethodGet, "/v1/factories/"+factory, nil).Into(w.T, http.StatusOK, &f)
	return f.Accounts
}

func pathOf(factory, id string) string { return "/v1/factories/" + factory + "/social-accounts/" + id }

func TestAnAccountServesSeveralFactories(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, telegramBody())
	one, two := w.factory(w.Caller), w.factory(w.Caller)
	var got social.Account
	for _, factory := range []string{one, two, one} {
		w.Call(http.MethodPut, pathOf(factory, a.ID), nil).Into(t, http.StatusOK, &got)
	}
	if !slices.Equal(got.FactoryIDs, []string{one, two}) || got.Version != a.Version+2 ||
		!slices.Equal(w.accountsOf(one), []string{a.ID}) || !slices.Equal(w.accountsOf(two), []string{a.ID}) {
		t.Errorf("attached: %+v, %v and %v", got, w.accountsOf(one), w.accountsOf(two))
	}
	if all := apitest.All[social.Account](w.Caller, "/v1/social/accounts?factory_id="+one, 10); len(all) != 1 ||
		all[0].ID != a.ID {
		t.Errorf("listed for the factory: %+v", all)
	}
	for range 2 {
		w.Call(http.MethodDelete, pathOf(one, a.ID), nil).Into(t, http.StatusOK, &got)
	}
	if !slices.Equal(got.FactoryIDs, []string{two}) || got.Version != a.Version+3 || len(w.accountsOf(one)) != 0 {
		t.Errorf("detached: %+v, %v", got, w.accountsOf(one))
	}
	if all := apitest.All[social.Account](w.Caller, "/v1/social/accounts?factory_id="+one, 10); len(all) != 0 {
		t.Errorf("listed for the factory: %+v", all)
	}
	told := 0
	for _, row := range storetest.Rows(t, w.DB) {
		if row["kind"] == event.Kind && row["f_type"] == string(event.FactoryUpdated) {
			told++
		}
	}
	if told != 3 {
		t.Errorf("%d events tell of two attachments and one detachment", told)
	}
}

func TestAnAccountIsAttachedToOwnFactoriesOnly(t *testing.T) {
	w := newWorld(t)
	a, factory := w.connect(w.Caller, telegramBody()), w.factory(w.Caller)
	others := w.factory(w.Stranger())
	sandbox := w.factory(w.test)
	foreign := w.connect(w.Stranger(), telegramBody())
	sandboxed := w.connect(w.test, object{"platform": "telegram", "bot_token": "1:any", "channel": "@acme"})
	gone := w.factory(w.Caller)
	w.Call(http.MethodDelete, "/v1/factories/"+gone, nil)
	for name, path := range map[string]string{
		"another customer's factory": pathOf(others, a.ID), "a factory of the sandbox": pathOf(sandbox, a.ID),
		"another customer's account": pathOf(factory, foreign.ID),
		"an account of the sandbox":  pathOf(factory, sandboxed.ID), "no factory": pathOf("fac_x", a.ID),
		"no account": pathOf(factory, "soc_x"), "a deleted factory": pathOf(gone, a.ID),
	} {
		for _, method := range []string{http.MethodPut, http.MethodDelete} {
			if got := w.Call(method, path, nil); got.Status != http.StatusNotFound {
				t.Errorf("%s %s answers %d", method, name, got.Status)
			}
		}
	}
	w.Call(http.MethodDelete, "/v1/social/accounts/"+a.ID, nil)
	refused := w.Call(http.MethodPut, pathOf(factory, a.ID), nil)
	refused.Refused(t, 409, errs.InvalidState, "")
	refused.Context(t, `{"state":"disconnected","allowed":["connect"]}`)
}

func TestAFactoryHasSoManyAccounts(t *testing.T) {
	w := newWorld(t)
	factory := w.factory(w.test)
	for i := range social.MaxPerFactory + 1 {
		a := w.connect(w.test, object{"platform": "telegram", "bot_token": "1:any",
			"channel": "@acme" + string(rune('a'+i))})
		got := w.test.Call(http.MethodPut, pathOf(factory, a.ID), nil)
		if want := i < social.MaxPerFactory; (got.Status == http.StatusOK) != want {
			t.Errorf("the account %d: %s", i+1, got.Raw)
		}
	}
}

func TestAnAccountThatItemsAreScheduledToIsDisconnectedByForce(t *testing.T) {
	w := newWorld(t)
	a, factory := w.connect(w.Caller, telegramBody()), w.factory(w.Caller)
	w.Call(http.MethodPut, pathOf(factory, a.ID), nil).Into(t, http.StatusOK, &a)
	path := "/v1/social/accounts/" + a.ID
	tx := &store.Tx{}
	tx.Count(social.ScheduledKey(a.ID), 1, social.MaxScheduled, nil)
	if err := w.DB.Commit(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	refused := w.Call(http.MethodDelete, path, nil)
	refused.Refused(t, 409, errs.InvalidState, "")
	refused.Context(t, `{"state":"connected","allowed":["disconnect with force=true"]}`)
	w.Call(http.MethodDelete, path+"?force=true", nil, "If-Match", `"1"`).Refused(t, 412,
		errs.VersionMismatch, "If-Match")
	w.Stranger().Call(http.MethodDelete, path+"?force=true", nil).Refused(t, 404, errs.NotFound, "")
	var got social.Account
	for range 2 {
		w.Call(http.MethodDelete, path+"?force=true", nil).Into(t, http.StatusOK, &got)
	}
	if got.State != social.Disconnected || len(got.FactoryIDs) != 0 || got.Version != a.Version+1 {
		t.Errorf("it is %+v", got)
	}
	// The same channel revives it.
	if again := w.connect(w.Caller, telegramBody()); again.ID != a.ID || again.State != social.Connected ||
		len(again.FactoryIDs) != 0 {
		t.Errorf("connected again it is %+v", again)
	}
}

func TestAccountsAreListed(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, telegramBody())
	b := w.connect(w.Caller, object{"platform": "tiktok"})
	for query, want := range map[string][]string{
		"": {b.ID, a.ID}, "?order=asc": {a.ID, b.ID}, "?platform=telegram": {a.ID}, "?platform=tiktok,vk": {b.ID},
		"?state=pending": {b.ID}, "?state=connected,pending": {b.ID, a.ID}, "?state=disconnected": nil,
	} {
		var got []string
		for _, found := range apitest.All[social.Account](w.Caller, "/v1/social/accounts"+query, 1) {
			got = append(got, found.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s lists %v, not %v", query, got, want)
		}
	}
	w.Call(http.MethodGet, "/v1/social/accounts?platform=myspace", nil).Refused(t, 422,
		errs.ValidationFailed, "platform")
	w.Stranger().Call(http.MethodGet, "/v1/social/accounts/"+a.ID, nil).Refused(t, 404, errs.NotFound, "")
	w.test.Call(http.MethodGet, "/v1/social/accounts/"+a.ID, nil).Refused(t, 404, errs.NotFound, "")
}
