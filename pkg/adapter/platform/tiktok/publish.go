package tiktok

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	// defaultChunk is the length of a chunk. The last chunk has up to twice that length. A file
	// of at most singleChunk is a single chunk.
	defaultChunk = 32 << 20
	singleChunk  = 64 << 20

	// TikTok answers 30 requests for the status a minute.
	between    = 2 * time.Second
	processing = 10 * time.Second
	// An upload address is valid for an hour.
	uploadable = time.Hour + 5*time.Minute
	// A public post gets its id after moderation, usually within a minute.
	moderation = 30 * time.Second
	maxLooks   = 10
)

// levels maps the privacies to TikTok's names.
var levels = map[platform.Privacy][]string{
	platform.Public:  {"PUBLIC_TO_EVERYONE"},
	platform.Friends: {"MUTUAL_FOLLOW_FRIENDS"},
	platform.Private: {"SELF_ONLY"},
	"":               {"PUBLIC_TO_EVERYONE", "FOLLOWER_OF_CREATOR", "SELF_ONLY"},
}

// domain is the domain of the upload addresses.
const domain = "tiktokapis.com"

// work is the content of a handle.
type work struct {
	ID      string `json:"id,omitempty"`      // id of the publication
	Upload  string `json:"upload,omitempty"`  // upload address of a video
	Opened  int64  `json:"opened,omitempty"`  // time of opening, in Unix seconds
	Offset  int64  `json:"offset,omitempty"`  // number of uploaded bytes
	Privacy string `json:"privacy,omitempty"` // privacy of photos, which have no publication yet
	Silent  bool   `json:"silent,omitempty"`  // the creator permits no comments
	User    string `json:"user,omitempty"`    // user name in the address of the post
	Looks   int    `json:"looks,omitempty"`   // number of looks for the post's id
	Inbox   bool   `json:"inbox,omitempty"`   // the creator finishes the post in TikTok
}

