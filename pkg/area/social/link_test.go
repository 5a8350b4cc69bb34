package social_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/storetest"
	"github.com/content-automation/api/pkg/area/social"
)

// Before the platform asks an owner, they see which customer requests access to their account, on which platform, and
// for which purpose.
func TestALinkNamesTheCustomer(t *testing.T) {
	for name, label := range map[string]string{"instagram": "Instagram", "tiktok": "TikTok", "youtube": "YouTube",
		"vk": "VK"} {
		w := newWorld(t)
		a := w.connect(w.Caller, object{"platform": name, "return_url": back})
		page := w.open(http.MethodGet, a)
		w.shows(page, http.StatusOK, "<h1><bdi>Acme</bdi> asks for access to your account on "+label+"</h1>", "<bdi>Acme</bdi>",
			string(w.Principal.Account), "publish on the account", "Continue to "+label)
		w.guarded(page)
		if page.Header().Get("Refresh") != "" || strings.Contains(page.Body.String(), "<script") {
			t.Errorf("%s: the browser goes on by itself: %v %s", name, page.Header(), page.Body)
		}
		to, err := url.Parse(continues(t, page.Body.String()))
		if err != nil || to.Host != "platforms.test" || to.Query().Get("state") == "" ||
			to.Query().Get("code_challenge") == "" {
			t.Errorf("%s: it goes on to %s, %v", name, to, err)
		}
	}
}

// The page can be opened as often as needed, also by programs that preview links.
func TestALinkIsNotUsedUpByItsPage(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok"})
	before := storetest.Snapshot(t, w.DB)
	if head := w.open(http.MethodHead, a); head.Code != http.StatusOK || head.Body.Len() != 0 || len(w.cookies) != 0 ||
		head.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("HEAD answers %d %v with %d bytes", head.Code, head.Header(), head.Body.Len())
	}
	first := w.open(http.MethodGet, a)
	second := w.open(http.MethodGet, a)
	if continues(t, first.Body.String()) != continues(t, second.Body.String()) {
		t.Error("the page leads to another place the second time")
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodOptions} {
		if other := w.open(method, a); other.Code != http.StatusMethodNotAllowed ||
			other.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("%s answers %d %v", method, other.Code, other.Header())
		}
	}
	if storetest.Snapshot(t, w.DB) != before || len(w.audit.Calls()) != 0 || w.tiktok.Calls() != 0 {
		t.Errorf("the page has changed something: %+v, %d calls", w.audit.Calls(), w.tiktok.Calls())
	}
	w.shows(w.visit(w.allow(a)), http.StatusOK, "is connected")
}

// The name of a customer is text, whatever is in it.
func TestAHostileNameIsText(t *testing.T) {
	for name, want := range map[string]string{
		`<script>alert(1)</script>`:            "&lt;script&gt;alert(1)&lt;/script&gt; asks for",
		`</title><img src=x onerror=alert(1)>`: "&lt;/title&gt;&lt;img src=x onerror=alert(1)&gt; asks for",
		`"><a href="javascript:alert(1)">`:     "&#34;&gt;&lt;a href=&#34;javascript:alert(1)&#34;&gt; asks for",
		"{{.Address}}":                         "{{.Address}} asks for",
		"Acme\u202eemca\u2066\u200b":           "Acmeemca asks for",
	} {
		w := newWorld(t)
		w.customer(w.Principal.Account, name) // as if names had not been checked
		page := w.open(http.MethodGet, w.connect(w.Caller, object{"platform": "tiktok"}))
		w.shows(page, http.StatusOK, want)
		for _, part := range []string{"<script", "<img", `href="javascript`, "\u202e"} {
			if strings.Contains(page.Body.String(), part) {
				t.Errorf("%q makes the page %s", name, page.Body)
			}
		}
		w.guarded(page)
	}
}

