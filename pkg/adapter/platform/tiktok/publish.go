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
	// defaultChunk is the length of a chunk. The last chunk has up to twice that length. A file of at most singleChunk
	// is a single chunk. TikTok takes 64 MB, and refuses chunks without saying which MB it means (post-for-me #327).
	defaultChunk = 32_000_000
	singleChunk  = 64_000_000

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

// state is the adapter's part of a handle.
type state struct {
	ID      string `json:"id,omitempty"`      // id of the publication
	Upload  string `json:"upload,omitempty"`  // upload address of a video
	Opened  int64  `json:"opened,omitempty"`  // time of opening, in Unix seconds
	Offset  int64  `json:"offset,omitempty"`  // number of uploaded bytes
	Chunk   int64  `json:"chunk,omitempty"`   // length of a chunk but for the last
	Chunks  int64  `json:"chunks,omitempty"`  // number of chunks
	Privacy string `json:"privacy,omitempty"` // privacy of photos, which have no publication yet
	Silent  bool   `json:"silent,omitempty"`  // the creator permits no comments
	User    string `json:"user,omitempty"`    // user name in the address of the post
	Looks   int    `json:"looks,omitempty"`   // number of looks for the post's id
}

// inbox reports whether the creator finishes the post in TikTok.
func inbox(post platform.Post) bool { return optionsOf(post).Mode == modeInbox }

// Chunks returns the length and the number of a file's chunks.
func (p *Platform) Chunks(bytes int64) (length, count int64) {
	if bytes <= max(min(singleChunk, 2*p.Chunk), p.Chunk) {
		return bytes, 1
	}
	return p.Chunk, bytes / p.Chunk
}

// Begin implements chain.Beginner. It reads the permissions of the account, and opens the
// publication of a video. Nothing is posted before the video is uploaded.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[state]) error {
	post, m, own := w.Post, w.Post.Media[0], optionsOf(w.Post)
	if inbox(post) {
		if !m.Video() {
			return nil
		}
		return p.openVideo(ctx, w, "/v2/post/publish/inbox/video/init/", map[string]any{})
	}
	creator, err := p.creator(ctx, w.Account)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(levels[post.Options.Privacy],
		func(l string) bool { return slices.Contains(creator.Levels, l) })
	if i < 0 {
		return badPrivacy()
	}
	w.Own = state{Privacy: levels[post.Options.Privacy][i], Silent: creator.Comments, User: creator.User}
	if !m.Video() {
		return nil
	}
	if creator.MaxTime > 0 && m.Duration > time.Duration(creator.MaxTime)*time.Second {
		return platform.Reject(platform.CodeMediaRefused,
			fmt.Sprintf("The TikTok account may post videos of up to %d seconds.", creator.MaxTime))
	}
	info := own.info(w.Own, map[string]any{
		"title": w.Text(), "disable_duet": chosen(own.Duet, own.DisableDuet, creator.Duet),
		"disable_stitch": chosen(own.Stitch, own.DisableStitch, creator.Stitch), "is_aigc": post.Options.Generated,
	})
	if at := post.Options.CoverAt; at > 0 {
		info["video_cover_timestamp_ms"] = at.Milliseconds()
	}
	return p.openVideo(ctx, w, "/v2/post/publish/video/init/", map[string]any{"post_info": info})
}

// openVideo opens the publication of a video.
func (p *Platform) openVideo(ctx context.Context, w *platform.Work[state], path string, body map[string]any) error {
	bytes := w.Post.Media[0].Bytes
	length, count := p.Chunks(bytes)
	body["source_info"] = map[string]any{"source": "FILE_UPLOAD", "video_size": bytes, "chunk_size": length,
		"total_chunk_count": count}
	var opened struct {
		ID     string `json:"publish_id"`
		Upload string `json:"upload_url"`
	}
	if err := p.post(ctx, w.Account, path, body, &opened); err != nil {
		return err
	}
	if opened.ID == "" || !p.Client.Trusts(opened.Upload, domain) {
		return platform.Busy().Because(errors.New("tiktok: there is no publication or no address to upload to"))
	}
	w.Own.ID, w.Own.Upload, w.Own.Opened = opened.ID, opened.Upload, p.Client.Now().Unix()
	w.Own.Chunk, w.Own.Chunks = length, count
	return nil
}

