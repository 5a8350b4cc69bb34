package vk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// videoTimeout bounds the upload of a video, which is one call.
const videoTimeout = 12 * time.Minute

// state is the adapter's part of a handle.
type state struct {
	Attachments []string `json:"attached,omitempty"` // uploaded files, such as photo-1_2
	Upload      string   `json:"upload,omitempty"`   // upload address of the next video
	Video       string   `json:"video,omitempty"`    // id of that video
}

// Prepare implements chain.Steps. It uploads a photo, opens the upload of a video, or uploads the
// video. Uploaded files stay invisible until they are attached.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s, all := &w.Own, w.Post.Media
	if len(s.Attachments) >= len(all) {
		return true, 0, nil
	}
	switch m := all[len(s.Attachments)]; {
	case !m.Video():
		attachment, err := p.photo(ctx, w.Account, m)
		if err != nil {
			return false, 0, err
		}
		s.Attachments = append(s.Attachments, attachment)
	case s.Upload == "":
		return false, 0, p.openVideo(ctx, w.Account, w.Post, s)
	default:
		var answer struct {
			ID    int64  `json:"video_id"`
			Size  int64  `json:"size"`
			Error string `json:"error"`
		}
		if err := p.upload(ctx, s.Upload, "video_file", m, videoTimeout, &answer); err != nil {
			return false, 0, err
		}
		if answer.Error != "" {
			return false, 0, uploadError(answer.Error)
		}
		if answer.ID == 0 && answer.Size == 0 {
			return false, 0, platform.Busy().Because(errNoFile)
		}
		s.Attachments = append(s.Attachments, s.Video)
		s.Upload, s.Video = "", ""
	}
	return len(s.Attachments) == len(all), 0, nil
}

var errNoFile = errors.New("vk: the answer to an upload names no file")

func community(a platform.Account) string { return strings.TrimPrefix(a.ID, "-") }

// photo uploads a photo and returns its attachment.
func (p *Platform) photo(ctx context.Context, a platform.Account, m platform.Media) (string, error) {
	var server struct {
		URL string `json:"upload_url"`
	}
	if err := p.call(ctx, a, "photos.getWallUploadServer", url.Values{"group_id": {community(a)}}, false,
		&server); err != nil {
		return "", err
	}
	var uploaded struct {
		Server json.Number `json:"server"`
		Photo  string      `json:"photo"`
		Hash   string      `json:"hash"`
		Error  string      `json:"error"`
	}
	if err := p.upload(ctx, server.URL, "photo", m, wire.UploadTimeout, &uploaded); err != nil {
		return "", err
	}
	if uploaded.Error != "" {
		return "", uploadError(uploaded.Error)
	}
	if uploaded.Photo == "" {
		return "", platform.Busy().Because(errNoFile)
	}
	if uploaded.Photo == "[]" {
		return "", platform.Reject(platform.CodeMediaRefused, "VK refuses the photo.")
	}
	var saved []struct {
		ID    int64 `json:"id"`
		Owner int64 `json:"owner_id"`
	}
	params := url.Values{"group_id": {community(a)}, "photo": {uploaded.Photo}, "server": {uploaded.Server.String()},
		"hash": {uploaded.Hash}}
	if err := p.call(ctx, a, "photos.saveWallPhoto", params, false, &saved); err != nil {
		return "", err
	}
	if len(saved) != 1 {
		return "", platform.Busy().Because(fmt.Errorf("vk: %d photos were saved", len(saved)))
	}
	return fmt.Sprintf("photo%d_%d", saved[0].Owner, saved[0].ID), nil
}

// openVideo opens the upload of a video.
func (p *Platform) openVideo(ctx context.Context, a platform.Account, post platform.Post, s *state) error {
	var video struct {
		URL   string `json:"upload_url"`
		ID    int64  `json:"video_id"`
		Owner int64  `json:"owner_id"`
	}
	params := url.Values{"group_id": {community(a)}, "wallpost": {"0"}}
	if post.Title != "" {
		params.Set("name", post.Title)
	}
	if text := platform.Arrange(post, capabilities).Body; text != "" && post.Kind != platform.KindCarousel {
		params.Set("description", text)
	}
	if err := p.call(ctx, a, "video.save", params, false, &video); err != nil {
		return err
	}
	if video.URL == "" || video.ID == 0 {
		return platform.Busy().Because(errors.New("vk: there is no address to upload to"))
	}
	s.Upload, s.Video = video.URL, fmt.Sprintf("video%d_%d", video.Owner, video.ID)
	return nil
}

