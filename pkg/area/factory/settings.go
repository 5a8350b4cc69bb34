package factory

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/area/law"
	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/httpapi/schema"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/store"
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

// Branding are the settings of the voice and of the look, which factories of every type have.
type Branding struct {
	// Voice of the texts.
	Voice *Voice `json:"voice,omitempty"`
	// Rules for the voice.
	VoiceRules []Line `json:"voice_rules,omitempty" maxItems:"20"`
	// Words that are never used.
	Forbidden []Line `json:"forbidden_words,omitempty" maxItems:"100"`
	// Colors in finished media: the main one first, then those of accents.
	Colors []Color `json:"colors,omitempty" maxItems:"8" example:"[\"#ff6600\"]"`
	// Id of your media of type image: the logo that finished media show. It is kept until you delete it.
	Logo string `json:"logo,omitempty" pattern:"^med_[0-9a-z]{26}$" patternDescription:"the id of a media"`
	// Id of your media of type video, of 1 to 30 seconds, or of type image, which is shown for 2 seconds. Videos show
	// it after their first scene, which is the hook, and stories that are clips begin with it: whole, with its own
	// sound. It counts in their length; with the outro it takes half of it at most. Media for a platform with
	// plain_media are without both, and shorter by them, unless logo_places has a place for the platform. It is kept
	// until you delete it.
	Intro string `json:"intro,omitempty" format:"media-file"`
	// Id of your media of type video or image with which videos end, as intro.
	Outro string `json:"outro,omitempty" format:"media-file"`
	// Place of the logo in finished media. Absent: top_left. The price of a product is on the right, so that the logo
	// is on the left beside it; the first and the last slide of a carousel have the logo in a band. none shows the name
	// alone.
	LogoPlace string `json:"logo_place,omitempty" enum:"top_left,top_right,none"`
	// Places of the logo by platform; logo_place is that of all others. An item has the same media for all its
	// platforms: its accounts and those of the factory decide. One none leaves the logo out, and logo_place decides
	// between different places. A platform with plain_media is none and leaves out the name as well; with a place in
	// this list, media show the brand, and the platform refuses them.
	LogoPlaces LogoPlaces `json:"logo_places,omitempty"`
	// Captions of videos: on a plate with a box behind the spoken word, on a plate, or letters with an outline and a
	// box behind the spoken word. none draws no captions: they are in captions.vtt alone, whose scripts may have
	// characters of which there is no font here. Absent: as the theme has them.
	CaptionStyle string `json:"caption_style,omitempty" enum:"words,lines,outline,none"`
	// Whether pictures of posts have a headline drawn on them, unless an item says otherwise by show_headline. Absent:
	// false.
	PostHeadlines *bool `json:"post_headlines,omitempty"`
	// Aspect ratio of the pictures of posts and carousels. Absent: 4:5. 2:3 is for Pinterest: Instagram refuses it.
	PostRatio string `json:"post_aspect_ratio,omitempty" enum:"1:1,4:5,2:3"`
	// How often the picture of a video changes in 10 seconds: slow about 4 times, medium 5, fast 7. Scenes that are
	// longer are divided into shots of the same picture or clip, with cuts on the beat of the voice. Absent: medium, or
	// slow for a factory of type brand.
	Pace string `json:"pace,omitempty" enum:"slow,medium,fast"`
	// Design of finished media: calm has a light tint and round corners, bold large letters on the main color,
	// editorial serifs on paper, minimal white space, playful dots and stickers. Absent: calm.
	Theme string `json:"theme,omitempty" enum:"calm,bold,editorial,minimal,playful"`
	// Font of headings, captions and names in finished media, in bold. Absent: that of the theme. A text is in Noto if
	// the font lacks one of its letters: montserrat, lora and oswald have Latin and Cyrillic.
	Font Font `json:"font,omitempty"`
	// Address with which videos end, unless their product has one.
	Website string `json:"website,omitempty" format:"line" maxLength:"60" example:"acme.example"`
}

// Voice is how the texts of a factory sound.
type Voice struct {
	// Posts of yours as they were published, 3 to 10 of them. Texts learn their length, rhythm, address and punctuation
	// from them; facts of them are not repeated.
	Samples []VoiceSample `json:"samples,omitempty" minItems:"3" maxItems:"10"`
	// How readers are addressed, by the word of the language, such as du, Sie, ты, вы, tú or usted.
	Address string `json:"address,omitempty" format:"line" minLength:"1" maxLength:"30" example:"du"`
	// Emojis in texts. Absent: as in the samples, and none without samples.
	Emoji string `json:"emoji,omitempty" enum:"none,few,many"`
	// Words and phrases of the channel.
	WeSay []Line `json:"we_say,omitempty" maxItems:"20" example:"[\"from net to sole\"]"`
	// Words and phrases that texts never have. A text with one of them is refused, as with forbidden_words.
	WeNeverSay []Line `json:"we_never_say,omitempty" maxItems:"50" example:"[\"game changer\"]"`
	// Names of competitors, which texts do not name. A text with one of them is refused.
	Competitors []Line `json:"competitors,omitempty" maxItems:"50" example:"[\"Example Shoes\"]"`
}