// piece returns the length of the chunk at the offset, and reports whether it is the last.
func piece(w *platform.Work[state]) (length int64, last bool) {
	bytes := w.Post.Media[0].Bytes
	length, count := w.Own.Chunk, w.Own.Chunks
	if length == 0 { // a version that kept no lengths has opened it
		length, count = 32<<20, bytes/(32<<20)
		if bytes <= 64<<20 {
			count = 1
		}
	}
	if w.Own.Offset/length >= count-1 {
		return bytes - w.Own.Offset, true
	}
	return length, false
}

// status is the state of a publication.
type status struct {
	State         string        `json:"status"`
	Reason        string        `json:"fail_reason"`
	Posts         []json.Number `json:"publicaly_available_post_id"`
	UploadedBytes int64         `json:"uploaded_bytes"`
}

func (p *Platform) status(ctx context.Context, w *platform.Work[state]) (s status, err error) {
	return s, p.post(ctx, w.Account, "/v2/post/publish/status/fetch/", map[string]string{"publish_id": w.Own.ID}, &s)
}

// Prepare implements chain.Steps. It uploads a chunk that is not the last.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	if _, last := piece(w); w.Own.ID == "" || last {
		return true, 0, nil
	}
	s, err := p.status(ctx, w)
	if platform.KindOf(err) == platform.Unknown {
		return false, 0, platform.Again(err) // TikTok has forgotten the publication before its last byte
	}
	if err != nil {
		return false, 0, err
	}
	if s.State != "PROCESSING_UPLOAD" || s.UploadedBytes >= w.Post.Media[0].Bytes {
		w.PostsMade = 1 // by a worker whose answer was lost
		_, wait, err = p.follow(w, s)
		return false, wait, err
	}
	w.Own.Offset = s.UploadedBytes
	length, last := piece(w)
	if last {
		return true, 0, nil
	}
	if err := p.upload(ctx, w, length, false); err != nil {
		return false, 0, err
	}
	w.Own.Offset += length
	_, last = piece(w)
	return last, between, nil
}

// follow reports whether a publication whose media TikTok has received has ended, according to its state. If not, it
// returns when to look again.
func (p *Platform) follow(w *platform.Work[state], s status) (ended bool, wait time.Duration, err error) {
	switch s.State {
	case "FAILED":
		return false, 0, failure(s.Reason)
	case "PUBLISH_COMPLETE", "SEND_TO_USER_INBOX":
		if inbox(w.Post) {
			w.Warning = inInbox
			return true, 0, nil
		}
		if len(s.Posts) > 0 {
			kind, id := "/photo/", s.Posts[0].String()
			if w.Post.Media[0].Video() {
				kind = "/video/"
			}
			w.First = platform.Ref{ID: id, URL: accounts + "/@" + url.PathEscape(w.Own.User) + kind +
				url.PathEscape(id)}
			return true, 0, nil
		}
		w.Own.Looks++
		return w.Own.Looks > maxLooks, moderation, nil
	default: // PROCESSING_UPLOAD, PROCESSING_DOWNLOAD
		return false, processing, nil
	}
}

// End implements chain.Ender. It waits for the post.
func (p *Platform) End(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	if w.First.ID != "" {
		return true, 0, nil
	}
	s, err := p.status(ctx, w)
	if err != nil {
		return false, 0, err
	}
	return p.follow(w, s)
}

