package item

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/record/resource"
)

// Options are the choices of a caller for an attempt. A zero value keeps the earlier choice, or stands for the default.
type Options struct {
	// Model makes its pictures, clips or track.
	Model           string
	DurationSeconds *int
	Visuals         string
	// Music is MusicNone, MusicGenerated or the id of a media, whose file is Track.
	Music string
	Track *media.File
	// Cover is CoverGenerated or the id of a media, whose file is OwnCover.
	Cover    string
	OwnCover *media.File
	// Script is the caller's script in one piece, and Scenes in scenes.
	Script string
	Scenes []Scene
	// Reuse takes the parts of an earlier attempt that are still right.
	Reuse bool
	// Copies are the parts of another item, of which copies are used, or nil.
	Copies *Copies
}

// lengths are the bounds of the duration, and its default, in seconds.
var lengths = map[string]struct{ least, most, usual int }{
	"short video": {10, 60, 20},
	"long video":  {30, 180, 60},
	"music clip":  {15, 60, 30},
	"story clip":  {5, 15, 5},
}

// Lengths returns the least and the greatest duration of a video of a format, in seconds.
func Lengths(format string) [2]int {
	l := lengths[shapeOf(Video, cmp.Or(format, FormatShort), "")]
	return [2]int{l.least, l.most}
}

// shapeOf returns the name of the pipeline of a kind. A story is a clip if its model makes
// videos, and otherwise a card.
func shapeOf(kind Kind, format, model string) string {
	switch kind {
	case Video:
		return format + " video"
	case MusicClip:
		return "music clip"
	case Story:
		if m, ok := catalog.Find(model); ok && m.Kind == provider.KindVideo {
			return "story clip"
		}
	}
	return string(kind)
}

// Check refuses options that do not fit the kind. A video has a format.
func (o Options) Check(kind Kind, format string) error {
	var found []error
	shape := shapeOf(kind, format, o.Model)
	bounds, plays := lengths[shape]
	switch d := o.DurationSeconds; {
	case d == nil:
	case !plays && kind == Story:
		found = append(found, errs.Invalid("/duration_seconds",
			"is for stories that are clips: name a video model as well"))
	case !plays:
		found = append(found, errs.Invalid("/duration_seconds", "is for the kinds video, music_clip and story only"))
	case *d < bounds.least || *d > bounds.most:
		found = append(found, errs.Invalid("/duration_seconds", "must be between %d and %d for a %s", bounds.least,
			bounds.most, shape))
	}
	if o.Visuals != "" && kind != Video {
		found = append(found, errs.Invalid("/visuals", "is for kind video only"))
	}
	if o.Music != "" && kind != Video {
		found = append(found, errs.Invalid("/music", "is for kind video only"))
	}
	if o.Cover != "" && kind != MusicClip {
		found = append(found, errs.Invalid("/cover", "is for kind music_clip only"))
	}
	return errs.All(append(found, o.checkScript(kind))...)
}

// checkScript refuses a script that does not fit the kind.
func (o Options) checkScript(kind Kind) error {
	var found []error
	if o.Script != "" && kind != Video && kind != MusicClip {
		found = append(found, errs.Invalid("/script", "is for the kinds video and music_clip only"))
	}
	switch {
	case o.Scenes == nil:
	case kind != Video:
		found = append(found, errs.Invalid("/scenes", "are for kind video only"))
	case o.Script != "":
		found = append(found, errs.Invalid("/scenes", "are the script in scenes: leave one of the two out"))
	}
	if o.DurationSeconds != nil && kind == Video && (o.Script != "" || o.Scenes != nil) {
		found = append(found, errs.Invalid("/duration_seconds", "follows from the script. Leave it out"))
	}
	return errs.All(found...)
}

// set sets a member to the caller's value, or to its default if it has none.
func set(member **string, asked, usual string) {
	switch {
	case asked != "":
		*member = &asked
	case *member == nil:
		*member = &usual
	}
}

// Copies are the visible and audible parts of another item, of which copies are used.
type Copies struct {
	parts map[copyKey]media.File
	// Seconds is the length of a video of them.
	Seconds int
}

// numbered reports whether there are copies of scenes or slides.
func (c *Copies) numbered() bool {
	if c == nil {
		return false
	}
	for of := range c.parts {
		if of.number > 0 {
			return true
		}
	}
	return false
}

type copyKey struct {
	role   role
	number int
}

// CopiesOf returns the parts of an item for one of the same kind that shows its scenes or slides of some numbers; nil
// stands for all. It returns validation_failed if the item has no such parts.
func CopiesOf(from *Record, numbers []int) (*Copies, error) {
	c := &Copies{parts: map[copyKey]media.File{}}
	all := numbers == nil
	for _, done := range from.Attempt.Results {
		number := done.Number
		if number > 0 && !all {
			number = slices.Index(numbers, number) + 1
		}
		switch {
		case done.Role == roleMusic && !all, done.Number > 0 && number == 0:
			continue
		case done.Role != roleItem && done.Role != roleCover && done.Role != roleMusic:
			continue
		}
		for _, f := range from.allFiles() {
			if f.ID != done.FileID {
				continue
			}
			c.parts[copyKey{done.Role, number}] = f
			if done.Role == roleItem && f.Type == media.Video {
				c.Seconds += int(f.DurationSeconds)
			}
		}
	}
	if c.Seconds == 0 && from.Item.DurationSeconds != nil { // pictures are shown as long as is needed
		if c.Seconds = *from.Item.DurationSeconds; !all {
			c.Seconds = c.Seconds * len(numbers) / max(len(from.Item.Scenes), 1)
		}
	}
	if len(c.parts) == 0 {
		return nil, errs.Invalid("/reuse", "finds no pictures, clips or music of %s that were generated. Leave it out",
			from.Item.ID)
	}
	return c, nil
}

