package publishing_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/area/content/item"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/resource"
)

const hostile = `"><script>alert(1)</script><img src=x onerror=alert(2)>'--><a href="javascript:alert(3)">`

// Every text that callers choose is text on the page, wherever it stands.
func TestHostileTextsAreShownAsText(t *testing.T) {
	w := newWorld(t)
	w.connect("telegram")
	it := w.provide("title", "Title "+hostile, "caption", "Caption "+hostile, "hashtags", []string{"plain"},
		"variants", object{"telegram": object{"caption": "Variant " + hostile}})
	w.Call(http.MethodPost, "/v1/approvals/"+it.ID+"/request-changes", object{"note": "Note " + hostile}).
		Into(t, http.StatusOK, &it)
	_, at := w.link(object{"content_item_ids": []string{it.ID}, "may": "decide", "name": "Name " + hostile})
	status, header, body := w.visit(http.MethodGet, at, nil)
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for _, want := range []string{"Title ", "Variant ", "Note ", "Name "} {
		if !strings.Contains(body, want+"&#34;&gt;&lt;script&gt;alert(1)") {
			t.Errorf("the page does not show %q as text: %s", want, body)
		}
	}
	for _, markup := range []string{"<script", "<img", `<a href="j`} {
		if strings.Contains(body, markup) {
			t.Errorf("the page has %s", markup)
		}
	}
	policy := header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
		"media-src 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy lacks %s: %s", want, policy)
		}
	}
	if strings.Contains(policy, "script-src") || strings.Contains(policy, "unsafe") || header.Get("Set-Cookie") != "" {
		t.Errorf("%v", header)
	}
	// Hostile forms change nothing, and are not repeated on the page.
	for name, form := range map[string]url.Values{
		"a decision that is none": publishing.Form(it.ID, it.Version, hostile, ""),
		"an item that is none":    publishing.Form(hostile, it.Version, item.Approved, ""),
		"no members":              {},
		"a hostile note":          {"decision": {"changes_requested " + it.ID}, "note-" + hostile: {hostile}},
		"a long note":             publishing.Form(it.ID, it.Version, item.Approved, strings.Repeat("é", 2001)),
		"a form without an end":   {"decision": {item.Approved}, "x": {strings.Repeat("x", 2<<20)}},
	} {
		status, _, body := w.visit(http.MethodPost, at, form)
		if status < 400 || status >= 500 || strings.Contains(body, "<script") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, _, _ = w.visit(http.MethodGet, at+"?done="+url.QueryEscape(hostile), nil); status != http.StatusOK {
		t.Errorf("a hostile query: %d", status)
	}
	if _, _, body = w.visit(http.MethodGet, at+"?done="+url.QueryEscape(hostile), nil); strings.Contains(body,
		`role="status"`) {
		t.Error("a hostile query is a notice")
	}
	w.Call(http.MethodGet, "/v1/content-items/"+it.ID, nil).Into(t, http.StatusOK, &it)
	if it.Approval.State != item.ChangesRequested {
		t.Errorf("%+v", it.Approval)
	}
}

