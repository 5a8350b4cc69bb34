package social_test

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/platformtest"
	"github.com/content-automation/api/pkg/area/social"
)

// changed returns the parameters with another value of one of them.
func changed(q url.Values, name, value string) url.Values {
	other := url.Values{}
	for n, v := range q {
		other[n] = v
	}
	other.Set(name, value)
	return other
}

func TestAForgedStateIsRefused(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
	victim := w.connect(w.Stranger(), object{"platform": "tiktok"})
	good := w.allow(a)
	state := good.Get("state")
	parts := strings.Split(state, ".")
	for name, forged := range map[string]string{
		"none": "", "nonsense": "x", "no signature": strings.Join(parts[:3], "."),
		"another account": strings.Replace(state, a.ID, victim.ID, 1),
		"a later end":     strings.Join([]string{parts[0], "zzzzzz", parts[2], parts[3]}, "."),
		"another nonce":   strings.Join([]string{parts[0], parts[1], "AAAAAAAAAAAAAAAAAAAAAA", parts[3]}, "."),
		"a cut signature": state[:len(state)-1], "an empty signature": strings.Join(parts[:3], ".") + ".",
	} {
		page := w.visit(changed(good, "state", forged))
		w.shows(page, http.StatusBadRequest, "not valid")
		if page.Header().Get("Refresh") != "" {
			t.Errorf("%s: the browser is sent on", name)
		}
	}
	if calls := w.tiktok.Calls(); calls != 0 {
		t.Errorf("the platform was called %d times", calls)
	}
	if got := w.get(a.ID); got.State != social.Pending || got.AuthorizationURL != nil {
		t.Errorf("afterwards it is %+v", got)
	}
	w.shows(w.visit(good), http.StatusOK, "is connected")
}

func TestAStateIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	q := w.allow(a)
	var all sync.WaitGroup
	codes := make([]int, 8)
	for i := range codes {
		all.Go(func() { codes[i] = w.visit(q).Code })
	}
	all.Wait()
	connected := 0
	for _, code := range codes {
		if code == http.StatusOK {
			connected++
		}
	}
	if connected != 1 || w.events()["social_account.connected"] != 1 {
		t.Errorf("of 8 visits %d have connected it: %v", connected, codes)
	}
	w.shows(w.visit(q), http.StatusBadRequest, "used already")
	// A newer link replaces an older one.
	older := w.allow(w.connect(w.Caller, object{"social_account_id": a.ID}))
	newer := w.allow(w.connect(w.Caller, object{"social_account_id": a.ID}))
	w.shows(w.visit(older), http.StatusBadRequest, "used already")
	w.shows(w.visit(newer), http.StatusOK, "is connected")
}

func TestAStateExpires(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
	q := w.allow(a)
	w.Clock.Add(30 * time.Minute)
	if got := w.get(a.ID); got.AuthorizationURL != nil || got.State != social.Pending {
		t.Errorf("after 30 minutes it is %+v", got)
	}
	page := w.visit(q)
	w.shows(page, http.StatusBadRequest, "has expired")
	if got := page.Header().Get("Refresh"); got != "3; url="+back+"?error=expired&social_account_id="+a.ID {
		t.Errorf("the browser goes on to %s", got)
	}
	if w.tiktok.Calls() != 0 {
		t.Error("the platform was called")
	}
}

func TestAnOwnerWhoDoesNotAllowIt(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
	q := w.allow(a)
	denied := url.Values{"state": q["state"], "error": {"access_denied"},
		"error_description": {"<script>alert(1)</script>"}}
	page := w.visit(denied)
	w.shows(page, http.StatusForbidden, "Nothing was connected")
	if got := page.Header().Get("Refresh"); got != "3; url="+back+"?error=access_denied&social_account_id="+a.ID ||
		strings.Contains(page.Body.String(), "alert") {
		t.Errorf("the browser goes on to %s: %s", got, page.Body)
	}
	w.shows(w.visit(q), http.StatusBadRequest, "used already")
	if got := w.get(a.ID); got.State != social.Pending || got.AuthorizationURL != nil {
		t.Errorf("afterwards it is %+v", got)
	}
}

func TestThePageHasNoScriptAndIsNotCached(t *testing.T) {
	w := newWorld(t)
	w.vk.Second = true
	a := w.connect(w.Caller, object{"platform": "vk"})
	page := w.visit(w.allow(a))
	w.guarded(page)
	if strings.Contains(page.Body.String(), "<script") || strings.Contains(page.Body.String(), "<Sons>") {
		t.Errorf("the page is %s", page.Body)
	}
	for _, method := range []string{http.MethodPost, http.MethodHead, http.MethodOptions} {
		if other := w.visitBy(method, url.Values{}); other.Code != http.StatusMethodNotAllowed ||
			other.Header().Get("Allow") != "GET" {
			t.Errorf("%s answers %d", method, other.Code)
		}
	}
}

