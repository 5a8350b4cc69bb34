package console

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// signedIn returns the browser of a user.
func (s *system) signedIn(t *testing.T, user string) *browser {
	t.Helper()
	b := s.browser(t)
	if p := s.signIn(b, user+"@demo.example"); p.status != http.StatusOK {
		t.Fatalf("%d at %s: %s", p.status, p.at, p.body)
	}
	return b
}

// callbackOf signs in at the provider, and returns the address of the callback without going there.
func (s *system) callbackOf(b *browser) string {
	b.t.Helper()
	form := b.get("/auth/start")
	found := hiddenRequest.FindStringSubmatch(form.body)
	q, err := url.ParseQuery(html.UnescapeString(found[1]))
	if err != nil {
		b.t.Fatal(err)
	}
	p := b.send(http.MethodPost, "/_identity/login", url.Values{"request": {q.Encode()}, "email": {"owner@demo.example"},
		"password": {s.Password()}})
	return p.header.Get("Location")
}

func TestACallbackThatIsForgedOrReplayed(t *testing.T) {
	s := start(t)
	for name, change := range map[string]func(b *browser, at string) string{
		"without its cookie": func(b *browser, at string) string {
			delete(b.cookies, "__Host-sign-in")
			return at
		},
		"with a forged cookie": func(b *browser, at string) string {
			b.cookies["__Host-sign-in"].Value = "AAAA" + b.cookies["__Host-sign-in"].Value[4:]
			return at
		},
		"with another state": func(_ *browser, at string) string { return strings.Replace(at, "state=", "state=X", 1) },
		"without a state":    func(_ *browser, at string) string { return at[:strings.Index(at, "&state=")] },
		"with another code":  func(_ *browser, at string) string { return strings.Replace(at, "code=", "code=X", 1) },
		"of another browser": func(b *browser, at string) string {
			other := s.browser(b.t)
			other.get("/auth/start")
			b.cookies = other.cookies
			return at
		},
		"too late": func(_ *browser, at string) string {
			s.clock.advance(11 * time.Minute)
			return at
		},
		"a second time": func(b *browser, at string) string {
			kept := *b.cookies["__Host-sign-in"]
			if p := b.follow(b.send(http.MethodGet, at, nil)); p.status != http.StatusOK {
				b.t.Fatalf("the first time: %d %s", p.status, p.body)
			}
			b.cookies = map[string]*http.Cookie{"__Host-sign-in": &kept}
			return at
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := s.browser(t)
			at := change(b, s.callbackOf(b))
			p := b.send(http.MethodGet, at, nil)
			if p.status != http.StatusBadRequest && p.status != http.StatusForbidden {
				t.Errorf("%d: %s", p.status, p.body)
			}
			if b.cookies["__Host-session"] != nil {
				t.Error("there is a session")
			}
		})
	}
}

func TestASignInReturnsToPagesOfTheAccountAreaOnly(t *testing.T) {
	s := start(t)
	for _, to := range []string{"https://evil.example/settings", "//evil.example", "/settings//evil.example", "/v1/me",
		"/settings\\evil", "/settings\r\nX: y"} {
		b := s.browser(t)
		form := b.get("/auth/start?" + url.Values{"return": {to}}.Encode())
		if p := s.give(b, form, "owner@demo.example"); p.at != s.BaseURL+"/settings" {
			t.Errorf("%q leads to %s", to, p.at)
		}
	}
}

// The forms, each with the path that it is sent to.
var forms = map[string]url.Values{
	"/settings/api-keys":                                                  {"name": {"x"}, "kind": {"live"}, "scopes": {"account:read"}},
	"/settings/api-keys/{key}/rotate":                                     {"overlap": {"0"}},
	"/settings/api-keys/{key}/revoke":                                     {},
	"/settings/api-keys/{key}/leak":                                       {},
	"/settings/webhooks":                                                  {"url": {"http://127.0.0.1:9/"}, "event_types": {"*"}},
	"/settings/webhooks/{hook}/test":                                      {},
	"/settings/webhooks/{hook}/state":                                     {"state": {"disabled"}},
	"/settings/webhooks/{hook}/delete":                                    {},
	"/settings/webhooks/{hook}/rotate-secret":                             {},
	"/settings/social-accounts":                                           {"platform": {"telegram"}, "bot_token": {"1:x"}, "channel": {"@x"}},
	"/settings/social-accounts/soc_01h455vb4pex5vsknk084sn02q/disconnect": {},
	"/settings/applications":                                              {"platform": {"youtube"}, "client_id": {"x"}, "client_secret": {"y"}},
	"/settings/people":                                                    {"email": {"eve@demo.example"}, "role": {"owner"}},
	"/settings/people/{person}/role":                                      {"role": {"auditor"}},
	"/settings/people/{person}/remove":                                    {},
	"/settings/sign-on":                                                   {"name": {"x"}, "role": {"admin"}},
	"/settings/explorer":                                                  {},
	"/settings/cli":                                                       cliForm(),
}