// types are the types of the files of parts that can be reused.
var types = map[provider.Kind]media.Type{provider.KindImage: media.Image, provider.KindVideo: media.Video,
	provider.KindVoice: media.Audio, provider.KindMusic: media.Audio}

// shapesWithText are the shapes whose finished media show texts.
var shapesWithText = []string{"carousel", "story", "story clip", "short video", "long video", "music clip"}

func (r *Record) showsText() bool {
	return slices.Contains(shapesWithText, r.Attempt.Shape) || r.Headlined
}

// Head sets the words that a caller wants on the picture of a post, or whether there are any. Without both, nothing
// changes.
func (r *Record) Head(words string, show *bool) {
	switch {
	case words != "":
		r.Item.Headline, r.Headlined = resource.Text(strings.Join(strings.Fields(words), " ")), true
		r.CallerTexts.Set(true, Headline)
	case show != nil && !*show:
		r.Item.Headline, r.Headlined = "", false
		r.CallerTexts.Set(false, Headline)
	case show != nil:
		r.Headlined = true
	}
}

// CheckTexts refuses texts of the caller that finished media could not show, for want of a font or of room.
func (r *Record) CheckTexts() error {
	if !r.showsText() {
		return errs.All(r.checkMarks()...)
	}
	if !script.CoversLanguage(r.Item.Language) {
		return errs.Invalid("/language", "is in a writing system of which there is no font. Texts in finished media "+
			"are in "+script.Names)
	}
	var found []error
	check := func(param, text string, p script.Place) { found = append(found, CheckDrawn(param, "", text, &p)) }
	switch {
	case !r.CallerTexts.Has(Title):
	case r.Attempt.Shape == "story":
		check("/title", string(r.Item.Title), script.Story)
	case r.Attempt.Shape == "story clip":
		check("/title", string(r.Item.Title), script.Screen)
	case r.Item.Kind == MusicClip:
		check("/title", string(r.Item.Title), script.Track)
	}
	if r.CallerTexts.Has(Headline) {
		check("/headline", string(r.Item.Headline), script.Slide)
	}
	if r.CallerTexts.Has(Script) && r.Item.Kind == Video {
		for i, s := range r.Item.Scenes {
			check(fmt.Sprintf("/scenes/%d/on_screen", i), string(s.OnScreen), script.Screen)
			if !r.CallerTexts.NoScenes {
				found = append(found, r.checkSpoken(fmt.Sprintf("/scenes/%d/text", i), s.Text))
			}
		}
		if r.CallerTexts.NoScenes {
			found = append(found, r.checkSpoken("/script", string(r.Item.Script)))
		}
	}
	for _, i := range r.CallerTexts.Slides {
		check(fmt.Sprintf("/slides/%d/text", i), r.Item.Slides[i].Text, script.Slide)
		check(fmt.Sprintf("/slides/%d/body", i), string(r.Item.Slides[i].Body), script.Body)
	}
	return errs.All(append(found, r.checkMarks()...)...)
}

// captionsUnseen is the style of captions that are in a file alone, which needs no font.
const captionsUnseen = "none"

// checkSpoken refuses a text that is spoken and has a character without a font, if captions are drawn.
func (r *Record) checkSpoken(param, text string) error {
	lack, missing := script.Missing(text)
	if !missing || r.Brief.CaptionStyle == captionsUnseen {
		return nil
	}
	return errs.Invalid(param, "%s. Or set caption_style to none in the settings of the factory: captions are then in "+
		"captions.vtt alone, which keeps every character", lack.Error())
}

// CheckDrawn refuses a text that has a character without a font, or is too long for its place if it has one. About is
// the beginning of the sentence that says so.
func CheckDrawn(param, about, text string, p *script.Place) error {
	if lack, missing := script.Missing(text); missing {
		return errs.Invalid(param, "%s%s", about, lack.Error())
	}
	if p != nil && !p.Fits(text) {
		return errs.Invalid(param, "%sis too long for its place in the finished media. Shorten it", about)
	}
	return nil
}

// checkMarks refuses names and offers of a brand and a product that would be drawn, and cannot.
func (r *Record) checkMarks() (found []error) {
	if r.Item.Provided() || r.Item.Kind == "" {
		return nil
	}
	logo := r.Brief.Logo != nil
	if b := r.Brief.Brand; b != nil {
		logo = logo || b.Logo != nil
		switch place := (*script.Place)(nil); {
		case r.Item.Kind == Carousel:
			if place = &script.Band; logo {
				place = &script.ByALogo
			}
			fallthrough
		case r.Item.Kind == Video || !logo:
			found = append(found, CheckDrawn("/factory_id", "names a factory whose brand_name ", b.Name, place))
		}
		if r.Item.Kind == Video {
			found = append(found, CheckDrawn("/factory_id", "names a factory whose call_to_action ", b.Call, nil))
		}
	}
	if o := writerOf(r).offer(); o != nil {
		found = append(found, CheckDrawn("/factory_id", "names a factory whose shop_name ", o.Shop, nil),
			CheckDrawn("/factory_id", "names a factory whose call_to_action ", o.Action, nil),
			CheckDrawn("/product_id", "names a product whose promotion ", o.Promotion, nil))
	}
	return found
}
