package social_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/testdata/platforms/control"
)

// find calls the operation that looks something up.
func find(c *apitest.Caller, account, kind, text string) apitest.Answer {
	query := url.Values{"social_account_id": {account}, "kind": {kind}}
	if text != "" {
		query.Set("q", text)
	}
	return c.Call(http.MethodGet, "/v1/publishing/lookups?"+query.Encode(), nil)
}

// A search is made once a day, and a list every ten minutes. An account has so many calls a day.
func TestLookupsAreKept(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		kind, text, id string
		kept           time.Duration
		calls          func() int
	}{
		"instagram": {"location", "Acme Store", "106078429431815", 24 * time.Hour, w.fakeInstagram.Calls},
		"youtube":   {"playlist", "shoes", "PLacme0001", 10 * time.Minute, w.fakeYoutube.Calls},
	} {
		account := w.connected(name)
		before := c.calls()
		for n := range 3 {
			var found []social.LookupResult
			find(w.Caller, account, c.kind, c.text).Into(t, http.StatusOK, &found)
			if len(found) != 1 || found[0].ID != c.id || found[0].Name == "" {
				t.Errorf("%s: %+v", name, found)
			}
			if n == 1 {
				w.Clock.Add(c.kept)
			}
		}
		if n := c.calls() - before; n != 2 {
			t.Errorf("%s: %d calls, want one before and one after %v", name, n, c.kept)
		}
	}
}

func TestLookupsOfADay(t *testing.T) {
	w := newWorld(t)
	account := w.connected("instagram")
	for n := range 200 {
		find(w.Caller, account, "location", "Acme "+strconv.Itoa(n)).Into(t, http.StatusOK, new([]social.LookupResult))
	}
	a := find(w.Caller, account, "location", "Another")
	a.Refused(t, http.StatusTooManyRequests, errs.RateLimited, "")
	if a.Header.Get("Retry-After") == "" {
		t.Error("there is no Retry-After")
	}
	find(w.Caller, account, "location", "Acme 7").Into(t, http.StatusOK, new([]social.LookupResult))
	w.Clock.Add(24 * time.Hour)
	find(w.Caller, account, "location", "Another").Into(t, http.StatusOK, new([]social.LookupResult))
}

func TestLookupsThatAreRefused(t *testing.T) {
	w := newWorldWith(t, "pinterest", "linkedin")
	account, channel := w.connected("instagram"), w.connect(w.Caller, telegramBody()).ID
	pending := w.connect(w.Caller, object{"platform": "youtube"}).ID
	for name, c := range map[string]struct {
		account, kind, text string
		status              int
		code                errs.Code
		param               string
	}{
		"a kind of another platform":  {account, "playlist", "x", 422, errs.ValidationFailed, "kind"},
		"a platform without lookups":  {channel, "location", "x", 422, errs.ValidationFailed, "kind"},
		"a kind that is none":         {account, "planet", "x", 422, errs.ValidationFailed, "kind"},
		"no text":                     {account, "location", " ", 422, errs.ValidationFailed, "q"},
		"an account that waits":       {pending, "playlist", "", 409, errs.InvalidState, ""},
		"an account that there isn't": {"soc_01h455vb4pex5vsknk084sn02q", "location", "x", 404, errs.NotFound, ""},
	} {
		a := find(w.Caller, c.account, c.kind, c.text)
		if a.Status != c.status || a.Error == nil || a.Error.Code != string(c.code) || a.Error.Param != c.param {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	find(w.Stranger(), account, "location", "Acme").Refused(t, http.StatusNotFound, errs.NotFound, "")
	// The platform's refusals are told by their kind.
	w.fakeInstagram.Fail(w.fakeInstagram.Calls()+1, "rate limited")
	w.fakeInstagram.Fail(w.fakeInstagram.Calls()+2, "rate limited")
	find(w.Caller, account, "location", "Acme").Refused(t, http.StatusServiceUnavailable, errs.ProviderUnavailable, "")
	list, board := w.connected("youtube"), w.connected("pinterest")
	for name, c := range map[string]struct {
		said           *control.Control
		account, kind  string
		status         int
		body           string
		want           int
		param, message string
	}{
		"a right": {w.fakePinterest.Control, board, "board", 403, `{"code":403,"message":"Not authorized."}`, 409, "",
			"The platform refuses the call. It says: Not authorized."},
		"a search, with words": {w.fakeInstagram.Control, account, "location", 400,
			`{"error":{"code":100,"message":"Pages search is off for this app."}}`, 422, "q",
			"q: The platform refuses the call. It says: Pages search is off for this app."},
		"a search, without words": {w.fakeInstagram.Control, account, "location", 400, `{"error":{"code":100}}`, 422,
			"q", "q: The platform refuses the call."},
		"a list": {w.fakeYoutube.Control, list, "playlist", 400,
			`{"error":{"code":400,"message":"Bad page.","errors":[{"reason":"badRequest"}]}}`, 422, "kind",
			"kind: The platform refuses the call. It says: Bad page."},
	} {
		c.said.Say(control.Answer{Call: regexp.MustCompile("/pages/search|/playlists|/boards"), Status: c.status,
			Body: c.body})
		a := find(w.Caller, c.account, c.kind, "Acme")
		if a.Status != c.want || a.Error == nil || a.Error.Param != c.param || a.Error.Message != c.message {
			t.Errorf("%s: %d %s", name, a.Status, a.Raw)
		}
	}
	// The adapter knows why LinkedIn finds no members for a member.
	a := find(w.Caller, w.connected("linkedin"), "member", "Ann")
	a.Refused(t, http.StatusUnprocessableEntity, errs.ValidationFailed, "q")
	if !strings.Contains(a.Error.Message, "q: LinkedIn finds members among the followers of an organisation") {
		t.Error(a.Error.Message)
	}
}

// The sandbox finds ids in the form of the platform's.
func TestLookupsOfTheSandbox(t *testing.T) {
	w := newWorld(t)
	c := w.test
	a := w.connect(c, object{"platform": "youtube", "metadata": object{}})
	at, err := url.Parse(*a.AuthorizationURL)
	if err != nil {
		t.Fatal(err)
	}
	w.visit(at.Query())
	var found []social.LookupResult
	find(c, a.ID, "playlist", "").Into(t, http.StatusOK, &found)
	if len(found) != 2 || found[0].ID == "" || found[0].Name != "playlist 1" {
		t.Errorf("%+v", found)
	}
}

// connected connects an account of a platform, and returns its id.
func (w *world) connected(name string) string {
	w.T.Helper()
	a := w.connect(w.Caller, object{"platform": name})
	w.visit(w.allow(a))
	return a.ID
}
