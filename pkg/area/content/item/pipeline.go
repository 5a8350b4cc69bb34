package item

import (
	"fmt"
	"slices"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
)

// role is the purpose of a part of a pipeline.
type role string

const (
	roleText   role = "text"   // the texts of the item
	roleScript role = "script" // the same, and the spoken text
	// A second look at the texts, and the texts that are written again if they do not pass it.
	roleReview  role = "review"
	roleRewrite role = "rewrite"
	roleVoice   role = "voice"
	roleMusic   role = "music" // the music under the voice
	roleStill   role = "still" // the picture that a clip starts from, if its model needs one
	roleCover   role = "cover"
	roleItem    role = "item"  // the file of the item's model; of videos and carousels, one for each scene and slide
	roleFinal   role = "final" // finished media of all other parts
)

// step is one generation of a pipeline.
type step struct {
	role role
	kind provider.Kind
	// ratios are the aspect ratios that a picture or clip may have, the best one first.
	ratios []string
	// seconds is the wanted length of a clip or track; the model makes the next length that
	// it supports.
	seconds int
	// number is the number of the slide or scene, from 1.
	number int
}

// part is one generation of an item, as planned when the item was accepted.
type part struct {
	generate.Part
	Role  role   `json:"role"`
	Ratio string `json:"ratio,omitempty"`
	// Seconds is the length of the file, or the greatest length of a script or voice.
	Seconds int `json:"seconds,omitempty"`
	// Number is the number of the slide or scene, from 1. It is 0 for other parts.
	Number int `json:"number,omitempty"`
	// Scenes is the number of scenes in the script.
	Scenes int `json:"scenes,omitempty"`
	// Voice is the provider's id of the voice. If it is empty, the model decides.
	Voice string `json:"voice,omitempty"`
	// FromStill marks a clip that starts from the picture made before it.
	FromStill bool `json:"from_still,omitempty"`
	// FromPhoto marks a picture whose model is shown the photo of the product.
	FromPhoto bool `json:"from_photo,omitempty"`
}

// fileRole returns the role of the files that the part makes. Finished media have theirs.
func (p part) fileRole(kind Kind) media.Role {
	switch {
	case p.Role == roleVoice:
		return media.Narration
	case p.Role == roleCover:
		return media.Cover
	case p.Kind == provider.KindMusic:
		return media.Track
	case p.Kind == provider.KindVideo:
		return media.Clip
	case kind == Carousel:
		return media.Slide
	}
	return media.Still
}

// The planned lengths of scenes in seconds. A model with different lengths makes the next longer
// ones.
const (
	shortScene = 5
	longScene  = 8
	stillScene = 5 // without clips
	// pauses is the number of seconds by which a video is longer than its narration.
	pauses = 1
)

// lead returns the step of the item's own model.
func (r Attempt) lead() step {
	switch r.Shape {
	case "carousel":
		return step{role: roleItem, kind: provider.KindImage, ratios: []string{"4:5", "1:1"}}
	case "short video", "long video":
		st := step{role: roleItem, kind: provider.KindVideo, ratios: []string{"9:16"}, seconds: shortScene}
		if r.Shape == "long video" {
			st.ratios, st.seconds = []string{"16:9"}, longScene
		}
		if *r.Visuals == VisualsStills {
			st.kind, st.seconds = provider.KindImage, stillScene
		}
		return st
	case "story":
		return step{role: roleItem, kind: provider.KindImage, ratios: []string{"9:16"}}
	case "story clip":
		return step{role: roleItem, kind: provider.KindVideo, ratios: []string{"9:16"},
			seconds: *r.DurationSeconds - r.around()}
	case "music clip":
		return step{role: roleItem, kind: provider.KindMusic, seconds: *r.DurationSeconds}
	}
	return step{role: roleItem, kind: provider.KindImage, ratios: []string{"4:5"}}
}

