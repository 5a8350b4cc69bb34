package graph

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
)

const (
	processing = time.Minute      // between two looks at a container that is not filled yet
	filled     = 30 * time.Second // delay of the first look at a video
	listed     = 10 * time.Second // between two looks at a post
	// maxLooks bounds how often the address of a post is read.
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

// Boxes is the part of a handle of a publication by containers.
type Boxes struct {
	Children []string `json:"children,omitempty"` // containers of a carousel's media
	Ready    int      `json:"ready,omitempty"`    // number of filled containers among them
	Box      string   `json:"box,omitempty"`      // container of the next post
	For      int      `json:"for,omitempty"`      // number of that post
}

// Containers publishes on Instagram and Threads. Media and texts are put into containers, which the platform fills from
// the addresses of the media. A container stays invisible until one call publishes it, and expires after 24 hours. If
// the answer to that call is lost, the container tells the outcome. It implements the steps of a platform.
type Containers struct {
	Graph API
	// Edge is the edge of containers, and Limit the edge with the number of posts that the account may publish.
	Edge, Limit string
	// State is the member with the state of a container, and Detail one that explains it.
	State, Detail string
	// Caption is the member with the text of a post.
	Caption string
	// Image is the delay of the first look at what has no video.
	Image time.Duration
	// Settled is how long a published post takes to appear in the list of posts: if it does not, the publication ends
	// without its id. If it is 0, the post is looked for as long as any.
	Settled time.Duration
	// File returns the container of the i-th file.
	File func(p platform.Post, i int) url.Values
	// Describe adds the text of the next post and what else belongs to it to its container.
	Describe func(form url.Values, w *platform.Work[Boxes])
	// List returns the edge that lists the account's newest posts, and the text by which the next post is found there.
	List func(w *platform.Work[Boxes]) (edge, text string)
}

// Begin implements platform.Steps. It reads how much the account may publish.
func (c *Containers) Begin(ctx context.Context, w *platform.Work[Boxes]) error {
	var limit struct {
		Data []struct {
			Used   int `json:"quota_usage"`
			Config struct {
				Total int `json:"quota_total"`
			} `json:"config"`
		} `json:"data"`
	}
	err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Limit,
		url.Values{"fields": {"quota_usage,config"}}, &limit)
	if err != nil {
		return err
	}
	if len(limit.Data) > 0 && limit.Data[0].Config.Total > 0 && limit.Data[0].Used >= limit.Data[0].Config.Total {
		return platform.Full(time.Hour)
	}
	return nil
}

// Prepare implements platform.Steps. It makes the next container, or looks at one.
func (c *Containers) Prepare(ctx context.Context, w *platform.Work[Boxes]) (ready bool, wait time.Duration, err error) {
	s := &w.Own
	carousel := w.Made == 0 && len(w.Post.Media) > 1
	switch {
	case s.Box != "" && s.For == w.Made+1:
		if state, err := c.state(ctx, w.Account, s.Box); err != nil || state == inProgress {
			return false, processing, err
		}
		return true, 0, nil
	case carousel && len(s.Children) < len(w.Post.Media):
		form := c.File(w.Post, len(s.Children))
		form.Set("is_carousel_item", "true")
		id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false)
		if err != nil {
			return false, 0, err
		}
		if s.Children = append(s.Children, id); len(s.Children) < len(w.Post.Media) {
			return false, 0, nil
		}
		return false, c.wait(w.Post.Media), nil
	case carousel && s.Ready < len(s.Children):
		if state, err := c.state(ctx, w.Account, s.Children[s.Ready]); err != nil || state == inProgress {
			return false, processing, err
		}
		s.Ready++
		return false, 0, nil
	}
	form, files := url.Values{"media_type": {"TEXT"}}, []platform.Media(nil)
	switch {
	case carousel:
		form = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(s.Children, ",")}}
	case w.Made == 0 && len(w.Post.Media) == 1:
		form, files = c.File(w.Post, 0), w.Post.Media
	}
	c.Describe(form, w)
	if s.Box, err = c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge, form, false); err != nil {
		return false, 0, err
	}
	s.For = w.Made + 1
	return false, c.wait(files), nil
}

