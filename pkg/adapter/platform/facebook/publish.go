package facebook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

const (
	processing = 15 * time.Second // between two looks at a video
	// maxLooks bounds how often the adapter reads a post that was made.
	maxLooks = 40
)

// state is the adapter's part of a handle.
type state struct {
	Photos []string `json:"photos,omitempty"`
	Reel   string   `json:"reel,omitempty"`
	Upload string   `json:"upload,omitempty"` // address; empty once the file is registered
	Sent   bool     `json:"sent,omitempty"`   // Facebook reads the file
}

// isPost reports whether an id names a post of a page: the ids of both, with a line between.
func isPost(id string) bool {
	page, post, ok := strings.Cut(id, "_")
	return ok && graph.Number(page) && graph.Number(post)
}

// known reports whether an id is one of a post.
func known(id string) bool { return isPost(id) || graph.Number(id) }

// reel reports whether a post is published as a Reel.
func reel(post platform.Post) bool {
	if len(post.Media) != 1 || !post.Media[0].Video() {
		return false
	}
	m := post.Media[0]
	ratio := float64(m.Width) / float64(max(m.Height, 1))
	return m.Width >= 540 && m.Height >= 960 && ratio > 0.55 && ratio < 0.58 && m.Duration >= 3*time.Second &&
		m.Duration <= 90*time.Second
}

// Prepare implements platform.Steps. It uploads a photo, or lets Facebook read the file of a Reel.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[state]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	switch {
	case w.Made > 0:
		return true, 0, nil
	case reel(w.Post):
		return p.prepareReel(ctx, w.Account, w.Post, s)
	case len(w.Post.Media) == 0 || w.Post.Media[0].Video() || len(s.Photos) == len(w.Post.Media):
		return true, 0, nil
	}
	m := w.Post.Media[len(s.Photos)]
	form := url.Values{"url": {m.URL}, "published": {"false"}}
	if m.Alt != "" {
		form.Set("alt_text_custom", m.Alt)
	}
	id, err := p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/photos", form, false)
	if err != nil {
		return false, 0, err
	}
	s.Photos = append(s.Photos, id)
	return len(s.Photos) == len(w.Post.Media), 0, nil
}

func (p *Platform) prepareReel(ctx context.Context, a platform.Account, post platform.Post,
	s *state) (ready bool, wait time.Duration, err error) {
	if s.Reel == "" {
		call := p.Call(http.MethodPost, "/"+a.ID+"/video_reels", a.Token.Access)
		call.Form = url.Values{"upload_phase": {"start"}}
		var made struct {
			ID     string `json:"video_id"`
			Upload string `json:"upload_url"`
		}
		if err := p.Send(ctx, call, &made); err != nil {
			return false, 0, err
		}
		if !graph.Number(made.ID) || !p.Client.Trusts(made.Upload, "facebook.com") {
			return false, 0, p.Client.Garbled(call, graph.ErrNoID)
		}
		s.Reel, s.Upload = made.ID, made.Upload
		return false, 0, nil
	}
	if !s.Sent {
		call := wire.Call{Name: "upload", Method: http.MethodPost, URL: s.Upload, Header: http.Header{
			"Authorization": {"OAuth " + a.Token.Access.Reveal()}, "File_url": {post.Media[0].URL},
		}, Secrets: []platform.Secret{a.Token.Access}}
		if err := p.Client.JSON(ctx, call, unsent, nil); err != nil {
			return false, 0, err
		}
		s.Sent, s.Upload = true, ""
		return false, processing, nil
	}
	v, err := p.video(ctx, a, s.Reel)
	if err != nil {
		return false, 0, err
	}
	return v.Status.Upload.Status == complete, processing, v.failed(false)
}

// unsent classifies a refusal of the server that takes files, which has a form of its own.
func unsent(a wire.Answer) *platform.Error {
	var body struct {
		Info *struct {
			Retriable bool   `json:"retriable"`
			Message   string `json:"message"`
		} `json:"debug_info"`
	}
	if err := json.Unmarshal(a.Body, &body); err != nil || body.Info == nil {
		return refusals.Refused(false)(a)
	}
	if body.Info.Retriable || a.Status >= http.StatusInternalServerError {
		return platform.Busy().Saying(body.Info.Message)
	}
	return platform.Odd().Saying(body.Info.Message)
}

