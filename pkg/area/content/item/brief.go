package item

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/craft/prompt"
	"github.com/content-automation/api/pkg/craft/source"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// The longest texts for models, in characters. A text model reads all settings of a
// factory. The providers of pictures, clips and tracks accept far less.
const (
	maxInstructions = 8000
	maxPrompt       = 1000
	maxManner       = 250
)

// Brief describes an item's factory to the models. It is stored with the item: a later
// change of the factory does not change an accepted item.
type Brief struct {
	// Type is the type of the factory.
	Type string `json:"type,omitempty"`
	Name string `json:"name,omitempty"` // of the factory
	// Description is the beginning of that of the factory.
	Description string `json:"description,omitempty"`
	// Region is the country whose rules of law apply: that of the factory, or else of its profile, when they were last
	// checked.
	Region string `json:"region,omitempty"`
	// Zone is the time zone of the days that texts and media name: an IANA name, or empty for UTC.
	Zone string `json:"zone,omitempty"`
	// Voice is for text models.
	Voice string `json:"voice"`
	// Look is for image and video models, and Sound for music models.
	Look  string `json:"look,omitempty"`
	Sound string `json:"sound,omitempty"`
	// Models are the ids of the factory's models, by kind.
	Models map[string]string `json:"models,omitempty"`
	// CaptionLine reports whether captions say that AI has made the content, where nothing else can.
	CaptionLine bool `json:"caption_line,omitempty"`
	// Replace reports whether successors take the places of these models once they are retired.
	Replace bool `json:"replace,omitempty"`
	// TunedModel is the factory's trained model, if it is its text model.
	TunedModel *catalog.TunedModel `json:"trained,omitempty"`
	// Product is the product that the content presents, or nil if it presents none.
	Product *Product `json:"product,omitempty"`
	// Prices decides which prices the texts may state: PricesKnown or PricesNone. If it is empty, they may state any.
	Prices string `json:"prices,omitempty"`
	// Forbidden are the words that the channel never uses. Sources are read before the texts are written, and MaxAge is
	// the greatest age of what they say, in hours. Sourced reports that texts must name the sources that they quote.
	Forbidden []string `json:"forbidden,omitempty"`
	// Competitors are names that no text has. Samples are posts of the channel to learn from.
	Competitors []string        `json:"competitors,omitempty"`
	Samples     []string        `json:"samples,omitempty"`
	Sources     []source.Source `json:"sources,omitempty"`
	MaxAge      int             `json:"max_age_hours,omitempty"`
	Sourced     bool            `json:"sourced,omitempty"`
	// Brand is the brand of the factory in finished media, or nil if they show none.
	Brand *generate.Brand `json:"brand,omitempty"`
	// Artist is the name of the artist of music clips. It may be empty.
	Artist string `json:"artist,omitempty"`
	// Logo is the logo with its places, or nil if its place is the same for all platforms.
	Logo *Logo `json:"logo,omitempty"`
	// Badge is what finished media of products say besides the price, or nil if they say nothing.
	Badge *Badge `json:"badge,omitempty"`
	// Headlined reports whether pictures of posts have words on them, unless a caller chooses.
	Headlined bool `json:"headlined,omitempty"`
	// CaptionStyle is the style of captions, or empty for the default.
	CaptionStyle string `json:"caption_style,omitempty"`
	// Cuts is the number of times that the picture of a video changes in 10 s, and Ratio the ratio of posts and slides,
	// which may be empty.
	Cuts  int    `json:"cuts,omitempty"`
	Ratio string `json:"ratio,omitempty"`
	// Intro and Outro are shown in videos, after the first scene and at the end.
	Intro *media.File `json:"intro,omitempty"`
	Outro *media.File `json:"outro,omitempty"`
}

// Badge is the part of a product's offer that the settings of the shop decide.
type Badge struct {
	Shop   string `json:"shop,omitempty"`
	Action string `json:"action,omitempty"`
}

