package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
)

// Offer is the part of the catalog that one stack offers. Live work needs a provider that the stack has configured and
// that has the model in the stack's region. The sandbox replaces all providers. The zero value offers nothing for live
// work.
type Offer struct {
	configured provider.Configured
	region     string
	now        func() time.Time
}

// NewOffer returns the offer of a stack in an AWS region with the providers of a list, in the form of
// provider.ParseConfigured. Models are retired by the clock from their end on.
func NewOffer(providers, region string, now func() time.Time) Offer {
	return Offer{provider.ParseConfigured(providers), region, now}
}

// clock returns the time, or the zero time, at which no model has ended, for the zero Offer.
func (o Offer) clock() time.Time {
	if o.now == nil {
		return time.Time{}
	}
	return o.now()
}

// today returns the model in its state of today, at the price of the stack's region.
func (o Offer) today(m Model) Model { return m.in(o.placeOf(m)).At(o.clock()) }

// placeOf returns where the stack's calls of a model are charged: by the name of the inference profile that they use,
// or else by the region.
func (o Offer) placeOf(m Model) string {
	everywhere := o.configured.Has(provider.BedrockEverywhere)
	return cmp.Or(provider.ProfileIn(o.region, m.ProviderOptions, everywhere), o.region)
}

// Find returns a model by its id, in its state of today and at the price of the stack's region.
func (o Offer) Find(id string) (Model, bool) {
	m, ok := Find(id)
	return o.today(m), ok
}

// has reports whether live work can reach the model.
func (o Offer) has(m Model) bool { return o.configured.Has(m.Provider) && o.reaches(m) }

// reaches reports whether the model can be called from the stack's region.
func (o Offer) reaches(m Model) bool {
	return m.In(o.region, o.configured.Has(provider.BedrockEverywhere))
}

// Models returns the chosen models as keys of a mode see them: for live keys, models that live work cannot reach are
// unavailable. They stay in the list, so that a caller can look up any id that a factory or an old content item names.
func (o Offer) Models(f Filter, live bool) []Model {
	chosen := Models(f)
	for i := range chosen {
		m := o.today(chosen[i])
		usual, err := o.Default(m.Kind, live)
		chosen[i], chosen[i].Default = m, err == nil && usual.ID == m.ID
		if live && m.State != Retired && !o.has(m) {
			chosen[i].State = Unavailable
		}
	}
	return chosen
}

// Choose returns the id of the model for a piece of work: the one that the caller named, else the fallback, else the
// kind's default. It refuses like Usable, and for live work also a model that is in preview or unavailable.
func (o Offer) Choose(kind, asked, fallback string, live bool) (string, error) {
	const param = "/model"
	id := cmp.Or(asked, fallback)
	if id == "" {
		m, err := o.Default(provider.Kind(kind), live)
		return m.ID, err
	}
	m, err := choose(kind, id, param, o.clock())
	if err != nil || !live {
		return id, err
	}
	switch {
	case !o.configured.Has(m.Provider):
		return "", o.instead(m.Kind, param, "The model %s is not available to live keys here, because its provider "+
			"%s is not set up.", id, m.Provider)
	case !o.reaches(m):
		return "", o.instead(m.Kind, param, "The model %s is not available to live keys here, because %s does not "+
			"have it in the region %s.", id, m.Provider, o.region)
	case m.State != Available || m.Price == nil:
		return "", o.instead(m.Kind, param, "The model %s is in preview: it works with test keys only.", id)
	}
	return id, nil
}

// ChooseFor is Choose for a request. If no model is named, and the default one lacks an input that it needs or does not
// take one that is given, it returns the first model that can carry out the request. A talking avatar without a picture
// is an example.
func (o Offer) ChooseFor(req provider.Request, asked string, live bool) (string, error) {
	id, err := o.Choose(string(req.Kind), asked, "", live)
	if err != nil || asked != "" {
		return id, err
	}
	if m, _ := Find(id); m.inputs(req, "") == nil {
		return id, nil
	}
	for _, m := range Models(Filter{Kind: req.Kind}) {
		if o.today(m).State == Available && m.Price != nil && (!live || o.has(m)) && m.Check(req, "") == nil {
			return m.ID, nil
		}
	}
	return id, nil
}

// instead returns the refusal of a model, with a message that ends with the name of one to use in its place.
func (o Offer) instead(kind provider.Kind, param, format string, args ...any) error {
	other, err := o.Default(kind, true)
	if err != nil {
		return unsupported(param, format+" No other model makes %s for live keys here. A test key works with all "+
			"models.", append(args, kind)...)
	}
	return unsupported(param, format+" Use %s, for example.", append(args, other.ID)...)
}

// shapes are the aspect ratios of content items.
var shapes = map[provider.Kind][]string{
	provider.KindImage: {"4:5", "1:1", "9:16"},
	provider.KindVideo: {"9:16", "16:9"},
}

// Default returns the model of a kind that is used if none is named: the catalog's default, or, if that is unavailable
// to live work, the first other model that can make content items. It returns unsupported_model if there is none.
func (o Offer) Default(kind provider.Kind, live bool) (Model, error) {
	usual := o.today(Default(kind))
	if usual.State != Retired && (!live || o.has(usual)) {
		return usual, nil
	}
	for _, m := range Models(Filter{Kind: kind}) {
		m = o.today(m)
		fits := m.State == Available && m.Price != nil && (!live || o.has(m)) &&
			within(shapes[kind], m.Capabilities.AspectRatios) &&
			within(m.Capabilities.Requires, usual.Capabilities.Requires)
		if fits {
			return m, nil
		}
	}
	return Model{}, unsupported("", "No provider that makes %s is set up here for live keys. Use a test key. Nothing "+
		"was created or spent.", kind)
}