// complete is the state of a phase that has ended.
const complete = "complete"

// phase is a part of the work on a video.
type phase struct {
	Status string  `json:"status"`
	Error  trouble `json:"error"`
	// Errors are those of the phases that have several.
	Errors []trouble `json:"errors"`
}

// trouble is why a phase has failed.
type trouble struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// film is the state of a video.
type film struct {
	Permalink string `json:"permalink_url"`
	Status    struct {
		Video      string `json:"video_status"`
		Upload     phase  `json:"uploading_phase"`
		Processing phase  `json:"processing_phase"`
		Publishing phase  `json:"publishing_phase"`
	} `json:"status"`
}

// failed returns the error of a video that Facebook could not read or process, or nil. Until the video is posted, it is
// sent again if the reason may pass: Facebook could not read the file, or does not say why.
func (v film) failed(posted bool) error {
	const bad = "error"
	s := v.Status
	if s.Video != bad && s.Upload.Status != bad && s.Processing.Status != bad {
		return nil
	}
	var why trouble
	for _, p := range []phase{s.Processing, s.Upload, s.Publishing} {
		for _, t := range append([]trouble{p.Error}, p.Errors...) {
			if why == (trouble{}) {
				why = t
			}
		}
	}
	row := refusals.Find(why.Code, why.Code)
	passes := why.Message == "" || s.Upload.Status == bad || row != nil && row.Outcome == graph.Passing
	if passes && !posted {
		return platform.Again(nil).Saying(why.Message)
	}
	return platform.Reject(platform.CodeMediaRefused, "Facebook could not process the video.").Saying(why.Message)
}

func (p *Platform) video(ctx context.Context, a platform.Account, id string) (v film, err error) {
	err = p.Get(ctx, a.Token.Access, "/"+id, url.Values{"fields": {"status,permalink_url"}}, &v)
	return v, err
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, err error) {
	text := w.Text()
	own, _ := w.Post.Options.Own.(Options)
	switch {
	case w.IsComment():
		call := p.Call(http.MethodPost, "/"+w.First.ID+"/comments", w.Account.Token.Access)
		call.Form, call.Posts = url.Values{"message": {text}}, true
		return ref, p.Send(ctx, call, nil)
	case reel(w.Post):
		call := p.Call(http.MethodPost, "/"+w.Account.ID+"/video_reels", w.Account.Token.Access)
		call.Posts = true
		call.Form = url.Values{"upload_phase": {"finish"}, "video_id": {w.Own.Reel}, "video_state": {"PUBLISHED"},
			"description": {text}}
		own.place(call.Form)
		return platform.Ref{ID: w.Own.Reel}, p.Send(ctx, call, nil)
	case len(w.Post.Media) == 1 && w.Post.Media[0].Video():
		form := url.Values{"file_url": {w.Post.Media[0].URL}, "description": {text}}
		if w.Post.Title != "" {
			form.Set("title", w.Post.Title)
		}
		ref.ID, err = p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/videos", form, true)
		return ref, err
	}
	form := url.Values{"message": {text}}
	for i, id := range w.Own.Photos {
		form.Set(fmt.Sprintf("attached_media[%d]", i), `{"media_fbid":"`+id+`"}`)
	}
	if link := preview(text); len(w.Own.Photos) == 0 && link != "" {
		form.Set("link", link)
	}
	own.place(form)
	if own.Paid {
		// The partner may not advertise with the post: the owner of the page can permit that on Facebook.
		form.Set("sponsor_id", own.Partners[0])
		form.Set("direct_share_status", "0")
	}
	ref.ID, err = p.api.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+"/feed", form, true)
	return ref, err
}

// ownHosts are the hosts of Facebook, whose pages it refuses as the link of a post (1609008), but takes in its text.
var ownHosts = []string{"facebook.com", "fb.com", "fb.gg", "fb.me", "fb.watch"}

