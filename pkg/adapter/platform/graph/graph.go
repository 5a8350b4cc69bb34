// Package graph has what the platforms of Meta share: the refusals of the Graph API, and the end of an owner's access.
package graph

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// Refusals classifies the refusals of one platform.
type Refusals struct {
	Label string
	// Rows are the answers of the platform beside those of all platforms of Meta.
	Rows []Row
	// Missing is the error of a call whose node does not exist, or nil if the rows say what that means.
	Missing func() *platform.Error
	// Lenient reports whether a node that does not exist is all that code 100 without a subcode can mean to a call.
	Lenient bool
}

// failure is a refusal in the form of the Graph API.
type failure struct {
	Code      int  `json:"code"`
	Subcode   int  `json:"error_subcode"`
	Transient bool `json:"is_transient"`
}

// read returns the refusal in an answer, or nil.
func read(a wire.Answer) *failure {
	var f struct {
		Error *failure `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &f); err != nil {
		return nil
	}
	return f.Error
}

// Classify classifies refusals by code and subcode; posts reports whether the call may have made a post.
func (r Refusals) Classify(posts bool) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		f := read(a)
		if f == nil {
			return nil
		}
		row := r.Find(f.Code, f.Subcode)
		if r.Missing != nil && (row != nil && row.Missing || r.Lenient && f.Code == 100 && f.Subcode == 0) {
			return r.Missing()
		}
		proven := row != nil && (row.Subcode != 0 || row.Outcome < Refused || row.proves())
		switch {
		case f.Transient && !proven, a.Status >= http.StatusInternalServerError && !proven:
			// Threads has answered a call with status 500 and code 10, and has published the post
			// (tirthpatell/threads-go #30).
			return r.as(Row{Outcome: Passing}, posts, a)
		case row != nil:
			return r.as(*row, posts, a)
		case a.Status == http.StatusTooManyRequests:
			return r.as(Row{Outcome: Limited}, posts, a)
		}
		return platform.Odd()
	}
}

// Code classifies refusals of the exchange of a code for a token. A code that is refused is gone.
func (r Refusals) Code(a wire.Answer) *platform.Error {
	f := read(a)
	var old struct { // of Threads and of the login of Instagram
		Type string `json:"error_type"`
		Code int    `json:"code"`
	}
	_ = json.Unmarshal(a.Body, &old) // another form has no type
	if final(a) && (f != nil && f.Code == 100 || old.Type == "OAuthException" && old.Code == http.StatusBadRequest) {
		return platform.Disconnected()
	}
	return r.Token(a)
}

// Token classifies refusals of a call that prolongs a token. Only an answer with the status 400 or 401 and a code of
// the token ends a connection: whatever an outage or a proxy answers is tried again.
func (r Refusals) Token(a wire.Answer) *platform.Error {
	f := read(a)
	if f == nil && a.OK() {
		return nil
	}
	var row *Row
	if f != nil {
		row = r.Find(f.Code, f.Subcode)
	}
	switch {
	case final(a) && row != nil && row.proves():
		return r.as(*row, false, a)
	case row != nil && (row.Outcome == Limited || row.Outcome == Setup):
		return r.as(*row, false, a)
	case a.Status == http.StatusTooManyRequests:
		return r.as(Row{Outcome: Limited}, false, a)
	}
	return platform.Busy()
}

// final reports whether a token endpoint may refuse a grant with the status of an answer.
func final(a wire.Answer) bool {
	return a.OK() || a.Status == http.StatusBadRequest || a.Status == http.StatusUnauthorized
}

// owner returns the platform whose page asks for the access.
func (r Refusals) owner() string {
	if r.Label == "Instagram" {
		return "Facebook"
	}
	return r.Label
}

// Ends returns when the access to an owner's data ends, which no refresh extends. If Facebook does not
// state it, Ends returns otherwise.
func Ends(ctx context.Context, g API, token platform.Secret, otherwise time.Time) time.Time {
	app, err := g.Client.App(ctx)
	if err != nil {
		return otherwise
	}
	var answer struct {
		Data struct {
			Ends *int64 `json:"data_access_expires_at"` // 0 if it never ends
		} `json:"data"`
	}
	call := wire.Call{Name: "debug_token", Method: http.MethodGet, URL: g.Root + "/debug_token",
		Bearer: platform.Secret(app.ID + "|" + app.Secret.Reveal()), Query: url.Values{"input_token": {token.Reveal()}},
		Secrets: []platform.Secret{token, app.Secret}}
	switch err := g.Client.JSON(ctx, call, Refusals{}.Classify(false), &answer); {
	case err != nil || answer.Data.Ends == nil:
		return otherwise
	case *answer.Data.Ends == 0:
		return time.Time{}
	}
	return time.Unix(*answer.Data.Ends, 0)
}

// Number reports whether an id is a number. An id becomes part of a path, and a number cannot change the path.
func Number(id string) bool {
	for _, r := range id {
		if r < '0' || r > '9' {
			return false
		}
	}
	return id != "" && len(id) <= 32
}

// ErrNoID is the cause of the error of an answer without the id of what was created.
var ErrNoID = errors.New("there is no id")

// API makes the calls of one platform.
type API struct {
	wire.API
	Refusals Refusals
	known    func(id string) bool
}

// New returns the interface of a platform at an address with a version; known reports whether an id may be that of a
// post.
func New(c *wire.Client, root string, r Refusals, known func(id string) bool) API {
	return API{wire.API{Client: c, Root: root, Classify: r.Classify}, r, known}
}

// NoPost returns the error of a post that does not exist.
func (g API) NoPost() *platform.Error {
	return platform.Reject(platform.CodePostNotFound, g.Refusals.Label+" does not have the post.")
}

// OfPost reads something of a post. The error is that of NoPost if the post does not exist.
func (g API) OfPost(ctx context.Context, token platform.Secret, path string, query url.Values, out any) error {
	gone := g.Refusals
	gone.Missing = g.NoPost
	call := g.Call(http.MethodGet, path, token)
	call.Query = query
	return g.Client.JSON(ctx, call, gone.Classify(false), out)
}

// Delete deletes a post. One that does not exist any more is deleted already.
func (g API) Delete(ctx context.Context, token platform.Secret, id string) error {
	if !g.known(id) {
		return g.NoPost()
	}
	gone := g.Refusals
	gone.Missing, gone.Lenient = g.NoPost, true
	err := g.Done(ctx, g.Call(http.MethodDelete, "/"+id, token), gone.Classify(false))
	return platform.Except(platform.CodePostNotFound, err)
}

// Done makes a call whose answer says that it was done, and nothing else.
func (g API) Done(ctx context.Context, call wire.Call, refused wire.Classifier) error {
	var answer struct{ Success bool }
	err := g.Client.JSON(ctx, call, refused, &answer)
	if err == nil && !answer.Success {
		err = g.Client.GarbledError(call, errors.New("there is no success"))
	}
	return err
}

// Places returns pages of places whose name is like the text, without pages that have no place.
func (g API) Places(ctx context.Context, a platform.Account, text string) (all []platform.LookupResult, err error) {
	var answer struct {
		Data []struct {
			ID       string `json:"id"`
			Name     string `json:"name"`
			Location *struct {
				Street  string `json:"street"`
				City    string `json:"city"`
				Country string `json:"country"`
			} `json:"location"`
		} `json:"data"`
	}
	err = g.Get(ctx, a.Token.Access, "/pages/search", url.Values{"q": {text}, "fields": {"id,name,location"}}, &answer)
	if err != nil {
		return nil, err
	}
	for _, d := range answer.Data {
		if !Number(d.ID) || d.Location == nil {
			continue
		}
		parts := []string{d.Location.Street, d.Location.City, d.Location.Country}
		parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
		all = append(all, platform.LookupResult{ID: d.ID, Name: d.Name, Detail: strings.Join(parts, ", ")})
	}
	return all, nil
}

// Create creates an object, and returns its id. posts reports whether the object is visible.
func (g API) Create(ctx context.Context, token platform.Secret, path string, form url.Values,
	posts bool) (string, error) {
	call := g.Call(http.MethodPost, path, token)
	call.Form, call.Posts = form, posts
	var made struct {
		ID string `json:"id"`
	}
	if err := g.Send(ctx, call, &made); err != nil {
		return "", err
	}
	if !g.known(made.ID) {
		return "", g.Client.GarbledError(call, ErrNoID)
	}
	return made.ID, nil
}

// mostLists bounds the pages of a list, each of perList entries, the most that Meta sends.
const (
	mostLists = 50
	perList   = "100"
)

// Paging says how a list goes on.
type Paging struct {
	Next    string `json:"next"`
	Cursors struct {
		After string `json:"after"`
	} `json:"cursors"`
}

// Cursor returns the cursor of the next page, or an empty one after the last page, which has a cursor too. The address
// of the next page is not called, because it has the access token in it.
func (p Paging) Cursor() string {
	if p.Next == "" {
		return ""
	}
	if p.Cursors.After != "" {
		return p.Cursors.After
	}
	next, err := url.Parse(p.Next)
	if err != nil {
		return ""
	}
	return next.Query().Get("after")
}

// list is a page of a list.
type list[T any] struct {
	Data   []T    `json:"data"`
	Paging Paging `json:"paging"`
}

// restOf returns the entries of a list after its first page.
func restOf[T any](ctx context.Context, g API, token platform.Secret, path, fields string, first Paging) (all []T,
	err error) {
	after := first.Cursor()
	for range mostLists - 1 {
		if after == "" {
			return all, nil
		}
		var page list[T]
		if err := g.Get(ctx, token, path, url.Values{"fields": {fields}, "limit": {perList}, "after": {after}},
			&page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		before := after
		if after = page.Paging.Cursor(); after == before {
			return nil, platform.Busy().Because(fmt.Errorf("the list %s goes on at the same cursor", path))
		}
	}
	if after != "" {
		return nil, platform.Reject(platform.CodeUnsupported, fmt.Sprintf("%s lists more than %d pages of %s entries.",
			g.Refusals.Label, mostLists, perList)).Because(fmt.Errorf("the list %s is too long", path))
	}
	return all, nil
}

// entries returns the entries of a list.
func entries[T any](ctx context.Context, g API, token platform.Secret, path, fields string) ([]T, error) {
	var first list[T]
	err := g.Get(ctx, token, path, url.Values{"fields": {fields}, "limit": {perList}}, &first)
	if err != nil {
		return nil, err
	}
	more, err := restOf[T](ctx, g, token, path, fields, first.Paging)
	return append(first.Data, more...), err
}

// portfolio is a business portfolio with the first of its pages: those that it owns, and those that others have given
// it to work on.
type portfolio[T any] struct {
	ID     string  `json:"id"`
	Owned  list[T] `json:"owned_pages"`
	Client list[T] `json:"client_pages"`
}

// Pages returns the pages of a login and those of its business portfolios, which the first list lacks. A page may be in
// several lists. The field tasks is one of the first list alone.
func Pages[T any](ctx context.Context, g API, token platform.Secret, fields string) ([]T, error) {
	all, err := entries[T](ctx, g, token, "/me/accounts", fields+",tasks")
	if err != nil {
		return nil, err
	}
	const owned, client = "owned_pages", "client_pages"
	of := func(edge string) string { return "," + edge + ".limit(" + perList + "){" + fields + "}" }
	portfolios, err := entries[portfolio[T]](ctx, g, token, "/me/businesses", "id"+of(owned)+of(client))
	if platform.Untold(err) { // a portfolio may refuse the pages of others
		portfolios, err = entries[portfolio[T]](ctx, g, token, "/me/businesses", "id"+of(owned))
	}
	if platform.Untold(err) {
		return all, nil // the owner has no portfolios
	}
	if err != nil {
		return nil, err
	}
	for _, b := range portfolios {
		for _, edge := range []struct {
			name  string
			first list[T]
		}{{owned, b.Owned}, {client, b.Client}} {
			all = append(all, edge.first.Data...)
			if !Number(b.ID) {
				continue
			}
			more, err := restOf[T](ctx, g, token, "/"+b.ID+"/"+edge.name, fields, edge.first.Paging)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

// maxChallenge bounds the text that Meta sends to check an address, and that the answer repeats.
const maxChallenge = 100

// ChangedPosts implements platform.Announcer.
func (g Commenter) ChangedPosts(ctx context.Context, h platform.Hook) (all []platform.ChangedPost, answer string,
	err error) {
	app, err := g.Via.Client.App(ctx)
	if err != nil {
		return nil, "", err
	}
	if h.Method == http.MethodGet {
		answer = h.Query.Get("hub.challenge")
		if h.Query.Get("hub.mode") != "subscribe" || len(answer) > maxChallenge ||
			!platform.SameSecret(h.Query.Get("hub.verify_token"), app.HookToken) {
			return nil, "", platform.ErrForged
		}
		return nil, answer, nil
	}
	given, ok := strings.CutPrefix(h.Header.Get("X-Hub-Signature-256"), "sha256=")
	sum, bad := hex.DecodeString(given)
	mac := hmac.New(sha256.New, []byte(app.Secret.Reveal()))
	mac.Write(h.Body)
	if !ok || bad != nil || app.Secret == "" || app.HookToken == "" || !hmac.Equal(sum, mac.Sum(nil)) {
		return nil, "", platform.ErrForged
	}
	var body struct {
		Object string `json:"object"`
		Entry  []struct {
			ID      string `json:"id"`
			Changes []struct {
				Field string `json:"field"`
				Value struct {
					Item  string `json:"item"`
					Post  string `json:"post_id"`
					Media struct {
						ID string `json:"id"`
					} `json:"media"`
				} `json:"value"`
			} `json:"changes"`
		} `json:"entry"`
	}
	if err := json.Unmarshal(h.Body, &body); err != nil || body.Object != g.Object {
		return nil, "", nil // webhooks of other objects have other shapes
	}
	for _, e := range body.Entry {
		for _, change := range e.Changes {
			post := change.Value.Post + change.Value.Media.ID
			if change.Field == g.Field && post != "" && (change.Value.Item == "" || change.Value.Item == "comment") {
				all = append(all, platform.ChangedPost{Account: e.ID, Post: post})
			}
		}
	}
	return all, "", nil
}

// Insights is the answer of Meta's insights.
type Insights struct {
	Data []struct {
		Name   string `json:"name"`
		Values []struct {
			Value int64  `json:"value"`
			End   string `json:"end_time"`
		} `json:"values"`
		Total *struct {
			Value int64 `json:"value"`
		} `json:"total_value"`
	} `json:"data"`
}

// Lifetime sets the metrics of a post, which has one value of each. A field with several metrics has their sum.
func (in Insights) Lifetime(into map[string]**int64) {
	for _, d := range in.Data {
		if field, ok := into[d.Name]; ok && len(d.Values) > 0 {
			sum := d.Values[0].Value
			if *field != nil {
				sum += **field
			}
			*field = &sum
		}
	}
}

// Query returns the parameters of a call for the metrics of an account by day.
func Query(days platform.Days, now time.Time, metrics string) url.Values {
	return url.Values{"metric": {metrics}, "period": {"day"}, "since": {strconv.FormatInt(days[0].Date.Unix(), 10)},
		"until": {strconv.FormatInt(now.Unix(), 10)}}
}

// Days adds the values of an account to its days. The map has the names of the figures of the metrics. The end of a day
// in the answer is after the day, up to a day later.
func (in Insights) Days(days platform.Days, into map[string]string) {
	for _, d := range in.Data {
		name, ok := into[d.Name]
		if !ok {
			continue
		}
		for _, v := range d.Values {
			end, err := time.Parse(TimeLayout, v.End)
			if err != nil {
				continue
			}
			if day := days.At(end.Add(-time.Second)); day != nil {
				*day.Of(name) = platform.Count(v.Value)
			}
		}
		if d.Total != nil {
			*days.Last().Of(name) = platform.Count(d.Total.Value)
		}
	}
}

// Reader reads and hides the comments on the posts of one platform.
type Reader struct {
	Via API
	// Listing is the edge that lists the comments on a post, with the query List.
	Listing string
	List    url.Values
	// Hiding is the edge and Hide the member that hides a comment.
	Hiding, Hide string
}

// Commenter also takes replies, deletes comments, and announces changes.
type Commenter struct {
	Reader
	Replies string // edge that takes replies
	// Flat reports whether the platform has replies to comments on the post only: a reply to a reply is written below
	// the same comment.
	Flat bool
	// Object is what the webhooks are about, and Field the subscribed field of comments.
	Object, Field string
}

// Node is a comment as the Graph API returns it. Each platform has some of the members.
type Node struct {
	ID       string `json:"id"`
	Text     string `json:"text"`
	Message  string `json:"message"`
	Username string `json:"username"`
	From     struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Username string `json:"username"`
	} `json:"from"`
	Timestamp string `json:"timestamp"`
	Created   string `json:"created_time"`
	Hidden    *bool  `json:"hidden"`
	IsHidden  *bool  `json:"is_hidden"`
	// Status is the state of a reply on Threads.
	Status string `json:"hide_status"`
	Mine   bool   `json:"is_reply_owned_by_me"`
	Parent struct {
		ID string `json:"id"`
	} `json:"parent"`
	RepliedTo struct {
		ID string `json:"id"`
	} `json:"replied_to"`
	Replies *Nodes `json:"replies"`
}

// Nodes is a page of comments.
type Nodes struct {
	Data   []Node `json:"data"`
	Paging Paging `json:"paging"`
}

// comment returns the comment of a node on a post.
func (n Node) comment(a platform.Account, postID, parent string) platform.Comment {
	c := platform.Comment{ID: n.ID, ParentID: parent, Text: n.Text + n.Message, Hidden: n.Hidden,
		Author: platform.Author{Handle: n.Username, Name: n.From.Name},
		Own:    n.Mine || n.From.ID == a.ID}
	if c.ParentID == "" {
		c.ParentID = n.Parent.ID + n.RepliedTo.ID
	}
	if c.ParentID == postID {
		c.ParentID = ""
	}
	if c.Author.Handle == "" {
		c.Author.Handle = n.From.Username
	}
	if c.Author.Handle != "" {
		c.Author.Handle = "@" + c.Author.Handle
		c.Own = c.Own || c.Author.Handle == a.Handle
	}
	if n.IsHidden != nil {
		c.Hidden = n.IsHidden
	}
	if n.Status != "" {
		c.Hidden = platform.Shown(n.Status == "HIDDEN" || n.Status == "COVERED")
	}
	if at, err := time.Parse(TimeLayout, n.Timestamp+n.Created); err == nil {
		c.At = at
	}
	return c
}

// Comments implements platform.CommentReader. A page has the replies to its comments.
func (g Reader) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	after string) (page platform.CommentPage, err error) {
	if !g.Via.known(post.ID) {
		return page, g.Via.NoPost()
	}
	call := g.Via.Call(http.MethodGet, "/"+post.ID+g.Listing, a.Token.Access)
	call.Query = url.Values{"limit": {"50"}}
	maps.Copy(call.Query, g.List)
	if after != "" {
		call.Query.Set("after", after)
	}
	var nodes Nodes
	if err := g.Via.Client.JSON(ctx, call, g.classify(false, platform.CodePostNotFound), &nodes); err != nil {
		return page, err
	}
	for _, n := range nodes.Data {
		page.Comments = append(page.Comments, n.comment(a, post.ID, ""))
		if n.Replies == nil {
			continue
		}
		for _, r := range n.Replies.Data {
			page.Comments = append(page.Comments, r.comment(a, post.ID, n.ID))
		}
		page.Partial = page.Partial || n.Replies.Paging.Next != ""
	}
	page.Next = nodes.Paging.Cursor()
	return page, nil
}

// Reply implements platform.Replier.
func (g Commenter) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	to := r.To.ID
	if g.Flat && r.To.ParentID != "" {
		to = r.To.ParentID
	}
	if !commentNumber(to) {
		return "", platform.CommentGone()
	}
	call := g.Via.Call(http.MethodPost, "/"+to+g.Replies, a.Token.Access)
	call.Form, call.Posts = url.Values{"message": {r.Text}}, true
	var made struct {
		ID string `json:"id"`
	}
	if err := g.Via.Client.JSON(ctx, call, g.classify(true, platform.CodeCommentNotFound), &made); err != nil {
		return "", err
	}
	if made.ID == "" {
		return "", g.Via.Client.GarbledError(call, ErrNoID)
	}
	return made.ID, nil
}

// HideComment implements platform.CommentHider.
func (g Reader) HideComment(ctx context.Context, a platform.Account, _ platform.PublishedPost, commentID string,
	hidden bool) error {
	if !commentNumber(commentID) {
		return platform.CommentGone()
	}
	call := g.Via.Call(http.MethodPost, "/"+commentID+g.Hiding, a.Token.Access)
	call.Form = url.Values{g.Hide: {strconv.FormatBool(hidden)}}
	return g.Via.Client.JSON(ctx, call, g.classify(false, platform.CodeCommentNotFound), nil)
}

// DeleteComment implements platform.CommentDeleter.
func (g Commenter) DeleteComment(ctx context.Context, a platform.Account, _ platform.PublishedPost,
	commentID string) error {
	if !commentNumber(commentID) {
		return nil
	}
	err := g.Via.Client.JSON(ctx, g.Via.Call(http.MethodDelete, "/"+commentID, a.Token.Access),
		g.classify(false, platform.CodeCommentNotFound), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// classify classifies refusals. A node that does not exist has the code absent.
func (g Reader) classify(posts bool, absent platform.Code) wire.Classifier {
	refusals := g.Via.Refusals
	refusals.Missing = g.Via.NoPost
	if absent == platform.CodeCommentNotFound {
		// A call without a text has no parameter but its node.
		refusals.Missing, refusals.Lenient = platform.CommentGone, !posts
	}
	return refusals.Classify(posts)
}

// commentNumber reports whether an id is one number, or that of a post and that of a comment.
func commentNumber(id string) bool {
	post, comment, both := strings.Cut(id, "_")
	return Number(post) && (!both || Number(comment))
}