// filled fills in the ids of a path.
func (s *system) filled(t *testing.T) *strings.Replacer {
	t.Helper()
	_, hook := s.call(t, s.Live, "POST", "/v1/webhooks", map[string]any{"url": "http://127.0.0.1:9/",
		"event_types": []string{"*"}})
	_, made := s.call(t, s.Live, "POST", "/v1/api-keys", map[string]any{"name": "x", "kind": "live",
		"scopes": []string{"account:read"}})
	people := s.signedIn(t, "owner").get("/settings/people")
	id := people.body[strings.Index(people.body, "usr_"):][:30]
	return strings.NewReplacer("{hook}", hook["id"].(string), "{key}", made["id"].(string), "{person}", id)
}

func TestAnAuditorIsRefusedAtEveryForm(t *testing.T) {
	s := start(t)
	ids, b := s.filled(t), s.signedIn(t, "auditor")
	for path, form := range forms {
		if p := b.post(ids.Replace(path), form); p.status != http.StatusForbidden {
			t.Errorf("%s: %d %s", path, p.status, p.body)
		}
	}
}

func TestAFormOfAnotherSiteIsRefused(t *testing.T) {
	s := start(t)
	ids, b := s.filled(t), s.signedIn(t, "owner")
	for path, form := range forms {
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			p := b.send(http.MethodPost, ids.Replace(path), b.withToken(form),
				func(r *http.Request) { r.Header.Set(name, value) })
			if p.status != http.StatusForbidden {
				t.Errorf("%s with %s: %d", path, name, p.status)
			}
		}
	}
	if status, _ := s.call(t, s.Live, "GET", "/v1/me", nil); status != http.StatusOK {
		t.Errorf("a form had an effect: %d", status)
	}
}

// A script on the same origin, such as one of the explorer, has the cookie of the session, but opens no page.
func TestAScriptCannotUseTheSession(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	script := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Sec-Fetch-Mode", "cors")
		r.Header.Set("X-Part", "true")
	}
	for _, path := range []string{"/settings/api-keys", "/settings/people/invite", "/settings/people/invite?dialog=",
		"/settings/people/invite?dialog=0123"} {
		if p := b.send(http.MethodGet, path, nil, script); p.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, p.status)
		}
	}
	for _, path := range []string{"/settings/mode", "/auth/sign-out"} {
		if p := b.send(http.MethodPost, path, url.Values{"mode": {"test"}}, script); p.status != http.StatusForbidden {
			t.Errorf("%s: %d", path, p.status)
		}
	}
}

// A script of the explorer can send a form with the session, and make it look like a navigation. It does not know the
// token of the session.
func TestAFormWithoutTheTokenOfItsSessionIsRefused(t *testing.T) {
	s := start(t)
	ids, b := s.filled(t), s.signedIn(t, "owner")
	token := func(b *browser) string { return b.withToken(nil).Get("token") }
	dialog := regexp.MustCompile(`\?dialog=([0-9a-f]+)`).FindStringSubmatch(b.get("/settings/people").body)
	earlier := token(b)
	s.give(b, b.get("/auth/sign-in?again=1&return=/settings/usage"), "owner@demo.example")
	if earlier == "" || token(b) == earlier || dialog == nil {
		t.Fatalf("the token stays %q after a sign-in, or there is no %q", earlier, dialog)
	}
	all := maps.Clone(forms)
	all["/settings/mode"], all["/settings/language"] = url.Values{"mode": {"test"}}, url.Values{"language": {"ru"}}
	all["/settings/sign-on/con_01h455vb4pex5vsknk084sn02q/groups"] = url.Values{"groups": {"x = admin"}}
	all["/settings/profile/sessions/end"] = url.Values{}
	all["/auth/sign-out"], all["/settings/api-keys/new"] = url.Values{}, url.Values{"preset": {"all"}}
	for path, form := range all {
		for name, given := range map[string]string{"no token": "", "the token of another session": token(s.signedIn(t, "admin")),
			"an earlier token": earlier, "the token of dialogs": dialog[1], "a part of it": token(b)[:31]} {
			sent := maps.Clone(form)
			if given != "" {
				sent.Set("token", given)
			}
			if p := b.send(http.MethodPost, ids.Replace(path), sent); p.status != http.StatusForbidden {
				t.Errorf("%s with %s: %d", path, name, p.status)
			}
		}
	}
	p := b.get("/settings/people")
	if p.status != http.StatusOK || strings.Contains(p.body, "eve@demo.example") || !strings.Contains(p.body, "People") {
		t.Errorf("a form had an effect: %d %s", p.status, p.body)
	}
	if status, _ := s.call(t, s.Live, "GET", "/v1/me", nil); status != http.StatusOK {
		t.Errorf("a form had an effect: %d", status)
	}
	// Without scripts, a preset of scopes sends the form, and the token is in no address.
	p = b.post("/settings/api-keys/new", url.Values{"preset": {"read"}, "name": {"Kept"}})
	if p.status != http.StatusOK || strings.Contains(p.at, "token") || !strings.Contains(p.body, `value="Kept"`) ||
		strings.Count(p.body, `:read" checked>`) != 4 || strings.Count(p.body, `value="" checked>`) != 5 {
		t.Errorf("a preset: %d at %s: %s", p.status, p.at, p.body)
	}
}

