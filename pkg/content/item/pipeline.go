package item

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/catalog"
	"github.com/content-automation/api/pkg/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/provider"
	"github.com/content-automation/api/pkg/provider/captions"
	"github.com/content-automation/api/pkg/tenant"
)

// role is the purpose of a part of a pipeline.
type role string

const (
	roleText     role = "text"   // the texts of the item
	roleScript   role = "script" // the same, and what is spoken
	roleVoice    role = "voice"
	roleStill    role = "still" // the picture that a clip starts from, where its model needs one
	roleSlide    role = "slide" // one for each slide
	roleCover    role = "cover"
	roleCaptions role = "captions"
	roleItem     role = "item" // what the item's model makes
)

// step is one generation of a pipeline.
type step struct {
	role role
	kind provider.Kind
	// ratio is the aspect ratio of a picture or clip. seconds is the wanted length of
	// a clip or track; the model makes the next length that it supports.
	ratio   string
	seconds int
}

// pipelines are the generations of each shape of content.
var pipelines = map[string][]step{
	"post":     {{role: roleText, kind: provider.KindText}, {roleItem, provider.KindImage, "4:5", 0}},
	"carousel": {{role: roleText, kind: provider.KindText}, {roleSlide, provider.KindImage, "1:1", 0}},
	"short video": {
		{role: roleScript, kind: provider.KindText}, {role: roleVoice, kind: provider.KindVoice},
		{roleStill, provider.KindImage, "9:16", 0}, {roleItem, provider.KindVideo, "9:16", 8}, {role: roleCaptions, kind: provider.KindCaptions},
	},
	"long video": {
		{role: roleScript, kind: provider.KindText}, {role: roleVoice, kind: provider.KindVoice},
		{roleStill, provider.KindImage, "16:9", 0}, {roleItem, provider.KindVideo, "16:9", 15}, {role: roleCaptions, kind: provider.KindCaptions},
	},
	"story":      {{role: roleText, kind: provider.KindText}, {roleItem, provider.KindImage, "9:16", 0}},
	"story clip": {{role: roleText, kind: provider.KindText}, {roleStill, provider.KindImage, "9:16", 0}, {roleItem, provider.KindVideo, "9:16", 5}},
	"music clip": {{role: roleText, kind: provider.KindText}, {roleCover, provider.KindImage, "1:1", 0}, {roleItem, provider.KindMusic, "", 30}},
}

// shape returns the name of the item's pipeline. A story is a card, or a clip if a
// video model is asked for.
func (r *Record) shape(model string) string {
	switch r.Kind {
	case Video:
		return *r.Format + " video"
	case MusicClip:
		return "music clip"
	case Story:
		if m, ok := catalog.Find(model); ok && m.Kind == provider.KindVideo {
			return "story clip"
		}
	}
	return string(r.Kind)
}

// part is one generation of an item, as planned when the item was accepted.
type part struct {
	generate.Part
	Role  role   `json:"role"`
	Ratio string `json:"ratio,omitempty"`
	// Seconds is the length of what is made; the greatest length of a script or voice.
	Seconds int `json:"seconds,omitempty"`
	// Slide is the number of the slide, from 1; 0 for other parts.
	Slide int `json:"slide,omitempty"`
	// Voice is the provider's id of the voice; empty: the model decides.
	Voice string `json:"voice,omitempty"`
	// FromStill marks a clip that starts from the picture made before it.
	FromStill bool `json:"from_still,omitempty"`
}

// fileRole returns the role of the files that the part makes.
func (p part) fileRole() media.Role {
	switch p.Role {
	case roleVoice:
		return media.Narration
	case roleStill:
		return media.Still
	case roleSlide:
		return media.Slide
	case roleCover:
		return media.Cover
	case roleCaptions:
		return media.Subtitles
	}
	switch p.Kind {
	case provider.KindVideo:
		return media.Clip
	case provider.KindMusic:
		return media.Track
	}
	return media.Final
}

// main reports whether the item's model makes the part.
func (r role) main() bool { return r == roleItem || r == roleSlide }