func (p *Platform) parse(h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if w.ID == "" && w.Privacy == "" && !w.Inbox || w.Offset < 0 ||
		w.Upload != "" && !p.Client.Trusts(w.Upload, domain) {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
}

// chunks returns the length and the number of a file's chunks.
func (p *Platform) chunks(bytes int64) (length, count int64) {
	if bytes <= max(min(singleChunk, 2*p.chunk), p.chunk) {
		return bytes, 1
	}
	return p.chunk, bytes / p.chunk
}

// Start implements platform.Publisher. It reads the permissions of the account, and opens the
// publication of a video. Nothing is posted before the video is uploaded.
func (p *Platform) Start(ctx context.Context, a platform.Account, post platform.Post) (platform.Step, error) {
	m, own := post.Media[0], optionsOf(post)
	if own.Mode == modeInbox {
		if !m.Video() {
			return platform.Go(platform.StageFinalize, work{Inbox: true}, 0)
		}
		return p.openVideo(ctx, a, m, "/v2/post/publish/inbox/video/init/", map[string]any{}, work{Inbox: true})
	}
	creator, err := p.creator(ctx, a)
	if err != nil {
		return platform.Step{}, err
	}
	i := slices.IndexFunc(levels[post.Options.Privacy],
		func(l string) bool { return slices.Contains(creator.Levels, l) })
	if i < 0 {
		return platform.Step{}, badPrivacy()
	}
	w := work{Privacy: levels[post.Options.Privacy][i], Silent: creator.Comments, User: creator.User}
	if !m.Video() {
		return platform.Go(platform.StageFinalize, w, 0)
	}
	if creator.MaxTime > 0 && m.Duration > time.Duration(creator.MaxTime)*time.Second {
		return platform.Step{}, platform.Reject(platform.CodeMediaRefused,
			fmt.Sprintf("The TikTok account may post videos of up to %d seconds.", creator.MaxTime))
	}
	info := own.info(w, map[string]any{
		"title":        platform.Arrange(post, capabilities).Body,
		"disable_duet": chosen(own.Duet, own.DisableDuet, creator.Duet), "disable_stitch": chosen(own.Stitch,
			own.DisableStitch, creator.Stitch), "is_aigc": post.Options.Generated,
	})
	if at := post.Options.CoverAt; at > 0 {
		info["video_cover_timestamp_ms"] = at.Milliseconds()
	}
	return p.openVideo(ctx, a, m, "/v2/post/publish/video/init/", map[string]any{"post_info": info}, work{User: w.User})
}

// openVideo opens the publication of a video.
func (p *Platform) openVideo(ctx context.Context, a platform.Account, m platform.Media, path string,
	body map[string]any, w work) (platform.Step, error) {
	length, count := p.chunks(m.Bytes)
	body["source_info"] = map[string]any{"source": "FILE_UPLOAD", "video_size": m.Bytes, "chunk_size": length,
		"total_chunk_count": count}
	var opened struct {
		ID     string `json:"publish_id"`
		Upload string `json:"upload_url"`
	}
	if err := p.post(ctx, a, path, body, &opened); err != nil {
		return platform.Step{}, err
	}
	if opened.ID == "" || !p.Client.Trusts(opened.Upload, domain) {
		return platform.Step{}, platform.Busy().Because(errors.New("tiktok: there is no publication or no address to " +
			"upload to"))
	}
	w.ID, w.Upload, w.Opened = opened.ID, opened.Upload, p.Client.Now().Unix()
	return p.next(w, m)
}

// next returns the step that uploads the next chunk.
func (p *Platform) next(w work, m platform.Media) (platform.Step, error) {
	if _, last := p.piece(w, m); last {
		return platform.Go(platform.StageFinalize, w, 0)
	}
	return platform.Go(platform.StageCheck, w, 0)
}

// piece returns the length of the chunk at the offset, and reports whether it is the last.
func (p *Platform) piece(w work, m platform.Media) (length int64, last bool) {
	length, count := p.chunks(m.Bytes)
	if w.Offset/length >= count-1 {
		return m.Bytes - w.Offset, true
	}
	return length, false
}

// status is the state of a publication.
type status struct {
	State    string        `json:"status"`
	Reason   string        `json:"fail_reason"`
	Posts    []json.Number `json:"publicaly_available_post_id"`
	Uploaded int64         `json:"uploaded_bytes"`
}

func (p *Platform) status(ctx context.Context, a platform.Account, w work) (s status, err error) {
	return s, p.post(ctx, a, "/v2/post/publish/status/fetch/", map[string]string{"publish_id": w.ID}, &s)
}

// Check implements platform.Publisher. It uploads a chunk that is not the last, or waits for the
// post.
func (p *Platform) Check(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.ID == "" {
		return platform.Go(platform.StageFinalize, w, 0)
	}
	s, err := p.status(ctx, a, w)
	if err != nil {
		return platform.Step{}, err
	}
	m := post.Media[0]
	if s.State != "PROCESSING_UPLOAD" || w.Upload == "" || s.Uploaded >= m.Bytes {
		return p.follow(w, s, m.Video())
	}
	w.Offset = s.Uploaded
	length, last := p.piece(w, m)
	if last {
		return platform.Go(platform.StageFinalize, w, 0)
	}
	if err := p.upload(ctx, m, w, length, false); err != nil {
		return platform.Step{}, err
	}
	w.Offset += length
	step, err := p.next(w, m)
	step.Wait = between
	return step, err
}

// follow returns the next step of a publication whose media TikTok has received, according to its
// state.
func (p *Platform) follow(w work, s status, video bool) (platform.Step, error) {
	switch s.State {
	case "FAILED":
		return platform.Step{}, failed(s.Reason)
	case "PUBLISH_COMPLETE", "SEND_TO_USER_INBOX":
		if w.Inbox {
			return platform.Step{Next: platform.StageDone, Warning: inInbox}, nil
		}
		if len(s.Posts) > 0 {
			kind := "/photo/"
			if video {
				kind = "/video/"
			}
			id := s.Posts[0].String()
			return platform.Step{Next: platform.StageDone,
				Post: platform.Published{ID: id, URL: "https://www.tiktok.com/@" + url.PathEscape(w.User) + kind +
					url.PathEscape(id)}}, nil
		}
		if w.Looks++; w.Looks > maxLooks {
			return platform.Step{Next: platform.StageDone}, nil
		}
		return platform.Go(platform.StageCheck, w, moderation)
	default: // PROCESSING_UPLOAD, PROCESSING_DOWNLOAD
		return platform.Go(platform.StageCheck, w, processing)
	}
}

// upload uploads a chunk. TikTok answers 206, and 201 to the last chunk.
func (p *Platform) upload(ctx context.Context, m platform.Media, w work, length int64, posts bool) error {
	call := wire.Call{
		Name: "upload", Method: http.MethodPut, URL: w.Upload, Posts: posts, Timeout: wire.UploadTimeout,
		Body:   wire.Range(ctx, m, w.Offset, length),
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", w.Offset, w.Offset+length-1, m.Bytes)}},
	}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return err
	}
	return p.Client.Check(call, answer, func(a wire.Answer) *platform.Error {
		switch {
		case a.Status == http.StatusForbidden, a.Status == http.StatusNotFound, a.Status == http.StatusGone:
			return platform.Again(nil) // the address has expired, or the upload is complete
		case a.Status == http.StatusRequestedRangeNotSatisfiable && posts:
			return platform.Lost(nil) // TikTok has received more than the handle says
		case a.Status == http.StatusRequestedRangeNotSatisfiable:
			return platform.Busy()
		case a.Status == http.StatusBadRequest:
			return platform.Reject(platform.CodeMediaRefused, "TikTok refuses the video.")
		default:
			return nil
		}
	})
}