// A page within another document, or for a browser that does not tell where a request comes from, is refused.
func TestAPageThatIsNotAWindowIsRefused(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	for name, change := range map[string]func(http.Header){
		"in a frame":       func(h http.Header) { h.Set("Sec-Fetch-Dest", "iframe") },
		"an old browser":   func(h http.Header) { h.Del("Sec-Fetch-Mode"); h.Del("Sec-Fetch-Dest") },
		"a service worker": func(h http.Header) { h.Set("Sec-Fetch-Mode", "same-origin"); h.Set("Sec-Fetch-Dest", "serviceworker") },
	} {
		for path, want := range map[string]int{"/settings/people": http.StatusForbidden,
			"/settings/nothing": http.StatusNotFound} {
			p := b.send(http.MethodGet, path, nil, func(r *http.Request) { change(r.Header) })
			if p.status != want || strings.Contains(p.body, "token") ||
				strings.Contains(p.body, "owner@demo.example") || strings.Contains(p.body, "dialog=") {
				t.Errorf("%s: %s: %d %s", name, path, p.status, p.body)
			}
		}
	}
}

func TestSensitiveChangesNeedARecentSignIn(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	s.clock.advance(16 * time.Minute)
	p := b.get("/settings/api-keys/new")
	if p.status != http.StatusForbidden || !strings.Contains(p.body, "Confirm that it is you") {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p := b.get("/settings/usage"); p.status != http.StatusOK {
		t.Errorf("a page that changes nothing: %d", p.status)
	}
	before := b.cookies["__Host-session"].Value
	// The provider asks for the password, although the browser has signed in there.
	p = s.give(b, b.get("/auth/sign-in?again=1&return=/settings/api-keys/new"), "owner@demo.example")
	if p.status != http.StatusOK || !strings.HasSuffix(p.at, "/settings/api-keys/new") {
		t.Errorf("%d at %s: %s", p.status, p.at, p.body)
	}
	if after := b.cookies["__Host-session"].Value; after == before {
		t.Error("the session keeps its token")
	}
	b.cookies["__Host-session"].Value = before
	if p := b.get("/settings/usage"); !strings.Contains(p.at, "/auth/sign-in") {
		t.Errorf("the earlier token leads to %s", p.at)
	}
}

func TestARemovedPersonIsOutAtOnce(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "developer")
	owner := s.signedIn(t, "owner")
	people := owner.get("/settings/people").body
	at := strings.Index(people, "developer@demo.example")
	id := people[at:][strings.Index(people[at:], "usr_"):][:30]
	if p := owner.post("/settings/people/"+id+"/role", url.Values{"role": {"auditor"}}); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p := b.post("/settings/webhooks", forms["/settings/webhooks"]); p.status != http.StatusForbidden {
		t.Errorf("a demoted person gets %d", p.status)
	}
	if p := owner.post("/settings/people/"+id+"/remove", nil); p.status != http.StatusOK {
		t.Fatalf("%d: %s", p.status, p.body)
	}
	if p := b.get("/settings/usage"); !strings.Contains(p.at, "/auth/sign-in") || b.cookies["__Host-session"] != nil {
		t.Errorf("a removed person is at %s", p.at)
	}
}

