package factory

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/humafix"
	"github.com/content-automation/api/pkg/media/compose/script"
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
	// Colors of the shop in finished media: the main one first, then those of accents.
	Colors []Color `json:"colors,omitempty" maxItems:"8" example:"[\"#ff6600\"]"`
	// Id of your media of type image: the logo that finished media show. It is kept until you delete it.
	Logo string `json:"logo,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media"`
	// Id of your media of type video, of 1 to 30 seconds, or of type image, which is shown for 2 seconds. Videos show
	// it after their first scene, which is the hook, and stories that are clips begin with it: whole, with its own
	// sound. It counts in their length; with the outro it
	// takes half of it at most. Media for a platform with plain_media are without both, and shorter by them, unless
	// logo_places has a place for the platform. It is kept until you delete it.
	Intro string `json:"intro,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media: bring the file in by POST /v1/media first"`
	// Id of your media of type video or image with which videos end, as intro.
	Outro string `json:"outro,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media: bring the file in by POST /v1/media first"`
	// Place of the logo in finished media. Absent: top_left. The price of a product is on the right, so that the logo
	// is on the left beside it; the first and the last slide of a carousel have the logo in a band. none shows the name
	// alone.
	LogoPlace string `json:"logo_place,omitempty" enum:"top_left,top_right,none"`
	// Places of the logo by platform; logo_place is that of all others. An item has the same media for all its
	// platforms: its accounts and those of the factory decide. One none leaves the logo out, and logo_place decides
	// between different places. A platform with plain_media is none and leaves out the name as well; with a place in
	// this list, media show the brand, and the platform refuses them.
	LogoPlaces LogoPlaces `json:"logo_places,omitempty"`
	// Captions of videos: on a plate with the spoken word in another color, on a plate, or large letters with an
	// outline and the spoken word in another color. Absent: words, or outline with the theme bold.
	CaptionStyle string `json:"caption_style,omitempty" enum:"words,lines,outline"`
	// Whether pictures of posts have a headline drawn on them, unless an item says otherwise by show_headline. Absent:
	// false.
	PostHeadlines *bool `json:"post_headlines,omitempty"`
	// Aspect ratio of the pictures of posts and carousels. Absent: 4:5. 2:3 is for Pinterest: Instagram refuses it.
	PostRatio string `json:"post_aspect_ratio,omitempty" enum:"1:1,4:5,2:3"`
	// How often the picture of a video changes in 10 seconds: slow about 4 times, medium 5, fast 7. Scenes that are
	// longer are divided into shots of the same picture or clip, with cuts on the beat of the voice. Absent: medium, or
	// slow for a factory of type brand.
	Pace string `json:"pace,omitempty" enum:"slow,medium,fast"`
	// Manner of texts in finished media: calm has plates with round corners, bold has large letters on the main color
	// and outlined captions, editorial has letters with serifs on paper. Texts of scenes fade in, slide in, or are
	// unveiled. Absent: calm.
	Theme string `json:"theme,omitempty" enum:"calm,bold,editorial"`
	// Font of headings, captions and names in finished media, in bold. Absent: noto_sans, montserrat with the theme
	// bold, lora with the theme editorial. A text is in Noto if the font
	// lacks one of its letters: montserrat, lora and oswald have Latin and Cyrillic.
	Font Font `json:"font,omitempty"`
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
}

