// Package catalog has the offers of the service: the generation models with their prices and life cycle, and the
// subscription plans. Both are tables in files of this folder, so that a price or a model changes without code.
//
// The ids of models are the service's own. They name the model and its version, not the provider or its endpoint
// (flux-pro-1.1, not fal-ai/flux-pro/v1.1), so that a model keeps its id when it moves to another provider. An id is
// never given to another model. A model that ends is retired, and names its successor. Find returns a model;
// models.json has all.
package catalog

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/record/resource"
)

// State is the state of a model in its life cycle.
type State string

// The states of a model.
const (
	Available State = "available" // for all work
	Preview   State = "preview"   // listed and in the sandbox, not yet for live work
	Retired   State = "retired"   // ended; Successor takes its place

	// Unavailable is not in the table. Live keys see it if the stack has not configured the model's provider, or the
	// provider lacks the model in its region.
	Unavailable State = "unavailable"
)

// Input is an input besides the prompt without which a model cannot work.
type Input string

// The inputs that models need.
const (
	InputImage  Input = "image"
	InputAudio  Input = "audio"
	InputVideo  Input = "video"
	InputLyrics Input = "lyrics"
	// InputDialogue is a text of two speakers, one after the other on lines of their own.
	InputDialogue Input = "dialogue"
)

// Capabilities are the requests that a model can carry out.
type Capabilities struct {
	// Supported aspect ratios. Absent if the input image sets it, or the output has none.
	AspectRatios []string `json:"aspect_ratios,omitempty" example:"[\"9:16\",\"16:9\"]"`
	// Maximum number of images per request. Absent: one.
	MaxImages int `json:"max_images,omitempty" example:"4"`
	// Resolution of its videos.
	Resolution string `json:"resolution,omitempty" example:"1080p"`
	// Supported lengths in seconds, if only certain ones are supported.
	Seconds []int `json:"supported_seconds,omitempty" example:"[5,10]"`
	// Minimum length in seconds. Absent: 1.
	MinSeconds int `json:"min_seconds,omitempty" example:"5"`
	// Maximum length in seconds.
	MaxSeconds int `json:"max_seconds,omitempty" example:"10"`
	// Minimum and maximum length of the prompt in characters, if there is a limit.
	//
	// PromptCharacters and LyricsCharacters have a minimum and a maximum each.
	PromptCharacters []int `json:"prompt_characters,omitempty" example:"[10,300]"`
	// Minimum and maximum length of the lyrics in characters, if there is a limit.
	LyricsCharacters []int `json:"lyrics_characters,omitempty" example:"[10,3000]"`
	// Maximum length of the text in characters.
	MaxCharacters int `json:"max_characters,omitempty" example:"100000"`
	// Supported languages (BCP 47, without regions). Absent if the provider publishes no list.
	Languages []string `json:"languages,omitempty" example:"[\"en\",\"de\"]"`
	// Whether it accepts an image to start from.
	FromImage bool `json:"from_image,omitempty"`
	// Whether it accepts speech to move to.
	FromAudio bool `json:"from_audio,omitempty"`
	// Whether its videos have sound.
	Sound bool `json:"sound,omitempty"`
	// Inputs that it requires besides the prompt: image, audio, video, lyrics, or dialogue (a text of two lines, one
	// for each speaker).
	Requires []Input `json:"requires,omitempty" example:"[\"image\"]"`
}