// The secret of a link opens it alone, in its exact form, and no response or list repeats it.
func TestTheSecretOfALink(t *testing.T) {
	w := newWorld(t)
	it := w.provide()
	first, at := w.link(object{"content_item_ids": []string{it.ID}})
	second, other := w.link(object{"content_item_ids": []string{it.ID}})
	token := strings.TrimPrefix(at, publishing.PagePath)
	id, secret, _ := strings.Cut(token, ".")
	otherID, otherSecret, _ := strings.Cut(strings.TrimPrefix(other, publishing.PagePath), ".")
	if len(secret) < 43 || secret == otherSecret || "rvl_"+id != first.ID {
		t.Errorf("the secrets are %q and %q", secret, otherSecret)
	}
	for _, wrong := range []string{id, id + ".", id + "." + otherSecret, otherID + "." + secret, token + "A", token + "=",
		id + "." + secret[:len(secret)-1], id + "." + strings.ToLower(secret), "." + secret, "rvl_" + token} {
		if status, _, _ := w.visit(http.MethodGet, publishing.PagePath+wrong, nil); status != http.StatusNotFound {
			t.Errorf("%q: %d", wrong, status)
		}
	}
	if status, header, _ := w.visit(http.MethodDelete, at, nil); status != http.StatusMethodNotAllowed ||
		header.Get("Allow") != "GET, HEAD, POST" {
		t.Errorf("DELETE: %d %v", status, header)
	}
	if status, _, body := w.visit(http.MethodHead, at, nil); status != http.StatusOK || body != "" {
		t.Errorf("HEAD: %d %q", status, body)
	}
	list := w.Call(http.MethodGet, "/v1/review-links", nil)
	if raw := string(list.Raw); strings.Contains(raw, secret) || strings.Contains(raw, "hash") ||
		!strings.Contains(raw, second.ID) {
		t.Errorf("%s", raw)
	}
	one := w.Only(auth.ContentRead).Call(http.MethodGet, "/v1/review-links/"+first.ID, nil)
	var read publishing.ReviewLink
	if one.Into(t, http.StatusOK, &read); read.ID != first.ID || read.State != "active" || read.URL != nil ||
		strings.Contains(one.Raw, secret) || strings.Contains(one.Raw, "hash") {
		t.Errorf("%s", one.Raw)
	}
	w.Stranger().Call(http.MethodGet, "/v1/review-links/"+first.ID, nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Only(auth.ContentRead).Call(http.MethodGet, "/v1/review-links", nil).
		Refused(t, http.StatusForbidden, errs.InsufficientScope, "")
	w.Stranger().Call(http.MethodDelete, "/v1/review-links/"+first.ID, nil).
		Refused(t, http.StatusNotFound, errs.NotFound, "")
	w.Call(http.MethodDelete, "/v1/review-links/"+first.ID, nil, "If-Match", `"7"`).
		Refused(t, http.StatusPreconditionFailed, errs.VersionMismatch, "If-Match")
	// A late repeat of the creation leaves the address out.
	body := object{"content_item_ids": []string{it.ID}, "name": "Late"}
	var made publishing.ReviewLink
	w.Call(http.MethodPost, "/v1/review-links", body, "Idempotency-Key", "late").Into(t, http.StatusCreated, &made)
	w.Clock.Add(11 * time.Minute)
	var late publishing.ReviewLink
	w.Call(http.MethodPost, "/v1/review-links", body, "Idempotency-Key", "late").Into(t, http.StatusCreated, &late)
	if late.ID != made.ID || made.URL == nil || late.URL != nil || late.SecretShown == nil {
		t.Errorf("a late repeat: %+v", late)
	}
}

// A link shows the items as they are: without those that were deleted, and those that can be decided with a form.
func TestALinkShowsWhatIsThere(t *testing.T) {
	w := newWorld(t)
	kept, gone := w.provide("caption", "Kept words"), w.provide("caption", "Gone words")
	_, at := w.link(object{"content_item_ids": []string{kept.ID, gone.ID}, "may": "decide",
		"expires_at": resource.Instant(w.Now().Add(30 * 24 * time.Hour))})
	w.Call(http.MethodDelete, "/v1/content-items/"+gone.ID, nil).Into(t, http.StatusOK, new(object))
	_, _, body := w.visit(http.MethodGet, at, nil)
	if !strings.Contains(body, "Kept words") || strings.Contains(body, "Gone words") ||
		strings.Count(body, `value="approved cnt_`) != 1 {
		t.Errorf("%s", body)
	}
	channel := w.connect("telegram")
	w.Call(http.MethodPost, "/v1/content-items/"+kept.ID+"/publish",
		object{"social_account_ids": []string{channel}}).Into(t, http.StatusAccepted, new(object))
	w.work()
	_, _, body = w.visit(http.MethodGet, at, nil)
	if !strings.Contains(body, "Kept words") || strings.Contains(body, `name="decision"`) || !strings.Contains(body, "published") {
		t.Errorf("%s", body)
	}
	form := publishing.Form(kept.ID, 1, item.Approved, "")
	if status, _, _ := w.visit(http.MethodPost, at, form); status != http.StatusConflict {
		t.Errorf("a decision about a published item: %d", status)
	}
	w.Call(http.MethodDelete, "/v1/content-items/"+kept.ID, nil).Into(t, http.StatusOK, new(object))
	if _, _, body = w.visit(http.MethodGet, at, nil); !strings.Contains(body, "nothing to review") {
		t.Errorf("%s", body)
	}
}

// A cursor of a list of links in some states is none of the list of others.
func TestCursorsOfLinksKnowTheirStates(t *testing.T) {
	w := newWorld(t)
	it := w.provide("title", "A title", "caption", "A caption")
	for range 3 {
		w.link(object{"content_item_ids": []string{it.ID}})
	}
	var page struct {
		Next string `json:"next_cursor"`
	}
	first := w.Call(http.MethodGet, "/v1/review-links?state=active&limit=2", nil)
	if err := json.Unmarshal([]byte(first.Raw), &page); err != nil || page.Next == "" {
		t.Fatalf("%v: %s", err, first.Raw)
	}
	rest := w.Call(http.MethodGet, "/v1/review-links?state=active&limit=2&cursor="+page.Next, nil)
	var links []publishing.ReviewLink
	if rest.Into(t, http.StatusOK, &links); len(links) != 1 {
		t.Errorf("%d links are left", len(links))
	}
	for _, query := range []string{"state=expired&", "state=active,expired&", ""} {
		w.Call(http.MethodGet, "/v1/review-links?"+query+"limit=2&cursor="+page.Next, nil).
			Refused(t, http.StatusBadRequest, errs.InvalidCursor, "cursor")
	}
}