// upload uploads a chunk. TikTok answers 206, and 201 to the last chunk.
func (p *Platform) upload(ctx context.Context, w *platform.Work[state], length int64, posts bool) error {
	m, at := w.Post.Media[0], w.Own.Offset
	call := wire.Call{
		Name: "upload", Method: http.MethodPut, URL: w.Own.Upload, Posts: posts, Timeout: wire.UploadTimeout,
		Body:   wire.Range(ctx, m, at, length),
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", at, at+length-1, m.Bytes)}},
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
			return platform.Perhaps(platform.CodeMediaRefused, "TikTok refuses the video.")
		case a.Status == http.StatusRequestEntityTooLarge:
			return platform.Reject(platform.CodeMediaRefused, "TikTok refuses the video.")
		default:
			return nil
		}
	})
}

// Make implements chain.Steps. It uploads the last chunk, or names the photos. The id of the post is known later.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	w.Wait = processing
	if w.Own.ID == "" {
		return ref, p.photos(ctx, w)
	}
	length, _ := piece(w)
	return ref, p.upload(ctx, w, length, true)
}

func (p *Platform) photos(ctx context.Context, w *platform.Work[state]) error {
	addresses := make([]string, len(w.Post.Media))
	for i, m := range w.Post.Media {
		addresses[i] = m.URL
	}
	info, mode := map[string]any{"title": platform.Arrange(w.Post, capabilities).Title, "description": w.Text()},
		"MEDIA_UPLOAD"
	if !inbox(w.Post) {
		info, mode = optionsOf(w.Post).info(w.Own, info), "DIRECT_POST"
		info["auto_add_music"] = optionsOf(w.Post).AutoMusic
	}
	call := p.Call(http.MethodPost, "/v2/post/publish/content/init/", w.Account.Token.Access)
	call.Posts, call.JSON = true, map[string]any{
		"post_mode": mode, "media_type": "PHOTO", "post_info": info,
		"source_info": map[string]any{"source": "PULL_FROM_URL", "photo_cover_index": max(optionsOf(w.Post).CoverSlide,
			1) - 1,
			"photo_images": addresses},
	}
	var opened struct {
		ID string `json:"publish_id"`
	}
	if err := p.do(ctx, call, &opened); err != nil {
		return err
	}
	if w.Own.ID = opened.ID; opened.ID == "" {
		return p.Client.GarbledError(call, errors.New("there is no publication"))
	}
	return nil
}

// Find implements chain.Steps. A video is posted once, however often its last chunk is sent. A post of photos whose
// answer was lost has no id to look for.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	if w.Own.ID == "" {
		return ref, "", platform.Lost(errors.New("tiktok: a post of photos has no id yet"))
	}
	s, err := p.status(ctx, w)
	if err != nil {
		return ref, "", err
	}
	if s.State == "PROCESSING_UPLOAD" && s.UploadedBytes < w.Post.Media[0].Bytes {
		if p.Client.Now().Sub(time.Unix(w.Own.Opened, 0)) > uploadable {
			return ref, "", platform.Again(errors.New("tiktok: the upload was not completed in time"))
		}
		w.Own.Offset, w.Wait = s.UploadedBytes, processing
		return ref, platform.StageCheck, nil
	}
	w.PostsMade = 1
	ended, wait, err := p.follow(w, s)
	if ended || err != nil {
		return ref, platform.StageDone, err
	}
	w.Wait = wait
	return ref, platform.StageCheck, nil
}

// The values of the options disclosure and mode.
const (
	disclosureNone, disclosureOwn, disclosurePaid = "none", "own_brand", "paid_partnership"
	modeDirect, modeInbox                         = "direct", "inbox"
)

// creator is TikTok's answer about an account.
type creator struct {
	User     string   `json:"creator_username"`
	Nickname string   `json:"creator_nickname"`
	Avatar   string   `json:"creator_avatar_url"`
	Levels   []string `json:"privacy_level_options"`
	Comments bool     `json:"comment_disabled"`
	Duet     bool     `json:"duet_disabled"`
	Stitch   bool     `json:"stitch_disabled"`
	MaxTime  int64    `json:"max_video_post_duration_sec"`
}

