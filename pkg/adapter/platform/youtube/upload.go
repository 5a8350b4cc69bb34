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

// work is the content of a handle: the session and the number of bytes that it has received, or the
// video.
type work struct {
	Session string `json:"session,omitempty"`
	Offset  int64  `json:"offset,omitempty"`
	Video   string `json:"video,omitempty"` // id of the video whose cover is still to be set
	Looks   int    `json:"looks,omitempty"` // number of looks at its processing
	Tries   int    `json:"tries,omitempty"` // number of attempts to set the cover
}

func (p *Platform) parse(h platform.Handle) (w work, err error) {
	if err := h.Decode(&w); err != nil {
		return w, err
	}
	if (w.Video == "") == (w.Session == "") || w.Offset < 0 || w.Session != "" && !p.Client.Trusts(w.Session, domain) {
		return w, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	return w, nil
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

// Start implements platform.Publisher. It opens an upload session.
func (p *Platform) Start(ctx context.Context, a platform.Account, post platform.Post) (platform.Step, error) {
	m := post.Media[0]
	text := platform.Arrange(post, capabilities)
	snippet := map[string]any{"title": text.Title, "description": text.Body, "categoryId": category(post.Topic)}
	if len(text.Tags) > 0 {
		snippet["tags"] = text.Tags
	}
	if post.Language != "" {
		snippet["defaultLanguage"] = post.Language
	}
	privacy := post.Options.Privacy
	if privacy == "" {
		privacy = platform.Public
	}
	own, _ := post.Options.Own.(Options)
	status := map[string]any{"privacyStatus": privacy, "selfDeclaredMadeForKids": own.MadeForKids}
	if post.Options.Generated {
		status["containsSyntheticMedia"] = true
	}
	call := wire.Call{
		Name: "videos.insert", Method: http.MethodPost, URL: p.Client.Base(api) + "/upload/youtube/v3/videos",
		Query: url.Values{"uploadType": {"resumable"}, "part": {"id,snippet,status"},
			"notifySubscribers": {strconv.FormatBool(!own.Silent)}},
		Header: http.Header{"X-Upload-Content-Type": {m.MIME},
			"X-Upload-Content-Length": {strconv.FormatInt(m.Bytes, 10)}},
		Bearer: a.Token.Access, JSON: map[string]any{"snippet": snippet, "status": status},
	}
	answer, err := p.Client.Do(ctx, call)
	if err == nil {
		err = p.Client.Check(call, answer, p.refused)
	}
	if err != nil {
		return platform.Step{}, err
	}
	session := answer.Header.Get("Location")
	if !p.Client.Trusts(session, domain) {
		return platform.Step{}, p.Client.Garbled(call, errors.New("there is no address of a session"))
	}
	return p.next(work{Session: session}, m)
}

// next returns the step that uploads the next part.
func (p *Platform) next(w work, m platform.Media) (platform.Step, error) {
	if m.Bytes-w.Offset <= p.part {
		return platform.Go(platform.StageFinalize, w, 0)
	}
	return platform.Go(platform.StageCheck, w, 0)
}

// Check implements platform.Publisher. It uploads a part that is not the last, or sets the cover of
// the video.
func (p *Platform) Check(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Video != "" {
		return p.cover(ctx, a, post, w)
	}
	m := post.Media[0]
	// The session may have received more than the handle says.
	step, at, err := p.ask(ctx, a, post, w)
	if err != nil || step.Next == platform.StageFinalize || step.Post != (platform.Published{}) {
		return step, err
	}
	w.Offset = at
	call := p.put(ctx, a, m, w, p.part)
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return platform.Step{}, err
	}
	if answer.Status != http.StatusPermanentRedirect {
		if err := p.Client.Check(call, answer, p.refused); err != nil {
			return platform.Step{}, err
		}
	}
	if w.Offset, err = offset(answer); err != nil {
		return platform.Step{}, p.Client.Garbled(call, err)
	}
	return p.next(w, m)
}

// Finalize implements platform.Publisher. It uploads the last part.
func (p *Platform) Finalize(ctx context.Context, a platform.Account, post platform.Post,
	h platform.Handle) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	m := post.Media[0]
	rest := m.Bytes - w.Offset
	if w.Session == "" || rest <= 0 || rest > p.part {
		return platform.Step{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	call := p.put(ctx, a, m, w, rest)
	call.Posts = true
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return platform.Step{}, err
	}
	step, _, err := p.answered(call, answer, post, w)
	return step, err
}

// Reconcile implements platform.Publisher. The bytes that the session lacks may be sent again.
func (p *Platform) Reconcile(ctx context.Context, a platform.Account, post platform.Post, h platform.Handle,
	_ time.Time) (platform.Step, error) {
	w, err := p.parse(h)
	if err != nil {
		return platform.Step{}, err
	}
	if w.Session == "" {
		return platform.Step{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	step, _, err := p.ask(ctx, a, post, w)
	if platform.KindOf(err) == platform.Restart {
		// A session that is gone may have made its video before it went.
		return platform.Step{}, platform.Lost(err)
	}
	return step, err
}

// ask reads how many bytes the session has received, and returns the next step and that number.
func (p *Platform) ask(ctx context.Context, a platform.Account, post platform.Post, w work) (platform.Step,
	int64, error) {
	call := wire.Call{
		Name: "session", Method: http.MethodPut, URL: w.Session, Bearer: a.Token.Access,
		Header: http.Header{"Content-Range": {fmt.Sprintf("bytes */%d", post.Media[0].Bytes)}},
	}
	answer, err := p.Client.Do(ctx, call)
	if err != nil {
		return platform.Step{}, 0, err
	}
	return p.answered(call, answer, post, w)
}

// put returns the call that uploads a part.
func (p *Platform) put(ctx context.Context, a platform.Account, m platform.Media, w work, length int64) wire.Call {
	body := wire.Range(ctx, m, w.Offset, length)
	return wire.Call{
		Name: "upload", Method: http.MethodPut, URL: w.Session, Bearer: a.Token.Access, Body: body,
		Timeout: wire.UploadTimeout,
		Header:  http.Header{"Content-Range": {fmt.Sprintf("bytes %d-%d/%d", w.Offset, w.Offset+length-1, m.Bytes)}},
	}
}

// answered returns the next step after an answer of the session.
func (p *Platform) answered(call wire.Call, answer wire.Answer, post platform.Post, w work) (platform.Step,
	int64, error) {
	if answer.Status == http.StatusPermanentRedirect {
		at, err := offset(answer)
		if err != nil || at >= post.Media[0].Bytes {
			return platform.Step{}, 0, p.Client.Garbled(call, fmt.Errorf("the session has %d bytes: %w", at, err))
		}
		w.Offset = at
		step, err := p.next(w, post.Media[0])
		return step, at, err
	}
	if err := p.Client.Check(call, answer, p.refused); err != nil {
		return platform.Step{}, 0, err
	}
	var made struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(answer.Body, &made); err != nil || made.ID == "" {
		return platform.Step{}, 0, p.Client.Garbled(call, fmt.Errorf("there is no video: %w", err))
	}
	step, err := p.made(made.ID, post)
	return step, post.Media[0].Bytes, err
}

// made returns the step that follows the upload.
func (p *Platform) made(id string, post platform.Post) (platform.Step, error) {
	published := platform.Published{ID: id, URL: "https://www.youtube.com/watch?v=" + id}
	if post.Cover == nil {
		return platform.Step{Next: platform.StageDone, Post: published}, nil
	}
	wait := time.Duration(0)
	if isShort(post.Media[0]) {
		wait = processing
	}
	step, err := platform.Go(platform.StageCheck, work{Video: id}, wait)
	step.Post = published
	return step, err
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