// divide divides a video into scenes, so that a clip of the model or a picture covers
// each, and sets the length of the clips. It returns the length of the clip of each scene.
func (r Attempt) divide(lead *step, m catalog.Model, reuse bool) (clips []int, err error) {
	if r.Given.Has(Script) {
		if clips, err = r.divideGiven(*lead, m, reuse); err == nil {
			lead.seconds = slices.Max(clips)
		}
		return clips, err
	}
	each := lead.seconds
	if lead.kind == provider.KindVideo {
		each = m.Length(each)
	}
	all := *r.DurationSeconds - r.around()
	n := (all + each - 1) / each
	lead.seconds = (all + n - 1) / n
	if reuse && len(r.Scenes) > 0 {
		n = len(r.Scenes)
	}
	return slices.Repeat([]int{lead.seconds}, n), nil
}

// steps returns the generations of the item. count is the number of pictures or clips that
// the item's model makes, and stills reports whether each clip needs a picture to start
// from.
func (r Attempt) steps(lead step, count int, stills bool) []step {
	text := step{role: roleText, kind: provider.KindText}
	var all []step
	if r.Kind == Video {
		between := *r.DurationSeconds - r.around()
		speech := between - pauses
		if !r.Given.Has(Script) {
			text.role, text.seconds, text.number = roleScript, speech, count
		}
		all = []step{{role: roleVoice, kind: provider.KindVoice, seconds: speech}}
		if *r.Music == MusicGenerated {
			all = append(all, step{role: roleMusic, kind: provider.KindMusic, seconds: between})
		}
	}
	if !r.complete() {
		all = append([]step{text}, all...)
	}
	if r.Kind == MusicClip && *r.Cover == CoverGenerated {
		all = append(all, step{role: roleCover, kind: provider.KindImage, ratios: []string{"1:1"}})
	}
	for n := range count {
		if r.photo(n+1) != nil {
			continue
		}
		if count > 1 || r.Kind == Video {
			lead.number = n + 1
		}
		if stills {
			all = append(all, step{role: roleStill, kind: provider.KindImage, ratios: lead.ratios, number: lead.number})
		}
		all = append(all, lead)
	}
	return append(all, step{role: roleFinal, kind: provider.KindCompose})
}

// Plan sets the parts of the record's attempt, their models and the price. Options without
// a model stand for the factory's model. The item's model must be able to make the item.
// The other parts use the factory's models if these can make them.
func (r Attempt) Plan(offer catalog.Offer, w Options, live bool) error {
	r.Told, r.Read, r.Copied = nil, false, w.Copies.numbered()
	r.planExcerpt(w)
	if err := r.take(w); err != nil {
		return err
	}
	if err := r.boundExcerpt(); err != nil {
		return err
	}
	lead := r.lead()
	m, unable := r.chooseLead(offer, lead, w, live)
	if unable != nil && m.ID == "" {
		return unable
	}
	count, clips := max(len(r.Slides), 1), []int(nil)
	if r.Kind == Video {
		var err error
		if clips, err = r.divide(&lead, m, w.Reuse || w.Copies != nil); err != nil {
			return err
		}
		count = len(clips)
	}
	if r.place(count); r.Excerpt != nil && w.Copies != nil {
		r.Shown = nil
	}
	p := r.partOf(lead, m)
	if err := m.Check(r.foreseen(p), ""); err != nil && unable == nil {
		unable = ofFactory(cannot(m, r.Shape, p.Ratio, err), w.Model == "" && r.Brief.Models[string(lead.kind)] != "")
	}
	if p.Seconds > 0 && p.Seconds < lead.seconds && unable == nil {
		unable = errs.Invalid("/duration_seconds", "must be at most %d for the model %s", p.Seconds+r.around(), m.ID)
	}
	if unable != nil && !w.Reuse {
		return unable
	}
	r.Model, r.Parts, r.Credits = m.ID, nil, 0
	r.AspectRatio, r.Seconds = nil, some(p.Seconds)
	if len(lead.ratios) > 0 {
		r.AspectRatio = some(cmpRatio(p, lead))
	}
	steps := r.steps(lead, count, p.FromStill)
	if r.Excerpt != nil {
		steps = slices.Insert(steps, 0, step{role: roleExcerpt, kind: provider.KindText})
	}
	if len(r.Adapt) > 0 && !w.Reuse {
		steps = slices.Insert(steps, len(steps)-1, step{role: roleAdapt, kind: provider.KindText})
	}
	for _, st := range steps {
		if p := r.copied(st, w); p != nil {
			if st.role != roleStill {
				r.Parts = append(r.Parts, *p)
			}
			continue
		}
		if made := r.reused(st, w); made != nil {
			again := r.partOf(st, catalog.Model{})
			again.Reuse = made
			r.Parts = append(r.Parts, again)
			continue
		}
		var err error
		switch {
		case st.role == roleFinal:
			r.Parts = append(r.Parts, part{Part: generate.Part{Kind: st.kind, Provider: generate.Composed},
				Role: st.role})
		case unable != nil && (st.role == roleItem || st.role == roleStill):
			err = unable
		case st.role == roleItem:
			if p.Number = st.number; clips != nil && st.kind == provider.KindVideo {
				p.Seconds = m.Length(clips[st.number-1])
			}
			err = r.add(p, m, live)
		default:
			err = r.choose(offer, st, live)
		}
		if err != nil {
			return err
		}
	}
	if err := r.polish(offer, live); err != nil {
		return err
	}
	return r.checkCovered(w)
}

