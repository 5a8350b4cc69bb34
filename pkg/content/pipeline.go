package content

import (
	"fmt"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/provider"
)

// step is one generation of a pipeline.
type step struct {
	kind        provider.Kind
	aspectRatio string
	seconds     int
	// count tells how many files it makes; slides: as many as the item has slides.
	count int
}

const slides = -1

// pipelines tell what each kind of content is made of. The last step makes what
// the item's model is for.
var pipelines = map[Kind][]step{
	Post:      {{kind: provider.KindText}, {kind: provider.KindImage, aspectRatio: "4:5", count: 1}},
	Video:     {{kind: provider.KindText}, {kind: provider.KindVideo, aspectRatio: "9:16", seconds: 3}},
	Carousel:  {{kind: provider.KindText}, {kind: provider.KindImage, aspectRatio: "1:1", count: slides}},
	Story:     {{kind: provider.KindText}, {kind: provider.KindImage, aspectRatio: "9:16", count: 1}},
	MusicClip: {{kind: provider.KindText}, {kind: provider.KindImage, aspectRatio: "1:1", count: 1}, {kind: provider.KindMusic, seconds: 3}},
}

// modelKind is the kind of model that makes the item itself.
func (k Kind) modelKind() provider.Kind {
	p := pipelines[k]
	return p[len(p)-1].kind
}

// request is what the n-th step of the record's pipeline asks a provider for. The
// item's model makes the item itself; what goes with it, such as its text, is made
// by the catalog's default.
func (r *record) request(n int) provider.Request {
	st := pipelines[r.Kind][n]
	model := r.Model
	if n != len(pipelines[r.Kind])-1 {
		model = catalog.Default(st.kind).ID
	}
	req := provider.Request{
		Kind: st.kind, Model: model, Prompt: r.Prompt, Language: r.Language,
		ClientToken: fmt.Sprintf("%s-%d-%d", r.ID, r.Attempt, n),
		AspectRatio: st.aspectRatio, Seconds: st.seconds, Count: st.count,
	}
	if r.Kind == Video && r.Format != nil && *r.Format == FormatLong && st.kind == provider.KindVideo {
		req.AspectRatio = "16:9"
	}
	if st.count == slides {
		req.Count = len(r.Slides)
	}
	if st.kind == provider.KindText && r.Kind == Carousel {
		req.Slides = len(r.Slides)
	}
	return req
}

// firstFile is the number of the first file of the n-th step. It depends on the
// pipeline alone, not on which step was done first.
func (r *record) firstFile(n int) int {
	first := 1
	for _, st := range pipelines[r.Kind][:n] {
		switch {
		case st.kind == provider.KindText:
		case st.count == slides:
			first += len(r.Slides)
		default:
			first += max(st.count, 1)
		}
	}
	return first
}