func TestAnOwnerOfSeveralChannelsChoosesOne(t *testing.T) {
	w := newWorld(t)
	w.vk.Second = true
	a := w.connect(w.Caller, object{"platform": "vk", "return_url": back})
	page := w.visit(w.allow(a))
	w.shows(page, http.StatusOK, "Which account", "Acme &amp; &lt;Sons&gt;", "@acme_sons", `<form method="get">`)
	_, rest, _ := strings.Cut(page.Body.String(), `name="state" value="`)
	state, _, _ := strings.Cut(rest, `"`)
	_, rest, _ = strings.Cut(rest, "@acme<")
	_, rest, _ = strings.Cut(rest, `name="choice" value="`)
	second, _, _ := strings.Cut(rest, `"`)
	w.without("access-token-0", "refresh-token-0")
	if got := w.get(a.ID); got.State != social.Pending {
		t.Errorf("before the choice it is %+v", got)
	}
	choice := url.Values{"state": {state}, "choice": {second}}
	w.shows(w.visit(changed(choice, "choice", "-1")), http.StatusOK, "Which account")
	w.shows(w.visit(choice), http.StatusOK, "@acme_sons is connected", back)
	w.shows(w.visit(choice), http.StatusBadRequest, "used already")
	if got := w.get(a.ID); got.State != social.Connected || got.Handle != "@acme_sons" {
		t.Errorf("it is %+v", got)
	}
	// One that the request names needs no choice.
	b := w.connect(w.Caller, object{"platform": "vk", "channel": "@acme"})
	w.shows(w.visit(w.allow(b)), http.StatusOK, "@acme is connected")
	// Nor does one that is connected again.
	again := w.connect(w.Caller, object{"social_account_id": a.ID})
	if again.State != social.Connected || again.AuthorizationURL == nil {
		t.Errorf("while it waits for its owner it is %+v", again)
	}
	w.shows(w.visit(w.allow(again)), http.StatusOK, "@acme_sons is connected")
}

func TestTheSameChannelIsConnectedOnce(t *testing.T) {
	w := newWorld(t)
	first := w.connect(w.Caller, object{"platform": "tiktok"})
	w.shows(w.visit(w.allow(first)), http.StatusOK, "is connected")
	second := w.connect(w.Caller, object{"platform": "tiktok", "late_after_seconds": 600, "return_url": back})
	page := w.visit(w.allow(second))
	w.shows(page, http.StatusOK, "is connected")
	if got := page.Header().Get("Refresh"); !strings.Contains(got, "social_account_id="+first.ID) {
		t.Errorf("the browser goes on to %s", got)
	}
	got, replaced := w.get(first.ID), w.get(second.ID)
	if got.State != social.Connected || got.LateAfterSeconds == nil || *got.LateAfterSeconds != 600 ||
		replaced.State != social.Disconnected || replaced.ConnectedAs == nil || *replaced.ConnectedAs != first.ID {
		t.Errorf("they are %+v and %+v", got, replaced)
	}
	// Another customer connects it, too.
	other := w.connect(w.Stranger(), object{"platform": "tiktok"})
	w.shows(w.visit(w.allow(other)), http.StatusOK, "is connected")
	if all := apitest.All[social.Account](w.Stranger(), "/v1/social/accounts?state=connected", 10); len(all) != 1 ||
		all[0].ID != other.ID {
		t.Errorf("the other customer has %+v", all)
	}
}

func TestAnotherAccountDoesNotTakeTheFirstOnesPlace(t *testing.T) {
	w := newWorld(t)
	w.vk.Second = true
	a := w.connect(w.Caller, object{"platform": "vk", "channel": "@acme_sons"})
	w.shows(w.visit(w.allow(a)), http.StatusOK, "is connected")
	w.vk.Second = false // the user edits it no more
	page := w.visit(w.allow(w.connect(w.Caller, object{"social_account_id": a.ID, "return_url": back})))
	w.shows(page, http.StatusBadRequest, "Nothing was connected")
	if !strings.Contains(page.Header().Get("Refresh"), "error=platform_refused") {
		t.Errorf("the browser goes on to %s", page.Header().Get("Refresh"))
	}
	if got := w.get(a.ID); got.State != social.Connected || got.Handle != "@acme_sons" {
		t.Errorf("it is %+v", got)
	}
}

func TestAPlatformThatFailsInTheCallback(t *testing.T) {
	for fault, want := range map[platformtest.Fault]string{
		platformtest.ServerError: "platform_unavailable", platformtest.AnswerLost: "platform_unavailable",
		platformtest.Garbage: "platform_unavailable",
	} {
		w := newWorld(t)
		a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
		q := w.allow(a)
		w.tiktok.Fail(1, fault)
		page := w.visit(q)
		w.shows(page, http.StatusBadGateway, "Nothing was connected")
		if !strings.Contains(page.Header().Get("Refresh"), "error="+want) {
			t.Errorf("%s: the browser goes on to %s", fault, page.Header().Get("Refresh"))
		}
		if got := w.get(a.ID); got.State != social.Pending || got.AuthorizationURL != nil {
			t.Errorf("%s: it is %+v", fault, got)
		}
		w.shows(w.visit(w.allow(w.connect(w.Caller, object{"social_account_id": a.ID}))), http.StatusOK, "is connected")
	}
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	w.shows(w.visit(changed(w.allow(a), "code", "code-of-another")), http.StatusBadRequest, "Nothing was connected")
}