// upload uploads a file as a form. VK names the address, which is on one of its many domains, so
// the request carries no token.
func (p *Platform) upload(ctx context.Context, address, field string, m platform.Media, timeout time.Duration,
	out any) error {
	if !p.Client.Trusts(address, "vk.com") && !strings.HasPrefix(address, "https://") {
		return platform.Busy().Because(errors.New("vk: the address to upload to is without TLS"))
	}
	body, err := wire.Multipart(ctx, nil, wire.File{Field: field, Name: wire.FileName(m), Media: m})
	if err != nil {
		return err
	}
	return p.Client.JSON(ctx, wire.Call{Name: "upload " + field, Method: http.MethodPost, URL: address, Body: body,
		Timeout: timeout}, p.classify(platform.Token{}, "upload", false), out)
}

// Make implements chain.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	a := w.Account
	params := url.Values{"owner_id": {a.ID}, "guid": {w.Post.Key}}
	if w.IsComment() {
		params["post_id"], params["from_group"], params["message"] = []string{w.First.ID}, []string{community(a)},
			[]string{w.Text()}
		return ref, p.call(ctx, a, "wall.createComment", params, true, &struct{}{})
	}
	params.Set("from_group", "1")
	describe(params, w.Post)
	if text := w.Text(); text != "" {
		params.Set("message", text)
	}
	if len(w.Own.Attachments) > 0 {
		params.Set("attachments", strings.Join(w.Own.Attachments, ","))
	}
	var made struct {
		ID int64 `json:"post_id"`
	}
	if err := p.call(ctx, a, "wall.post", params, true, &made); err != nil {
		return ref, err
	}
	if made.ID == 0 {
		return ref, platform.Lost(errors.New("vk: wall.post: there is no id"))
	}
	return refOf(a, made.ID), nil
}

func refOf(a platform.Account, id int64) platform.Ref {
	n := strconv.FormatInt(id, 10)
	return platform.Ref{ID: n, URL: "https://vk.com/wall" + a.ID + "_" + n}
}