// cmpRatio returns the ratio of a part, or the ratio of the picture that it starts from.
func cmpRatio(p part, lead step) string {
	if p.Ratio == "" {
		return lead.ratios[0]
	}
	return p.Ratio
}

// some returns a pointer to a value, or nil if it is the zero value.
func some[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// partOf returns the part for a step with a model.
func (r Attempt) partOf(st step, m catalog.Model) part {
	p := part{Part: generate.Part{Kind: st.kind, Model: m.ID, Provider: m.Provider}, Role: st.role, Seconds: st.seconds,
		Number: st.number}
	for _, ratio := range slices.Backward(st.ratios) {
		if p.Ratio == "" || slices.Contains(m.Capabilities.AspectRatios, ratio) {
			p.Ratio = ratio
		}
	}
	switch st.kind {
	case provider.KindText:
		p.Number, p.Scenes = 0, st.number
	case provider.KindVoice:
		p.Voice = m.DefaultVoice(r.Language)
	case provider.KindImage:
		p.Seconds, p.FromPhoto = 0, m.Capabilities.FromImage && r.hasPhotos()
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

// add adds a part with its price.
func (r Attempt) add(p part, m catalog.Model, live bool) (err error) {
	if p.Role == roleVoice {
		r.Voice = some(p.Voice) // a reused one keeps its voice
	}
	if live {
		if p.Credits, err = m.PriceOf(r.foreseen(p)); err != nil {
			return fmt.Errorf("item: price of %s: %w", m.ID, err)
		}
	}
	r.Parts = append(r.Parts, p)
	r.Credits += p.Credits
	return nil
}

// LivePrice returns the price of the record's attempt with a live key. Models without a
// price count nothing.
func (r Attempt) LivePrice() (credits int64) {
	for _, p := range r.Parts {
		if m, ok := catalog.Find(p.Model); ok && m.Price != nil {
			price, _ := m.PriceOf(r.foreseen(p)) // it was checked when it was planned
			credits += price
		}
	}
	return credits
}

// Order returns the order of the record's current attempt.
func (r Attempt) Order(o tenant.Owner) generate.Order {
	a := generate.Order{Owner: o, Subject: r.ID, Attempt: r.Attempt, About: r.About(),
		Makes: "content_item." + string(r.Kind), Keeps: true}
	for _, planned := range r.Parts {
		a.Parts = append(a.Parts, planned.Part)
	}
	if r.Sandbox != nil {
		a.Delay = r.Sandbox.Delay()
	}
	return a
}