// Model is one generation model.
type Model struct {
	// Id of the model.
	ID string `json:"id" example:"flux-pro-1.1"`
	// Display name.
	Name string `json:"name" example:"FLUX1.1 [pro]"`
	// Provider of the model.
	Provider string `json:"provider" example:"fal"`
	// Kind of media that it makes.
	Kind provider.Kind `json:"kind" enum:"text,image,video,music,voice,avatar"`
	// What it supports.
	Capabilities Capabilities `json:"capabilities"`
	// Price. Null if it is not known yet; the model is then in preview.
	Price *Price `json:"price"`
	// available: for all keys. preview: for test keys only. unavailable: for test keys only, because its provider is
	// not set up here or does not have it in this region. retired: ended; use the successor.
	State State `json:"state" enum:"available,preview,unavailable,retired"`
	// Time from which on its provider no longer has it, and it is retired. Null if the provider has named none.
	RetiresAt *resource.Time `json:"retires_at"`
	// Id of the model to use in place of one that is retired, ends or is superseded. Null for the others.
	Successor *string `json:"successor"`
	// Models trained by the account only: id of the base model.
	FineTunedFrom *string `json:"fine_tuned_from"`
	// Models trained by the account only: id of the factory that trained it, which alone can use it.
	FactoryID *string `json:"factory_id"`
	// Price of training a model of your own from this one. Null if it cannot be trained.
	Training *Training `json:"training"`
	// Whether it is used where no model is named. Avatars without an image use the first available model that needs
	// none.
	//
	// Default is set by Offer.Models.
	Default bool `json:"default"`
	// AWS regions that have it. Empty if its provider is not AWS, or reaches it through an inference profile.
	Regions []string `json:"regions" nullable:"false" example:"[\"us-east-1\"]"`
	// URL where the provider publishes price and capabilities.
	Source string `json:"source" format:"uri" example:"https://fal.ai/models/fal-ai/flux-pro/v1.1"`

	// ProviderModel is the provider's id of the model. ProviderOptions are the provider's settings of this model.
	// Neither is shown.
	ProviderModel   string            `json:"-"`
	ProviderOptions map[string]string `json:"-"`
	// DeprecatedAt is the time from which on this catalog advises against the model, or nil.
	DeprecatedAt *resource.Time `json:"-"`
	// Place is the inference profile or AWS region whose price the model has, empty for the price that others have.
	Place string `json:"-"`

	places   map[string]*Price
	extended *extendedPrice
}

// extendedPrice is the price of a model that is about to end, from a time on.
type extendedPrice struct {
	from  time.Time
	price *Price
}

// in returns the model with the price of a place: an inference profile or an AWS region.
func (m Model) in(place string) Model {
	if p := m.places[place]; p != nil {
		m.Price, m.Place = p, place
	}
	return m
}

// FindIn returns a model by its id, with the price of its Place.
func FindIn(id, place string) (Model, bool) {
	m, ok := Find(id)
	return m.in(place), ok
}

// In reports whether the model can be called from an AWS region, by the global inference profile if that is permitted.
// Models of providers outside AWS can be called from everywhere.
func (m Model) In(region string, everywhere bool) bool {
	if len(m.Regions) > 0 && !slices.Contains(m.Regions, region) {
		return false
	}
	return m.ProviderOptions[provider.ProfilesOption] == "" ||
		provider.ProfileIn(region, m.ProviderOptions, everywhere) != ""
}

//go:embed models.json
var modelsJSON []byte

type row struct {
	Model
	ProviderModel   string            `json:"provider_model"`
	ProviderOptions map[string]string `json:"provider_options"`
	// RetiresOn and DeprecatedOn are days, which begin in UTC.
	RetiresOn    day `json:"retires_on"`
	DeprecatedOn day `json:"deprecated_on"`
	// RegionsSource is the URL of AWS's list of the regions.
	RegionsSource string `json:"regions_source"`
	// ReadOn is the day on which Source was read.
	ReadOn day `json:"read_on"`
	// Cost is what the provider charges. The price is one credit for a cent of it.
	Cost     *cost        `json:"cost"`
	Training *trainingRow `json:"training"`
}

// day is a day as the table writes it, YYYY-MM-DD, or nil.
type day struct{ at *resource.Time }

// UnmarshalText reads a day.
func (d *day) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	at := resource.Instant(t)
	d.at = &at
	return err
}

// table is the content of models.json.
type table struct {
	Defaults map[provider.Kind]string `json:"defaults"`
	// Writers are the models of texts by quality, the first one first.
	Writers map[string][]string `json:"writers"`
	// Editors are the models that rewrite texts, by quality, and Judges those that look at them.
	Editors map[string][]string `json:"editors"`
	Judges  []string            `json:"judges"`
	Models  []row               `json:"models"`
}

// models reads the table when it is first needed, so that a function without models does not pay for it at its start.
var models = sync.OnceValue(func() table {
	t, err := parse(modelsJSON)
	if err != nil {
		panic(fmt.Sprintf("catalog: models.json: %v", err)) // a test reads it
	}
	return t
})