// preview returns the first link of a text of which Facebook makes a preview, or "".
func preview(text string) string {
	for _, l := range platform.Links(text) {
		address, err := url.Parse(l.Address(text))
		if err != nil || !l.Scheme {
			continue
		}
		host := strings.ToLower(address.Hostname())
		own := func(of string) bool { return host == of || strings.HasSuffix(host, "."+of) }
		if !slices.ContainsFunc(ownHosts, own) {
			return l.Address(text)
		}
	}
	return ""
}

// place adds the place that a post names.
func (o Options) place(form url.Values) {
	if o.LocationID != "" {
		form.Set("place", o.LocationID)
	}
}

// Find implements platform.Steps. A Reel is found by its id, and other posts among the newest ones of the page.
func (p *Platform) Find(ctx context.Context, w *platform.Work[state]) (ref platform.Ref, next platform.Stage,
	err error) {
	if w.IsComment() {
		return ref, platform.StageReconcile, nil
	}
	if reel(w.Post) {
		v, err := p.video(ctx, w.Account, w.Own.Reel)
		if err != nil || v.Status.Publishing.Status != complete {
			return ref, platform.StageReconcile, err
		}
		return platform.Ref{ID: w.Own.Reel}, platform.StageDone, nil
	}
	edge, text := "/published_posts", "message"
	if len(w.Post.Media) == 1 && w.Post.Media[0].Video() {
		edge, text = "/videos", "description"
	}
	var list struct {
		Data []struct {
			ID          string `json:"id"`
			Message     string `json:"message"`
			Description string `json:"description"`
			At          string `json:"created_time"`
		} `json:"data"`
	}
	if err := p.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+edge,
		url.Values{"fields": {"id," + text + ",created_time"}, "limit": {"25"}}, &list); err != nil {
		return ref, "", err
	}
	for _, d := range list.Data {
		at, err := time.Parse(graph.TimeLayout, d.At)
		if err == nil && known(d.ID) && !at.Before(w.SentAt.Add(-time.Minute)) &&
			strings.TrimSpace(d.Message+d.Description) == w.Text() {
			return platform.Ref{ID: d.ID}, platform.StageDone, nil
		}
	}
	return ref, platform.StageReconcile, nil
}

// End implements platform.Ender. It waits until a video is processed, and reads the address of the post,
// which is visible even if this fails.
func (p *Platform) End(ctx context.Context, w *platform.Work[state]) (ended bool, wait time.Duration, err error) {
	fields, v := "permalink_url", film{}
	if len(w.Post.Media) > 0 && w.Post.Media[0].Video() {
		fields = "status,permalink_url"
	}
	err = p.Get(ctx, w.Account.Token.Access, "/"+w.First.ID, url.Values{"fields": {fields}}, &v)
	switch {
	case err != nil && ctx.Err() != nil:
		return false, 0, err
	case err != nil:
		return platform.KindOf(err) != platform.Retry || w.Looks >= 3, 10 * time.Second, nil
	}
	if w.First.URL = v.Permalink; strings.HasPrefix(v.Permalink, "/") {
		w.First.URL = dialog + v.Permalink
	}
	if err := v.failed(true); err != nil {
		return false, 0, err
	}
	return v.Status.Video == "" || v.Status.Video == "ready" || w.Looks >= maxLooks, processing, nil
}

// Edit implements platform.Editor.
func (p *Platform) Edit(ctx context.Context, a platform.Account, post platform.Placed, text string) error {
	name := "message"
	if graph.Number(post.ID) {
		name = "description" // of a video
	} else if !isPost(post.ID) {
		return p.api.NoPost()
	}
	call := p.Call(http.MethodPost, "/"+post.ID, a.Token.Access)
	call.Form = url.Values{name: {text}}
	return p.Send(ctx, call, nil)
}

// Lookup implements platform.Finder. It finds the pages of places.
func (p *Platform) Lookup(ctx context.Context, a platform.Account, _ platform.LookupKind,
	text string) ([]platform.Found, error) {
	return p.api.Places(ctx, a, text)
}

// Delete implements platform.Deleter.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	return p.api.Delete(ctx, a.Token.Access, post.ID)
}