// Finalize implements platform.Publisher. It uploads the last chunk, or names the photos.
func (p *Platform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	m := post.Media[0]
	if w.ID == "" {
		return p.photos(ctx, a, post, w)
	}
	length, last := p.piece(w, m)
	if w.Upload == "" || !last || length <= 0 {
		return platform.Step{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	if err := p.upload(ctx, m, w, length, true); err != nil {
		return platform.Step{}, err
	}
	w.Upload, w.Offset = "", 0
	return platform.Go(platform.StageCheck, w, processing)
}

// photos posts photos.
func (p *Platform) photos(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step, error) {
	text := platform.Arrange(post, capabilities)
	addresses := make([]string, len(post.Media))
	for i, m := range post.Media {
		addresses[i] = m.URL
	}
	info, mode := map[string]any{"title": text.Title, "description": text.Body}, "MEDIA_UPLOAD"
	if !w.Inbox {
		info, mode = optionsOf(post).info(w, info), "DIRECT_POST"
		info["auto_add_music"] = false
	}
	body := map[string]any{
		"post_mode": mode, "media_type": "PHOTO", "post_info": info,
		"source_info": map[string]any{"source": "PULL_FROM_URL", "photo_cover_index": 0, "photo_images": addresses},
	}
	call := wire.Call{Name: "content/init", Method: http.MethodPost, URL: p.Client.Base(api) +
		"/v2/post/publish/content/init/", JSON: body, Bearer: a.Token.Access, Posts: true}
	var opened struct {
		ID string `json:"publish_id"`
	}
	if err := p.do(ctx, call, &opened); err != nil {
		return platform.Step{}, err
	}
	if opened.ID == "" {
		return platform.Step{}, p.Client.Garbled(call, errors.New("there is no publication"))
	}
	return platform.Go(platform.StageCheck, work{ID: opened.ID, User: w.User, Inbox: w.Inbox}, processing)
}

// Reconcile implements platform.Publisher. A video is posted once, however often its last chunk is
// sent. A post of photos whose answer was lost has no id to look for.
func (p *Platform) Reconcile(ctx context.Context, a platform.Account, post platform.Post, h platform.Handle,
	_ time.Time) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.ID == "" {
		return platform.Step{}, platform.Lost(errors.New("tiktok: a post of photos has no id yet"))
	}
	s, err := p.status(ctx, a, w)
	if err != nil {
		return platform.Step{}, err
	}
	if m := post.Media[0]; s.State == "PROCESSING_UPLOAD" && s.Uploaded < m.Bytes {
		if p.Client.Now().Sub(time.Unix(w.Opened, 0)) > uploadable {
			return platform.Step{}, platform.Again(errors.New("tiktok: the upload was not completed in time"))
		}
		w.Offset = s.Uploaded
		step, err := p.next(w, m)
		step.Wait = processing
		return step, err
	}
	w.Upload, w.Offset = "", 0
	return p.follow(w, s, true)
}