// wait returns how long the platform usually takes to fill the containers of files.
func (c *Containers) wait(files []platform.Media) time.Duration {
	for _, m := range files {
		if m.Video() {
			return filled
		}
	}
	return c.Image
}

// state returns the state of a container: IN_PROGRESS, FINISHED or PUBLISHED.
func (c *Containers) state(ctx context.Context, a platform.Account, container string) (string, error) {
	var box map[string]any
	if err := c.Graph.Get(ctx, a.Token.Access, "/"+url.PathEscape(container), url.Values{"fields": {c.State + "," +
		c.Detail}}, &box); err != nil {
		return "", err
	}
	switch state, _ := box[c.State].(string); state {
	case inProgress, finished, published:
		return state, nil
	case failed:
		return "", platform.Reject(platform.CodeMediaRefused, c.Graph.Refusals.Label+" could not process the media.")
	case expired:
		return "", platform.Again(nil)
	default:
		return "", platform.Busy()
	}
}

// Make implements platform.Steps. It publishes the container.
func (c *Containers) Make(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, error) {
	if w.Own.For != w.Made+1 || w.Own.Box == "" {
		return platform.Ref{}, platform.Reject(platform.CodeInvalidHandle, "The publication is not known.")
	}
	id, err := c.Graph.Create(ctx, w.Account.Token.Access, "/"+w.Account.ID+c.Edge+"_publish",
		url.Values{"creation_id": {w.Own.Box}}, true)
	return platform.Ref{ID: id}, err
}

// Find implements platform.Steps. A published container does not name its post, which is found among the newest ones.
func (c *Containers) Find(ctx context.Context, w *platform.Work[Boxes]) (platform.Ref, platform.Stage, error) {
	// While the container is not published, the platform may still be working on the call.
	state, err := c.state(ctx, w.Account, w.Own.Box)
	if err != nil || state != published {
		return platform.Ref{}, platform.StageReconcile, err
	}
	edge, want := c.List(w)
	var list struct {
		Data []map[string]any `json:"data"`
	}
	if err := c.Graph.Get(ctx, w.Account.Token.Access, "/"+w.Account.ID+edge,
		url.Values{"fields": {"id," + c.Caption + ",timestamp"}, "limit": {"25"}}, &list); err != nil {
		return platform.Ref{}, "", err
	}
	for _, post := range list.Data {
		id, _ := post["id"].(string)
		text, _ := post[c.Caption].(string)
		stamp, _ := post["timestamp"].(string)
		at, err := time.Parse(TimeLayout, stamp)
		if err == nil && Number(id) && strings.TrimSpace(text) == want && !at.Before(w.SentAt.Add(-time.Minute)) {
			return platform.Ref{ID: id}, platform.StageDone, nil
		}
	}
	if c.Settled > 0 && c.Graph.Client.Now().Sub(w.SentAt) >= c.Settled {
		return platform.Ref{}, platform.StageDone, nil
	}
	return platform.Ref{}, platform.StageReconcile, nil
}

// End implements platform.Ender. It reads the address of the post, which is visible even if this fails.
func (c *Containers) End(ctx context.Context, w *platform.Work[Boxes]) (ended bool, wait time.Duration, err error) {
	if w.First.URL != "" {
		return true, 0, nil
	}
	var media struct {
		Permalink string `json:"permalink"`
	}
	err = c.Graph.Get(ctx, w.Account.Token.Access, "/"+url.PathEscape(w.First.ID), url.Values{"fields": {"permalink"}},
		&media)
	if err != nil && ctx.Err() != nil {
		return false, 0, err
	}
	w.First.URL = media.Permalink
	return err == nil || platform.KindOf(err) != platform.Retry || w.Looks >= maxLooks, listed, nil
}
