package bluesky

import (
	"net/http"
	"strings"
	"time"

	"github.com/content-automation/api/testdata/platforms/control"
)

// AddComment adds a reply of a reader to a post.
func (f *Fake) AddComment(c control.Comment) control.Comment {
	if c.ID == "" {
		c.ID = "at://did:plc:reader/app.bsky.feed.post/" + f.ID()
	}
	return f.Control.AddComment(c)
}

// linkOf returns the reference of a post or of a comment, and reports whether it is visible.
func (f *Fake) linkOf(uri string) (link, bool) {
	_, post := f.Find(uri)
	_, comment := f.FindComment(uri)
	return link{uri, "bafyrei" + uri[strings.LastIndexByte(uri, '/')+1:]}, post || comment
}

// thread returns a post with the replies below it.
func (f *Fake) thread(w http.ResponseWriter, r *http.Request) {
	uri := r.URL.Query().Get("uri")
	if _, ok := f.Find(uri); !ok {
		refuse(w, http.StatusBadRequest, "NotFound")
		return
	}
	all := f.CommentsOn(uri)
	var below func(parent string) []any
	below = func(parent string) []any {
		replies := []any{}
		for _, c := range all {
			if c.Parent != parent {
				continue
			}
			author := map[string]string{"did": "did:plc:reader", "handle": c.Handle + ".example", "displayName": c.Name}
			if c.Own {
				author = map[string]string{"did": DID, "handle": Handle, "displayName": "Acme"}
			}
			deeper := below(c.ID)
			replies = append(replies, map[string]any{"$type": "app.bsky.feed.defs#threadViewPost", "replies": deeper,
				"post": map[string]any{"uri": c.ID, "author": author, "replyCount": len(deeper),
					"record": map[string]any{"text": c.Text, "createdAt": c.At.UTC().Format(time.RFC3339)}}})
		}
		return replies
	}
	control.JSON(w, http.StatusOK, map[string]any{"thread": map[string]any{
		"$type": "app.bsky.feed.defs#threadViewPost", "post": map[string]any{"uri": uri}, "replies": below("")}})
}
