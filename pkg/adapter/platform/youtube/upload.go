package youtube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// defaultPart is the number of bytes that one step uploads. It is a multiple of 256 KiB.
const defaultPart = 64 << 20

// domain is the domain of upload sessions, which receive the token.
const domain = "googleapis.com"

// state is the adapter's part of a handle.
type state struct {
	Session string `json:"session"`
	Offset  int64  `json:"offset,omitempty"` // number of bytes that the session has received
	Looks   int    `json:"looks,omitempty"`  // number of looks at the processing of the video
	Last    int    `json:"last,omitempty"`   // number of looks at the video after all parts were added
	Tries   int    `json:"tries,omitempty"`  // number of attempts to add the present part
	// Part is the number of parts of the video that were added or left out after the upload, and Lacks the warning
	// about those that are missing.
	Part  int               `json:"part,omitempty"`
	Lacks *platform.Warning `json:"lacks,omitempty"`
}

// category returns the category of videos about a topic.
func category(t platform.Topic) string {
	switch t {
	case platform.TopicMusic:
		return "10"
	case platform.TopicNews:
		return "25"
	default:
		return "22" // people and blogs
	}
}

// Begin implements chain.Beginner. It opens an upload session.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[state]) error {
	post, m := w.Post, w.Post.Media[0]
	text := platform.Arrange(post, capabilities)
	snippet := map[string]any{"title": text.Title, "description": text.Body, "categoryId": category(post.Topic)}
	own := optionsOf(post)
	if own.CategoryID != "" {
		snippet["categoryId"] = own.CategoryID
	}
	if len(own.Tags) > 0 {
		snippet["tags"] = own.Tags
	} else if len(text.Tags) > 0 {
		snippet["tags"] = text.Tags
	}
	if post.Language != "" {
		snippet["defaultLanguage"] = post.Language
	}
	privacy := post.Options.Privacy
	if privacy == "" {
		privacy = platform.Public
	}
	status := map[string]any{"privacyStatus": privacy, "selfDeclaredMadeForKids": own.MadeForKids}
	if post.Options.Generated {
		status["containsSyntheticMedia"] = true
	}
	call := p.Call(http.MethodPost, "/upload/youtube/v3/videos", w.Account.Token.Access)
	body, part := map[string]any{"snippet": snippet, "status": status}, "id,snippet,status"
	if own.Paid {
		body["paidProductPlacementDetails"], part = map[string]bool{"hasPaidProductPlacement": true},
			part+",paidProductPlacementDetails"
	}
	call.Query = url.Values{"uploadType": {"resumable"}, "part": {part},
		"notifySubscribers": {strconv.FormatBool(!own.Silent)}}
	call.Header = http.Header{"X-Upload-Content-Type": {m.MIME},
		"X-Upload-Content-Length": {strconv.FormatInt(m.Bytes, 10)}}
	call.JSON = body
	answer, err := p.Client.Do(ctx, call)
	if err == nil {
		err = p.Client.Check(call, answer, p.ClassifyUpload)
	}
	if err != nil {
		return err
	}
	w.Own.Session = answer.Header.Get("Location")
	if !p.Client.Trusts(w.Own.Session, domain) {
		return p.Client.GarbledError(call, errors.New("there is no address of a session"))
	}
	return nil
}

// last reports whether the next part is the last.
func (p *Platform) last(w *platform.Work[state]) bool {
	return w.Post.Media[0].Bytes-w.Own.Offset <= p.Part
}

// Prepare implements chain.Steps. It uploads a part that is not the last.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	if p.last(w) {
		return true, 0, nil
	}
	// The session may have received more than the handle says.
	switch ref, err := p.ask(ctx, w); {
	case err == nil:
		w.First, w.PostsMade = ref, 1
		return false, w.Wait, nil
	case !errors.Is(err, platform.ErrMore):
		return false, 0, err
	case p.last(w):
		return true, 0, nil
	}
	if _, err := p.send(ctx, w, p.Part, false); err != nil && !errors.Is(err, platform.ErrMore) {
		return false, 0, err
	}
	return p.last(w), 0, nil
}

