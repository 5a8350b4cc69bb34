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

// work is the content of a handle.
type work struct {
	Wall     string   `json:"wall"`               // id of the community
	Attached []string `json:"attached,omitempty"` // uploaded files, such as photo-1_2
	Upload   string   `json:"upload,omitempty"`   // upload address of the next video
	Video    string   `json:"video,omitempty"`    // id of that video
	Post     string   `json:"post,omitempty"`     // id of the post whose first comment is still to be written
}

func parse(h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if !strings.HasPrefix(w.Wall, "-") || (w.Upload == "") != (w.Video == "") {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// next returns the step that uploads the next file or makes the post.
func next(w work, post platform.Post) (platform.Step, error) {
	if len(w.Attached) < len(post.Media) {
		return platform.Go(platform.StageCheck, w, 0)
	}
	return platform.Go(platform.StageFinalize, w, 0)
}

// Start implements platform.Publisher.
func (p *Platform) Start(_ context.Context, a platform.Account, post platform.Post) (platform.Step, error) {
	return next(work{Wall: a.ID}, post)
}

// Check implements platform.Publisher. It uploads a photo, opens the upload of a video, or uploads
// the video. Uploaded files stay invisible until they are attached.
func (p *Platform) Check(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil || len(w.Attached) >= len(post.Media) {
		return platform.Step{Next: platform.StageFinalize, Handle: h}, err
	}
	switch m := post.Media[len(w.Attached)]; {
	case !m.Video():
		attachment, err := p.photo(ctx, a, m)
		if err != nil {
			return platform.Step{}, err
		}
		w.Attached = append(w.Attached, attachment)
	case w.Upload == "":
		if err := p.openVideo(ctx, a, post, &w); err != nil {
			return platform.Step{}, err
		}
		return platform.Go(platform.StageCheck, w, 0)
	default:
		var answer struct {
			ID    int64  `json:"video_id"`
			Error string `json:"error"`
		}
		if err := p.upload(ctx, w.Upload, "video_file", m, videoTimeout, &answer); err != nil {
			return platform.Step{}, err
		}
		if answer.Error != "" {
			return platform.Step{}, platform.Reject(platform.CodeMediaRefused, "VK refuses the video.")
		}
		w.Attached = append(w.Attached, w.Video)
		w.Upload, w.Video = "", ""
	}
	return next(w, post)
}

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
	}
	if err := p.upload(ctx, server.URL, "photo", m, wire.UploadTimeout, &uploaded); err != nil {
		return "", err
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
func (p *Platform) openVideo(ctx context.Context, a platform.Account, post platform.Post, w *work) error {
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
	w.Upload, w.Video = video.URL, fmt.Sprintf("video%d_%d", video.Owner, video.ID)
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
		Timeout: timeout}, refused(platform.Token{}, false), out)
}

// Finalize implements platform.Publisher. It makes the post, or writes the first comment.
func (p *Platform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Post != "" {
		return p.comment(ctx, a, post, w)
	}
	params := url.Values{"owner_id": {a.ID}, "from_group": {"1"}, "guid": {post.Key}}
	if text := platform.Arrange(post, capabilities).Body; text != "" {
		params.Set("message", text)
	}
	if len(w.Attached) > 0 {
		params.Set("attachments", strings.Join(w.Attached, ","))
	}
	var made struct {
		ID int64 `json:"post_id"`
	}
	if err := p.call(ctx, a, "wall.post", params, true, &made); err != nil {
		return platform.Step{}, err
	}
	if made.ID == 0 {
		return platform.Step{}, platform.Lost(errors.New("vk: wall.post: there is no id"))
	}
	return posted(w, made.ID, post)
}

// posted returns the step that follows the creation of a post.
func posted(w work, id int64, post platform.Post) (platform.Step, error) {
	n := strconv.FormatInt(id, 10)
	published := platform.Published{ID: n, URL: "https://vk.com/wall" + w.Wall + "_" + n}
	if post.Options.FirstComment == "" {
		return platform.Step{Next: platform.StageDone, Post: published}, nil
	}
	step, err := platform.Go(platform.StageFinalize, work{Wall: w.Wall, Post: n}, 0)
	step.Post = published
	return step, err
}

// comment writes the first comment. It leaves the comment out if VK refuses it for good.
func (p *Platform) comment(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step, error) {
	params := url.Values{"owner_id": {a.ID}, "post_id": {w.Post}, "from_group": {community(a)},
		"message": {post.Options.FirstComment}, "guid": {post.Key}}
	err := p.call(ctx, a, "wall.createComment", params, true, &struct{}{})
	if kind := platform.KindOf(err); err != nil && (kind == platform.Retry || kind == platform.Unknown ||
		kind == platform.Expired) {
		return platform.Step{}, err
	}
	done := platform.Step{Next: platform.StageDone}
	if err != nil {
		done.Warning = platform.Warn(platform.CommentNotWritten, "VK has not taken the first comment.", err)
	}
	return done, nil
}

// Reconcile implements platform.Publisher. It looks for the post on the wall.
func (p *Platform) Reconcile(ctx context.Context, a platform.Account, post platform.Post, h platform.Handle,
	begun time.Time) (platform.Step, error) {
	w, err := parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Post != "" {
		return platform.CommentInDoubt(), nil
	}
	if a.Token.Refresh == "" {
		return platform.Step{}, platform.Lost(errors.New("vk: the token of a community cannot read the wall"))
	}
	var wall struct {
		Items []found `json:"items"`
	}
	if err := p.call(ctx, a, "wall.get", url.Values{"owner_id": {a.ID}, "count": {"50"}, "filter": {"owner"}}, false,
		&wall); err != nil {
		return platform.Step{}, err
	}
	text := platform.Arrange(post, capabilities).Body
	for _, f := range wall.Items {
		if f.Text == text && f.Date >= begun.Add(-time.Minute).Unix() && slices.Equal(f.attached(), w.Attached) {
			return posted(w, f.ID, post)
		}
	}
	return platform.Step{Next: platform.StageReconcile, Handle: h}, nil
}

// found is a post that was found on a wall.
type found struct {
	ID          int64                        `json:"id"`
	Date        int64                        `json:"date"`
	Text        string                       `json:"text"`
	Attachments []map[string]json.RawMessage `json:"attachments"`
}

// attached returns the attachments in the form that wall.post takes.
func (f found) attached() []string {
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