func (p *Platform) creator(ctx context.Context, a platform.Account) (c creator, err error) {
	return c, p.post(ctx, a, "/v2/post/publish/creator_info/query/", map[string]any{}, &c)
}

// CreatorInfo implements platform.CreatorReader.
func (p *Platform) CreatorInfo(ctx context.Context, a platform.Account) (out platform.Creator, err error) {
	c, err := p.creator(ctx, a)
	if err != nil && platform.KindOf(err) == platform.Quota {
		return platform.Creator{Full: true}, nil
	}
	if err != nil {
		return out, err
	}
	out = platform.Creator{Username: c.User, Nickname: c.Nickname, AvatarURL: c.Avatar, Comments: !c.Comments,
		Duet: !c.Duet, Stitch: !c.Stitch, MaxVideoSeconds: c.MaxTime}
	for _, privacy := range capabilities.Privacies {
		if slices.ContainsFunc(levels[privacy], func(l string) bool { return slices.Contains(c.Levels, l) }) {
			out.Privacies = append(out.Privacies, privacy)
		}
	}
	return out, nil
}

// missingChoices returns the choices that the person who posts has not made. TikTok forbids to make them for the
// person.
func missingChoices(post platform.Post) (missing []platform.Problem) {
	o := optionsOf(post)
	ask := func(absent bool, option, message string) {
		if absent {
			missing = append(missing, platform.Problem{Platform: Name, Param: "options." + option, Message: message})
		}
	}
	const person = " TikTok requires that the person who posts chooses it: there is no default."
	video := len(post.Media) > 0 && post.Media[0].Video()
	if o.Mode != modeInbox {
		ask(post.Options.Privacy == "", "privacy", "is required."+person)
		ask(o.Comments == nil && !o.DisableComments, "comments", "is required."+person)
		ask(video && o.Duet == nil && !o.DisableDuet, "duet", "is required."+person)
		ask(video && o.Stitch == nil && !o.DisableStitch, "stitch", "is required."+person)
		ask(o.Disclosure == "", "disclosure", "is required."+person)
		ask(o.Disclosure == disclosurePaid && post.Options.Privacy == platform.Private, "privacy",
			"must not be private, as TikTok shows paid partnerships to others.")
	}
	ask(!o.Consent, "consent", "must be true: the person who posts agrees to the music usage confirmation of TikTok, "+
		"and for paid partnerships to its branded content policy.")
	return missing
}

// refuses returns what is wrong with the options of a post.
func refuses(post platform.Post) (found []platform.Problem) {
	o := optionsOf(post)
	if o.CoverSlide > len(post.Media) {
		found = append(found, platform.Wrong(Name, optionCover, "is %d, but the post has %d photos.", o.CoverSlide,
			len(post.Media)))
	}
	if o.AutoMusic && o.Mode == modeInbox {
		found = append(found, platform.Wrong(Name, optionMusic, "is chosen in TikTok with mode inbox: leave it out."))
	}
	return found
}

// chosen reports whether an interaction is off.
func chosen(on *bool, off, creatorOff bool) bool { return off || creatorOff || on != nil && !*on }

// info returns the description of a post that is published at once.
func (o Options) info(s state, text map[string]any) map[string]any {
	text["privacy_level"] = s.Privacy
	text["disable_comment"] = chosen(o.Comments, o.DisableComments, s.Silent)
	text["brand_content_toggle"] = o.Disclosure == disclosurePaid
	text["brand_organic_toggle"] = o.Disclosure == disclosureOwn
	return text
}

// inInbox is the warning about a post that its creator has yet to finish.
var inInbox = &platform.Warning{Code: platform.FinishInApp, Message: "The post is in the inbox of the TikTok " +
	"account. Open the notification in TikTok, and finish it there."}
