package threads

import (
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
	"github.com/content-automation/api/pkg/adapter/platform/wire"
)

// containers returns the protocol by which Threads publishes.
func (p *Platform) containers(c *wire.Client) *graph.Containers {
	return &graph.Containers{
		API:  graph.API{Client: c, Base: c.Base(address) + version, Refusals: refusals},
		Edge: "/threads", Limit: "/threads_publishing_limit", State: "status", Detail: "error_message", Caption: "text",
		Image: 30 * time.Second, File: file, Describe: p.describe,
		List: func(post platform.Post, w platform.Work[graph.Boxes]) (edge, text string) {
			if w.Made > 0 {
				return "/replies", p.Text(post, w)
			}
			return "/threads", p.Text(post, w)
		},
	}
}

// file returns the container of a file.
func file(_ platform.Post, m platform.Media) url.Values {
	form := url.Values{"media_type": {"IMAGE"}, "image_url": {m.URL}}
	if m.Video() {
		form = url.Values{"media_type": {"VIDEO"}, "video_url": {m.URL}}
	}
	if m.Alt != "" {
		form.Set("alt_text", m.Alt)
	}
	return form
}

// describe adds the text of the next post, and what it answers.
func (p *Platform) describe(form url.Values, post platform.Post, w platform.Work[graph.Boxes]) {
	form.Set("text", p.Text(post, w))
	switch {
	case p.IsComment(post, w):
		form.Set("reply_to_id", w.First.ID)
	case w.Made > 0:
		form.Set("reply_to_id", w.Last.ID)
	default:
		if own, ok := post.Options.Own.(Options); ok && own.TopicTag != "" {
			form.Set("topic_tag", own.TopicTag)
		}
	}
}