// BrandSettings are the settings of a brand.
type BrandSettings struct {
	// Name of the brand.
	BrandName string `json:"brand_name" format:"line" minLength:"1" maxLength:"100" example:"Acme"`
	// Slogan of the brand.
	Slogan string `json:"slogan,omitempty" format:"line" maxLength:"200"`
	// Colors of the brand in finished media: the main one first, then those of accents.
	Colors []Color `json:"colors,omitempty" maxItems:"8" example:"[\"#ff6600\"]"`
	// Id of your media of type image: the logo that finished media show. It is kept until you delete it.
	Logo string `json:"logo,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media: bring the picture in by POST /v1/media first"`
	// Id of your media of type video, of 1 to 30 seconds, or of type image, which is shown for 2 seconds. Videos show
	// it after their first scene, which is the hook, and stories that are clips begin with it: whole, with its own
	// sound. It counts in their length; with the outro it
	// takes half of it at most. Media for a platform with plain_media are without both, and shorter by them, unless
	// logo_places has a place for the platform. It is kept until you delete it.
	Intro string `json:"intro,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media: bring the file in by POST /v1/media first"`
	// Id of your media of type video or image with which videos end, as intro.
	Outro string `json:"outro,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media: bring the file in by POST /v1/media first"`
	// Place of the logo in finished media. Absent: top_left. The price of a product is on the right, so that the logo
	// is on the left beside it; the first and the last slide of a carousel have the logo in a band. none shows the name
	// alone.
	LogoPlace string `json:"logo_place,omitempty" enum:"top_left,top_right,none"`
	// Places of the logo by platform; logo_place is that of all others. An item has the same media for all its
	// platforms: its accounts and those of the factory decide. One none leaves the logo out, and logo_place decides
	// between different places. A platform with plain_media is none and leaves out the name as well; with a place in
	// this list, media show the brand, and the platform refuses them.
	LogoPlaces LogoPlaces `json:"logo_places,omitempty"`
	// Captions of videos: on a plate with the spoken word in another color, on a plate, or large letters with an
	// outline and the spoken word in another color. Absent: words, or outline with the theme bold.
	CaptionStyle string `json:"caption_style,omitempty" enum:"words,lines,outline"`
	// Whether pictures of posts have a headline drawn on them, unless an item says otherwise by show_headline. Absent:
	// false.
	PostHeadlines *bool `json:"post_headlines,omitempty"`
	// Aspect ratio of the pictures of posts and carousels. Absent: 4:5. 2:3 is for Pinterest: Instagram refuses it.
	PostRatio string `json:"post_aspect_ratio,omitempty" enum:"1:1,4:5,2:3"`
	// How often the picture of a video changes in 10 seconds: slow about 4 times, medium 5, fast 7. Scenes that are
	// longer are divided into shots of the same picture or clip, with cuts on the beat of the voice. Absent: medium, or
	// slow for a factory of type brand.
	Pace string `json:"pace,omitempty" enum:"slow,medium,fast"`
	// Manner of texts in finished media: calm has plates with round corners, bold has large letters on the main color
	// and outlined captions, editorial has letters with serifs on paper. Texts of scenes fade in, slide in, or are
	// unveiled. Absent: calm.
	Theme string `json:"theme,omitempty" enum:"calm,bold,editorial"`
	// Font of headings, captions and names in finished media, in bold. Absent: noto_sans, montserrat with the theme
	// bold, lora with the theme editorial. A text is in Noto if the font
	// lacks one of its letters: montserrat, lora and oswald have Latin and Cyrillic.
	Font Font `json:"font,omitempty"`
	// Rules for the brand's voice.
	VoiceRules []Line `json:"voice_rules,omitempty" maxItems:"20"`
	// Words that are never used.
	Forbidden []Line `json:"forbidden_words,omitempty" maxItems:"100"`
}

// Color is a color in hexadecimal.
type Color string

// Schema describes a color in the OpenAPI document.
func (Color) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Pattern: "^#[0-9a-fA-F]{6}$", PatternDescription: "a color as #rrggbb"}
	s.PrecomputeMessages()
	return s
}

// Font is the name of a family that finished media can use.
type Font string

// Schema describes the name in the OpenAPI document.
func (Font) Schema(huma.Registry) *huma.Schema { return httpapi.Enum(script.Fonts) }

// LogoPlaces are the places of a logo, by platform.
type LogoPlaces map[string]string

// UnmarshalJSON leaves out members that are null: they are absent.
func (l *LogoPlaces) UnmarshalJSON(data []byte) error {
	var members map[string]*string
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	*l = nil
	for platform, place := range members {
		if place == nil {
			continue
		}
		if *l == nil {
			*l = LogoPlaces{}
		}
		(*l)[platform] = *place
	}
	return nil
}

// Schema describes the places in the OpenAPI document: a member for each platform.
func (LogoPlaces) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, p := range registry.Rows() {
		place := httpapi.Enum([]string{"top_left", "top_right", "none"})
		place.Description = "Place of the logo in media for " + p.Capabilities.Label
		s.Properties[p.Name] = place
	}
	s.PrecomputeMessages()
	return s
}

// Line is one entry of a list: a line of text.
type Line string

// Schema describes a line in the OpenAPI document.
func (Line) Schema(huma.Registry) *huma.Schema { return lineOf(200) }

// lineOf is the schema of a line of text of 1 to longest characters.
func lineOf(longest int) *huma.Schema {
	shortest := 1
	s := &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest, Format: humafix.Line}
	humafix.DescribeLine(s)
	return s
}

// NewsSettings are the settings of a news channel.
type NewsSettings struct {
	// Country to report on (ISO 3166-1).
	Region string `json:"region,omitempty" pattern:"^[A-Z]{2}$" patternDescription:"an ISO 3166-1 code of two letters" example:"DE"`
	// Sources of the news: objects with url and kind are read before each item is written. Texts are names of sources,
	// which are not read.
	Sources []Source `json:"sources,omitempty" maxItems:"20"`
	// Maximum age of news in hours. Older articles of the sources are left out.
	MaxAgeHours int `json:"max_age_hours,omitempty" minimum:"1" maximum:"168"`
	// Whether content states only what its sources say, and names them: an item that names none fails with
	// unsupported_claim. It needs a source with an address.
	FactCheck *bool `json:"fact_check,omitempty"`
}

// EntertainmentSettings are the settings of an entertainment channel.
type EntertainmentSettings struct {
	// Style of humor.
	Humor string `json:"humor,omitempty" enum:"none,light,dry,absurd,sarcastic"`
	// Running formats, such as a quiz.
	Formats []Line `json:"formats,omitempty" maxItems:"10"`
	// Audience that it is suitable for.
	AgeRating string `json:"age_rating,omitempty" enum:"all,12,16,18"`
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

// Schema describes the settings in the OpenAPI document. Which shape they must
// have depends on the factory's type, which a schema cannot say: huma checks that
// they are an object, and check does the rest, with exact errors.
func (TypeSettings) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// check validates the settings for a type and returns them in canonical form, null
// members left out.
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
