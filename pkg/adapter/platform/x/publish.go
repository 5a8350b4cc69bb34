package x

import (
	"context"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/texts"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	// segment is the size of a part of a file, and segments how many parts one step uploads.
	segment    = 1 << 20
	segments   = 16
	processing = 10 * time.Second // between two looks at a file, unless X says otherwise
)

// state is the adapter's part of a handle.
type state struct {
	Files []string `json:"files,omitempty"`
	// The file that is uploaded: its id, its parts that X has, and how far X is.
	File  string `json:"file,omitempty"`
	Sent  int64  `json:"sent,omitempty"`
	Whole bool   `json:"whole,omitempty"`
	Ready bool   `json:"ready,omitempty"`
	// Uploads counts the uploads that X did not have any more when the post was made.
	Uploads int `json:"uploads,omitempty"`
}

// mostUploads bounds how often the files of a post are uploaded again. X answers in the same way to files that it does
// not take.
const mostUploads = 3

// uploadState is the state of a file.
type uploadState struct {
	Data struct {
		ID         string `json:"id"`
		Processing *struct {
			State string `json:"state"`
			After int    `json:"check_after_secs"`
			Error struct {
				Name    string `json:"name"`
				Message string `json:"message"`
			} `json:"error"`
		} `json:"processing_info"`
	} `json:"data"`
}

// ready reports whether a file can be posted, or when to look again.
func (u uploadState) ready() (bool, time.Duration, error) {
	switch i := u.Data.Processing; {
	case i == nil || i.State == "succeeded":
		return true, 0, nil
	case i.State == "failed" && i.Error.Name == "InternalError":
		return false, 0, platform.Again(nil).Saying(i.Error.Message)
	case i.State == "failed":
		return false, 0, platform.Reject(platform.CodeMediaRefused, "X could not process the file.").
			Saying(i.Error.Message)
	default:
		return false, max(processing, min(time.Duration(i.After)*time.Second, 5*time.Minute)), nil
	}
}

// Prepare implements platform.Steps. It uploads some parts of a file, or looks at the file.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	if w.PostsMade > 0 || len(s.Files) == len(w.Post.Media) {
		return true, 0, nil
	}
	m := w.Post.Media[len(s.Files)]
	switch {
	case s.File == "":
		s.File, err = p.initialize(ctx, w.Account, m)
		return false, 0, err
	case s.Sent < m.Bytes:
		for n := 0; n < segments && s.Sent < m.Bytes; n++ {
			if err := p.append(ctx, w.Account, m, s); err != nil {
				return false, 0, err
			}
		}
		return false, 0, nil
	case !s.Ready:
		var u uploadState
		call := p.Call(http.MethodGet, "/2/media/upload", w.Account.Token.Access)
		call.Query = url.Values{"command": {"STATUS"}, "media_id": {s.File}}
		if !s.Whole {
			call = p.Call(http.MethodPost, "/2/media/upload/"+s.File+"/finalize", w.Account.Token.Access)
			call.JSON = struct{}{} // X asks for an object (trypostit/trypost #202)
		}
		if err := p.Send(ctx, call, &u); err != nil {
			return false, 0, err
		}
		if u.Data.ID == "" {
			return false, 0, p.Client.GarbledError(call, errIncomplete)
		}
		s.Whole = true
		if s.Ready, wait, err = u.ready(); err != nil || !s.Ready {
			return false, wait, err
		}
	}
	if m.Alt != "" {
		call := p.Call(http.MethodPost, "/2/media/metadata", w.Account.Token.Access)
		alt := map[string]string{"text": m.Alt}
		call.JSON = map[string]any{"id": s.File, "metadata": map[string]any{"alt_text": alt}}
		if err := p.Send(ctx, call, nil); err != nil {
			return false, 0, err
		}
	}
	s.Files = append(s.Files, s.File)
	s.File, s.Sent, s.Whole, s.Ready = "", 0, false, false
	return len(s.Files) == len(w.Post.Media), 0, nil
}

