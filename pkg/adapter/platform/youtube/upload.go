package youtube

import (
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
		err = p.Client.Check(call, answer, p.uploadRefused)
	}
	if err != nil {
		return err
	}
	w.Own.Session = answer.Header.Get("Location")
	if !p.Client.Trusts(w.Own.Session, domain) {
		return p.Client.Garbled(call, errors.New("there is no address of a session"))
	}
	return nil
}

// last reports whether the next part is the last.
func (p *Platform) last(w *platform.Work[state]) bool {
	return w.Post.Media[0].Bytes-w.Own.Offset <= p.part
}

// Prepare implements chain.Steps. It uploads a part that is not the last.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	if p.last(w) {
		return true, 0, nil
	}
	// The session may have received more than the handle says.
	switch ref, err := p.ask(ctx, w); {
	case err == nil:
		w.First, w.Made = ref, 1
		return false, w.Wait, nil
	case !errors.Is(err, platform.ErrMore):
		return false, 0, err
	case p.last(w):
		return true, 0, nil
	}
	if _, err := p.send(ctx, w, p.part, false); err != nil && !errors.Is(err, platform.ErrMore) {
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
		at, err := offset(answer)
		if err != nil || at >= w.Post.Media[0].Bytes {
			return ref, p.Client.Garbled(call, fmt.Errorf("the session has %d bytes: %w", at, err))
		}
		w.Own.Offset = at
		return ref, platform.ErrMore
	}
	if err := p.Client.Check(call, answer, p.sessionRefused); err != nil {
		return ref, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer.Body, &made); err != nil || made.ID == "" {
		return ref, p.Client.Garbled(call, fmt.Errorf("there is no video: %w", err))
	}
	if w.Post.Cover != nil && isShort(w.Post.Media[0]) {
		w.Wait = processing
	}
	return platform.Ref{ID: made.ID, URL: "https://www.youtube.com/watch?v=" + made.ID}, nil
}

// offset returns how many bytes a session has received. The header Range names the last byte.
func offset(a wire.Answer) (int64, error) {
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
