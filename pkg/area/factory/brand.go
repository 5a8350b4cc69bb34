package factory

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/content-automation/api/pkg/adapter/platform/registry"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/httpapi"
	"github.com/content-automation/api/pkg/media/compose/script"
)

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
	// Captions of videos: on a plate with the spoken word in another color, on a plate, or large letters with an
	// outline and the spoken word in another color. none draws no captions: they are in captions.vtt alone, whose
	// scripts may have characters of which there is no font here. Absent: words, or outline with the theme bold.
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
	// Manner of texts in finished media: calm has plates with round corners, bold has large letters on the main color
	// and outlined captions, editorial has letters with serifs on paper. Texts of scenes fade in, slide in, or are
	// unveiled. Absent: calm.
	Theme string `json:"theme,omitempty" enum:"calm,bold,editorial"`
	// Font of headings, captions and names in finished media, in bold. Absent: noto_sans, montserrat with the theme
	// bold, lora with the theme editorial. A text is in Noto if the font lacks one of its letters: montserrat, lora and
	// oswald have Latin and Cyrillic.
	Font Font `json:"font,omitempty"`
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
