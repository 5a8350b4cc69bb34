package social_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/social"
	"github.com/content-automation/api/pkg/auth"
)

// The audit log of a customer has each end of an authorization: of which account, how, and
// from where; and nothing of the link.
func TestTheAuditLogHasTheEndsOfAuthorizations(t *testing.T) {
	for name, c := range map[string]struct {
		visit  func(w *world, a social.Account, q url.Values)
		status int
		code   string
	}{
		"connected": {func(w *world, _ social.Account, q url.Values) { w.visit(q) }, http.StatusOK, ""},
		"denied": {func(w *world, _ social.Account, q url.Values) { w.visit(changed(q, "code", "")) },
			http.StatusForbidden, "access_denied"},
		"a forged code": {func(w *world, _ social.Account, q url.Values) { w.visit(changed(q, "code", "guessed")) },
			http.StatusBadRequest, "platform_refused"},
		"expired": {func(w *world, _ social.Account, q url.Values) { w.Clock.Add(time.Hour); w.visit(q) },
			http.StatusBadRequest, "expired"},
		"another browser": {func(w *world, _ social.Account, q url.Values) { w.cookies = nil; w.visit(q) },
			http.StatusForbidden, "other_browser"},
		"a link of then": {func(w *world, a social.Account, q url.Values) {
			w.connect(w.Caller, object{"social_account_id": a.ID})
			w.visit(q)
		}, http.StatusBadRequest, "link_used"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			a := w.connect(w.Caller, object{"platform": "tiktok"})
			q := w.allow(a)
			c.visit(w, a, q)
			calls := w.audit.Calls()
			if len(calls) != 1 {
				t.Fatalf("%+v", calls)
			}
			got := calls[0]
			if got.Principal.Owner != w.Principal.Owner ||
				got.Principal.Actor != (auth.Actor{Kind: auth.SocialAccount, ID: a.ID}) ||
				got.OperationID != "social.callback" ||
				got.Path != social.CallbackPath || got.Method != http.MethodGet || got.Status != c.status ||
				got.ErrorCode != c.code ||
				got.IP != "203.0.113.9" || got.UserAgent != "Browser" || got.RequestID != "req-2" ||
				!got.At.Equal(w.Now()) {
				t.Errorf("%+v of %+v", got, got.Principal)
			}
			text, err := json.Marshal(got)
			if err != nil || strings.Contains(string(text), q.Get("state")) || q.Get("code") != "" &&
				strings.Contains(string(text), q.Get("code")) {
				t.Errorf("the link is in the entry: %s, %v", text, err)
			}
		})
	}
}

// A link without a signature has no entry, and one that was used has few.
func TestVisitsThatUseNoLinkUpAreBounded(t *testing.T) {
	w := newWorld(t)
	q := w.allow(w.connect(w.Caller, object{"platform": "tiktok"}))
	w.visit(changed(q, "state", "x"))
	if calls := w.audit.Calls(); len(calls) != 0 {
		t.Errorf("%+v", calls)
	}
	for range 30 {
		w.visit(q)
	}
	if n := len(w.audit.Calls()); n != 11 {
		t.Errorf("%d entries for one connection and 29 visits of its link", n)
	}
}