// model returns the id in the catalog of the factory's model of a kind, empty without one, and the endpoint of a
// trained model.
func (b Brief) model(offer catalog.Offer, kind provider.Kind, live bool) (modelID, endpoint string) {
	if t := b.TunedModel; t != nil && kind == provider.KindText {
		return t.BaseModel, t.Endpoint
	}
	if !b.Replace {
		return b.Models[string(kind)], ""
	}
	return offer.Succeed(b.Models[string(kind)], live), ""
}

// Factory holds the settings of a factory that a brief uses. It repeats the members of a
// factory because pkg/area/factory links the HTTP framework.
type Factory struct {
	ID, Name, Type, Region      string
	Zone                        string // of its schedule, or else of its country
	Description, Audience, Tone string
	Topics                      []string
	// Settings is a JSON object.
	Settings []byte
	Models   map[string]string
	Replace  bool
	// CaptionLine is the setting ai_caption_line.
	CaptionLine bool
	TunedModel  *catalog.TunedModel
	// Logo is the picture that the settings name, and Intro and Outro what they name to be shown before and after
	// videos.
	Logo, Intro, Outro *media.File
	// Design is that of the template, or nil.
	Design *theme.Theme
	// Sells reports whether the factory is a shop, whose texts state no price that it does not have.
	Sells bool
}

// The prices that texts may state.
const (
	PricesKnown = "known" // the prices of the product, and those that the caller has written
	PricesNone  = "none"
)

// zone returns the time zone of the brief.
func (b Brief) zone() *time.Location {
	z, err := time.LoadLocation(b.Zone)
	if err != nil {
		return time.UTC // it was checked when it was set
	}
	return z
}

// pricesOf returns which prices the texts of a factory may state.
func (f Factory) pricesOf(settings map[string]any) string {
	switch {
	case !f.Sells:
		return ""
	case settings["show_prices"] == false:
		return PricesNone
	default:
		return PricesKnown
	}
}

// badgeOf returns the badge of a shop's products, or nil if it wants none.
func (f Factory) badgeOf(settings map[string]any) *Badge {
	if !f.Sells || settings["product_badge"] == false {
		return nil
	}
	shop, _ := settings["shop_name"].(string)
	action, _ := settings["call_to_action"].(string)
	return &Badge{Shop: shop, Action: action}
}

// brandOf returns the brand that settings describe, in the design of a template, or nil if there is neither.
func brandOf(settings map[string]any, logo *media.File, design *theme.Theme) *generate.Brand {
	b := generate.Brand{Font: words(settings["font"]), Theme: words(settings["theme"]), Design: design,
		Call: words(settings["call_to_action"]), Address: siteOf(words(settings["website"]))}
	for _, member := range []string{"brand_name", "shop_name", "artist_name"} {
		if name, ok := settings[member].(string); ok {
			b.Name = name
		}
	}
	if colors, ok := settings["colors"].([]any); ok && len(colors) > 0 {
		b.Color = words(colors[0])
		for _, c := range colors[1:] {
			b.More = append(b.More, words(c))
		}
	}
	return b.At(logo, words(settings["logo_place"]))
}

// paces are the numbers of times that the picture of a video changes in 10 s, by the setting pace.
var paces = map[string]int{"slow": 4, "medium": 5, "fast": 7}

// cutsOf returns how often the picture of a video changes: as the settings say, or by the type of the factory.
func (f Factory) cutsOf(settings map[string]any) int {
	if n := paces[words(settings["pace"])]; n > 0 {
		return n
	}
	switch f.Type {
	case "expert", "brand":
		return paces["slow"]
	case "entertainment", "musician":
		return paces["fast"]
	}
	return paces["medium"]
}

// ratios returns the ratios of the pictures of posts and slides, of which the model makes the first that it can.
func (b Brief) ratios(others ...string) []string {
	all := append([]string{cmp.Or(b.Ratio, "4:5")}, others...)
	if b.Ratio == "2:3" {
		all = append(all, "3:4")
	}
	return append(all, "4:5")
}

// Logo is a logo with its places.
type Logo struct {
	File media.File `json:"file"`
	// Place is the place on platforms that Places lacks.
	Place  string            `json:"place"`
	Places map[string]string `json:"places"` // by platform
}

