package youtube

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/platforms/control"
)

// few is the number of replies that a thread shows. The others are listed by their own call.
const few = 1

func (f *Fake) handleComments(mux *http.ServeMux) {
	for route, c := range map[string]struct {
		units  int
		handle http.HandlerFunc
	}{
		"GET /youtube/v3/commentThreads": {1, f.threads}, "GET /youtube/v3/comments": {1, f.replies},
		"POST /youtube/v3/comments":                     {50, f.reply},
		"POST /youtube/v3/comments/setModerationStatus": {50, f.moderate},
		"DELETE /youtube/v3/comments":                   {50, f.removeComment},
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			f.mu.Lock()
			f.Units += c.units
			f.mu.Unlock()
			if f.NoComments {
				refuse(w, http.StatusForbidden, "insufficientPermissions")
				return
			}
			c.handle(w, r)
		})
	}
}

// remark returns a comment as YouTube does. Only the owner of the video sees the status of one that is held.
func remark(c control.Comment) map[string]any {
	channel, author := "UC0000000000000000000002", "@"+c.Handle
	if c.Own {
		channel, author = Channel, "@acme"
	}
	s := map[string]any{"authorDisplayName": author, "authorChannelId": map[string]string{"value": channel},
		"textDisplay": c.Text, "textOriginal": c.Text, "publishedAt": c.At.UTC().Format(time.RFC3339)}
	if c.Hidden {
		s["moderationStatus"] = "heldForReview"
	}
	return map[string]any{"id": c.ID, "snippet": s}
}

// threads lists the published comments on a video, or those that are held, in pages of two.
func (f *Fake) threads(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	held := q.Get("moderationStatus") == "heldForReview"
	if _, ok := f.Find(q.Get("videoId")); !ok {
		refuse(w, http.StatusNotFound, "videoNotFound")
		return
	}
	if f.CommentsOff {
		refuse(w, http.StatusForbidden, "commentsDisabled")
		return
	}
	at, err := strconv.Atoi(q.Get("pageToken"))
	if q.Get("part") != "snippet,replies" || q.Get("textFormat") != "plainText" || q.Get("order") != "time" ||
		q.Get("pageToken") != "" && err != nil {
		refuse(w, http.StatusBadRequest, "badRequest")
		return
	}
	all := f.CommentsOn(q.Get("videoId"))
	var tops []control.Comment
	for _, c := range all {
		if c.Parent == "" && c.Hidden == held {
			tops = append(tops, c)
		}
	}
	answer, items := map[string]any{}, []any{}
	for _, c := range tops[min(at, len(tops)):min(at+2, len(tops))] {
		replies := f.below(all, c.ID, held)
		shown := []any{}
		for _, r := range replies[:min(few, len(replies))] {
			shown = append(shown, remark(r))
		}
		items = append(items, map[string]any{"id": c.ID, "snippet": map[string]any{"topLevelComment": remark(c),
			"totalReplyCount": len(replies)}, "replies": map[string]any{"comments": shown}})
	}
	answer["items"] = items
	if at+2 < len(tops) {
		answer["nextPageToken"] = strconv.Itoa(at + 2)
	}
	control.JSON(w, http.StatusOK, answer)
}

func (f *Fake) below(all []control.Comment, parent string, hidden bool) (replies []control.Comment) {
	for _, c := range slices.Backward(all) {
		if c.Parent == parent && c.Hidden == hidden {
			replies = append(replies, c)
		}
	}
	return replies
}

// replies lists the published replies to a comment, oldest first.
func (f *Fake) replies(w http.ResponseWriter, r *http.Request) {
	parent, ok := f.FindComment(r.URL.Query().Get("parentId"))
	if !ok || parent.Parent != "" {
		refuse(w, http.StatusNotFound, "commentNotFound")
		return
	}
	items := []any{}
	for _, c := range f.below(f.CommentsOn(parent.Post), parent.ID, false) {
		items = append(items, remark(c))
	}
	control.JSON(w, http.StatusOK, map[string]any{"items": items})
}

// reply writes a reply to a comment on a video. Replies take none.
func (f *Fake) reply(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Snippet struct {
			Parent string `json:"parentId"`
			Text   string `json:"textOriginal"`
		} `json:"snippet"`
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	parent, ok := f.FindComment(body.Snippet.Parent)
	switch {
	case err != nil || r.URL.Query().Get("part") != "snippet":
		refuse(w, http.StatusBadRequest, "invalidCommentMetadata")
	case !ok || parent.Parent != "":
		refuse(w, http.StatusNotFound, "parentCommentNotFound")
	case f.CommentsOff:
		refuse(w, http.StatusForbidden, "commentsDisabled")
	case strings.TrimSpace(body.Snippet.Text) == "":
		refuse(w, http.StatusBadRequest, "commentTextRequired")
	case utf8.RuneCountInString(body.Snippet.Text) > 10_000:
		refuse(w, http.StatusBadRequest, "commentTextTooLong")
	default:
		c := f.AddComment(control.Comment{Post: parent.Post, Parent: parent.ID, Text: body.Snippet.Text, Own: true})
		control.JSON(w, http.StatusOK, remark(c))
	}
}

// moderate publishes, holds or rejects a comment.
func (f *Fake) moderate(w http.ResponseWriter, r *http.Request) {
	id, status := r.URL.Query().Get("id"), r.URL.Query().Get("moderationStatus")
	ok := true
	switch status {
	case "rejected":
		ok = f.RemoveComment(id)
	case "heldForReview", "published":
		ok = f.HideComment(id, status == "heldForReview")
	default:
		refuse(w, http.StatusBadRequest, "operationNotSupported")
		return
	}
	if !ok {
		refuse(w, http.StatusNotFound, "commentNotFound")
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// removeComment deletes a comment of the channel itself.
func (f *Fake) removeComment(w http.ResponseWriter, r *http.Request) {
	c, ok := f.FindComment(r.URL.Query().Get("id"))
	switch {
	case !ok:
		refuse(w, http.StatusNotFound, "commentNotFound")
	case !c.Own:
		refuse(w, http.StatusForbidden, "forbidden")
	default:
		f.RemoveComment(c.ID)
		w.WriteHeader(http.StatusNoContent)
	}
}
