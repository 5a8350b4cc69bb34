package threads

import (
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/chain"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// containers returns the protocol by which Threads publishes.
func containers(g graph.API) *graph.Containers {
	return &graph.Containers{
		Graph: g,
		Edge:  "/threads", Limit: "/threads_publishing_limit", State: "status", Detail: "error_message", Caption: "text",
		Image: 30 * time.Second, File: file, Describe: describe,
		List: func(w *chain.Work[graph.Boxes]) (edge, text string) {
			if w.Made > 0 {
				return "/replies", w.Text()
			}
			return "/threads", w.Text()
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
func describe(form url.Values, w *chain.Work[graph.Boxes]) {
	form.Set("text", w.Text())
	switch {
	case w.IsComment():
		form.Set("reply_to_id", w.First.ID)
	case w.Made > 0:
		form.Set("reply_to_id", w.Last.ID)
	default:
		if own, ok := w.Post.Options.Own.(Options); ok && own.TopicTag != "" {
			form.Set("topic_tag", own.TopicTag)
		}
	}
}