// VoiceSample is a post of the caller.
type VoiceSample string

// Schema describes a sample in the OpenAPI document.
func (VoiceSample) Schema(huma.Registry) *huma.Schema {
	shortest, longest := 20, 2200
	s := &huma.Schema{Type: huma.TypeString, MinLength: &shortest, MaxLength: &longest,
		Examples: []any{"We cut the first net by hand. It took a day, and the knife."}}
	s.PrecomputeMessages()
	return s
}

// checkVoice refuses a phrase that the channel both says and never says.
func (b *Branding) checkVoice() error {
	if b.Voice == nil {
		return nil
	}
	var found []error
	for i, say := range b.Voice.WeSay {
		for _, never := range append(b.Voice.WeNeverSay, b.Forbidden...) {
			if strings.EqualFold(string(say), string(never)) {
				found = append(found, errs.Invalid(fmt.Sprintf("/settings/voice/we_say/%d", i),
					"is also among we_never_say or forbidden_words. Leave it out of one of them"))
				break
			}
		}
	}
	return errs.All(found...)
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

// Source is a source of a channel: an address that is read, or the name of one, which the texts may mention.
type Source struct {
	URL, Kind string
	Name      string
}

// sourceObject is the form of a source with an address.
type sourceObject struct {
	URL  string `json:"url"`
	Kind string `json:"kind"`
}

// UnmarshalJSON reads both forms of a source.
func (s *Source) UnmarshalJSON(data []byte) error {
	*s = Source{}
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte(`"`)) {
		return json.Unmarshal(data, &s.Name)
	}
	var o sourceObject
	if err := json.Unmarshal(data, &o); err != nil {
		return err
	}
	s.URL, s.Kind = o.URL, o.Kind
	return nil
}

// MarshalJSON writes a source in the form in which it was read.
func (s Source) MarshalJSON() ([]byte, error) {
	if s.URL == "" {
		return json.Marshal(s.Name)
	}
	return json.Marshal(sourceObject{s.URL, s.Kind})
}

// maxSourceURL is the longest address of a source.
const maxSourceURL = 2000

// Schema describes a source in the OpenAPI document.
func (Source) Schema(huma.Registry) *huma.Schema {
	longest := maxSourceURL
	address := &huma.Schema{Type: huma.TypeString, Format: "uri", MaxLength: &longest,
		Description: "Address of the source: https"}
	kind := &huma.Schema{Type: huma.TypeString, Enum: []any{"feed", "page"},
		Description: "feed: RSS, Atom or JSON Feed. page: a page with one article"}
	object := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{"url": address, "kind": kind},
		Required: []string{"url", "kind"}, AdditionalProperties: false}
	object.PrecomputeMessages()
	s := &huma.Schema{OneOf: []*huma.Schema{object, lineOf(200)}}
	s.PrecomputeMessages()
	return s
}

// checkSources refuses addresses that cannot be read, and a setting that needs an address without one. needs is the
// name of the setting.
func checkSources(all []Source, needs string, on *bool) error {
	var found []error
	for i, s := range all {
		param := "/settings/sources/" + strconv.Itoa(i)
		if s.URL == "" {
			continue
		}
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			found = append(found, errs.Invalid(param+"/url", "must be an https address"))
		}
		if slices.ContainsFunc(all[:i], func(o Source) bool { return o.URL == s.URL }) {
			found = append(found, errs.Invalid(param+"/url", "is listed twice: %s", s.URL))
		}
	}
	if on != nil && *on && !slices.ContainsFunc(all, func(s Source) bool { return s.URL != "" }) {
		found = append(found, errs.Invalid("/settings/"+needs, "needs a source to read: add an object with url and "+
			"kind to sources, or leave the setting out"))
	}
	return errs.All(found...)
}

// check refuses sources that cannot be read, and a region that is no country.
func (s *NewsSettings) check() error {
	err := checkSources(s.Sources, "fact_check", s.FactCheck)
	if s.Region != "" {
		err = errs.All(law.CheckCountry("/settings/region", s.Region), err)
	}
	return err
}

// check refuses sources that cannot be read.
func (s *ExpertSettings) check() error { return checkSources(s.Sources, "cite_sources", s.CiteSources) }