// logoOf returns the places of a logo, or nil if settings have none by platform.
func logoOf(settings map[string]any, logo *media.File) *Logo {
	places, _ := settings["logo_places"].(map[string]any)
	if logo == nil || len(places) == 0 {
		return nil
	}
	l := Logo{File: *logo, Place: cmp.Or(words(settings["logo_place"]), generate.TopLeft), Places: map[string]string{}}
	for platform, place := range places {
		l.Places[platform] = words(place)
	}
	return &l
}

// shown reports whether the settings want the logo on a platform, whatever its rules.
func (l *Logo) shown(platform string) bool {
	return l != nil && l.Places[platform] != "" && l.Places[platform] != generate.None
}

// at returns the place of the logo in media for platforms.
func (l *Logo) at(platforms []string) string {
	var all []string
	for _, p := range platforms {
		all = append(all, cmp.Or(l.Places[p], l.Place))
	}
	slices.Sort(all)
	switch all = slices.Compact(all); {
	case slices.Contains(all, generate.None):
		return generate.None
	case len(all) == 1:
		return all[0]
	}
	return l.Place
}

// NewBrief writes the brief of a factory.
func NewBrief(f Factory) (Brief, error) {
	var settings map[string]any
	if err := json.Unmarshal(f.Settings, &settings); err != nil {
		return Brief{}, fmt.Errorf("item: settings of %s: %w", f.ID, err)
	}
	badge, brand := f.badgeOf(settings), brandOf(settings, f.Logo, f.Design)
	captions := words(settings["caption_style"])
	logo, sources := logoOf(settings, f.Logo), sourcesOf(settings)
	hours, _ := settings["max_age_hours"].(float64)
	spoken, _ := settings["voice"].(map[string]any)
	voice := prompt.Channel{Name: f.Name, Type: f.Type, Description: f.Description, Audience: f.Audience, Tone: f.Tone,
		Topics: f.Topics, Settings: settings}.Sentences()
	look := []string{sentence("Mood", f.Tone), sentence("Colors", words(settings["colors"])),
		sentence("Style", words(settings["style"]))}
	sound := []string{sentence("Genres", words(settings["genres"])), sentence("Mood", words(settings["mood"]))}
	if settings["mood"] == nil {
		sound = append(sound, sentence("Mood", f.Tone))
	}
	return Brief{
		Type: f.Type, Name: f.Name, Description: provider.Clip(f.Description, maxManner), Region: f.Region,
		Zone: f.Zone, Voice: provider.Clip(voice, maxInstructions),
		Look:   provider.Clip(sentences(" ", look...), maxManner),
		Sound:  provider.Clip(sentences(" ", sound...), maxManner),
		Models: f.Models, Replace: f.Replace, CaptionLine: f.CaptionLine, TunedModel: f.TunedModel, Brand: brand,
		Artist: words(settings["artist_name"]), Logo: logo,
		Prices: f.pricesOf(settings), Badge: badge, Headlined: settings["post_headlines"] == true,
		CaptionStyle: captions, Intro: f.Intro, Outro: f.Outro, Cuts: f.cutsOf(settings),
		Ratio:       words(settings["post_aspect_ratio"]),
		Forbidden:   append(lines(settings["forbidden_words"]), lines(spoken["we_never_say"])...),
		Competitors: lines(spoken["competitors"]), Samples: lines(spoken["samples"]), Sources: sources,
		MaxAge:  int(hours),
		Sourced: settings["cite_sources"] == true || settings["fact_check"] == true,
	}, nil
}

// sourcesOf returns the sources with an address in settings, and leaves their addresses in the settings as the names of
// sources.
func sourcesOf(settings map[string]any) (all []source.Source) {
	listed, _ := settings["sources"].([]any)
	for i, one := range listed {
		if object, ok := one.(map[string]any); ok {
			s := source.Source{URL: words(object["url"]), Kind: source.Kind(words(object["kind"]))}
			all, listed[i] = append(all, s), s.URL
		}
	}
	return all
}

// siteOf returns the address of a website as people write it, with its path.
func siteOf(website string) string {
	if _, rest, ok := strings.Cut(website, "://"); ok {
		website = rest
	}
	return strings.TrimSuffix(strings.TrimPrefix(website, "www."), "/")
}
