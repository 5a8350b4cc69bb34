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
		Words:   states,
		Caption: "text", Image: 30 * time.Second, File: file, Describe: describe,
		List: func(w *platform.Work[graph.Boxes]) (edge, text string) {
			if w.Made > 0 {
				return "/replies", w.Text()
			}
			return "/threads", w.Text()
		},
	}
}

// states are the explanations of containers that have failed for good. The others may pass: FAILED_DOWNLOADING_VIDEO,
// FAILED_PROCESSING_AUDIO, FAILED_PROCESSING_VIDEO and UNKNOWN.
var states = []graph.State{
	refused("INVALID_ASPEC", "Threads does not take the ratio of width to "+
		"height."), // ASPEC_RATIO, as Threads spells it
	refused("INVALID_BIT_RATE", "Threads does not take the bit rate of the video."),
	refused("INVALID_DURATION", "Threads does not take the length of the video."),
	refused("INVALID_FRAME_RATE", "Threads does not take the frame rate of the video."),
	refused("INVALID_AUDIO_CHANNEL", "Threads does not take the sound channels of the video."), // and their layout
}

// refused returns the meaning of an explanation of media that Threads does not take.
func refused(word, message string) graph.State {
	return graph.State{Word: word, Row: graph.Row{Outcome: graph.Refused, As: platform.CodeMediaRefused,
		Message: message, Source: graph.BoxStates}}
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
