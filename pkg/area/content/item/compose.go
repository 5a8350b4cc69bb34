package item

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/timeline"
)

// Composition implements generate.Composing: the finished media of the item.
func (w *work) Composition(_ int, made []generate.Made) (generate.Composition, error) {
	if s := w.Sandbox; s != nil && s.Outcome == generate.OutcomeFailed {
		// No provider has rehearsed the failure, since all other parts are reused.
		return nil, provider.FailureOf(cmp.Or(s.FailureCode, provider.FailedGeneration))
	}
	if w.Provided() {
		return w.ownComposition(), nil
	}
	w.settle(made)
	r := *w.Record
	switch l := r.Brief.Logo; {
	case w.look.Plain:
		r.Brief.Brand, r.Brief.Badge = r.Brief.Brand.Plain(), nil
	case l != nil && w.look.Place != "":
		r.Brief.Brand = r.Brief.Brand.At(&l.File, w.look.Place)
	}
	c, err := r.composition(made)
	if v, ok := c.(generate.Video); ok && w.look.Plain {
		v.Intro, v.Outro = nil, nil // what was made for the time between them cannot fill theirs
		c = v
	}
	return c, err
}

// composition returns the composition of the parts that were made.
func (r *Record) composition(made []generate.Made) (generate.Composition, error) {
	text := r.words(made)
	if err := r.checkWritten(text); err != nil {
		return nil, err
	}
	if !r.Given.Title {
		r.Title = text.Title
	}
	pictures := r.pictures(made)
	if len(pictures) == 0 {
		return nil, fmt.Errorf("item: %s has made nothing that could be composed", r.ID)
	}
	switch brand := r.Brief.Brand; r.Shape {
	case "short video", "long video":
		return r.video(text, made, pictures)
	case "story clip":
		scene := generate.Scene{Clip: pictures[0], Length: r.between(), OnScreen: r.Title}
		if !r.Given.Title {
			scene.OnScreen = script.Screen.Clip(r.Title)
		}
		return generate.Video{Format: generate.Portrait, Scenes: []generate.Scene{scene}, Language: r.Language,
			Brand: brand, Intro: r.Brief.Intro, Outro: r.Brief.Outro}, nil
	case "carousel":
		c := generate.Carousel{Language: r.Language, Brand: brand, Offer: r.offer()}
		for i, p := range pictures {
			slide := generate.Slide{File: p, Heading: r.Slides[i].Text, Body: r.Slides[i].Body,
				Whole: r.photo(i+1) != nil}
			if !r.givenSlide(i) && i < len(text.Slides) {
				slide.Heading, slide.Body = text.Slides[i].Heading, text.Slides[i].Body
			}
			c.Slides = append(c.Slides, slide)
		}
		return c, nil
	case "story":
		return generate.Picture{Use: generate.Story, File: pictures[0], Text: r.Title, Language: r.Language,
			Brand: brand, Whole: r.photo(1) != nil, Offer: r.offer()}, nil
	case "music clip":
		_, cover := r.madeBy(made, roleCover, 0)
		if r.OwnCover != nil && *r.Cover != CoverGenerated {
			cover = r.OwnCover
		}
		if cover == nil {
			return nil, fmt.Errorf("item: %s has no cover", r.ID)
		}
		return generate.MusicClip{
			Track: pictures[0], Cover: cover, Length: time.Duration(*r.DurationSeconds) * time.Second, Title: r.Title,
			Language: r.Language, Brand: brand,
		}, nil
	}
	headline := r.Headline
	if !r.Given.Headline {
		headline = text.Headline
	}
	return generate.Picture{Use: generate.Post, File: pictures[0], Text: headline, Language: r.Language,
		Brand: r.Brief.Brand, Whole: r.photo(1) != nil, Offer: r.offer()}, nil
}

// pictures returns the pictures and clips of the item in their order: those that were made,
// and photos of the product.
func (r *Record) pictures(made []generate.Made) (all []*media.File) {
	show := func() {
		for f := r.photo(len(all) + 1); f != nil; f = r.photo(len(all) + 1) {
			all = append(all, f)
		}
	}
	show()
	var order []int
	for n, m := range made {
		if r.Parts[n].Role == roleItem && len(m.Files) > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.Parts[a].Number - r.Parts[b].Number })
	for _, n := range order {
		all = append(all, &made[n].Files[0])
		show()
	}
	return all
}