func parse(raw []byte) (table, error) {
	var t table
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t); err != nil {
		return table{}, err
	}
	for i := range t.Models {
		r := &t.Models[i]
		r.Model.ProviderModel, r.Model.ProviderOptions = r.ProviderModel, r.ProviderOptions
		r.Model.RetiresAt, r.Model.DeprecatedAt = r.RetiresOn.at, r.DeprecatedOn.at
		if err := r.price(); err != nil {
			return table{}, fmt.Errorf("%s: %w", r.ID, err)
		}
		if r.Regions == nil {
			r.Regions = []string{}
		}
		if t := r.Training; t != nil {
			r.Model.Training = &t.Training
			r.Model.Training.ProviderModel, r.Model.Training.Parameters = t.ProviderModel, t.Parameters
		}
	}
	return t, nil
}

// Filter chooses models; its zero value chooses all.
type Filter struct {
	Kind     provider.Kind
	Provider string
}

// Models returns the chosen models in the order of the table: by kind, including the retired ones. The caller owns the
// slice, but not the values that its elements point to.
func Models(f Filter) []Model {
	var chosen []Model
	for _, r := range models().Models {
		if (f.Kind == "" || r.Kind == f.Kind) && (f.Provider == "" || r.Provider == f.Provider) {
			chosen = append(chosen, r.Model)
		}
	}
	return chosen
}

// Providers returns the names of all providers that run a model.
func Providers() []string {
	var names []string
	for _, r := range models().Models {
		if !slices.Contains(names, r.Provider) {
			names = append(names, r.Provider)
		}
	}
	return names
}

// Find returns the model with an id, and false if the catalog has none.
func Find(id string) (Model, bool) {
	for _, r := range models().Models {
		if r.ID == id {
			return r.Model, true
		}
	}
	return Model{}, false
}

// Default returns the model of a kind that is used if none is named.
func Default(kind provider.Kind) Model {
	m, ok := Find(models().Defaults[kind])
	if !ok {
		panic(fmt.Sprintf("catalog: no default model of the kind %q", kind)) // a test asks for each
	}
	return m
}

// Usable refuses a model that cannot make media of the kind: one that does not exist, is retired, or makes other media
// (unsupported_model), and unknown kinds (validation_failed). The argument param names the member at fault.
func Usable(kind, id, param string, now time.Time) error {
	_, err := choose(kind, id, param, now)
	return err
}

func choose(kind, id, param string, now time.Time) (Model, error) {
	if !slices.Contains(provider.Kinds(), provider.Kind(kind)) {
		return Model{}, errs.Invalid(param, "is for an unknown kind; the kinds are %s", names(provider.Kinds()))
	}
	m, ok := Find(id)
	switch {
	case !ok:
		return Model{}, unsupported(param, "There is no model %q. GET /v1/catalog/models?kind=%s lists those that "+
			"there are.", shorten(id), kind)
	case string(m.Kind) != kind:
		return Model{}, unsupported(param, "The model %s makes %s, not %s. GET /v1/catalog/models?kind=%s lists "+
			"those that do.", id, m.Kind, kind, kind)
	case m.At(now).State == Retired:
		return Model{}, unsupported(param, "The model %s is retired. Use its successor %s.", id, *m.Successor)
	}
	return m, nil
}

// shorten prevents a caller's text from filling a message.
func shorten(id string) string {
	const longest = 64
	if len(id) > longest {
		return strings.ToValidUTF8(id[:longest], "") + "…"
	}
	return id
}

func names(kinds []provider.Kind) string {
	all := make([]string, len(kinds))
	for i, k := range kinds {
		all[i] = string(k)
	}
	return strings.Join(all, ", ")
}

// At returns the model in its state at a time: retired from its end on, and before it at the higher price of extended
// access, if its provider has one.
func (m Model) At(now time.Time) Model {
	if e := m.extended; e != nil && !now.Before(e.from) {
		m.Price = e.price
	}
	if m.Ended(now) {
		m.State = Retired
	}
	return m
}

// Notice returns the least time between the event of a model's end and the end, if its provider names the end early
// enough. New models of Bedrock end 45 days after AWS has said so, others later.
func (m Model) Notice() time.Duration {
	const day = 24 * time.Hour
	if m.Provider == bedrock {
		return 45 * day
	}
	return 60 * day
}