func TestSignOutEndsTheSession(t *testing.T) {
	s := start(t)
	b := s.signedIn(t, "owner")
	kept := *b.cookies["__Host-session"]
	if p := b.get("/settings/api-keys"); p.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a page is cached: %q", p.header.Get("Cache-Control"))
	}
	if p := b.post("/auth/sign-out", url.Values{}); p.status != http.StatusOK || len(b.cookies) != 1 { // the provider's
		t.Errorf("%d with the cookies %v", p.status, b.cookies)
	}
	b.cookies["__Host-session"] = &kept
	if p := b.get("/settings/api-keys"); !strings.Contains(p.at, "/auth/sign-in") {
		t.Errorf("the earlier session leads to %s", p.at)
	}
}

// A link of another site neither signs a browser in by a provider that somebody else has chosen, nor ends its session.
func TestALinkSignsNobodyInWithoutAClick(t *testing.T) {
	s := start(t)
	id := strings.TrimPrefix(s.connected(t, newCustomer(t, s)), "con_")
	b := s.signedIn(t, "auditor")
	before := b.cookies["__Host-session"].Value
	for _, link := range []string{"/auth/start?connection=" + id, "/auth/start"} {
		p := b.send(http.MethodGet, link, nil)
		if p.status != http.StatusOK || p.header.Get("Location") != "" || b.cookies["__Host-sign-in"] != nil {
			t.Errorf("%s: %d, %s", link, p.status, p.header.Get("Location"))
		}
		p.shows(t, "auditor@demo.example", `action="/auth/start"`)
	}
	// Only the pool is asked to let a person sign in again: another provider may ignore it, and sign in at once.
	for _, link := range []string{"/auth/sign-in?again=1&connection=" + id, "/auth/start?again=1&connection=" + id} {
		p := b.send(http.MethodGet, link, nil)
		if strings.Contains(p.header.Get("Location"), id) || b.cookies["__Host-sign-in"] != nil {
			t.Errorf("%s: %d, %s", link, p.status, p.header.Get("Location"))
		}
	}
	b.send(http.MethodGet, "/auth/start?connection="+id, nil).shows(t, "Acme")
	for name, change := range map[string]func(*http.Request){
		"another site":        func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another origin":      func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"a script":            func(r *http.Request) { r.Header.Set("Sec-Fetch-Mode", "cors") },
		"a frame of the site": func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") },
	} {
		if p := b.send(http.MethodPost, "/auth/start", url.Values{"connection": {id}}, change); p.status !=
			http.StatusForbidden || b.cookies["__Host-sign-in"] != nil {
			t.Errorf("a form of %s: %d", name, p.status)
		}
	}
	if p := b.get("/auth/start?connection=unknown"); p.status != http.StatusNotFound {
		t.Errorf("an unknown provider: %d", p.status)
	}
	if b.cookies["__Host-session"].Value != before || b.get("/settings/usage").at != s.BaseURL+"/settings/usage" {
		t.Error("the session has ended")
	}
}

// What gives others access, or sends data away, is made or changed within 15 minutes of a sign-in only.
func TestWhatGivesAccessNeedsARecentSignIn(t *testing.T) {
	s := start(t)
	ids, b := s.filled(t), s.signedIn(t, "owner")
	keys := strings.Count(b.get("/settings/api-keys").body, "/settings/api-keys/key_")
	const signOn = "/settings/sign-on/con_01h455vb4pex5vsknk084sn02q/"
	all := map[string]url.Values{
		"/settings/integrations":                                {"provider": {"hubspot"}},
		"/settings/integrations/int_01h455vb4pex5vsknk084sn02q": {"stage": {"x"}},
		"/settings/review-links":                                {"may": {"decide"}},
		"/settings/api-keys/new":                                {"preset": {"all"}},
		"/settings/profile/sessions/end":                        nil,
	}
	for path, form := range forms {
		// What only ends, stops or tries something needs no other sign-in.
		if last := path[strings.LastIndex(path, "/"):]; !slices.Contains([]string{"/test", "/state", "/delete",
			"/disconnect"}, last) {
			all[path] = form
		}
	}
	for _, act := range []string{"groups", "domains", "verify", "undomain", "enforce", "setup", "remove", "confirm"} {
		all[signOn+act] = nil
	}
	s.clock.advance(16 * time.Minute)
	for path, form := range all {
		p := b.post(ids.Replace(path), form)
		if p.status != http.StatusForbidden || !strings.Contains(p.body, "Confirm that it is you") {
			t.Errorf("%s: %d %s", path, p.status, p.at)
		}
	}
	if now := strings.Count(b.get("/settings/api-keys").body, "/settings/api-keys/key_"); now != keys {
		t.Errorf("there are %d keys, not %d", now, keys)
	}
	if people := b.get("/settings/people").body; strings.Contains(people, "eve@demo.example") {
		t.Error("a person was invited")
	}
}
