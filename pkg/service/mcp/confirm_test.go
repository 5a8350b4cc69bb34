package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/base/tenant"
)

// confirmationIn returns the confirmation in an answer, or "".
func confirmationIn(text string) string {
	_, after, _ := strings.Cut(text, "confirmation: \"")
	confirmation, _, _ := strings.Cut(after, "\"")
	return confirmation
}

// Every tool that changes something asks with a live key. What an agent makes up confirms nothing.
func TestNothingIsConfirmedWithoutItsAnswer(t *testing.T) {
	changed := ""
	f := fake(func(r *http.Request, _ string) (int, string) {
		switch {
		case r.URL.Path == "/v1/balance/estimates":
			return 200, ok(`{"credits":5}`)
		case r.Method != http.MethodGet:
			changed = r.Method + " " + r.URL.Path
		case r.URL.Path == "/v1/products":
			return 200, ok(`[]`)
		}
		return 200, ok(`{"id":"cnt_1","state":"generated","publish_at":"2027-01-15T09:00:00Z","times":[]}`)
	})
	token, other := newKey(t, tenant.Live), newKey(t, tenant.Live)
	for tool, arguments := range map[string]object{
		"create_content":      {"factory_id": "fac_1", "kind": "post", "prompt": "x", "wait_seconds": 0},
		"revise_content":      {"content_item_id": "cnt_1", "caption": "x", "wait_seconds": 0},
		"save_product":        {"factory_id": "fac_1", "sku": "1", "name": "Shoe"},
		"schedule_or_publish": {"content_item_id": "cnt_1", "when": "never"},
		"review_content":      {"content_item_id": "cnt_1", "decision": "approve"},
		"upload_media":        {"source_url": "https://x.example/a.png", "wait_seconds": 0},
		"studio_generate":     {"kind": "image", "prompt": "x", "wait_seconds": 0},
		"plan_week":           {"factory_id": "fac_1"},
		"sync_feed":           {"factory_id": "fac_1"},
		"call_operation":      {"operation_id": "deleteFactory", "path": object{"factory_id": "fac_1"}},
	} {
		with := func(name string, value any) object {
			all := maps.Clone(arguments)
			all[name] = value
			return all
		}
		text, failed := use(t, f, token, tool, arguments)
		confirmation := confirmationIn(text)
		if failed || confirmation == "" || changed != "" {
			t.Errorf("%s: %q, %s", tool, changed, text)
			continue
		}
		foreign, _ := use(t, f, other, tool, arguments)
		twice, _ := use(t, f, token, "studio_generate", object{"kind": "image", "prompt": "other"})
		for _, made := range []any{true, "true", "yes", confirmation[:len(confirmation)-1] + "x", confirmationIn(foreign),
			confirmationIn(twice), "zzzzzz." + strings.Repeat("0", 32)} {
			if text, failed := use(t, f, token, tool, with("confirmation", made)); !failed || changed != "" {
				t.Errorf("%s is confirmed by %v: %q, %s", tool, made, changed, text)
			}
		}
		if text, failed := use(t, f, token, tool, with("confirm", true)); changed != "" {
			t.Errorf("%s is confirmed by confirm: true: %q, %v, %s", tool, changed, failed, text)
		}
		if text, _ := use(t, f, token, tool, with("confirmation", confirmation)); changed == "" {
			t.Errorf("%s: nothing was done: %s", tool, text)
		}
		changed = ""
	}
}

// A confirmation ends after a while, and is of the arguments that were shown.
func TestAConfirmationEnds(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := &server{now: func() time.Time { return now }}
	of := func(arguments string) call {
		return call{&caller{token: newKeyOf(t), base: "https://api.example"}, s, keyOf("create_content", json.RawMessage(arguments))}
	}
	c := of(`{"prompt":"x"}`)
	confirmation := confirmationIn(c.input("", nil).text)
	now = now.Add(confirmTime - time.Second)
	if ask, err := c.asks(confirmation); ask || err != nil {
		t.Error(ask, err)
	}
	changed := c
	changed.key = of(`{"prompt":"y"}`).key
	if _, err := changed.asks(confirmation); err == nil {
		t.Error("other arguments are confirmed")
	}
	now = now.Add(time.Second)
	if _, err := c.asks(confirmation); err == nil {
		t.Error("it holds for longer")
	}
}

func newKeyOf(t *testing.T) string { return newKey(t, tenant.Live) }