// bedrock is the provider whose models end with AWS's notice.
const bedrock = "bedrock"

// Ended reports whether the provider no longer has the model at a time.
func (m Model) Ended(now time.Time) bool { return m.RetiresAt != nil && !now.Before(m.RetiresAt.Time) }

// Retired reports whether a model is retired today.
func (o Offer) Retired(m Model) bool { return o.today(m).State == Retired }

// Ending returns the time from which on the catalog advises against a model, and its end. The zero time stands for
// none. Both are zero for models that are not in the catalog.
func Ending(id string) (deprecated, end time.Time) {
	m, _ := Find(id)
	return m.DeprecatedAt.OrZero(), m.RetiresAt.OrZero()
}

// Succeed returns the id of the model that takes the place of one that is retired: its successor, or the successor of
// that, as far as they make the same kind at no more than its last price. It returns the id itself if the model is not
// retired, or if none takes its place.
func (o Offer) Succeed(id string, live bool) string {
	first, ok := o.Find(id)
	for m := first; ok; {
		if m.State != Retired {
			if m.State == Available && first.Kind == m.Kind && first.Price.covers(m.Price) && (!live || o.has(m)) {
				return m.ID
			}
			return id
		}
		if m.Successor == nil {
			return id
		}
		m, ok = o.Find(*m.Successor)
	}
	return id
}

// covers reports whether a price is as high as another for each quantity.
func (p *Price) covers(q *Price) bool {
	if p == nil || q == nil || p.Unit != q.Unit || p.Megapixels != q.Megapixels {
		return false
	}
	inputs := []int{0, math.MaxInt}
	for _, long := range []*LongPrompt{p.LongPrompt, q.LongPrompt} {
		if long != nil {
			inputs = append(inputs, int(long.AboveInputTokens)+1)
		}
	}
	for _, n := range inputs {
		read, written := p.tokens(n)
		reads, writes := q.tokens(n)
		if writes*p.Per > written*q.Per || reads*p.Per > read*q.Per {
			return false
		}
	}
	return true
}

// Row is a row of the catalog for operators: a model with its source, its costs and its end.
type Row struct {
	Model
	// ReadOn is the day on which the source of the price was read.
	ReadOn time.Time
	// Charges are what the provider charges, in US dollars, by place. The key of the charge elsewhere is empty.
	Charges map[string]Charge
}

// Charge is what a provider charges for a model, in US dollars.
type Charge struct {
	// USD is for Per units, of text for its output, and USDInput for its input.
	USD, USDInput string
	Per           int64
	// Above is the number of input tokens above which AboveUSD and AboveUSDInput apply, or 0.
	Above                   int64
	AboveUSD, AboveUSDInput string
}

// String returns the charge in words.
func (c Charge) String() string {
	s := "$" + c.USD
	if c.USDInput != "" {
		s = "$" + c.USDInput + " in, $" + c.USD + " out"
	}
	if c.Above > 0 {
		s += fmt.Sprintf("; above %d tokens $%s in, $%s out", c.Above, c.AboveUSDInput, c.AboveUSD)
	}
	return s
}

// Rows returns the rows of the catalog.
func Rows() (all []Row) {
	for _, r := range models().Models {
		row := Row{Model: r.Model, ReadOn: r.ReadOn.at.OrZero(), Charges: map[string]Charge{}}
		if r.Cost != nil {
			row.Charges[""] = r.Cost.charge(r.Cost.rate)
			for names, of := range r.Cost.Places {
				for name := range strings.SplitSeq(names, ",") {
					row.Charges[name] = r.Cost.charge(of)
				}
			}
		}
		all = append(all, row)
	}
	return all
}

func (c *cost) charge(of rate) Charge {
	charge := Charge{USD: of.USD, USDInput: of.USDInput, Per: max(c.Per, 1)}
	if of.Above != nil {
		charge.Above, charge.AboveUSD, charge.AboveUSDInput = of.Above.InputTokens, of.Above.USD, of.Above.USDInput
	}
	return charge
}

// Profiles returns the inference profiles by which a model is called, or none.
func (r Row) Profiles() []string {
	return slices.DeleteFunc(strings.Split(r.ProviderOptions["profiles"], ","),
		func(name string) bool { return name == "" })
}