// initialize begins the upload of a file, and returns its id.
func (p *Platform) initialize(ctx context.Context, a platform.Account, m platform.Media) (string, error) {
	category := "tweet_image"
	if m.Video() {
		category = "tweet_video"
	}
	call := p.Call(http.MethodPost, "/2/media/upload/initialize", a.Token.Access)
	call.JSON = map[string]any{"media_type": m.MIME, "total_bytes": m.Bytes, "media_category": category}
	var u uploadState
	if err := p.Send(ctx, call, &u); err != nil {
		return "", err
	}
	if !number(u.Data.ID) {
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	return u.Data.ID, nil
}

// append uploads the next part of a file. X takes the same part again.
func (p *Platform) append(ctx context.Context, a platform.Account, m platform.Media, s *state) error {
	length, at := min(segment, m.Bytes-s.Sent), s.Sent
	part := platform.Media{MIME: "application/octet-stream", Bytes: length,
		Open: func(ctx context.Context, offset, n int64) (io.ReadCloser, error) { return m.Open(ctx, at+offset, n) }}
	call := p.Call(http.MethodPost, "/2/media/upload/"+s.File+"/append", a.Token.Access)
	call.Timeout = wire.UploadTimeout
	var err error
	call.Body, err = wire.Multipart(ctx, url.Values{"segment_index": {strconv.FormatInt(at/segment, 10)}},
		wire.File{Field: "media", Name: "part", Media: part})
	if err != nil {
		return p.Client.GarbledError(call, err)
	}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return err
	}
	if err := p.Client.Check(call, answer, p.classify(prepares)); err != nil {
		return err
	}
	s.Sent += length
	return nil
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	body := map[string]any{"text": w.Text()}
	if w.Post.Options.Generated {
		body["made_with_ai"] = true
	}
	own, _ := w.Post.Options.Own.(Options) // the zero value sets nothing
	if own.Paid {
		body["paid_partnership"] = true
	}
	switch {
	case w.IsComment():
		body["reply"] = map[string]string{"in_reply_to_tweet_id": w.First.ID}
	case w.PostsMade > 0:
		body["reply"] = map[string]string{"in_reply_to_tweet_id": w.Last.ID}
	default:
		if len(w.Own.Files) > 0 {
			body["media"] = map[string]any{"media_ids": w.Own.Files}
		}
		own.describe(body)
	}
	call := p.Call(http.MethodPost, "/2/tweets", w.Account.Token.Access)
	call.JSON, call.Posts = body, true
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err = p.Send(ctx, call, &made)
	switch kind := platform.KindOf(err); {
	case err != nil && kind == platform.Restart:
		return ref, w.Own.lose(err)
	case err != nil && kind == platform.Unclear && w.IsComment():
		return ref, platform.Lost(err) // a first comment is looked for, too
	}
	if err != nil {
		return ref, err
	}
	if !number(made.Data.ID) {
		return ref, p.Client.GarbledError(call, errIncomplete)
	}
	return refOf(made.Data.ID), nil
}

// lose forgets the uploaded files, which X does not have any more, so that they are uploaded again. Nothing was posted.
func (s *state) lose(err error) error {
	var e *platform.Error
	errors.As(err, &e)
	if s.Uploads++; s.Uploads >= mostUploads || len(s.Files) == 0 {
		return platform.Reject(platform.CodeMediaRefused, "X does not take the files.").Saying(e.Words).Because(err)
	}
	*s = state{Uploads: s.Uploads}
	return platform.ErrMore
}

func refOf(id string) platform.Ref { return platform.Ref{ID: id, URL: site + "/i/status/" + id} }

// unlinked returns a text in its composed form, without its links. X writes links in its own way, and adds one for
// media.
func unlinked(text string) string {
	text = norm.NFC.String(text)
	for _, reader := range []texts.Reader{texts.X, texts.General} {
		var b strings.Builder
		at := 0
		for _, l := range reader.Links(text) {
			b.WriteString(text[at:l.Start] + " ")
			at = l.End
		}
		text = b.String() + text[at:]
	}
	return text
}

// Find implements platform.Steps. It looks at the posts since the call began, because X charges for each
// post that is read.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	var list struct {
		Data []struct {
			ID   string    `json:"id"`
			Text string    `json:"text"`
			At   time.Time `json:"created_at"`
		} `json:"data"`
	}
	since := w.SentAt.Add(-time.Minute).UTC().Truncate(time.Second)
	err = p.Get(ctx, w.Account.Token.Access, "/2/users/"+w.Account.ID+"/tweets", url.Values{"max_results": {"5"},
		"start_time": {since.Format(time.RFC3339)}, "tweet.fields": {"created_at"}}, &list)
	if platform.KindOf(err) == platform.BadContent {
		return ref, "", platform.Lost(err) // the post may exist although X does not show it
	}
	if err != nil {
		return ref, "", err
	}
	for _, d := range list.Data {
		if number(d.ID) && !d.At.Before(since) && d.ID != w.First.ID && d.ID != w.Last.ID &&
			platform.Same(unlinked(html.UnescapeString(d.Text)), unlinked(w.Text())) {
			return refOf(d.ID), platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first. X accepts the
// deletion of a post that does not exist.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	for _, id := range post.Posts() {
		if !number(id) {
			return platform.Reject(platform.CodePostNotFound, "X does not have the post.")
		}
		call := p.Call(http.MethodDelete, "/2/tweets/"+id, a.Token.Access)
		var answer struct{ Data struct{ Deleted bool } }
		err := p.Client.JSON(ctx, call, p.classify(reads), &answer)
		if err == nil && !answer.Data.Deleted {
			err = p.Client.GarbledError(call, errIncomplete)
		}
		if err = platform.Except(platform.CodePostNotFound, err); err != nil {
			return err
		}
	}
	return nil
}

// hideScope is the right to hide replies.
const hideScope = "tweet.moderate.write"

// mostReplies is how many replies a look reads, the newest ones: as few as X lets an application search for.
const mostReplies = "10"

// commentReads are the ages of a post at which its replies are read. X searches the last seven days.
var commentReads = []time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 72 * time.Hour, 160 * time.Hour}

