package instagram

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// The delays of looks at containers and posts.
const (
	image   = 5 * time.Second // the first look at the container of an image
	again   = time.Minute     // between two looks at a container
	settled = 2 * time.Minute // until a post is in the list of posts
)

// containers returns the protocol by which Instagram publishes.
func containers(g graph.API) *graph.Containers {
	return &graph.Containers{
		Graph: g,
		Edge:  "/media", Limit: "/content_publishing_limit", State: "status_code", Detail: "status", Caption: "caption",
		Image: image, Settled: settled, File: file, Describe: describe,
		List: func(w *platform.Work[graph.Boxes]) (edge, text string) {
			if w.Post.Kind == platform.KindStory {
				return "/stories", ""
			}
			return "/media", w.Text()
		},
	}
}

// file returns the container of the i-th file.
func file(p platform.Post, i int) url.Values {
	form, m := url.Values{}, p.Media[i]
	tag(form, p, i)
	if m.Video() {
		form.Set("video_url", m.URL)
	} else {
		form.Set("image_url", m.URL)
		if m.Alt != "" && p.Kind != platform.KindStory {
			form.Set("alt_text", m.Alt)
		}
	}
	switch {
	case p.Kind == platform.KindStory:
		form.Set("media_type", "STORIES")
	case p.Kind == platform.KindCarousel && m.Video():
		form.Set("media_type", "VIDEO")
	case m.Video():
		form.Set("media_type", "REELS")
		if p.Cover != nil && p.Cover.URL != "" {
			form.Set("cover_url", p.Cover.URL)
		} else if at := p.Options.CoverAt; at > 0 {
			form.Set("thumb_offset", strconv.FormatInt(at.Milliseconds(), 10))
		}
	}
	return form
}

// describe adds the caption to the container of a post. A carousel declares on this container only that AI has made it.
func describe(form url.Values, w *platform.Work[graph.Boxes]) {
	if w.Post.Kind != platform.KindStory {
		form.Set("caption", w.Text())
	}
	if w.Post.Options.Generated {
		form.Set("is_ai_generated", "true")
	}
	adorn(form, w.Post)
}

// Begin implements platform.Steps. It makes the first container, too.
func (p *Platform) Begin(ctx context.Context, w *platform.Work[graph.Boxes]) error {
	err := p.Containers.Begin(ctx, w)
	if err == nil {
		_, w.Wait, err = p.Prepare(ctx, w)
	}
	return err
}

// Prepare implements platform.Steps. Before the first comment, which needs no container, it reads the address of the
// post.
func (p *Platform) Prepare(ctx context.Context, w *platform.Work[graph.Boxes]) (ready bool, wait time.Duration,
	err error) {
	if !w.IsComment() {
		return p.Containers.Prepare(ctx, w)
	}
	w.Looks++
	ready, wait, err = p.End(ctx, w)
	if ready {
		wait = 0
	}
	return ready, wait, err
}

// Make implements platform.Steps.
func (p *Platform) Make(ctx context.Context, w *platform.Work[graph.Boxes]) (platform.Ref, error) {
	if !w.IsComment() {
		return p.Containers.Make(ctx, w)
	}
	id, err := p.Graph.Create(ctx, w.Account.Token.Access, "/"+url.PathEscape(w.First.ID)+"/comments",
		url.Values{"message": {w.Text()}}, true)
	return platform.Ref{ID: id}, err
}

// Find implements platform.Steps. A comment is in doubt: it is not looked for.
func (p *Platform) Find(ctx context.Context, w *platform.Work[graph.Boxes]) (platform.Ref, platform.Stage, error) {
	if w.IsComment() {
		return platform.Ref{}, platform.StageReconcile, nil
	}
	return p.Containers.Find(ctx, w)
}
