package catalog

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/id"
)

// Training is the price of training a model from this one, and the regions in which it is possible.
type Training struct {
	// Credits for the number of trained tokens in per.
	Credits int64 `json:"credits" example:"1"`
	// Number of trained tokens that the credits pay for.
	Per int64 `json:"per" example:"5000"`
	// Number of times that each token of the samples is trained.
	Epochs int64 `json:"epochs" example:"5"`
	// AWS regions in which live keys can train it.
	Regions []string `json:"regions" nullable:"false" example:"[\"us-east-1\"]"`

	// ProviderModel is the provider's id of the model to train. Parameters are its settings. Neither is shown.
	ProviderModel string            `json:"-"`
	Parameters    map[string]string `json:"-"`
}

// trainingRow is a training in models.json.
type trainingRow struct {
	Training
	ProviderModel string            `json:"provider_model"`
	Parameters    map[string]string `json:"parameters"`
	// USD is the provider's price for 1,000 tokens of one epoch. Source and RegionsSource are the URLs of the price and
	// of the regions.
	USD           string `json:"usd"`
	Source        string `json:"source"`
	RegionsSource string `json:"regions_source"`
}

// Cost returns the price of training with samples of a number of tokens, rounded up to a whole credit.
func (t Training) Cost(tokens int) int64 {
	return ceil(mul(int64(tokens), t.Epochs, t.Credits), t.Per)
}

// Base returns the model that a training starts from: the named one, else the usual one if it can be trained, else the
// default of texts, else the first one that can be trained here. The argument param names the member at fault.
func (o Offer) Base(asked, usual, param string, live bool) (Model, error) {
	can := func(m Model) bool {
		return m.Training != nil && o.today(m).State == Available &&
			(!live || o.configured.Has(m.Provider) && slices.Contains(m.Training.Regions, o.region))
	}
	texts := Models(Filter{Kind: provider.KindText})
	if asked != "" {
		m, err := choose(string(provider.KindText), asked, param, o.clock())
		switch {
		case err != nil:
			return Model{}, err
		case m.Training == nil:
			return Model{}, unsupported(param, "The model %s cannot be trained. Choose one of %s.", m.ID,
				trainable(texts))
		case !can(m):
			return Model{}, unsupported(param, "The model %s cannot be trained by live keys here: it is trained in "+
				"%s. A test key can rehearse it.", m.ID, strings.Join(m.Training.Regions, ", "))
		}
		return o.today(m), nil
	}
	for _, candidate := range []string{usual, Default(provider.KindText).ID} {
		if m, ok := o.Find(candidate); ok && can(m) {
			return m, nil
		}
	}
	if i := slices.IndexFunc(texts, can); i >= 0 {
		return o.today(texts[i]), nil
	}
	return Model{}, unsupported("", "No model can be trained by live keys here. Use a test key. Nothing was created "+
		"or spent.")
}

// trainable lists the models that can be trained somewhere.
func trainable(all []Model) string {
	var ids []string
	for _, m := range all {
		if m.Training != nil {
			ids = append(ids, m.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// TunedModel is the model that a factory has trained.
type TunedModel struct {
	ID        string `json:"id"`
	FactoryID string `json:"factory_id"`
	BaseModel string `json:"base_model"`
	// TrainingID is the id of the training that has made it.
	TrainingID string `json:"training_id"`
	// Endpoint is the id by which the provider calls it, empty in the sandbox.
	Endpoint string `json:"endpoint,omitempty"`
}

// TrainedKind is the kind of the items of trained models.
const TrainedKind = "trained_model"

// TrainedAttribute is the attribute of a factory's item that holds its trained model, so that readers of the factory
// need not read the model.
const TrainedAttribute = "trained"

// Model returns the trained model as the catalog shows it, with the price and limits of the base model.
func (t TunedModel) Model() Model {
	m, _ := Find(t.BaseModel) // an id is never removed from the table
	m.Name = cmp.Or(m.Name, t.BaseModel) + ", trained"
	m.ID, m.FineTunedFrom, m.FactoryID = t.ID, &t.BaseModel, &t.FactoryID
	m.Training, m.Default = nil, false
	return m
}

// UsableIn is Usable for a factory that may have a trained model, which other factories cannot use.
func UsableIn(trained *TunedModel, kind, modelID, param string, now time.Time) error {
	switch {
	case trained != nil && trained.ID == modelID && kind == string(provider.KindText):
		return nil
	case strings.HasPrefix(modelID, trainedPrefix) && kind == string(provider.KindText):
		e := errs.New(errs.UnsupportedModel, "This factory has no trained model %q. A trained model can be used by "+
			"its factory only.", shorten(modelID))
		e.Param = param
		return e
	}
	return Usable(kind, modelID, param, now)
}

// trainedPrefix is the prefix of the ids of trained models.
const trainedPrefix = id.Model + "_"

// TrainedModel returns a trained model as keys of a mode see it.
func (o Offer) TrainedModel(t TunedModel, live bool) Model {
	m := t.Model()
	base, ok := o.Find(t.BaseModel)
	if m.Price = base.Price; live && (!ok || base.State == Retired || !o.has(base)) {
		m.State = Unavailable
	}
	return m
}
