package item

import (
	"errors"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
)

// chooseLead returns the item's own model. If parts are reused, it may be one that is no longer offered, with the error
// for parts that it would have to make.
func (r Attempt) chooseLead(offer catalog.Offer, lead step, w Options, live bool) (catalog.Model, error) {
	usual := r.Brief.Models[string(lead.kind)]
	chosen, err := offer.Choose(string(lead.kind), w.Model, usual, live)
	if err != nil {
		var m catalog.Model
		if w.Reuse {
			m, _ = catalog.Find(w.Model)
		}
		return m, ofFactory(err, w.Model == "" && usual != "")
	}
	m, _ := catalog.Find(chosen) // it was chosen from there
	sings := slices.Contains(m.Capabilities.Requires, catalog.InputLyrics)
	if r.Kind == MusicClip && r.Given.Has(Script) && !sings {
		return catalog.Model{}, errs.Invalid("/script", "is for models that sing: name one that requires lyrics as model")
	}
	return m, nil
}

// choose adds a part that is not made by the item's model.
func (r Attempt) choose(offer catalog.Offer, st step, live bool) error {
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
		if err := m.Check(r.foreseen(p), ""); err == nil {
			return r.add(p, m, live)
		} else if failure == nil {
			failure = cannot(m, r.Shape, p.Ratio, err)
		}
	}
	if st.kind == provider.KindVoice && len(candidates) > 0 {
		e := errs.New(errs.UnsupportedModel, "A video needs a voice, and no available model speaks %s. Choose "+
			"another language.", r.Language)
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
