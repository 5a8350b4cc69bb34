package threads

import (
	"context"
	"net/url"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/adapter/platform/graph"
)

// containers returns the protocol by which Threads publishes.
func containers(g graph.API) *graph.Containers {
	return &graph.Containers{
		Graph: g,
		Edge:  "/threads", Limit: "/threads_publishing_limit", State: "status", Detail: "error_message",
		Caption: "text", Image: 30 * time.Second, File: file, Describe: describe,
		List: func(w *platform.Work[graph.Boxes]) (edge, text string) {
			if w.Made > 0 {
				return "/replies", w.Text()
			}
			return "/threads", w.Text()
		},
	}
}

// file returns the container of the i-th file.
func file(p platform.Post, i int) url.Values {
	m := p.Media[i]
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
func describe(form url.Values, w *platform.Work[graph.Boxes]) {
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

// Delete implements platform.Deleter. It deletes all posts of a thread, the last first.
func (p *Platform) Delete(ctx context.Context, a platform.Account, post platform.Placed) error {
	for _, id := range post.Posts() {
		if err := p.Graph.Delete(ctx, a.Token.Access, id); err != nil {
			return err
		}
	}
	return nil
}

// Reply implements platform.Replier. A container is filled, which nobody sees, and then published.
func (p *Platform) Reply(ctx context.Context, a platform.Account, r platform.Reply) (string, error) {
	if !graph.Number(r.To.ID) {
		return "", platform.CommentGone()
	}
	gone := refusals
	gone.Codes = map[int]func() *platform.Error{graph.Missing: platform.CommentGone}
	form := url.Values{"media_type": {"TEXT"}, "text": {r.Text}, "reply_to_id": {r.To.ID}}
	box, err := graph.New(p.Client, p.Root, gone, graph.Number).Create(ctx, a.Token.Access, "/"+a.ID+"/threads",
		form, false)
	if err != nil {
		return "", err
	}
	id, err := p.Graph.Create(ctx, a.Token.Access, "/"+a.ID+"/threads_publish", url.Values{"creation_id": {box}}, true)
	if platform.KindOf(err) == platform.Restart {
		return "", platform.Busy().Because(err) // nothing was published
	}
	return id, err
}