// anyLength is the time for which a picture can be shown.
const anyLength = time.Hour

// video describes a video of scenes.
func (r *Record) video(text provider.Text, made []generate.Made, seen []*media.File) (generate.Composition, error) {
	v := generate.Video{Format: generate.Portrait, Language: r.Language, Captions: true, Fade: true,
		CaptionStyle: r.Brief.CaptionStyle,
		Brand:        r.Brief.Brand, Music: r.Track, Offer: r.offer(), Intro: r.Brief.Intro, Outro: r.Brief.Outro}
	if r.Shape == "long video" {
		v.Format = generate.Landscape
	}
	n, voice := r.madeBy(made, roleVoice, 0)
	if voice == nil || len(seen) != len(text.Scenes) {
		return nil, fmt.Errorf("item: %s has a script of %d scenes, and made %d", r.ID, len(text.Scenes), len(seen))
	}
	v.Narration = voice
	if !r.Given.Script { // which determines the length itself
		v.Length = r.between()
	}
	for _, m := range made[n].Marks {
		v.Marks = append(v.Marks, timeline.Mark(m))
	}
	if *r.Music == MusicGenerated {
		_, v.Music = r.madeBy(made, roleMusic, 0)
	}
	covers, clips := make([]time.Duration, len(text.Scenes)), 0
	for i, s := range text.Scenes {
		scene := generate.Scene{Text: s.Text, OnScreen: s.OnScreen, Whole: r.photo(i+1) != nil}
		if seen[i].Type == media.Video {
			scene.Clip, covers[i] = seen[i], covered(seconds(*seen[i]))
			clips++
		} else {
			scene.Picture, covers[i] = seen[i], anyLength
		}
		v.Scenes = append(v.Scenes, scene)
	}
	if clips > 0 {
		spoken, marks := timeline.Faster(seconds(*voice), v.Marks, timeline.Tempo(seconds(*voice), lead+tail, v.Length))
		fitToClips(v.Scenes, marks, spoken, covers)
	}
	return v, nil
}

func seconds(f media.File) time.Duration {
	return time.Duration(f.DurationSeconds * float64(time.Second))
}

// Gave implements generate.Composing.
func (r *Record) Gave(e *provider.Error) bool {
	var n int
	text := e.Code == string(provider.FailedTextTooLong) || e.Code == string(provider.FailedScript) ||
		e.Code == string(provider.FailedInput)
	switch part := e.Part; {
	case part == "":
		return false
	case part == "/music":
		return r.Track != nil && r.Music != nil && *r.Music != MusicGenerated
	case part == "/cover":
		return r.OwnCover != nil && *r.Cover != CoverGenerated
	case strings.HasPrefix(part, "/brand/"), part == "/intro", part == "/outro":
		return true
	case part == "/path" && text && r.Kind == Post:
		return r.Given.Headline
	case part == "/title", part == "/path" && text:
		return r.Given.Title
	case scan(part, "/scenes/%d/on_screen", &n):
		return r.Given.Script && r.Kind == Video || r.Given.Title && r.Kind == Story
	case scan(part, "/slides/%d/body", &n):
		return r.givenSlide(n)
	case part == "/path":
		return r.photo(1) != nil
	case scan(part, "/slides/%d", &n) && text:
		return r.givenSlide(n)
	case scan(part, "/slides/%d", &n), scan(part, "/scenes/%d/picture", &n):
		return r.photo(n+1) != nil
	default:
		return r.brought(part)
	}
}

// scan reads the number in a JSON pointer.
func scan(pointer, format string, n *int) bool {
	_, err := fmt.Sscanf(pointer, format, n)
	return err == nil && fmt.Sprintf(format, *n) == pointer
}

// brought reports whether the file of a key is one that the caller has brought in.
func (r *Record) brought(key string) bool {
	is := func(f *media.File) bool { return f != nil && f.Key == key }
	if is(r.Track) || is(r.OwnCover) || is(r.Brief.Intro) || is(r.Brief.Outro) ||
		r.Brief.Logo != nil && is(&r.Brief.Logo.File) ||
		r.Brief.Brand != nil && is(r.Brief.Brand.Logo) {
		return true
	}
	return slices.ContainsFunc(r.Shown, func(p shownPhoto) bool { return p.File.Key == key })
}
