//go:build !deployed

package e2e

import (
	"net/http"
	"strings"
	"testing"
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
	eventually(t, "the comments", func() bool { return len(list("")) == 2 })
	all := list("&order=asc")
	first, second := "/v1/comments/"+all[0].ID, "/v1/comments/"+all[1].ID
	if all[0].Text == "" || all[0].Author.Handle == "" || all[0].State != "visible" || all[0].PublicationID != pub {
		t.Errorf("%+v", all)
	}
	into[readerComment](call(t, secret, http.MethodPost, first+"/replies", object{"text": "Yes: in red."}),
		http.StatusAccepted)
	into[readerComment](call(t, secret, http.MethodPatch, first, object{"suggest_reply": true}), http.StatusOK)
	into[readerComment](call(t, secret, http.MethodPatch, second, object{"state": "hidden"}), http.StatusOK)
	eventually(t, "the reply, the suggestion and the hidden comment", func() bool {
		now := list("&order=asc")
		return now[0].Reply != nil && now[0].Reply.State == "done" && now[0].SuggestedReply != nil &&
			now[1].State == "hidden" && now[1].Change.State == "done"
	})
	into[readerComment](call(t, secret, http.MethodDelete, second, nil), http.StatusOK)
	eventually(t, "the deleted comment", func() bool { return len(list("&state=deleted")) == 1 })
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
	eventually(t, "the events", func() bool { return len(events()) == 3 })
}