// replyPrice returns what a reply costs.
func replyPrice(text string) int {
	// X charges for what it takes as a link. What other platforms take as one is included, to be on the safe side.
	if len(texts.X.Links(text)) > 0 || len(platform.Links(text)) > 0 {
		return linkPrice
	}
	return postPrice
}

// Comments implements platform.CommentReader. It searches only if the post has replies: X charges for each reply
// and each author that it shows.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	_ string) (page platform.CommentPage, err error) {
	m, err := p.Metrics(ctx, a, post)
	if err != nil {
		return page, err
	}
	page.Uses = readPrice
	if *m.Comments == 0 {
		return page, nil
	}
	var list struct {
		Data []struct {
			ID     string    `json:"id"`
			Text   string    `json:"text"`
			Author string    `json:"author_id"`
			At     time.Time `json:"created_at"`
			Refs   []struct {
				Type string `json:"type"`
				ID   string `json:"id"`
			} `json:"referenced_tweets"`
		} `json:"data"`
		Includes struct {
			Users []struct {
				ID       string `json:"id"`
				Username string `json:"username"`
				Name     string `json:"name"`
			} `json:"users"`
		} `json:"includes"`
		Meta struct {
			Next string `json:"next_token"`
		} `json:"meta"`
	}
	err = p.Get(ctx, a.Token.Access, "/2/tweets/search/recent", url.Values{"query": {"conversation_id:" + post.ID},
		"max_results": {mostReplies}, "tweet.fields": {"created_at,author_id,referenced_tweets"},
		"expansions": {"author_id"}, "user.fields": {"username,name"}}, &list)
	if err != nil {
		return platform.CommentPage{}, err
	}
	authors := map[string]platform.Author{}
	for _, u := range list.Includes.Users {
		authors[u.ID] = platform.Author{Handle: "@" + u.Username, Name: u.Name}
	}
	page.Uses += readPrice*len(list.Data) + userPrice*len(list.Includes.Users)
	page.Partial = list.Meta.Next != ""
	for _, d := range list.Data {
		c := platform.Comment{ID: d.ID, Author: authors[d.Author], Text: html.UnescapeString(d.Text), At: d.At,
			Own: d.Author == a.ID}
		for _, r := range d.Refs {
			if r.Type == "replied_to" && r.ID != post.ID {
				c.ParentID = r.ID
			}
		}
		if d.ID != post.ID {
			page.Comments = append(page.Comments, c)
		}
	}
	return page, nil
}

// Reply implements platform.Replier.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !number(r.To.ID) {
		return "", platform.CommentGone()
	}
	call := p.Call(http.MethodPost, "/2/tweets", a.Token.Access)
	call.Posts = true
	call.JSON = map[string]any{"text": r.Text, "reply": map[string]string{"in_reply_to_tweet_id": r.To.ID}}
	var made struct {
		Data struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	err := p.Client.JSON(ctx, call, p.ofComments(true, "X takes replies of applications only to people who have "+
		"mentioned the account or answered it."), &made)
	if err != nil {
		return "", err
	}
	if !number(made.Data.ID) {
		return "", p.Client.GarbledError(call, errIncomplete)
	}
	return made.Data.ID, nil
}

// HideComment implements platform.CommentHider.
func (p *Platform) HideComment(ctx context.Context, a platform.Account, _ platform.PublishedPost, commentID string,
	hidden bool) error {
	if !number(commentID) {
		return platform.CommentGone()
	}
	if a.Token.Lacks([]string{hideScope}) {
		return platform.NeedsReconnect(platform.CodeMissingPermission, "The account was connected without the right "+
			"to hide replies. Connect it again, and allow all that the page of X asks for.")
	}
	call := p.Call(http.MethodPut, "/2/tweets/"+commentID+"/hidden", a.Token.Access)
	call.JSON = map[string]bool{"hidden": hidden}
	return p.Client.JSON(ctx, call, p.ofComments(false, "X lets the account hide replies to its own posts alone."), nil)
}

// DeleteComment implements platform.CommentDeleter. X accepts the deletion of a post that does not exist.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.PublishedPost,
	commentID string) error {
	if !number(commentID) {
		return nil
	}
	err := p.Client.JSON(ctx, p.Call(http.MethodDelete, "/2/tweets/"+commentID, a.Token.Access),
		p.ofComments(false, "X lets the account delete its own replies alone. Hide the reply."), nil)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// ofComments classifies the refusals of calls about replies; posts reports whether the call may have written one, and
// forbidden says what X does not permit.
func (p *Platform) ofComments(posts bool, forbidden string) wire.Classifier {
	return func(a wire.Answer) *platform.Error {
		e := p.classify(makes)(a)
		b, m := problemOf(a)
		switch {
		case a.Status == http.StatusNotFound,
			a.Status == http.StatusForbidden && strings.Contains(b.Detail, "deleted or not visible"):
			return platform.CommentGone()
		case m == duplicate && posts:
			return platform.Lost(nil) // the equal text may be the reply itself
		case a.Status == http.StatusForbidden && (m == 0 || m == reply || m == right):
			return platform.Reject(platform.CodeUnsupported, forbidden).Saying(b.words())
		}
		return e
	}
}
