package area_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/account"
	"github.com/content-automation/api/pkg/area/apikey"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/record/resource"
)

// caller is a caller with the given key.
func (w *world) caller(a account.Account, k apikey.NewKey) *apitest.Caller {
	c := apitest.New(w.T, w.DB, &apitest.Log{}, w.Now, w.accounts)
	return c.As(func(p *auth.Principal) {
		p.Account, p.Actor, p.Mode, p.Scopes = tenant.Account(a.ID), auth.Key(k.ID), k.Kind,
			[]auth.Scope{auth.AccountRead}
		p.Rate = auth.Rate{Limit: 77, Window: 60, Remaining: 76, Reset: 9}
	})
}

func TestMe(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	if _, err := w.accounts.Update(t.Context(), tenant.Account(a.ID),
		account.Settings{IPAllowList: to([]string{"198.51.100.0/24"}), LowThreshold: to(int64(5))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 1234); err != nil {
		t.Fatal(err)
	}
	expires := w.Now().Add(time.Hour)
	k, err := w.keys.Issue(t.Context(), tenant.Account(a.ID), tenant.Live,
		apikey.Settings{Name: "CRM", Scopes: []auth.Scope{auth.AccountRead},
			ExpiresAt: resource.InstantOrNil(&expires)})
	if err != nil {
		t.Fatal(err)
	}
	w.Faults.Reset()
	answer := w.caller(a, k).Call(http.MethodGet, "/v1/me", nil)
	if got := w.Faults.Operations(); got != "BatchGetItem" {
		t.Errorf("it took %s", got)
	}
	var got account.Me
	answer.Into(t, http.StatusOK, &got)
	want := account.Me{
		View: account.View{
			Resource: got.Resource, Name: "Acme", Plan: "enterprise", Mode: "live",
			Balance:     account.MeBalance{Credits: 1234, LowThreshold: 5},
			RateLimit:   account.RateLimit{Limit: 77, WindowSeconds: 60},
			IPAllowList: []string{"198.51.100.0/24"},
		},
		Key: account.CallingKey{ID: k.ID, Name: "CRM", Kind: "live", Scopes: []auth.Scope{auth.AccountRead},
			ExpiresAt: resource.InstantOrNil(&expires), ProfileIDs: []tenant.Profile{}},
	}
	if !reflect.DeepEqual(got, want) || got.ID != a.ID || got.Version != 2 {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if strings.Contains(answer.Raw, auth.HashKey(k.Secret)) || strings.Contains(answer.Raw, k.Secret) {
		t.Errorf("the answer tells the secret: %s", answer.Raw)
	}
}

// The ETag reports whether anything that is shown has changed: the balance, too,
// which changes without the account.
func TestTheETagOfMeFollowsFromAllThatIsShown(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	k := w.key(a, tenant.Live)
	tag := func(k apikey.NewKey) string {
		t.Helper()
		answer := w.caller(a, k).Call(http.MethodGet, "/v1/me", nil)
		if answer.Status != http.StatusOK || len(answer.Header.Get("ETag")) < 3 {
			t.Fatalf("%d, ETag %s", answer.Status, answer.Header.Get("ETag"))
		}
		return answer.Header.Get("ETag")
	}
	first := tag(k)
	if again := tag(k); again != first {
		t.Errorf("unchanged: %s and %s", first, again)
	}
	if other := tag(w.key(a, tenant.Live)); other == first {
		t.Errorf("two keys have %s", first)
	}
	if _, err := w.accounts.TopUp(t.Context(), tenant.Account(a.ID), 1); err != nil {
		t.Fatal(err)
	}
	if after := tag(k); after == first {
		t.Errorf("another balance has the same %s", after)
	}
}

func TestMeWithoutABalanceYet(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	answer := w.caller(a, w.key(a, tenant.Test)).Call(http.MethodGet, "/v1/me", nil)
	var got account.Me
	answer.Into(t, http.StatusOK, &got)
	if got.Balance.Credits != 0 || got.Mode != "test" || got.Key.ExpiresAt != nil ||
		!strings.Contains(answer.Raw, `"ip_allow_list":[]`) || !strings.Contains(answer.Raw, `"metadata":{}`) {
		t.Errorf("%s", answer.Raw)
	}
}

func TestMeIsRefused(t *testing.T) {
	w := newWorld(t)
	a := w.account("Acme")
	c := w.caller(a, w.key(a, tenant.Test))
	c.As(func(p *auth.Principal) { p.Scopes = []auth.Scope{auth.ContentRead} }).Call(http.MethodGet, "/v1/me", nil).
		Refused(t, http.StatusForbidden, errs.InsufficientScope, "")
	var bound account.Me
	c.As(func(p *auth.Principal) { p.Profiles = []tenant.Profile{"prf_01h455vb4pex5vsknk084sn02q"} }).
		Call(http.MethodGet, "/v1/me", nil).Into(t, http.StatusOK, &bound)
	var whole account.Me
	c.Call(http.MethodGet, "/v1/me", nil).Into(t, http.StatusOK, &whole)
	if bound.Balance.LowThreshold != 0 || whole.Balance.LowThreshold == 0 {
		t.Errorf("a client sees the threshold %d of the account: %d", bound.Balance.LowThreshold,
			whole.Balance.LowThreshold)
	}
	c.Stranger().Call(http.MethodGet, "/v1/me", nil).Refused(t, http.StatusNotFound, errs.NotFound, "")
	c.As(func(p *auth.Principal) { p.Actor = auth.Key("key_2") }).Call(http.MethodGet, "/v1/me", nil).Refused(t,
		http.StatusNotFound, errs.NotFound, "")
	w.Faults.Reject("BatchGetItem", "ThrottlingException", 1000)
	c.Call(http.MethodGet, "/v1/me", nil).Refused(t, http.StatusServiceUnavailable, errs.ProviderUnavailable, "")
}
