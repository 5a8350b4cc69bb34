package mcp

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
)

// An item is approved or sent back by a tool of its own. The same decision after a change is a new one.
func TestContentIsReviewed(t *testing.T) {
	var calls, keys []string
	state, version := "pending", "1"
	f := fake(func(r *http.Request, body string) (int, string) {
		if r.Method == http.MethodPost {
			calls, keys = append(calls, r.URL.Path+" "+body), append(keys, r.Header.Get("Idempotency-Key"))
			state = map[bool]string{true: "approved", false: "changes_requested"}[strings.HasSuffix(r.URL.Path, "/approve")]
		}
		return 200, ok(`{"id":"cnt_1","state":"generated","title":"T","version":` + version + `,"publish_at":` +
			`"2027-01-15T09:00:00.000Z","approval":{"state":"` + state + `"}}`)
	})
	token := newKey(t, tenant.Test)
	back := object{"content_item_id": "cnt_1", "decision": "request_changes", "note": "Name the price first."}
	text, failed := use(t, f, token, "review_content", back)
	if failed || !strings.Contains(text, "2027-01-15T09:00:00.000Z, but is not published before it is approved") {
		t.Errorf("%s", text)
	}
	version = "2"
	if _, failed := use(t, f, token, "review_content", back); failed {
		t.Error("the second time it is refused")
	}
	yes := object{"content_item_id": "cnt_1", "decision": "approve"}
	text, failed = use(t, f, token, "review_content", yes)
	if failed || strings.Contains(text, "not published before") {
		t.Errorf("%s", text)
	}
	if text, failed = use(t, f, token, "review_content", yes); failed || !strings.Contains(text, "approved already") {
		t.Errorf("%s", text)
	}
	const at = "/v1/approvals/cnt_1/"
	want := []string{at + `request-changes {"note":"Name the price first."}`, at + `request-changes {"note":"Name the price first."}`,
		at + "approve {}"}
	if strings.Join(calls, "\n") != strings.Join(want, "\n") || keys[0] == keys[1] {
		t.Errorf("%q by %q", calls, keys)
	}
}

// Scheduling before the approval says that nothing is published yet.
func TestAnItemThatIsScheduledBeforeItsApprovalSaysSo(t *testing.T) {
	at := "null"
	text, failed := use(t, func(r *http.Request, _ string) (int, string) {
		if r.Method == http.MethodPost {
			at = `"2027-01-15T09:00:00.000Z"`
		}
		return 200, ok(`{"id":"cnt_1","state":"generated","factory_id":"fac_1","publish_at":` + at +
			`,"approval":{"state":"pending"}}`)
	}, newKey(t, tenant.Test), "schedule_or_publish", object{"content_item_id": "cnt_1", "when": "2027-01-15T09:00:00Z"})
	if failed || !strings.Contains(text, "has the time 2027-01-15T09:00:00.000Z, but is not published before it is approved") {
		t.Errorf("%s", text)
	}
}

// A file comes in by its address, or is sent to a signed address.
func TestFilesComeIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent, reads := "", 0
		f := fake(func(r *http.Request, body string) (int, string) {
			if r.Method == http.MethodPost {
				sent = body
				if strings.Contains(body, "sha256") {
					return 201, ok(`{"id":"med_2","state":"pending","upload":{"url":"https://store.example/put","method":"PUT"}}`)
				}
				return 201, ok(`{"id":"med_1","state":"pending","upload":null}`)
			}
			if reads++; reads < 3 {
				return 200, ok(`{"id":"med_1","state":"pending"}`)
			}
			return 200, ok(`{"id":"med_1","state":"ready","url":"https://store.example/get"}`)
		})
		c := call{newCaller(&http.Client{Transport: f}, "https://api.example", newKey(t, tenant.Test), ""),
			&server{now: time.Now}, "key"}
		out, err := upload(t.Context(), c, uploadIn{SourceURL: "https://x.example/a.png"})
		if err != nil || sent != `{"source_url":"https://x.example/a.png"}` || !strings.Contains(out.text, "med_1 is ready") {
			t.Errorf("%v, %s: %s", err, sent, out.text)
		}
		out, err = upload(t.Context(), c, uploadIn{MimeType: "image/png", Bytes: 3, SHA256: "ab"})
		if err != nil || sent != `{"bytes":3,"mime_type":"image/png","sha256":"ab"}` ||
			!strings.Contains(out.text, "media_id: med_2") || pick(out.data, "upload")["upload"] == nil {
			t.Errorf("%v, %s: %s", err, sent, out.text)
		}
		if out, err = upload(t.Context(), c, uploadIn{MediaID: "med_1"}); err != nil || !strings.Contains(out.text, "ready") {
			t.Errorf("%v: %s", err, out.text)
		}
	})
}

// Own media are published as they are.
func TestOwnMediaAreSentAsProvided(t *testing.T) {
	sent := ""
	use(t, func(r *http.Request, body string) (int, string) {
		if r.Method == http.MethodPost {
			sent = body
		}
		return 202, ok(`{"id":"cnt_1","state":"generated"}`)
	}, newKey(t, tenant.Test), "create_content", object{"factory_id": "fac_1", "kind": "post", "media": []string{"med_1"},
		"caption": "Ours"})
	if want := `{"caption":"Ours","factory_id":"fac_1","kind":"post","media":["med_1"],"source":"provided"}`; sent != want {
		t.Errorf("%s, want %s", sent, want)
	}
}