// Plan sets the parts of the record's attempt, their models and the price. An empty
// model stands for the factory's. The item's model must be able to make the item. The
// other parts use the factory's models where these can make them.
func (r *Record) Plan(offer catalog.Offer, model string, live bool) error {
	r.Shape = r.shape(model)
	steps := pipelines[r.Shape]
	lead := steps[slices.IndexFunc(steps, func(s step) bool { return s.role.main() })]
	usual := r.Brief.Models[string(lead.kind)]
	chosen, err := offer.Choose(string(lead.kind), model, usual, live)
	if err != nil {
		return ofFactory(err, model == "" && usual != "")
	}
	m, _ := catalog.Find(chosen) // it was chosen from there
	p := r.partOf(lead, m)
	if err := m.Check(r.foreseen(p), ""); err != nil {
		return ofFactory(cannot(m, r.Shape, p.Ratio, err), model == "" && usual != "")
	}
	r.Model, r.Parts, r.Credits = m.ID, nil, 0
	r.AspectRatio, r.Seconds, r.Voice = some(lead.ratio), some(p.Seconds), nil
	for _, st := range steps {
		switch {
		case st.role.main():
			err = r.add(p, m, live)
		case st.role == roleCaptions:
			r.Parts = append(r.Parts, part{Part: generate.Part{Kind: st.kind, Provider: captions.Name}, Role: st.role})
		case st.role == roleStill && !p.FromStill:
		default:
			st.seconds = p.Seconds
			err = r.choose(offer, st, live)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// some returns a pointer to a value, or nil if it is the zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// choose adds a part that is not made by the item's model.
func (r *Record) choose(offer catalog.Offer, st step, live bool) error {
	usual, failure := offer.Default(st.kind, live)
	candidates := []catalog.Model{usual}
	id, endpoint := r.Brief.model(st.kind)
	if id != "" {
		if _, err := offer.Choose(string(st.kind), id, "", live); err == nil {
			own, _ := catalog.Find(id)
			candidates = []catalog.Model{own, usual}
		}
	}
	if failure != nil {
		candidates = candidates[:len(candidates)-1]
	}
	if st.kind == provider.KindVoice { // not all speak all languages
		candidates = append(candidates, slices.DeleteFunc(offer.Models(catalog.Filter{Kind: st.kind}, live), func(m catalog.Model) bool {
			return m.State != catalog.Available || m.Price == nil
		})...)
	}
	for _, m := range candidates {
		p := r.partOf(st, m)
		if m.ID == id {
			p.Endpoint = endpoint
		}
		if err := m.Check(r.foreseen(p), ""); err == nil {
			return r.add(p, m, live)
		} else if failure == nil {
			failure = cannot(m, r.Shape, p.Ratio, err)
		}
	}
	if st.kind == provider.KindVoice && len(candidates) > 0 {
		e := errs.New(errs.UnsupportedModel, "A video needs a voice, and no available model speaks %s. Choose another language.", r.Language)
		e.Param = "/language"
		return e
	}
	return failure
}

// cannot returns the refusal of a model that cannot make the item.
func cannot(m catalog.Model, shape, ratio string, cause error) error {
	why := errs.As(cause)
	if ratio != "" {
		shape += " of " + ratio
	}
	e := errs.Wrap(cause, errs.UnsupportedModel, "The model %s cannot make a %s: %s. Choose another model.", m.ID, shape, strings.TrimPrefix(why.Message, "/"))
	e.Param = "/model"
	return e
}

// ofFactory adds to the refusal of a model that the factory has chosen it.
func ofFactory(err error, named bool) error {
	var e *errs.Error
	if !named || !errors.As(err, &e) {
		return err
	}
	full := *e
	full.Message += " It is the factory's: send model with the call, or change models of the factory."
	return &full
}

// partOf returns the part for a step with a model.
func (r *Record) partOf(st step, m catalog.Model) part {
	p := part{Part: generate.Part{Kind: st.kind, Model: m.ID, Provider: m.Provider}, Role: st.role, Ratio: st.ratio, Seconds: st.seconds}
	switch st.kind {
	case provider.KindText:
		if st.role != roleScript {
			p.Seconds = 0
		}
	case provider.KindVoice:
		p.Voice = m.DefaultVoice(r.Language)
	case provider.KindImage:
		p.Seconds = 0
	case provider.KindVideo:
		p.FromStill = slices.Contains(m.Capabilities.Requires, catalog.InputImage)
		if p.FromStill && len(m.Capabilities.AspectRatios) == 0 {
			p.Ratio = "" // the picture decides
		}
		p.Seconds = m.Length(st.seconds)
	case provider.KindMusic:
		p.Seconds = m.Length(st.seconds)
	}
	return p
}

// add adds a part with its price, or for slides one part each.
func (r *Record) add(p part, m catalog.Model, live bool) error {
	if p.Role == roleVoice {
		r.Voice = some(p.Voice)
	}
	count := 1
	if p.Role == roleSlide {
		count = len(r.Slides)
	}
	for n := range count {
		if p.Role == roleSlide {
			p.Slide = n + 1
		}
		if live {
			var err error
			if p.Credits, err = m.PriceOf(r.foreseen(p)); err != nil {
				return fmt.Errorf("item: price of %s: %w", m.ID, err)
			}
		}
		r.Parts = append(r.Parts, p)
		r.Credits += p.Credits
	}
	return nil
}

// LivePrice returns what the record's attempt costs with a live key. Models without a
// price count nothing.
func (r *Record) LivePrice() (credits int64) {
	for _, p := range r.Parts {
		if m, ok := catalog.Find(p.Model); ok && m.Price != nil {
			price, _ := m.PriceOf(r.foreseen(p)) // it was checked when it was planned
			credits += price
		}
	}
	return credits
}

// Order returns the order of the record's current attempt.
func (r *Record) Order(o tenant.Owner) generate.Order {
	a := generate.Order{Owner: o, Subject: r.ID, Attempt: r.Attempt, About: r.About()}
	for _, planned := range r.Parts {
		a.Parts = append(a.Parts, planned.Part)
	}
	if r.Sandbox != nil {
		a.Delay = r.Sandbox.Delay()
	}
	return a
}
