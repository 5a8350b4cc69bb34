package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

type reply struct {
	ID, Role, Text string
	DraftIDs       []string `json:"draft_ids"`
	Sources        []string
	CostCredits    int64 `json:"cost_credits"`
}

type draft struct {
	ID, Kind, State string
	Body            object
	ResultID        *string `json:"result_id"`
}

// The architect makes a draft, which is changed and applied. With a test key it is the sandbox;
// with a live key it is a model of Bedrock that calls tools.
func TestTheArchitect(t *testing.T) {
	c := newCustomer(t)
	c.topUp(1000)
	for mode, key := range map[string]string{"test": c.test.Secret, "live": c.live.Secret} {
		t.Run(mode, func(t *testing.T) {
			factory := c.factory(key)
			chat := into[struct{ ID string }](call(t, key, http.MethodPost, "/v1/architect/chats",
				object{"factory_id": factory}), http.StatusCreated)
			path := "/v1/architect/chats/" + chat.ID
			message := "Write a post about running shoes"
			if mode == "live" { // The fake obeys lines that begin with !.
				message += "\n!read_factory {}\n!draft_content_item {\"body\":{\"kind\":\"post\",\"prompt\":\"running shoes\"}}"
			}
			before := c.balance()
			price := into[struct{ Credits int64 }](call(t, key, http.MethodPost, "/v1/balance/estimates",
				object{"operation": "sendMessage", "body": object{"text": message}}), http.StatusOK).Credits
			sent := call(t, key, http.MethodPost, path+"/messages", object{"text": message}, "Idempotency-Key", "one")
			r := into[reply](sent, http.StatusCreated)
			if r.Role != "assistant" || r.Text == "" || len(r.DraftIDs) != 1 {
				t.Fatalf("%+v", r)
			}
			if again := call(t, key, http.MethodPost, path+"/messages", object{"text": message}, "Idempotency-Key",
				"one"); again.Raw != sent.Raw {
				t.Errorf("the repeat answers %s", again.Raw)
			}
			if mode == "live" && (r.CostCredits != price || price < 1 || before-c.balance() != price ||
				!slices.Equal(r.Sources, []string{factory}) || r.Text != "I have done 2 things, and 0 failed.") {
				t.Errorf("%+v for %d credits, the balance was %d and is %d", r, price, before, c.balance())
			}
			if mode == "test" && (r.CostCredits != 0 || before != c.balance() ||
				!strings.Contains(r.Text, "running shoes")) {
				t.Errorf("%+v", r)
			}
			of := "/v1/architect/drafts/" + r.DraftIDs[0]
			if all := into[[]draft](call(t, key, http.MethodGet, "/v1/architect/drafts?state=open&chat_id="+chat.ID,
				nil), http.StatusOK); len(all) != 1 || all[0].Body["prompt"] != "running shoes" {
				t.Errorf("%+v", all)
			}
			if err := call(t, key, http.MethodPatch, of,
				object{"body": object{"kind": "painting"}}).refused(http.StatusUnprocessableEntity,
				"validation_failed"); err != nil {
				t.Error(err)
			}
			into[draft](call(t, key, http.MethodPatch, of, object{"body": object{"prompt": "Trail shoes"}}),
				http.StatusOK)
			if err := call(t, key, http.MethodPost, of+"/apply", nil).refused(http.StatusBadRequest,
				"invalid_header"); err != nil {
				t.Error(err)
			}
			applied := into[draft](call(t, key, http.MethodPost, of+"/apply", nil, "If-Match", `"2"`),
				http.StatusCreated)
			if applied.State != "applied" || applied.ResultID == nil {
				t.Fatalf("%+v", applied)
			}
			if err := call(t, key, http.MethodPost, of+"/apply", nil).refused(http.StatusConflict,
				"invalid_state"); err != nil {
				t.Error(err)
			}
			if item := into[object](call(t, key, http.MethodGet, "/v1/content-items/"+*applied.ResultID, nil),
				http.StatusOK); item["prompt"] != "Trail shoes" || item["factory_id"] != factory {
				t.Errorf("%v", item)
			}
			if got := into[struct{ Messages []reply }](call(t, key, http.MethodGet, path, nil),
				http.StatusOK); len(got.Messages) != 2 || got.Messages[1].ID != r.ID {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("a model that fails", func(t *testing.T) {
		key := c.live.Secret
		chat := into[struct{ ID string }](call(t, key, http.MethodPost, "/v1/architect/chats", nil), http.StatusCreated)
		before := c.balance()
		for kind, want := range map[string]struct {
			status int
			code   string
		}{"job_failed": {422, "validation_failed"}, "drop_after_accept": {503, "provider_unavailable"}} {
			text := "Hello, " + kind
			fault(t, "bedrock", "submit", kind, text)
			if err := call(t, key, http.MethodPost, "/v1/architect/chats/"+chat.ID+"/messages",
				object{"text": text}).refused(want.status, want.code); err != nil {
				t.Error(err)
			}
		}
		if got := c.balance(); got != before {
			t.Errorf("%d credits were charged", before-got)
		}
	})
}
