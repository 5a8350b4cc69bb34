package item

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/record/resource"
)

// step is one generation of a pipeline.
type step struct {
	role role
	kind provider.Kind
	// ratios are the aspect ratios that a picture or clip may have, the best one first.
	ratios []string
	// seconds is the wanted length of a clip or track; the model makes the next length that it supports.
	seconds int
	// number is the number of the slide or scene, from 1.
	number int
}

// cmpRatio returns the ratio of a part, or the ratio of the picture that it starts from.
func cmpRatio(p part, lead step) string {
	if p.Ratio == "" {
		return lead.ratios[0]
	}
	return p.Ratio
}

// partOf returns the part for a step with a model.
func (r *Planner) partOf(st step, m catalog.Model) part {
	p := part{Part: generate.Part{Kind: st.kind, Model: m.ID, PricedIn: m.Place, Provider: m.Provider}, Role: st.role,
		Seconds: st.seconds, Number: st.number}
	for _, ratio := range slices.Backward(st.ratios) {
		if p.Ratio == "" || slices.Contains(m.Capabilities.AspectRatios, ratio) {
			p.Ratio = ratio
		}
	}
	switch st.kind {
	case provider.KindText:
		p.Number, p.Scenes = 0, st.number
	case provider.KindVoice:
		p.Voice = m.DefaultVoice(r.item.Language)
	case provider.KindImage:
		p.Seconds, p.FromPhoto = 0, m.Capabilities.FromImage && r.writer.hasPhotos()
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
func (r *Planner) add(p part, m catalog.Model, live bool) (err error) {
	if p.Role == roleVoice {
		r.item.Voice = resource.OrNil(p.Voice) // a reused one keeps its voice
	}
	if live {
		if p.Credits, err = m.PriceOf(r.writer.foreseen(p)); err != nil {
			return fmt.Errorf("item: price of %s: %w", m.ID, err)
		}
	}
	r.attempt.Parts = append(r.attempt.Parts, p)
	r.attempt.Credits += p.Credits
	return nil
}

// chooseLead returns the item's own model. If parts are reused, it may be one that is no longer offered, with the error
// for parts that it would have to make.
func (r *Planner) chooseLead(offer catalog.Offer, lead step, w Options, live bool) (catalog.Model, error) {
	usual, _ := r.brief.model(offer, lead.kind, live)
	chosen, err := offer.Choose(string(lead.kind), w.Model, usual, live)
	if err != nil {
		var m catalog.Model
		if w.Reuse {
			m, _ = offer.Find(w.Model)
		}
		return m, ofFactory(err, w.Model == "" && usual != "")
	}
	m, _ := offer.Find(chosen) // it was chosen from there
	sings := slices.Contains(m.Capabilities.Requires, catalog.InputLyrics)
	if r.item.Kind == MusicClip && r.callerTexts.Has(Script) && !sings {
		return catalog.Model{}, errs.Invalid("/script", "is for models that sing: name one that requires lyrics as "+
			"model")
	}
	return m, nil
}

// choose adds a part that is not made by the item's model.
func (r *Planner) choose(offer catalog.Offer, st step, live bool) error {
	usual, failure := offer.Default(st.kind, live)
	candidates := []catalog.Model{usual}
	id, endpoint := r.brief.model(offer, st.kind, live)
	if id != "" {
		own, _ := offer.Find(id)
		_, err := offer.Choose(string(st.kind), id, "", live)
		switch {
		case err == nil:
			candidates = []catalog.Model{own, usual}
		case offer.Retired(own): // another takes its place only if the factory lets it
			return errs.Wrap(err, errs.UnsupportedModel, "The model %s, models.%s of the factory, is retired. "+
				"Change it, for example to %s, or set replace_retired_models of the factory.", id, st.kind,
				*own.Successor)
		}
	}
	if failure != nil {
		candidates = candidates[:len(candidates)-1]
	}
	if st.kind == provider.KindVoice { // not all speak all languages
		candidates = append(candidates, slices.DeleteFunc(offer.Models(catalog.Filter{Kind: st.kind}, live),
			func(m catalog.Model) bool {
				return m.State != catalog.Available || m.Price == nil
			})...)
	}
	for _, m := range candidates {
		p := r.partOf(st, m)
		if m.ID == id {
			p.Endpoint = endpoint
		}
		if err := m.Check(r.writer.foreseen(p), ""); err == nil {
			return r.add(p, m, live)
		} else if failure == nil {
			failure = cannot(m, r.attempt.Shape, p.Ratio, err)
		}
	}
	if st.kind == provider.KindVoice && len(candidates) > 0 {
		e := errs.New(errs.UnsupportedModel, "A video needs a voice, and no available model speaks %s. Choose "+
			"another language.", r.item.Language)
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
	e := errs.Wrap(cause, errs.UnsupportedModel, "The model %s cannot make a %s: %s. Choose another model.", m.ID,
		shape, strings.TrimPrefix(why.Message, "/"))
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

// textShare is the part of the price of an item that its texts may have in the quality standard: 10 is a tenth. They
// may cost textFloor credits in any case, since in a post, which has one picture, the text is what is published.
const (
	textShare = 10
	textFloor = 8
)

// manner is a way to write texts: by a model, with a second look or without.
type manner struct {
	model    catalog.Model
	endpoint string
	reviewed bool
}

// polish chooses the way in which the texts of a planned item are written. draft takes the planned model without a
// second look, and best takes the best model with two drafts and one. standard takes the best way whose price is in
// proportion to that of the other parts, or within textFloor. A model that the factory names writes in every quality.
func (r *Planner) polish(offer catalog.Offer, live bool) error {
	i := r.attempt.textPart()
	if i < 0 || r.attempt.Parts[i].Reuse != nil || r.item.Quality == "" || r.item.Quality == QualityDraft {
		return nil
	}
	text := r.attempt.Parts[i]
	planned, _ := offer.Find(text.Model)
	ways := []manner{{planned, text.Endpoint, true}}
	if own, _ := r.brief.model(offer, provider.KindText, live); own == "" {
		ways = nil
		for _, m := range offer.Writers(string(r.item.Quality), live) {
			ways = append(ways, manner{model: m, reviewed: true})
			if r.item.Quality == QualityStandard {
				ways = append(ways, manner{model: m})
			}
		}
		ways = append(ways, manner{planned, "", true})
	}
	price, err := r.priceAround(i)
	if err != nil {
		return err
	}
	for _, way := range ways {
		written, err := r.writtenIn(offer, text, way, live)
		if err != nil {
			return err
		}
		if r.item.Quality == QualityStandard && written.Price() > max(price/textShare, textFloor) {
			continue
		}
		if !live {
			for n := range written.Calls() {
				written.setCredits(n, 0)
			}
		}
		r.attempt.Credits += written.Price() - text.Credits
		r.attempt.Parts[i] = written
		return nil
	}
	return nil // the planned way is the cheapest one
}

// priceAround returns the price of the item with a live key, without its texts.
func (r *Planner) priceAround(text int) (credits int64, err error) {
	for n, p := range r.attempt.Parts {
		if m, ok := catalog.FindIn(p.Model, p.PricedIn); ok && n != text && m.Price != nil {
			price, err := m.PriceOf(r.writer.foreseen(p))
			if err != nil {
				return 0, err
			}
			credits += price
		}
	}
	return credits, nil
}

// writtenIn returns the part that writes the texts in a way, with the price of a live key.
func (r *Planner) writtenIn(offer catalog.Offer, text part, way manner, live bool) (part, error) {
	text.Model, text.PricedIn, text.Provider = way.model.ID, way.model.Place, way.model.Provider
	text.Endpoint = way.endpoint
	if way.reviewed {
		editor := way.model
		if own, _ := r.brief.model(offer, provider.KindText, live); own == "" {
			editor = offer.Editor(string(r.item.Quality), way.model, live)
		}
		judge := offer.Judge(way.model, editor, live)
		by := func(m catalog.Model, names ...string) {
			for _, name := range names {
				c := generate.Call{Name: name, Model: m.ID, PricedIn: m.Place, Provider: m.Provider}
				if m.ID == text.Model && m.ID != judge.ID {
					c.Endpoint = text.Endpoint
				}
				text.Further = append(text.Further, c)
			}
		}
		if r.item.Quality == QualityBest {
			by(way.model, askSecond)
			by(judge, askChoose, askChooseBack)
		}
		by(judge, askReview)
		by(editor, askRewrite)
		by(judge, askCompare, askCompareBack)
	}
	for n, c := range text.Calls() {
		m, _ := catalog.FindIn(c.Model, c.PricedIn) // it was offered
		credits, err := m.PriceOf(r.writer.foreseenCall(text, c.Name))
		if err != nil {
			return text, err
		}
		text.setCredits(n, credits)
	}
	return text, nil
}

// LivePrice returns the price of the record's attempt with a live key. Models without a price count nothing.
func (r *Planner) LivePrice() (credits int64) {
	for _, p := range r.attempt.Parts {
		for _, c := range p.Calls() {
			if m, ok := catalog.FindIn(c.Model, c.PricedIn); ok && m.Price != nil {
				price, _ := m.PriceOf(r.writer.foreseenCall(p, c.Name)) // it was checked when it was planned
				credits += price
			}
		}
	}
	return credits
}
