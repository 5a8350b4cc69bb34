//go:build !deployed

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/poll"
)

// mandated is a key with a mandate.
type mandated struct {
	ID, Secret string
	SpentToday int64 `json:"used_today_credits"`
	Mandate    *struct {
		ID          string
		CreditsADay int64 `json:"credits_a_day"`
	}
}

// validation is the answer of a check before publishing.
type validation struct {
	OK       bool
	Problems []problem
	Accounts []struct{ Problems []problem }
}

type problem struct{ Code, Message string }

// An agent spends up to the credits of its day, also with calls at once; publishes on its platforms, outside of its
// quiet hours; leaves deletions to people; and does nothing after the end of its mandate. The audit log names the
// mandate.
func TestAnAgentWithAMandate(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	c.topUp(1000)
	owner := c.live.Secret
	factory := c.factory(owner)
	telegram, rutube := c.channel(owner), c.login(owner)
	key := into[mandated](call(t, owner, http.MethodPost, "/v1/api-keys", object{"name": "Agent", "kind": "live",
		"scopes":  []string{"account:read", "factories:read", "content:read", "content:write", "content:publish"},
		"mandate": object{"credits_a_day": 12, "platforms": []string{"telegram"}, "needs_person": []string{"delete"}}}),
		http.StatusCreated)
	agent, path := key.Secret, "/v1/api-keys/"+key.ID
	prompt := object{"factory_id": factory, "kind": "post", "prompt": "A shoe made of recycled nets"}
	answers, began := make([]answer, 8), time.Now().UTC().Day()
	var calls sync.WaitGroup
	for i := range answers {
		calls.Go(func() { answers[i] = call(t, agent, http.MethodPost, contentPath, prompt) })
	}
	calls.Wait()
	made, refused := 0, 0
	for _, a := range answers {
		if a.Status == http.StatusAccepted {
			made++
			continue
		}
		refused++
		if err := a.refused(http.StatusPaymentRequired, "spend_limit_reached"); err != nil ||
			!strings.Contains(a.Raw, `"mandate":"`+key.Mandate.ID+`"`) || !strings.Contains(a.Raw, "day_ends_at") {
			t.Errorf("%v: %s", err, a.Raw)
		}
	}
	most := int64(12)
	if time.Now().UTC().Day() != began {
		most *= 2 // the calls were made on two days
	}
	if spent := 1000 - c.balance(); made == 0 || refused == 0 || spent == 0 || spent > most {
		t.Errorf("%d were made and %d refused, and %d credits of %d are spent", made, refused, spent, most)
	}
	poll.Until(t, "the agent sees what is left of the day", func() bool {
		spent := into[mandated](call(t, owner, http.MethodGet, path, nil), http.StatusOK).SpentToday
		me := into[struct {
			Key struct {
				Left int64 `json:"remaining_today_credits"`
			}
		}](call(t, agent, http.MethodGet, "/v1/me", nil), http.StatusOK)
		return me.Key.Left == 12-spent
	})
	if r := newAgent(t, agent).try("account_overview", object{}); !strings.Contains(r.data, key.Mandate.ID) {
		t.Errorf("by the Model Context Protocol it sees %s", r.data)
	}

	own := func() string {
		return into[contentItem](call(t, agent, http.MethodPost, contentPath, object{"factory_id": factory,
			"kind": "post", "source": "provided", "caption": "Words"}), http.StatusAccepted).ID
	}
	first := own()
	if err := call(t, agent, http.MethodPost, contentPath+"/"+first+"/publish", object{"social_account_ids": []string{
		rutube}}).refused(http.StatusForbidden, "outside_mandate"); err != nil {
		t.Error(err)
	}
	if err := call(t, agent, http.MethodDelete, contentPath+"/"+first, nil).refused(http.StatusForbidden,
		"person_required"); err != nil {
		t.Error(err)
	}
	there := object{"social_account_ids": []string{telegram}}
	into[contentItem](call(t, agent, http.MethodPost, contentPath+"/"+first+"/publish", there), http.StatusAccepted)
	until(t, owner, first, "published")

	now := time.Now().UTC()
	into[mandated](call(t, owner, http.MethodPatch, path, object{"mandate": object{"quiet_hours": object{
		"timezone": "UTC", "from": now.Add(-time.Hour).Format("15:04"), "to": now.Add(2 * time.Hour).Format("15:04")}}}), http.StatusOK)
	second := contentPath + "/" + own()
	for to, body := range map[string]object{"/publish": there, "/schedule": {"publish_at": now.Add(time.Hour),
		"social_account_ids": []string{telegram}}} {
		a := call(t, agent, http.MethodPost, second+to, body)
		if err := a.refused(http.StatusForbidden, "outside_mandate"); err != nil || !strings.Contains(a.Raw,
			`"member":"quiet_hours"`) {
			t.Errorf("%s: %v: %s", to, err, a.Raw)
		}
	}
	// A check says the same before: both what the time and what the platform refuse, in one order.
	elsewhere := object{"publish_at": now.Add(time.Hour), "social_account_ids": []string{rutube}}
	refusal := call(t, agent, http.MethodPost, second+"/schedule", elsewhere)
	if err := refusal.refused(http.StatusForbidden, "outside_mandate"); err != nil {
		t.Error(err)
	}
	elsewhere["content_item_id"] = second[len(contentPath)+1:]
	found := into[validation](call(t, agent, http.MethodPost, "/v1/publishing/validate", elsewhere), http.StatusOK)
	var codes []string
	for _, p := range append(found.Problems, found.Accounts[0].Problems...) {
		codes = append(codes, p.Code)
		if !strings.Contains(refusal.Raw, strings.Split(p.Message, " (")[0]) {
			t.Errorf("the schedule does not say %q: %s", p.Message, refusal.Raw)
		}
	}
	if want := []string{"mandate", "mandate", "kind"}; found.OK || !slices.Equal(codes, want) {
		t.Errorf("the check finds %v, want %v", codes, want)
	}
	elsewhere["publish_at"], elsewhere["social_account_ids"] = now.Add(3*time.Hour), []string{telegram}
	if !into[validation](call(t, agent, http.MethodPost, "/v1/publishing/validate", elsewhere), http.StatusOK).OK {
		t.Error("a check within the mandate finds problems")
	}
	into[contentItem](call(t, agent, http.MethodPost, second+"/schedule", object{"publish_at": now.Add(3 * time.Hour),
		"social_account_ids": []string{telegram}}), http.StatusOK)

	ended := into[mandated](call(t, owner, http.MethodPatch, path, object{"mandate": object{"until": now}}),
		http.StatusOK)
	a := call(t, agent, http.MethodGet, "/v1/me", nil)
	if err := a.refused(http.StatusForbidden, "outside_mandate"); err != nil || !strings.Contains(a.Raw,
		`"mandate":"`+ended.Mandate.ID+`"`) {
		t.Errorf("after the end: %v: %s", err, a.Raw)
	}
	mandates := map[string]int{}
	poll.Until(t, "all refusals are in the audit log", func() bool {
		clear(mandates)
		for _, e := range into[[]struct {
			Mandate *string
			Status  int
		}](call(t, owner, http.MethodGet, "/v1/audit-log?status=4xx&limit=100&key_id="+key.ID, nil), http.StatusOK) {
			if e.Mandate == nil {
				t.Errorf("an entry without its mandate: %+v", e)
				return true
			}
			mandates[*e.Mandate]++
		}
		return mandates[ended.Mandate.ID] > 0
	})
	if mandates[key.Mandate.ID] == 0 || len(mandates) != 3 {
		t.Errorf("the audit log names %v", mandates)
	}
}