// Make implements chain.Steps. It uploads the last part.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (platform.Ref, error) {
	return p.send(ctx, w, w.Post.Media[0].Bytes-w.Own.Offset, true)
}

// Find implements chain.Steps. The bytes that the session lacks may be sent again.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (platform.Ref, platform.Stage, error) {
	ref, err := p.ask(ctx, w)
	switch {
	case errors.Is(err, platform.ErrMore):
		return ref, platform.StageCheck, nil
	case platform.KindOf(err) == platform.Restart:
		// A session that is gone may have made its video before it went.
		err = platform.Lost(err)
	}
	return ref, platform.StageDone, err
}

// ask reads how many bytes the session has received.
func (p *Platform) ask(ctx context.Context, w *platform.Work[state]) (platform.Ref, error) {
	return p.call(ctx, w, wire.Call{Name: "session",
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", w.Post.Media[0].Bytes)}}})
}

func (p *Platform) send(ctx context.Context, w *platform.Work[state], length int64, last bool) (platform.Ref, error) {
	m, at := w.Post.Media[0], w.Own.Offset
	return p.call(ctx, w, wire.Call{Name: "upload", Body: wire.Range(ctx, m, at, length), Posts: last,
		Timeout: wire.UploadTimeout,
		Header:  http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", at, at+length-1, m.Bytes)}}})
}

// call calls the session, and returns the video. The error is chain.ErrMore if the session lacks bytes, and the state
// then says how many it has.
func (p *Platform) call(ctx context.Context, w *platform.Work[state], call wire.Call) (ref platform.Ref, err error) {
	if !p.Client.Trusts(w.Own.Session, domain) {
		return ref, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	call.Method, call.URL, call.Bearer = http.MethodPut, w.Own.Session, w.Account.Token.Access
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return ref, err
	}
	if answer.Status == http.StatusPermanentRedirect {
		at, err := Offset(answer)
		if err != nil || at >= w.Post.Media[0].Bytes {
			return ref, p.Client.GarbledError(call, fmt.Errorf("the session has %d bytes: %w", at, err))
		}
		w.Own.Offset = at
		return ref, platform.ErrMore
	}
	if err := p.Client.Check(call, answer, p.ClassifySession); err != nil {
		return ref, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer.Body, &made); err != nil || made.ID == "" {
		return ref, p.Client.GarbledError(call, fmt.Errorf("there is no video: %w", err))
	}
	if w.Post.Cover != nil && isShort(w.Post.Media[0]) {
		w.Wait = processing
	}
	return platform.Ref{ID: made.ID, URL: "https://www.youtube.com/watch?v=" + made.ID}, nil
}

// Offset returns how many bytes a session has received. The header Range names the last byte.
func Offset(a wire.Answer) (int64, error) {
	value := a.Header.Get("Range")
	if value == "" {
		return 0, nil
	}
	last, ok := strings.CutPrefix(value, "bytes=0-")
	n, err := strconv.ParseInt(last, 10, 64)
	if !ok || err != nil || n < 0 {
		return 0, fmt.Errorf("the range %q is none", value)
	}
	return n + 1, nil
}

const (
	// processing is the time between two looks at the processing of a Short, and maxLooks is the number of looks.
	processing = time.Minute
	maxLooks   = 30
	// lastLooks is the number of looks at a video to which nothing is added any more.
	lastLooks = 5
	// maxTries bounds the attempts to set a cover that YouTube temporarily refuses.
	maxTries = 3

	longestShort = 3 * time.Minute
)

// isShort reports whether YouTube shows a video as a Short.
func isShort(m platform.Media) bool { return m.Width <= m.Height && m.Duration <= longestShort }

// part is something that is added to a video after its upload. If YouTube refuses it, the post has the warning lacks.
type part struct {
	wanted       bool
	short        bool // of a Short, it is taken once the Short is processed
	add          func(context.Context, *platform.Work[state]) error
	code         platform.WarningCode
	missingScope string
}

func (p *Platform) parts(post platform.Post) []part {
	own := optionsOf(post)
	return []part{
		{post.Cover != nil, true, p.cover, platform.CoverNotSet,
			"YouTube has not taken the cover of the video. Set it in YouTube Studio."},
		{own.Playlist != "", false, p.list, platform.NotInPlaylist,
			"YouTube has not added the video to the playlist. Add it in YouTube Studio."},
		{own.Captions && post.Captions != nil, false, p.captions, platform.CaptionsNotSet,
			"YouTube has not taken the captions of the video. Add them in YouTube Studio."},
	}
}

// End implements chain.Ender. It adds the parts of the video one after the other, waits until a Short is processed, and
// looks at last whether YouTube shows the video. A part that YouTube refuses does not fail the publication.
func (p *Platform) End(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	all := p.parts(w.Post)
	left := func() bool {
		for w.Own.Part < len(all) && !all[w.Own.Part].wanted {
			w.Own.Part++
		}
		w.Warning = w.Own.Lacks
		return w.Own.Part < len(all)
	}
	if !left() {
		return p.shown(ctx, w)
	}
	one, ready := all[w.Own.Part], true
	if one.short && isShort(w.Post.Media[0]) {
		ready, err = p.processed(ctx, w.Account, w.First.ID)
	}
	looks, most := &w.Own.Looks, maxLooks
	if ready && err == nil {
		looks, most = &w.Own.Tries, maxTries
		if err = one.add(ctx, w); err == nil {
			w.Own.Part, w.Own.Tries = w.Own.Part+1, 0
			return false, 0, nil
		}
	}
	kind := platform.KindOf(err)
	if kind == platform.Expired || ctx.Err() != nil {
		return false, 0, err
	}
	warning := platform.Warn(one.code, one.missingScope, err)
	if kind == platform.Retry {
		if *looks++; *looks < most {
			return false, processing, nil
		}
		if most == maxLooks {
			warning.Message = "YouTube has not processed the video in time to set its cover."
		}
	}
	if before := w.Own.Lacks; before != nil {
		warning.Message = before.Message + " " + warning.Message
	}
	w.Own.Part, w.Own.Tries, w.Own.Lacks = w.Own.Part+1, 0, warning
	return false, 0, nil
}

// shown reports whether YouTube shows the video, or takes long to process it. It may refuse what it has received, such
// as a video of more than 15 minutes of a channel that is not verified (adasq/youtube-studio #34, youtube_it #199,
// porjo/youtubeuploader #133).
func (p *Platform) shown(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	done, err := p.processed(ctx, w.Account, w.First.ID)
	kind := platform.KindOf(err)
	refused := platform.CodeOf(err) == platform.CodeMediaRefused
	if err != nil && (refused || kind == platform.Expired || ctx.Err() != nil) {
		return false, 0, err
	}
	if err != nil && kind != platform.Retry {
		return true, 0, nil
	}
	w.Own.Last++
	return done || w.Own.Last >= lastLooks, processing, nil
}

// cover sets the cover of the video.
func (p *Platform) cover(ctx context.Context, w *platform.Work[state]) error {
	call := p.Call(http.MethodPost, "/upload/youtube/v3/thumbnails/set", w.Account.Token.Access)
	call.Query = url.Values{"videoId": {w.First.ID}, "uploadType": {"media"}}
	call.Body = wire.Range(ctx, *w.Post.Cover, 0, w.Post.Cover.Bytes)
	return p.Send(ctx, call, nil)
}

// list adds the video to the playlist. A video that is there already stays there once.
func (p *Platform) list(ctx context.Context, w *platform.Work[state]) error {
	playlist := optionsOf(w.Post).Playlist
	if w.Account.Token.Lacks([]string{commentScope}) {
		return lacking()
	}
	var there struct {
		Items []struct{} `json:"items"`
	}
	if err := p.Get(ctx, w.Account.Token.Access, "/youtube/v3/playlistItems", url.Values{"part": {"id"},
		"playlistId": {playlist}, "videoId": {w.First.ID}}, &there); err != nil || len(there.Items) > 0 {
		return err
	}
	call := p.Call(http.MethodPost, "/youtube/v3/playlistItems", w.Account.Token.Access)
	call.Query = url.Values{"part": {"snippet"}}
	call.JSON = map[string]any{"snippet": map[string]any{"playlistId": playlist,
		"resourceId": map[string]string{"kind": "youtube#video", "videoId": w.First.ID}}}
	return p.Send(ctx, call, nil)
}

// Lookup implements platform.Finder. It lists the playlists of the channel.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	_ string) (all []platform.LookupResult, err error) {
	query := url.Values{"part": {"snippet"}, "mine": {"true"}, "maxResults": {"50"}}
	for range mostPages {
		var page struct {
			Items []channel `json:"items"`
			Next  string    `json:"nextPageToken"`
		}
		if err := p.Get(ctx, a.Token.Access, "/youtube/v3/playlists", query, &page); err != nil {
			return nil, err
		}
		for _, i := range page.Items {
			all = append(all, platform.LookupResult{ID: i.ID, Name: i.Snippet.Title})
		}
		if page.Next == "" {
			break
		}
		query.Set("pageToken", page.Next)
	}
	return all, nil
}

// captions uploads the captions of the video. A track that exists already is left.
func (p *Platform) captions(ctx context.Context, w *platform.Work[state]) error {
	if w.Account.Token.Lacks([]string{commentScope}) {
		return lacking()
	}
	call, m := p.Call(http.MethodPost, "/upload/youtube/v3/captions", w.Account.Token.Access), *w.Post.Captions
	call.Query = url.Values{"uploadType": {"resumable"}, "part": {"snippet"}}
	call.Header = http.Header{"X-Upload-Content-Type": {m.MIME},
		"X-Upload-Content-Length": {strconv.FormatInt(m.Bytes, 10)}}
	language := w.Post.Language
	if language == "" {
		language = "en"
	}
	call.JSON = map[string]any{"snippet": map[string]any{"videoId": w.First.ID, "language": language, "name": ""}}
	answer, err := p.Client.Do(ctx, call)
	if err == nil && reasonOf(answer) == "captionExists" {
		return nil
	}
	if err == nil {
		err = p.Client.Check(call, answer, p.classifyCall)
	}
	if err != nil {
		return err
	}
	session := answer.Header.Get("Location")
	if !p.Client.Trusts(session, domain) {
		return p.Client.GarbledError(call, errors.New("there is no address of a session"))
	}
	put := wire.Call{Name: "captions", Method: http.MethodPut, URL: session, Bearer: w.Account.Token.Access,
		Body: wire.Range(ctx, m, 0, m.Bytes)}
	return p.Client.JSON(ctx, put, p.classifyCall, nil)
}

// lacking returns the error of an account without the right to change what belongs to a video.
func lacking() *platform.Error {
	return platform.Reject(platform.CodeMissingPermission, "Connect the account again and allow all that the page of "+
		"Google asks for.")
}

// processed reports whether the processing of a video has ended.
func (p *Platform) processed(ctx context.Context, a platform.Account, video string) (bool, error) {
	var answer struct {
		Items []struct {
			Processing struct {
				Status string `json:"processingStatus"`
				Reason string `json:"processingFailureReason"`
			} `json:"processingDetails"`
			Status struct {
				Upload   string `json:"uploadStatus"`
				Rejected string `json:"rejectionReason"`
				Failed   string `json:"failureReason"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := p.Get(ctx, a.Token.Access, "/youtube/v3/videos",
		url.Values{"part": {"processingDetails,status"}, "id": {video}}, &answer); err != nil {
		return false, err
	}
	if len(answer.Items) != 1 {
		return false, platform.Reject(platform.CodePostNotFound, "YouTube does not have the video.")
	}
	one := answer.Items[0]
	switch {
	case one.Status.Upload == "rejected":
		return false, platform.Reject(platform.CodeMediaRefused, "YouTube has received the video, and does not show "+
			"it.").Saying(one.Status.Rejected)
	case one.Status.Upload == "failed", one.Processing.Status == "failed", one.Processing.Status == "terminated":
		return false, platform.Reject(platform.CodeMediaRefused, "YouTube could not process the video.").
			Saying(cmp.Or(one.Status.Failed, one.Processing.Reason))
	}
	return one.Processing.Status != "processing" && one.Status.Upload != "uploaded", nil
}
