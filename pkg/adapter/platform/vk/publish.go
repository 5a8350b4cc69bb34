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
	Attached []string `json:"attached,omitempty"` // uploaded files, such as photo-1_2
	Upload   string   `json:"upload,omitempty"`   // upload address of the next video
	Video    string   `json:"video,omitempty"`    // id of that video
}

// Prepare implements chain.Steps. It uploads a photo, opens the upload of a video, or uploads the
// video. Uploaded files stay invisible until they are attached.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s, all := &w.Own, w.Post.Media
	if len(s.Attached) >= len(all) {
		return true, 0, nil
	}
	switch m := all[len(s.Attached)]; {
	case !m.Video():
		attachment, err := p.photo(ctx, w.Account, m)
		if err != nil {
			return false, 0, err
		}
		s.Attached = append(s.Attached, attachment)
	case s.Upload == "":
		return false, 0, p.openVideo(ctx, w.Account, w.Post, s)
	default:
		var answer struct {
			ID    int64  `json:"video_id"`
			Error string `json:"error"`
		}
		if err := p.upload(ctx, s.Upload, "video_file", m, videoTimeout, &answer); err != nil {
			return false, 0, err
		}
		if answer.Error != "" {
			return false, 0, uploadRefused(answer.Error)
		}
		s.Attached = append(s.Attached, s.Video)
		s.Upload, s.Video = "", ""
	}
	return len(s.Attached) == len(all), 0, nil
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
		Error  string      `json:"error"`
	}
	if err := p.upload(ctx, server.URL, "photo", m, wire.UploadTimeout, &uploaded); err != nil {
		return "", err
	}
	if uploaded.Error != "" {
		return "", uploadRefused(uploaded.Error)
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
		Timeout: timeout}, p.refused(platform.Token{}, "upload", false), out)
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
	if len(w.Own.Attached) > 0 {
		params.Set("attachments", strings.Join(w.Own.Attached, ","))
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
		Items []found `json:"items"`
	}
	if err := p.call(ctx, w.Account, "wall.get", url.Values{"owner_id": {w.Account.ID}, "count": {"50"},
		"filter": {"owner"}}, false, &wall); err != nil {
		return ref, "", err
	}
	for _, f := range wall.Items {
		if f.Text == w.Text() && f.Date >= w.SentAt.Add(-time.Minute).Unix() &&
			slices.Equal(f.attached(), w.Own.Attached) {
			return refOf(w.Account, f.ID), platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
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