// Find implements chain.Steps. It looks for the post on the wall.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	if w.IsComment() || w.Account.Token.Refresh == "" {
		return ref, "", platform.Lost(errors.New("vk: the token of a community cannot read the wall"))
	}
	var wall struct {
		Items []wallPost `json:"items"`
	}
	if err := p.call(ctx, w.Account, "wall.get", url.Values{"owner_id": {w.Account.ID}, "count": {"50"},
		"filter": {"owner"}}, false, &wall); err != nil {
		return ref, "", err
	}
	for _, f := range wall.Items {
		if platform.Same(f.Text, w.Text()) && f.Date >= w.SentAt.Add(-time.Minute).Unix() &&
			slices.Equal(f.attachments(), w.Own.Attachments) {
			return refOf(w.Account, f.ID), platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// wallPost is a post that was found on a wall.
type wallPost struct {
	ID          int64                        `json:"id"`
	Date        int64                        `json:"date"`
	Text        string                       `json:"text"`
	Attachments []map[string]json.RawMessage `json:"attachments"`
}

// attachments returns the attachments in the form that wall.post takes.
func (f wallPost) attachments() []string {
	var all []string
	for _, m := range f.Attachments {
		var kind string
		var file struct {
			ID    int64 `json:"id"`
			Owner int64 `json:"owner_id"`
		}
		if json.Unmarshal(m["type"], &kind) != nil || json.Unmarshal(m[kind], &file) != nil {
			continue
		}
		all = append(all, fmt.Sprintf("%s%d_%d", kind, file.Owner, file.ID))
	}
	return all
}

// attachment is a file of a post.
type attachment struct {
	Type  string `json:"type"`
	Photo *file  `json:"photo"`
	Video *file  `json:"video"`
}

type file struct {
	ID     int64  `json:"id"`
	Owner  int64  `json:"owner_id"`
	Access string `json:"access_key"`
}

// name returns the name of a file in calls.
func (a attachment) name() string {
	f := a.Photo
	if a.Type == "video" {
		f = a.Video
	}
	if f == nil {
		return ""
	}
	name := fmt.Sprintf("%s%d_%d", a.Type, f.Owner, f.ID)
	if f.Access != "" {
		name += "_" + f.Access
	}
	return name
}

// Edit implements platform.Editor. VK replaces the text and the files together, so the files are read first.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.PlacedPost, text string) error {
	params := url.Values{"owner_id": {a.ID}, "post_id": {post.ID}, "message": {text}}
	if post.Media > 0 {
		found, files, err := p.read(ctx, a, post)
		if err != nil {
			return err
		}
		if !found {
			return platform.Reject(platform.CodePostNotFound, "VK does not have the post.")
		}
		if len(files) != post.Media {
			return platform.Reject(platform.CodeContentRefused, "The files of the post were changed on VK. Change "+
				"its text there.")
		}
		params.Set("attachments", strings.Join(files, ","))
	}
	return p.call(ctx, a, "wall.edit", params, false, &struct{}{})
}

// Delete implements platform.Deleter. VK refuses the deletion of a post that does not exist, so that a refusal is
// followed by a look for the post.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.PlacedPost) error {
	var done int
	err := p.call(ctx, a, "wall.delete", url.Values{"owner_id": {a.ID}, "post_id": {post.ID}}, false, &done)
	var refused *platform.Error
	if !errors.As(err, &refused) || !refused.Kind.Final() && refused.Kind != platform.Unclear ||
		a.Token.Refresh == "" {
		return err
	}
	if found, _, failed := p.read(ctx, a, post); failed != nil || found {
		return err
	}
	return nil
}

// read reports whether a post exists, and returns the names of its files.
func (p *Platform) read(ctx context.Context, a platform.Account, post platform.PlacedPost) (found bool, files []string,
	err error) {
	var answer struct {
		Items []struct {
			Deleted     bool         `json:"is_deleted"`
			Attachments []attachment `json:"attachments"`
		} `json:"items"`
	}
	if err := p.call(ctx, a, "wall.getById", url.Values{"posts": {a.ID + "_" + post.ID}}, false, &answer); err != nil {
		return false, nil, err
	}
	if len(answer.Items) == 0 || answer.Items[0].Deleted {
		return false, nil, nil
	}
	for _, f := range answer.Items[0].Attachments {
		if name := f.name(); name != "" {
			files = append(files, name)
		}
	}
	return true, files, nil
}

// commentPage is the number of comments of a page.
const commentPage = 100

// threadItems is the most replies that VK shows below each comment of a page.
const threadItems = 10

type wallComment struct {
	ID      int64  `json:"id"`
	From    int64  `json:"from_id"`
	Date    int64  `json:"date"`
	Text    string `json:"text"`
	Deleted bool   `json:"deleted"`
	Thread  struct {
		Count int           `json:"count"`
		Items []wallComment `json:"items"`
	} `json:"thread"`
}

// person is a user or a community.
type person struct {
	ID     int64  `json:"id"`
	First  string `json:"first_name"`
	Last   string `json:"last_name"`
	Name   string `json:"name"`
	Screen string `json:"screen_name"`
}

