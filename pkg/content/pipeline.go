package content

import (
	"time"

	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/engine"
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

// accepted is the work of the record's current attempt. The item's model makes the
// item itself; what goes with it, such as its text, is made by the default of what
// is offered. It gives unsupported_model where nothing offered makes a part.
func (r *record) accepted(p *auth.Principal, offer catalog.Offer) (engine.Accepted, error) {
	a := engine.Accepted{Account: p.Account, Mode: string(p.Mode), Subject: r.ID, Attempt: r.Attempt}
	for n, st := range pipelines[r.Kind] {
		m, ok := catalog.Find(r.Model) // where it was chosen from
		if n != len(pipelines[r.Kind])-1 || !ok {
			var err error
			if m, err = offer.Default(st.kind, p.Mode == auth.Live); err != nil {
				return engine.Accepted{}, err
			}
		}
		a.Parts = append(a.Parts, engine.Part{Kind: st.kind, Model: m.ID, Provider: m.Provider})
	}
	if r.Sandbox != nil {
		a.Delay = time.Duration(r.Sandbox.DelaySeconds) * time.Second
	}
	return a, nil
}

// request is what the n-th step of the record's pipeline asks a provider for.
func (r *record) request(n int) provider.Request {
	st := pipelines[r.Kind][n]
	req := provider.Request{
		Prompt: r.Prompt, Language: r.Language,
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