// The lengths that the intro and the outro of videos may have.
const (
	leastBumper = time.Second
	mostBumper  = 30 * time.Second
)

// Files are the files of the media that the settings of a factory name. Each is nil if they name none.
type Files struct {
	Logo         *media.File
	Intro, Outro *media.File
}

// member is a member of the settings that names a media. Its attribute in the item of the factory holds the file.
type member struct {
	name string
	// types are the types that the media may have, and must says so in an error.
	types []media.Type
	must  string
	file  func(*Files) **media.File
}

var bumpers = []media.Type{media.Video, media.Image}

var members = []member{
	{"logo", []media.Type{media.Image}, "must be a picture", func(f *Files) **media.File { return &f.Logo }},
	{"intro", bumpers, "must be a video or a picture", func(f *Files) **media.File { return &f.Intro }},
	{"outro", bumpers, "must be a video or a picture", func(f *Files) **media.File { return &f.Outro }},
}

func (m member) param() string { return "/settings/" + m.name }

// check refuses a file that is too short or too long.
func (m member) check(f media.File) error {
	length := time.Duration(f.DurationSeconds * float64(time.Second))
	if f.Type == media.Video && (length < leastBumper || length > mostBumper) {
		return errs.Invalid(m.param(), "must play %.0f to %.0f seconds, and the media %s plays %.1f",
			leastBumper.Seconds(), mostBumper.Seconds(), f.ID, f.DurationSeconds)
	}
	return nil
}

// named returns the ids of the media that settings name, by the names of the members.
func (t TypeSettings) named() (map[string]string, error) {
	ids := map[string]string{}
	if len(t) == 0 {
		return ids, nil
	}
	var s struct{ Logo, Intro, Outro string }
	if err := json.Unmarshal(t, &s); err != nil {
		return nil, fmt.Errorf("factory: media of settings: %w", err)
	}
	ids["logo"], ids["intro"], ids["outro"] = s.Logo, s.Intro, s.Outro
	return ids, nil
}

// setFiles reads the media that the settings name anew, and adds to the transaction that they are kept. before are
// those that they named before.
func (s *Service) setFiles(ctx context.Context, tx *store.Tx, o tenant.Owner, f *Factory,
	before map[string]string) error {
	named, err := f.Settings.named()
	if err != nil {
		return err
	}
	var changed []member
	var asked []incoming.Member
	for _, m := range members {
		switch id := named[m.name]; id {
		case before[m.name]:
		case "":
			*m.file(&f.Files) = nil
		default:
			changed = append(changed, m)
			asked = append(asked, incoming.Member{Param: m.param(), Value: id, Type: m.types[0], Others: m.types[1:]})
		}
	}
	if len(changed) == 0 {
		return nil
	}
	given, err := incoming.Read(ctx, s.db, asked)
	if err != nil {
		return err
	}
	given = given.For(o)
	var found []error
	for i, m := range changed {
		file, err := given.File(asked[i])
		if errs.CodeOf(err) == errs.UnsupportedMedia {
			err = errs.Invalid(m.param(), "%s. %s", m.must, errs.As(err).Message)
		}
		if err == nil {
			err = m.check(file)
		}
		if err != nil {
			found = append(found, err)
			continue
		}
		*m.file(&f.Files) = &file
	}
	if len(found) > 0 {
		return errs.All(found...)
	}
	return given.Keep(tx, s.now())
}

// steeredAttribute is the attribute of the item of a factory that is steered.
const steeredAttribute = "steered"

// Steer has the next items of the factory of an item wait for an approval, if it publishes automatically.
func Steer(it *store.Item) {
	if it.Attributes == nil {
		it.Attributes = map[string]string{}
	}
	it.Attributes[steeredAttribute] = "true"
}

// encodeFiles writes the files into the item of the factory, and whether it is steered.
func (f *Factory) encodeFiles(it *store.Item) error {
	if delete(it.Attributes, steeredAttribute); f.Steered {
		Steer(it)
	}
	for _, m := range members {
		file := *m.file(&f.Files)
		if file == nil {
			delete(it.Attributes, m.name)
			continue
		}
		raw, err := json.Marshal(file)
		if err != nil {
			return err
		}
		if it.Attributes == nil {
			it.Attributes = map[string]string{}
		}
		it.Attributes[m.name] = string(raw)
	}
	return nil
}

func (f *Factory) decodeFiles(it *store.Item) error {
	f.Steered = it.Attributes[steeredAttribute] != ""
	for _, m := range members {
		raw := it.Attributes[m.name]
		if raw == "" {
			continue
		}
		if err := json.Unmarshal([]byte(raw), m.file(&f.Files)); err != nil {
			return fmt.Errorf("factory: %s of %s: %w", m.name, f.ID, err)
		}
	}
	return nil
}
