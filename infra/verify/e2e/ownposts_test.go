//go:build !deployed

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/pkg/area/publishing"
	"github.com/content-automation/api/testdata/providers/bedrock"
)

type entry struct {
	ID              *string
	State           string
	ContentItemID   string  `json:"content_item_id"`
	SocialAccountID *string `json:"social_account_id"`
}

// A team posts its own words: checked, approved by a person without an account, published at a slot and once, worded
// for the platform, then changed and deleted there.
func TestOwnPosts(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	secret := c.live.Secret
	factory, account := c.factory(secret), c.channel(secret)
	into[object](call(t, secret, http.MethodPut, "/v1/factories/"+factory+"/social-accounts/"+account, nil),
		http.StatusOK)
	into[object](call(t, secret, http.MethodPatch, "/v1/factories/"+factory, object{"approval": "required",
		"schedule": object{"timezone": "UTC", "times": []string{"09:00", "18:00"}}}), http.StatusOK)
	own, worded := "Own words of "+c.id, "Worded for Telegram by "+c.id
	body := object{"factory_id": factory, "kind": "post", "source": "provided", "caption": own,
		"variants": object{"telegram": object{"caption": worded}}}

	checked := into[struct {
		OK       bool
		Accounts []struct{ Preview struct{ Caption string } }
	}](call(t, secret, http.MethodPost, "/v1/publishing/validate", object{"item": body}), http.StatusOK)
	if !checked.OK || checked.Accounts[0].Preview.Caption != worded {
		t.Errorf("%+v", checked)
	}
	stopped := call(t, secret, http.MethodPost, contentPath, object{"factory_id": factory, "kind": "post",
		"source": "provided", "caption": "Words of " + bedrock.Flagged})
	if err := stopped.refused(http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
	made := into[published](call(t, secret, http.MethodPost, contentPath, body), http.StatusAccepted)
	if made.State != "generated" {
		t.Fatalf("%+v", made)
	}
	waiting := into[published](call(t, secret, http.MethodPost, contentPath+"/"+made.ID+"/schedule",
		object{"publish_at": "next_slot"}), http.StatusOK)
	if waiting.State != "generated" || waiting.PublishAt == nil {
		t.Errorf("without an approval: %+v", waiting)
	}
	link := into[struct{ URL string }](call(t, secret, http.MethodPost, "/v1/review-links",
		object{"content_item_ids": []string{made.ID}, "may": "decide"}), http.StatusCreated)
	resp, err := http.PostForm(link.URL, publishing.Form(made.ID, waiting.Version, "approved", ""))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.Request.URL.Query().Get("done") != "approved" {
		t.Errorf("the page answered %d at %s", resp.StatusCode, resp.Request.URL.Path)
	}
	until(t, secret, made.ID, "scheduled")
	calendar := into[[]entry](call(t, secret, http.MethodGet, "/v1/publications?state=pending&factory_id="+factory,
		nil),
		http.StatusOK)
	if len(calendar) != 1 || calendar[0].ContentItemID != made.ID || calendar[0].ID == nil {
		t.Fatalf("%+v", calendar)
	}
	into[published](call(t, secret, http.MethodPost, contentPath+"/"+made.ID+"/publish", nil), http.StatusAccepted)
	got := until(t, secret, made.ID, "published")
	if n := posts(t, worded); n != 1 || posts(t, own) != 0 {
		t.Errorf("%d posts", n)
	}
	type change struct {
		State  string
		Change *struct{ State string }
	}
	at := "/v1/publications/" + got.Publications[0].ID
	stopped = call(t, secret, http.MethodPatch, at, object{"caption": "Words of " + bedrock.Flagged})
	if err := stopped.refused(http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
	for _, step := range []struct {
		method string
		body   any
		state  string
	}{{http.MethodPatch, object{"caption": "Changed"}, "published"}, {http.MethodDelete, nil, "deleted"}} {
		into[change](call(t, secret, step.method, at, step.body), http.StatusOK)
		poll.Until(t, step.method+" is done", func() bool {
			now := into[change](call(t, secret, http.MethodGet, at, nil), http.StatusOK)
			return now.Change.State == "completed" && now.State == step.state
		})
	}
	into[object](call(t, secret, http.MethodDelete, "/v1/review-links/"+reviewID(link.URL), nil), http.StatusOK)
	if resp, err = http.Get(link.URL); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("a deleted link answers %d", resp.StatusCode)
	}
	var events []struct{ Type string }
	poll.Until(t, "the events", func() bool {
		events = into[[]struct{ Type string }](call(t, secret, http.MethodGet,
			"/v1/events?type=content.approved,publication.deleted", nil), http.StatusOK)
		return len(events) == 2
	})
}

// reviewID returns the id of a review link from its address.
func reviewID(address string) string {
	_, token, _ := strings.Cut(address, "/review/")
	suffix, _, _ := strings.Cut(token, ".")
	return "rvl_" + suffix
}
