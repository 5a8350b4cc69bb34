package factory

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
)

// TypeSettings are the settings of one of the seven types, as JSON: which members
// there are depends on the factory's type.
type TypeSettings json.RawMessage

// MarshalJSON writes the settings. It writes nil as an empty object.
func (t TypeSettings) MarshalJSON() ([]byte, error) {
	if len(t) == 0 {
		return []byte("{}"), nil
	}
	return t, nil
}

// UnmarshalJSON keeps the settings as they are.
func (t *TypeSettings) UnmarshalJSON(b []byte) error {
	*t = append((*t)[:0], b...)
	return nil
}

// BloggerSettings are the settings of a blogger.
type BloggerSettings struct {
	// Persona that speaks.
	Persona string `json:"persona,omitempty" maxLength:"500"`
	// Style of the blog.
	Style string `json:"style,omitempty" enum:"personal,lifestyle,travel,food,fashion,tech,family"`
	// Whether it is written in the first person.
	FirstPerson *bool `json:"first_person,omitempty"`
	Branding
}

// SellerSettings are the settings of a seller, the one type that owns a product catalog.
type SellerSettings struct {
	// Name of the shop.
	ShopName string `json:"shop_name,omitempty" format:"line" maxLength:"100"`
	// Currency of its prices (ISO 4217).
	Currency string `json:"currency" pattern:"^[A-Z]{3}$" patternDescription:"an ISO 4217 code" example:"EUR"`
	// Call to action.
	CallToAction string `json:"call_to_action,omitempty" format:"line" maxLength:"100" example:"Order today"`
	// Whether content mentions prices.
	ShowPrices *bool `json:"show_prices,omitempty"`
	// Whether finished media of a product show its price (unless show_prices is false), the price before a promotion,
	// the shop's name and the call to action. Absent: true. They show nothing of it for platforms that permit no
	// promotion in media.
	ProductBadge *bool `json:"product_badge,omitempty"`
	Branding
}

// ExpertSettings are the settings of an expert.
type ExpertSettings struct {
	// Field of expertise.
	Field string `json:"field" format:"line" minLength:"1" maxLength:"100" example:"Tax law"`
	// Credentials of the expert.
	Credentials []Line `json:"credentials,omitempty" maxItems:"10"`
	// Prior knowledge of the readers.
	Depth string `json:"depth,omitempty" enum:"beginner,intermediate,advanced"`
	// Sources that content may quote: objects with url and kind are read before each item is written. Texts are names
	// of sources, which are not read.
	Sources []Source `json:"sources,omitempty" maxItems:"20"`
	// Whether content quotes its sources: an item that names none of them fails with unsupported_claim. It needs a
	// source with an address.
	CiteSources *bool `json:"cite_sources,omitempty"`
	Branding
}

// BrandSettings are the settings of a brand.
type BrandSettings struct {
	// Name of the brand.
	BrandName string `json:"brand_name" format:"line" minLength:"1" maxLength:"100" example:"Acme"`
	// Slogan of the brand.
	Slogan string `json:"slogan,omitempty" format:"line" maxLength:"200"`
	Branding
}

// Line is one entry of a list: a line of text.
type Line string

// Schema describes a line in the OpenAPI document.
func (Line) Schema(huma.Registry) *huma.Schema { return lineOf(200) }

// lineOf is the schema of a line of text of 1 to longest characters.
func lineOf(longest int) *huma.Schema {
	shortest := 1
	s := &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest, Format: "line"}
	schema.Fill(s)
	return s
}

// NewsSettings are the settings of a news channel.
type NewsSettings struct {
	// Country to report on (ISO 3166-1).
	Region string `json:"region,omitempty" format:"country" example:"DE"`
	// Sources of the news: objects with url and kind are read before each item is written. Texts are names of sources,
	// which are not read.
	Sources []Source `json:"sources,omitempty" maxItems:"20"`
	// Maximum age of news in hours. Older articles of the sources are left out.
	MaxAgeHours int `json:"max_age_hours,omitempty" minimum:"1" maximum:"168"`
	// Whether content states only what its sources say, and names them: an item that names none fails with
	// unsupported_claim. It needs a source with an address.
	FactCheck *bool `json:"fact_check,omitempty"`
	Branding
}