// Comments implements platform.CommentReader.
func (p *Platform) Comments(ctx context.Context, a platform.Account, post platform.PublishedPost,
	after string) (page platform.CommentPage, err error) {
	if a.Token.Refresh == "" {
		return page, platform.Unsupported("reading comments with the token of a community")
	}
	offset, _ := strconv.Atoi(after)
	var answer struct {
		Count    int           `json:"current_level_count"`
		Items    []wallComment `json:"items"`
		Profiles []person      `json:"profiles"`
		Groups   []person      `json:"groups"`
	}
	err = p.call(ctx, a, "wall.getComments", url.Values{"owner_id": {a.ID}, "post_id": {post.ID}, "sort": {"desc"},
		"count": {strconv.Itoa(commentPage)}, "offset": {strconv.Itoa(offset)}, "extended": {"1"},
		"thread_items_count": {strconv.Itoa(threadItems)}, "fields": {"screen_name"}}, false, &answer)
	if err != nil {
		return page, err
	}
	authors := map[int64]platform.Author{}
	for _, u := range answer.Profiles {
		authors[u.ID] = u.author()
	}
	for _, g := range answer.Groups {
		authors[-g.ID] = g.author()
	}
	add := func(c wallComment, parent string) {
		if c.Deleted {
			return
		}
		page.Comments = append(page.Comments, platform.Comment{ID: strconv.FormatInt(c.ID, 10), ParentID: parent,
			Author: authors[c.From], Text: c.Text, At: time.Unix(c.Date, 0),
			Own: strconv.FormatInt(c.From, 10) == a.ID})
	}
	for _, c := range answer.Items {
		add(c, "")
		for _, r := range c.Thread.Items {
			add(r, strconv.FormatInt(c.ID, 10))
		}
		page.Partial = page.Partial || c.Thread.Count > len(c.Thread.Items)
	}
	if next := offset + len(answer.Items); len(answer.Items) == commentPage && next < answer.Count {
		page.Next = strconv.Itoa(next)
	}
	return page, nil
}

func (u person) author() platform.Author {
	a := platform.Author{Name: strings.TrimSpace(u.Name + u.First + " " + u.Last)}
	if u.Screen != "" {
		a.Handle = "@" + u.Screen
	}
	return a
}

// Reply implements platform.Replier. VK takes a comment with the same guid once.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	var made struct {
		ID int64 `json:"comment_id"`
	}
	err := p.call(ctx, a, "wall.createComment", url.Values{"owner_id": {a.ID}, "post_id": {r.Post.ID},
		"from_group": {community(a)}, "message": {r.Text}, "reply_to_comment": {r.To.ID}, "guid": {r.Key}}, true, &made)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(made.ID, 10), nil
}

// DeleteComment implements platform.CommentDeleter.
func (p *Platform) DeleteComment(ctx context.Context, a platform.Account, _ platform.PublishedPost,
	commentID string) error {
	var done int
	err := p.call(ctx, a, "wall.deleteComment", url.Values{"owner_id": {a.ID}, "comment_id": {commentID}}, false, &done)
	return platform.Except(platform.CodeCommentNotFound, err)
}

// webhookAnswer is the answer to a webhook that VK does not send again.
const webhookAnswer = "ok"

// ChangedPosts implements platform.Announcer. Each community has a confirmation of its own.
func (p *Platform) ChangedPosts(ctx context.Context, h platform.Hook) (all []platform.ChangedPost, answer string,
	err error) {
	app, err := p.Client.App(ctx)
	if err != nil {
		return nil, "", err
	}
	var body struct {
		Type   string `json:"type"`
		Group  int64  `json:"group_id"`
		Secret string `json:"secret"`
		Object struct {
			Post int64 `json:"post_id"`
		} `json:"object"`
	}
	if h.Method != http.MethodPost || json.Unmarshal(h.Body, &body) != nil ||
		!platform.SameSecret(body.Secret, app.HookToken) {
		return nil, "", platform.ErrForged
	}
	switch body.Type {
	case "confirmation":
		for _, c := range strings.Fields(app.Confirmations) {
			if group, text, ok := strings.Cut(c, "="); ok && group == strconv.FormatInt(body.Group, 10) {
				return nil, text, nil
			}
		}
		return nil, "", platform.ErrForged
	case "wall_reply_new", "wall_reply_edit", "wall_reply_delete", "wall_reply_restore":
		return []platform.ChangedPost{{Account: strconv.FormatInt(-body.Group, 10),
			Post: strconv.FormatInt(body.Object.Post, 10)}}, webhookAnswer, nil
	}
	return nil, webhookAnswer, nil
}