// within reports whether all elements of some are among others.
func within[T comparable](some, others []T) bool {
	return !slices.ContainsFunc(some, func(x T) bool { return !slices.Contains(others, x) })
}

func unsupported(param, format string, args ...any) error {
	e := errs.New(errs.UnsupportedModel, format, args...)
	e.Param = param
	return e
}

// Writers returns the models that write texts of a quality, the best one first, as far as work can reach them.
func (o Offer) Writers(quality string, live bool) []Model {
	return o.reachable(models().Writers[quality], live)
}

// StandIns returns the models that take the place of a text model, by its provider's id, if the provider refuses it to
// the account: those behind it in the list of its quality, then the writers of the quality standard, then the default.
func (o Offer) StandIns(model string) (next []provider.StandIn) {
	t := models()
	i := slices.IndexFunc(t.Models, func(r row) bool { return r.Kind == provider.KindText && r.ProviderModel == model })
	if i < 0 {
		return nil // a trained model: its factory has the model that it was trained from
	}
	refused := t.Models[i].Model
	var ids []string
	for _, list := range [][]string{t.Writers["best"], t.Writers["standard"], t.Editors["best"], t.Editors["standard"],
		t.Judges} {
		if at := slices.Index(list, refused.ID); at >= 0 {
			ids = append(ids, list[at+1:]...)
			break
		}
	}
	ids = append(append(ids, t.Writers["standard"]...), t.Defaults[provider.KindText])
	for _, m := range o.reachable(ids, true) {
		known := slices.ContainsFunc(next, func(s provider.StandIn) bool { return s.ID == m.ID })
		if m.ID != refused.ID && m.Provider == refused.Provider && !known {
			next = append(next, provider.StandIn{ID: m.ID, Model: m.ProviderModel, Options: m.ProviderOptions})
		}
	}
	return next
}

// Editor returns the model that rewrites a text of a quality: another than its writer, or else the writer.
func (o Offer) Editor(quality string, writer Model, live bool) Model {
	return otherThan(o.reachable(models().Editors[quality], live), writer, writer)
}

// Judge returns the model that looks at the texts of a writer and an editor: one of another family than both, since
// models prefer texts of their own, or else another than both, or else the writer.
func (o Offer) Judge(writer, editor Model, live bool) Model {
	judges := o.reachable(models().Judges, live)
	family := func(m Model) string { return strings.SplitN(m.ID, "-", 2)[0] }
	others := slices.DeleteFunc(slices.Clone(judges), func(m Model) bool {
		return family(m) == family(writer) || family(m) == family(editor)
	})
	return otherThan(append(others, judges...), writer, editor)
}

// otherThan returns the first model that is neither the writer nor the editor, or else the writer.
func otherThan(all []Model, writer, editor Model) Model {
	for _, m := range all {
		if m.ID != writer.ID && m.ID != editor.ID {
			return m
		}
	}
	return writer
}

// reachable returns the models of a list that work can reach.
func (o Offer) reachable(ids []string, live bool) (all []Model) {
	for _, id := range ids {
		if m, ok := o.Find(id); ok && m.State == Available && m.Price != nil && (!live || o.has(m)) {
			all = append(all, m)
		}
	}
	return all
}

// Difference is what an operator should know of a model: its provider says something else of it than the catalog, or it
// ends soon.
type Difference struct {
	// Model is the id of the model.
	Model string
	// Text is the difference, and begins with the id.
	Text string
	// Ends reports that the model ends within its notice, or is refused to new accounts.
	Ends bool
}

// Compare returns the differences between the catalog and what Bedrock says of its models in the stack's region: those
// that it lacks, that are Legacy, or whose end is another one or near. Lives are the models that it has, by their ids.
func (o Offer) Compare(lives map[string]provider.Life) (all []Difference) {
	now := o.clock()
	add := func(m Model, ends bool, format string, args ...any) {
		all = append(all, Difference{m.ID, m.ID + " " + fmt.Sprintf(format, args...), ends})
	}
	for _, m := range Models(Filter{Provider: bedrock}) {
		if m = o.today(m); m.State == Retired || !o.has(m) {
			continue
		}
		life, known := lives[m.ProviderModel]
		end, ours := life.End, m.RetiresAt.OrZero()
		switch on := end.UTC().Format(time.DateOnly); {
		case !known:
			add(m, true, "is not in %s: %s", o.region, o.Place(m))
		case life.Legacy:
			add(m, true, "is Legacy, and AWS refuses it to new accounts: %s", o.Place(m))
		case !end.IsZero() && ours.IsZero():
			add(m, end.Sub(now) < m.Notice(), "ends on %s (the catalog has no end)", on)
		case !end.IsZero() && on != ours.UTC().Format(time.DateOnly):
			add(m, end.Sub(now) < m.Notice(), "ends on %s (the catalog has %s)", on, ours.UTC().Format(time.DateOnly))
		case !end.IsZero() && end.Sub(now) < m.Notice():
			add(m, true, "ends on %s", on)
		}
	}
	return all
}

// Place says which model takes the place of one that its provider refuses.
func (o Offer) Place(m Model) string {
	next := o.StandIns(m.ProviderModel)
	if m.Kind != provider.KindText || len(next) == 0 {
		return "nothing takes its place"
	}
	return next[0].ID + " writes in its place"
}

// EndingSoon returns the models of all providers that end within their notice, by what the catalog has.
func (o Offer) EndingSoon() (all []Difference) {
	for _, m := range Models(Filter{}) {
		if end := m.RetiresAt.OrZero(); m.State != Retired && !end.IsZero() && end.Sub(o.clock()) < m.Notice() {
			all = append(all, Difference{m.ID, m.ID + " ends on " + end.UTC().Format(time.DateOnly), true})
		}
	}
	return all
}