// EntertainmentSettings are the settings of an entertainment channel.
type EntertainmentSettings struct {
	// Style of humor.
	Humor string `json:"humor,omitempty" enum:"none,light,dry,absurd,sarcastic"`
	// Running formats, such as a quiz.
	Formats []Line `json:"formats,omitempty" maxItems:"10"`
	// Audience that it is suitable for.
	AgeRating string `json:"age_rating,omitempty" enum:"all,12,16,18"`
	Branding
}

// MusicianSettings are the settings of a musician.
type MusicianSettings struct {
	// Name of the artist.
	ArtistName string `json:"artist_name" format:"line" minLength:"1" maxLength:"100" example:"The Examples"`
	// Genres of the music.
	Genres []Line `json:"genres" minItems:"1" maxItems:"5" nullable:"false" example:"[\"indie pop\"]"`
	// Mood of the music.
	Mood string `json:"mood,omitempty" format:"line" maxLength:"100"`
	// Language of the lyrics (BCP 47). Music clips have no vocals yet: one is refused.
	LyricsLanguage string `json:"lyrics_language,omitempty" maxLength:"35" example:"en"`
	// Whether the music has no vocals. Music clips have none yet: false is refused.
	Instrumental *bool `json:"instrumental,omitempty"`
	Branding
}

// check refuses settings that have no effect yet.
func (s *MusicianSettings) check() error {
	var language, vocals error
	if s.LyricsLanguage != "" {
		if _, language = canonical(s.LyricsLanguage, "/settings/lyrics_language"); language == nil {
			language = errs.Invalid("/settings/lyrics_language", "has no effect yet, as music clips have no vocals. "+
				"Leave it out")
		}
	}
	if s.Instrumental != nil && !*s.Instrumental {
		vocals = errs.Invalid("/settings/instrumental", "has no effect yet, as music clips have no vocals. Send "+
			"true, or leave it out")
	}
	return errs.All(language, vocals)
}

// checker is implemented by settings with rules that a schema cannot express.
type checker interface{ check() error }

// typeSettings returns the shape of each type's settings.
var typeSettings = []struct {
	Type  Type
	Who   string // in words, for the document
	Shape reflect.Type
}{
	{Blogger, "a blogger", reflect.TypeFor[BloggerSettings]()},
	{Seller, "a seller", reflect.TypeFor[SellerSettings]()},
	{Expert, "an expert", reflect.TypeFor[ExpertSettings]()},
	{Brand, "a brand", reflect.TypeFor[BrandSettings]()},
	{News, "a news channel", reflect.TypeFor[NewsSettings]()},
	{Entertainment, "an entertainment channel", reflect.TypeFor[EntertainmentSettings]()},
	{Musician, "a musician", reflect.TypeFor[MusicianSettings]()},
}

// Schema describes the settings in the OpenAPI document. Which shape they must have depends on the factory's type,
// which a schema cannot say: huma checks that they are an object, and check does the rest, with exact errors.
func (TypeSettings) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// check validates the settings for a type and returns them in canonical form, null members left out.
func (t TypeSettings) check(factory Type) (TypeSettings, error) {
	shape := shapeOf(factory)
	var parsed any
	raw := t
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = TypeSettings("{}")
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return nil, errs.Wrap(err, errs.MalformedJSON, "The body is not valid JSON. Send one JSON object in UTF-8.")
	}
	if err := httpapi.CheckMember(shape, "settings", parsed); err != nil {
		return nil, err
	}
	typed := reflect.New(shape)
	if err := json.Unmarshal(raw, typed.Interface()); err != nil {
		return nil, errs.Wrap(err, errs.ValidationFailed, "The settings do not fit a factory of the type %s.", factory)
	}
	if c, ok := typed.Interface().(checker); ok {
		if err := c.check(); err != nil {
			return nil, err
		}
	}
	if v, ok := typed.Interface().(interface{ checkVoice() error }); ok {
		if err := v.checkVoice(); err != nil {
			return nil, err
		}
	}
	b, err := json.Marshal(typed.Interface())
	return b, err
}

func shapeOf(factory Type) reflect.Type {
	for _, t := range typeSettings {
		if t.Type == factory {
			return t.Shape
		}
	}
	return reflect.TypeFor[struct{}]()
}