// A link that is not good says so, and nothing of the customer, the platform or the account.
func TestALinkThatIsNotGood(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
	link := mustQuery(t, *a.AuthorizationURL)
	silent := func(q url.Values, title string) {
		t.Helper()
		page := w.visit(q)
		w.shows(page, http.StatusBadRequest, title)
		w.guarded(page)
		for _, part := range []string{"Acme", "TikTok", a.ID, string(w.Principal.Account), back, "platforms.test"} {
			if strings.Contains(page.Body.String(), part) {
				t.Errorf("%s: the page reveals %s: %s", title, part, page.Body)
			}
		}
		if len(page.Result().Cookies()) != 0 || page.Header().Get("Refresh") != "" {
			t.Errorf("%s: the headers are %v", title, page.Header())
		}
	}
	state := link.Get("link")
	for _, forged := range []string{"", "x", "a.b.c", state[:len(state)-1],
		strings.Replace(state, a.ID, social.NewID(w.Now()), 1)} {
		silent(url.Values{"link": {forged}}, "not valid")
	}
	// A newer link replaces it.
	again := w.connect(w.Caller, object{"social_account_id": a.ID})
	silent(link, "used already")
	w.shows(w.visit(w.allow(again)), http.StatusOK, "is connected")
	silent(mustQuery(t, *again.AuthorizationURL), "used already")
	last := w.connect(w.Caller, object{"social_account_id": a.ID, "return_url": back})
	w.Clock.Add(30 * time.Minute)
	silent(mustQuery(t, *last.AuthorizationURL), "has expired")
	if n := len(w.audit.Calls()); n != 1 {
		t.Errorf("the audit log has %d entries of one connection", n)
	}
}

// The state of a choice of channels is no link.
func TestAChoiceIsNoLink(t *testing.T) {
	w := newWorld(t)
	w.vk.Second = true
	page := w.visit(w.allow(w.connect(w.Caller, object{"platform": "vk"})))
	_, rest, _ := strings.Cut(page.Body.String(), `name="state" value="`)
	state, _, _ := strings.Cut(rest, `"`)
	w.shows(w.visit(url.Values{"link": {state}}), http.StatusBadRequest, "not valid")
}

// Who sends the platform's address around the page connects no account: the owner's browser
// is first shown who asks.
func TestABrowserThatWasNotShownWhoAsks(t *testing.T) {
	w := newWorld(t)
	a := w.connect(w.Caller, object{"platform": "tiktok", "return_url": back})
	q := w.allow(a)
	own := w.cookies
	w.cookies = nil
	stranger := w.connect(w.Stranger(), object{"platform": "tiktok"})
	w.allow(stranger) // a page of another link does not count
	for _, c := range w.cookies {
		w.cookies = append(w.cookies, &http.Cookie{Name: own[0].Name, Value: c.Value})
	}
	for _, with := range []url.Values{q, changed(q, "code", ""), changed(q, "code", "guessed")} {
		page := w.visit(with)
		w.shows(page, http.StatusForbidden, "See first who asks", "Nothing was connected")
		w.guarded(page)
		if page.Header().Get("Refresh") != "" || len(page.Result().Cookies()) != 0 {
			t.Errorf("the headers are %v", page.Header())
		}
		if to := continues(t, page.Body.String()); to != *a.AuthorizationURL {
			t.Errorf("the page leads to %s, not to %s", to, *a.AuthorizationURL)
		}
	}
	if got := w.get(a.ID); got.State != social.Pending || got.AuthorizationURL != nil || w.tiktok.Calls() != 0 {
		t.Errorf("afterwards it is %+v, with %d calls", got, w.tiktok.Calls())
	}
	// There, the link works still.
	w.shows(w.visit(w.allow(a)), http.StatusOK, "is connected")
	if c := own[0]; c.Name != "__Host-link_"+a.ID || c.Path != "/" || c.Domain != "" || !c.Secure || !c.HttpOnly ||
		c.SameSite != http.SameSiteLaxMode || c.MaxAge <= 0 || c.MaxAge > 1800 {
		t.Errorf("the cookie is %+v", c)
	}
}

// The link has the address that its caller used: on the gateway's own name with the stage,
// and on this machine without TLS, whose cookies browsers keep only without Secure.
func TestALinkHasTheAddressOfTheAPI(t *testing.T) {
	for at, name := range map[string]string{"https://a1.execute-api.eu-central-1.amazonaws.com/prod": "__Host-link_",
		"http://127.0.0.1:8080": "link_"} {
		w := newWorld(t)
		w.Gateway.BaseURL = at
		a := w.connect(w.Caller, object{"platform": "tiktok"})
		if !strings.HasPrefix(*a.AuthorizationURL, at+social.CallbackPath+"?link=") {
			t.Errorf("the link is %s", *a.AuthorizationURL)
		}
		page := w.visit(mustQuery(t, *a.AuthorizationURL))
		to := mustQuery(t, continues(t, page.Body.String()))
		if to.Get("redirect_uri") != at+social.CallbackPath || w.cookies[0].Name != name+a.ID ||
			w.cookies[0].Secure != strings.HasPrefix(at, "https") {
			t.Errorf("%s: it goes on to %v with %v", at, to, w.cookies)
		}
	}
}

func mustQuery(t *testing.T, address string) url.Values {
	t.Helper()
	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return at.Query()
}
