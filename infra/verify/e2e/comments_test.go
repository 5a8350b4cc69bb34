//go:build !deployed

package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/content-automation/api/infra/verify/harness/poll"
	"github.com/content-automation/api/testdata/platforms/control"
	"github.com/content-automation/api/testdata/platforms/facebook"
	"github.com/content-automation/api/testdata/platforms/oauth"
)

type readerComment struct {
	ID, Text, State string
	PublicationID   string `json:"publication_id"`
	Author          struct{ Handle string }
	Reply           *struct{ State string }
	Change          *struct{ Kind, State string }
	SuggestedReply  *string `json:"suggested_reply"`
}

// A team answers, hides and deletes the comments on a post in the sandbox.
func TestComments(t *testing.T) {
	t.Parallel()
	c := newCustomer(t)
	secret := c.test.Secret
	a := c.connect(secret, object{"platform": "instagram"})
	if resp, body := browse(t, http.MethodGet, a.AuthorizationURL); resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	itemID := c.post(secret, c.factory(secret), "A shoe made of recycled nets")
	into[published](call(t, secret, http.MethodPost, contentPath+"/"+itemID+"/publish",
		object{"social_account_ids": []string{a.ID}}), http.StatusAccepted)
	pub := until(t, secret, itemID, "published").Publications[0].ID
	list := func(query string) []readerComment {
		return into[[]readerComment](call(t, secret, http.MethodGet, "/v1/comments?publication_id="+pub+query, nil),
			http.StatusOK)
	}
	poll.Until(t, "the comments", func() bool { return len(list("")) == 2 })
	all := list("&order=asc")
	first, second := "/v1/comments/"+all[0].ID, "/v1/comments/"+all[1].ID
	if all[0].Text == "" || all[0].Author.Handle == "" || all[0].State != "visible" || all[0].PublicationID != pub {
		t.Errorf("%+v", all)
	}
	into[readerComment](call(t, secret, http.MethodPost, first+"/replies", object{"text": "Yes: in red."}),
		http.StatusAccepted)
	into[readerComment](call(t, secret, http.MethodPatch, first, object{"suggest_reply": true}), http.StatusOK)
	into[readerComment](call(t, secret, http.MethodPatch, second, object{"state": "hidden"}), http.StatusOK)
	poll.Until(t, "the reply, the suggestion and the hidden comment", func() bool {
		now := list("&order=asc")
		return now[0].Reply != nil && now[0].Reply.State == "completed" && now[0].SuggestedReply != nil &&
			now[1].State == "hidden" && now[1].Change.State == "completed"
	})
	into[readerComment](call(t, secret, http.MethodDelete, second, nil), http.StatusOK)
	poll.Until(t, "the deleted comment", func() bool { return len(list("&state=deleted")) == 1 })
	if err := call(t, secret, http.MethodPatch, second, object{"state": "visible"}).refused(http.StatusConflict,
		"invalid_state"); err != nil {
		t.Error(err)
	}
	if err := call(t, secret, http.MethodPost, first+"/replies", object{"text": strings.Repeat("x", 301)}).refused(
		http.StatusUnprocessableEntity, "validation_failed"); err != nil {
		t.Error(err)
	}
	events := func() []struct{ Type string } {
		return into[[]struct{ Type string }](call(t, secret, http.MethodGet,
			"/v1/events?type=comment.created,comment.replied", nil), http.StatusOK)
	}
	poll.Until(t, "the events", func() bool { return len(events()) == 3 })
}

// A reader comments on a post on the fake of Facebook, which announces it by a webhook. The comment is read and
// answered, and the reply is there once.
func TestCommentsOnAPlatform(t *testing.T) {
	t.Parallel()
	noteSecret("access-token-0", "refresh-token-0")
	c := newCustomer(t, returning)
	c.topUp(1000)
	secret := c.live.Secret
	a := c.connect(secret, object{"platform": "facebook", "return_url": returnPage})
	callback, cookies := allow(t, a.AuthorizationURL, c.id)
	if resp, body := browse(t, http.MethodGet, callback, cookies...); resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	itemID := c.post(secret, c.factory(secret), "A shoe made of recycled nets for "+c.id)
	into[published](call(t, secret, http.MethodPost, contentPath+"/"+itemID+"/publish",
		object{"social_account_ids": []string{a.ID}}), http.StatusAccepted)
	until(t, secret, itemID, "published")
	pub := into[struct {
		Publications []struct {
			ID   string
			Post string `json:"platform_post_id"`
		}
	}](call(t, secret, http.MethodGet, contentPath+"/"+itemID, nil), http.StatusOK).Publications[0]
	fake := url.Values{"platform": {"facebook"}, "post": {pub.Post}, "text": {"Does it come in red?"}}
	if resp, body := browse(t, http.MethodPost, running.Platforms+"/_comment?"+fake.Encode()); resp.StatusCode !=
		http.StatusCreated {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	announce(t, pub.Post)
	list := func() []readerComment {
		return into[[]readerComment](call(t, secret, http.MethodGet, "/v1/comments?publication_id="+pub.ID, nil),
			http.StatusOK)
	}
	poll.Until(t, "the comment", func() bool { return len(list()) == 1 })
	into[readerComment](call(t, secret, http.MethodPost, "/v1/comments/"+list()[0].ID+"/replies",
		object{"text": "Yes: in red."}), http.StatusAccepted)
	poll.Until(t, "the reply", func() bool { return list()[0].Reply.State == "completed" })
	events := func() []struct{ Type string } {
		return into[[]struct{ Type string }](call(t, secret, http.MethodGet,
			"/v1/events?type=comment.created,comment.replied", nil), http.StatusOK)
	}
	poll.Until(t, "the events", func() bool { return len(events()) == 2 })
	var all []control.Comment
	_, body := browse(t, http.MethodGet, running.Platforms+"/_comments?"+fake.Encode())
	if err := json.Unmarshal([]byte(body), &all); err != nil || len(all) != 2 || !all[0].Own ||
		all[0].Text != "Yes: in red." || all[0].Parent != all[1].ID {
		t.Errorf("%+v, %v", all, err)
	}
}

// announce sends the webhook of a comment on a post.
func announce(t *testing.T, post string) {
	t.Helper()
	body := `{"object": "page", "entry": [{"id": "` + facebook.Page + `", "changes": [{"field": "feed", "value": ` +
		`{"item": "comment", "verb": "add", "post_id": "` + post + `"}}]}]}`
	mac := hmac.New(sha256.New, []byte(oauth.ClientSecret))
	mac.Write([]byte(body))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, running.BaseURL+
		"/v1/social/callback?hook=facebook", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the webhook is answered by %s", resp.Status)
	}
}
