package threads

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/chain"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

const (
	processing = time.Minute      // between two looks at a container
	filled     = 30 * time.Second // delay of the first look
	// maxLooks bounds how often the adapter reads the address of a post.
	maxLooks = 3
)

// The states of a container.
const (
	inProgress = "IN_PROGRESS"
	finished   = "FINISHED"
	failed     = "ERROR"
	expired    = "EXPIRED"
	published  = "PUBLISHED"
)

// state is the adapter's part of a handle.
type state struct {
	Children []string `json:"children,omitempty"` // containers of a carousel's media
	Ready    int      `json:"ready,omitempty"`    // number of filled containers among them
	Box      string   `json:"box,omitempty"`      // container of the next post
	For      int      `json:"for,omitempty"`      // number of that post
}

// Begin implements chain.Steps. It reads how much the account may publish.
func (p *Platform) Begin(ctx context.Context, a platform.Account, _ platform.Post, _ *chain.Work[state]) error {
	var limit struct {
		Data []struct {
			Used   int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	err := p.read(ctx, a.Token.Access, "/"+a.ID+"/threads_publishing_limit",
		url.Values{"fields": {"quota_usage,config"}}, &limit)
	if err != nil {
		return err
	}
	if len(limit.Data) > 0 && limit.Data[0].Config.Total > 0 && limit.Data[0].Used >= limit.Data[0].Config.Total {
		return platform.Full(time.Hour)
	}
	return nil
}

// Prepare implements chain.Steps. It makes the next container, or looks at one.
func (p *Platform) Prepare(ctx context.Context, a platform.Account, post platform.Post,
	w *chain.Work[state]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	carousel := w.Made == 0 && len(post.Media) > 1
	switch {
	case s.Box != "" && s.For == w.Made+1:
		state, err := p.state(ctx, a, s.Box)
		return state == finished || state == published, processing, err
	case carousel && len(s.Children) < len(post.Media):
		form := file(post.Media[len(s.Children)])
		form.Set("is_carousel_item", "true")
		id, err := p.write(ctx, a, "/threads", form, false)
		if err != nil {
			return false, 0, err
		}
		if s.Children = append(s.Children, id); len(s.Children) < len(post.Media) {
			return false, 0, nil
		}
		return false, filled, nil
	case carousel && s.Ready < len(s.Children):
		state, err := p.state(ctx, a, s.Children[s.Ready])
		if err != nil || state != finished {
			return false, processing, err
		}
		s.Ready++
		return false, 0, nil
	}
	form := url.Values{"media_type": {"TEXT"}}
	switch {
	case carousel:
		form = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(s.Children, ",")}}
	case w.Made == 0 && len(post.Media) == 1:
		form = file(post.Media[0])
	}
	form.Set("text", p.Text(post, *w))
	switch {
	case p.IsComment(post, *w):
		form.Set("reply_to_id", w.First.ID)
	case w.Made > 0:
		form.Set("reply_to_id", w.Last.ID)
	default:
		if own, ok := post.Options.Own.(Options); ok && own.TopicTag != "" {
			form.Set("topic_tag", own.TopicTag)
		}
	}
	id, err := p.write(ctx, a, "/threads", form, false)
	if err != nil {
		return false, 0, err
	}
	s.Box, s.For = id, w.Made+1
	return false, filled, nil
}

// file returns the container of a file.
func file(m platform.Media) url.Values {
	form := url.Values{"media_type": {"IMAGE"}, "image_url": {m.URL}}
	if m.Video() {
		form = url.Values{"media_type": {"VIDEO"}, "video_url": {m.URL}}
	}
	if m.Alt != "" {
		form.Set("alt_text", m.Alt)
	}
	return form
}

// state returns the state of a container: IN_PROGRESS, FINISHED or PUBLISHED.
func (p *Platform) state(ctx context.Context, a platform.Account, container string) (string, error) {
	var c struct {
		State string `json:"status"`
	}
	err := p.read(ctx, a.Token.Access, "/"+url.PathEscape(container), url.Values{"fields": {"status,error_message"}}, &c)
	if err != nil {
		return "", err
	}
	switch c.State {
	case inProgress, finished, published:
		return c.State, nil
	case failed:
		return "", platform.Reject(platform.CodeMediaRefused, "Threads could not process the media.")
	case expired:
		return "", platform.Again(nil)
	default:
		return "", platform.Busy()
	}
}

// write creates an object, and returns its id.
func (p *Platform) write(ctx context.Context, a platform.Account, edge string, form url.Values,
	posts bool) (string, error) {
	call := p.call(http.MethodPost, "/"+a.ID+edge, a.Token.Access)
	call.Form, call.Posts = form, posts
	var made struct {
		ID string `json:"id"`
	}
	if err := p.Client.JSON(ctx, call, refusals.Refused(posts), &made); err != nil {
		return "", err
	}
	if !graph.Number(made.ID) {
		return "", p.Client.Garbled(call, errNoID)
	}
	return made.ID, nil
}

// Make implements chain.Steps. It publishes the container.
func (p *Platform) Make(ctx context.Context, a platform.Account, _ platform.Post,
	w chain.Work[state]) (chain.Ref, error) {
	if w.Own.For != w.Made+1 {
		return chain.Ref{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	id, err := p.write(ctx, a, "/threads_publish", url.Values{"creation_id": {w.Own.Box}}, true)
	return chain.Ref{ID: id}, err
}

// Find implements chain.Steps. A published container does not name its post, which is found among the
// newest ones.
func (p *Platform) Find(ctx context.Context, a platform.Account, post platform.Post, w chain.Work[state],
	begun time.Time) (chain.Ref, platform.Stage, error) {
	state, err := p.state(ctx, a, w.Own.Box)
	if err != nil || state != published {
		return chain.Ref{}, platform.StageReconcile, err
	}
	edge := "/threads"
	if w.Made > 0 {
		edge = "/replies"
	}
	var list struct {
		Data []struct {
			ID   string `json:"id"`
			Text string `json:"text"`
			At   string `json:"timestamp"`
		} `json:"data"`
	}
	if err := p.read(ctx, a.Token.Access, "/"+a.ID+edge, url.Values{"fields": {"id,text,timestamp"}, "limit": {"25"}},
		&list); err != nil {
		return chain.Ref{}, "", err
	}
	for _, d := range list.Data {
		at, err := time.Parse("2006-01-02T15:04:05-0700", d.At)
		if err == nil && graph.Number(d.ID) && strings.TrimSpace(d.Text) == p.Text(post, w) &&
			!at.Before(begun.Add(-time.Minute)) {
			return chain.Ref{ID: d.ID}, platform.StageDone, nil
		}
	}
	return chain.Ref{}, platform.StageReconcile, nil
}

// End implements chain.Ender. It reads the address of the post, which is visible even if this fails.
func (p *Platform) End(ctx context.Context, a platform.Account, _ platform.Post,
	w *chain.Work[state]) (ended bool, wait time.Duration, err error) {
	var media struct {
		Permalink string `json:"permalink"`
	}
	err = p.read(ctx, a.Token.Access, "/"+url.PathEscape(w.First.ID), url.Values{"fields": {"permalink"}}, &media)
	if err != nil && ctx.Err() != nil {
		return false, 0, err
	}
	w.First.URL = media.Permalink
	return err == nil || platform.KindOf(err) != platform.Retry || w.Looks >= maxLooks, 10 * time.Second, nil
}
