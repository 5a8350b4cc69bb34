package item

import (
	"fmt"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// The kinds of pictures in a video.
const (
	VisualsClips  = "clips"
	VisualsStills = "stills"
)

// The kinds of music under the voice of a video, besides the caller's own.
const (
	MusicNone      = "none"
	MusicGenerated = "generated"
)

// CoverGenerated is the cover of a music clip that is not the caller's.
const CoverGenerated = "generated"

// Options are the choices of a caller for an attempt. A zero value keeps the earlier
// choice, or stands for the default.
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

// lengths are the bounds of the duration, and its default, in seconds.
var lengths = map[string]struct{ least, most, usual int }{
	"short video": {10, 60, 20},
	"long video":  {30, 180, 60},
	"music clip":  {15, 60, 30},
	"story clip":  {5, 15, 5},
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

// take sets the options, and defaults for those that have no value yet.
func (r Attempt) take(o Options) error {
	format := ""
	if r.Format != nil {
		format = *r.Format
	}
	if err := o.Check(r.Kind, format); err != nil {
		return err
	}
	r.Shape = shapeOf(r.Kind, format, o.Model)
	if err := r.takeScript(o); err != nil {
		return err
	}
	_, plays := lengths[r.Shape]
	switch {
	case !plays:
		r.DurationSeconds = nil
	case o.DurationSeconds != nil:
		r.DurationSeconds = o.DurationSeconds
	case r.DurationSeconds == nil:
		usual := r.usualLength()
		r.DurationSeconds = &usual
	}
	if err := r.checkBumpers(); err != nil {
		return err
	}
	if r.Kind == Video {
		set(&r.Visuals, o.Visuals, VisualsClips)
		if set(&r.Music, o.Music, MusicNone); o.Music != "" {
			r.Track = o.Track
		}
	}
	if r.Kind == MusicClip {
		if set(&r.Cover, o.Cover, CoverGenerated); o.Cover != "" {
			r.OwnCover = o.OwnCover
		}
	}
	return r.CheckTexts()
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

// seen are the shapes whose finished media show texts.
var seen = []string{"carousel", "story", "story clip", "short video", "long video", "music clip"}

func (r *Record) seen() bool { return slices.Contains(seen, r.Shape) || r.Headlined }

// Head sets the words that a caller wants on the picture of a post, or whether there are any. Without both, nothing
// changes.
func (r *Record) Head(words string, show *bool) {
	switch {
	case words != "":
		r.Headline, r.Headlined = strings.Join(strings.Fields(words), " "), true
		r.Given.Set(true, Headline)
	case show != nil && !*show:
		r.Headline, r.Headlined = "", false
		r.Given.Set(false, Headline)
	case show != nil:
		r.Headlined = true
	}
}

// CheckTexts refuses texts of the caller that finished media could not show, for want of a
// font or of room.
func (r *Record) CheckTexts() error {
	if !r.seen() {
		return nil
	}
	const noFont = "is in a writing system of which there is no font. Texts in finished media are in " + script.Names
	if !script.CoversLanguage(r.Language) {
		return errs.Invalid("/language", "%s", noFont)
	}
	var found []error
	check := func(param, about, text string, p script.Place) {
		switch {
		case !script.Covers(text):
			found = append(found, errs.Invalid(param, "%s%s", about, noFont))
		case !p.Fits(text):
			found = append(found, errs.Invalid(param,
				"%sis too long for its place in the finished media. Shorten it", about))
		}
	}
	switch {
	case !r.Given.Has(Title):
	case r.Shape == "story":
		check("/title", "", r.Title, script.Story)
	case r.Shape == "story clip":
		check("/title", "", r.Title, script.Screen)
	case r.Kind == MusicClip:
		check("/title", "", r.Title, script.Track)
	}
	if r.Given.Has(Headline) {
		check("/headline", "", r.Headline, script.Slide)
	}
	for i, s := range r.Scenes {
		if r.Given.Has(Script) && s.OnScreen != "" {
			check(fmt.Sprintf("/scenes/%d/on_screen", i), "", s.OnScreen, script.Screen)
		}
	}
	if r.Given.Has(Script) && r.Kind == Video && !script.Covers(r.Script) {
		param := "/scenes"
		if r.Given.Undivided {
			param = "/script"
		}
		found = append(found, errs.Invalid(param, "%s", noFont))
	}
	for _, i := range r.Given.Slides {
		check(fmt.Sprintf("/slides/%d/text", i), "", r.Slides[i].Text, script.Slide)
		check(fmt.Sprintf("/slides/%d/body", i), "", r.Slides[i].Body, script.Body)
	}
	if b := r.Brief.Brand; b != nil && r.Kind == Carousel {
		place := script.Band
		if b.Logo != nil || r.Brief.Logo != nil {
			place = script.ByALogo
		}
		check("/factory_id", "names a factory whose brand_name ", b.Name, place)
	}
	return errs.All(found...)
}

// checkWritten refuses texts that a model has written and that finished media could not
// show, before anything is made of them.
func (r prompter) checkWritten(t provider.Text) error {
	texts := []string{t.Script(), t.Headline}
	if !r.Given.Has(Title) && r.InMedia() {
		texts = append(texts, t.Title)
	}
	for _, s := range t.Scenes {
		texts = append(texts, s.OnScreen)
	}
	for _, s := range t.Slides {
		texts = append(texts, s.Heading, s.Body)
	}
	if r.seen() && slices.ContainsFunc(texts, func(s string) bool { return !script.Covers(s) }) {
		return provider.FailureOf(provider.FailedScript)
	}
	return nil
}
