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
	"github.com/content-automation/api/pkg/record/resource"
)

// composition returns the composition of the parts that were made.
func (r maker) composition(made []generate.Made) (generate.Composition, error) {
	text := r.words(made)
	if err := r.checkWritten(text); err != nil {
		return nil, err
	}
	if !r.Given.Has(Title) {
		r.Title = resource.Text(text.Title)
	}
	pictures := r.pictures(made)
	if len(pictures) == 0 {
		return nil, fmt.Errorf("item: %s has made nothing that could be composed", r.ID)
	}
	switch brand := r.Brief.Brand; r.Shape {
	case "short video", "long video":
		return r.video(text, made, pictures)
	case "story clip":
		scene := generate.Scene{Clip: pictures[0], Length: r.between(), OnScreen: string(r.Title)}
		if !r.Given.Has(Title) {
			scene.OnScreen = script.Screen.Clip(string(r.Title))
		}
		return generate.Video{Format: generate.Portrait, Scenes: []generate.Scene{scene}, Language: r.Language,
			Brand: brand, Intro: r.Brief.Intro, Outro: r.Brief.Outro}, nil
	case "carousel":
		c := generate.Carousel{Language: r.Language, Brand: brand, Offer: r.offer(), Ratio: r.Brief.Ratio}
		for i, p := range pictures {
			slide := generate.Slide{File: p, Heading: r.Slides[i].Text, Body: string(r.Slides[i].Body),
				Whole: r.photo(i+1) != nil}
			if !r.givenSlide(i) && i < len(text.Slides) {
				slide.Heading, slide.Body = text.Slides[i].Heading, text.Slides[i].Body
			}
			c.Slides = append(c.Slides, slide)
		}
		return c, nil
	case "story":
		return generate.Picture{Use: generate.Story, File: pictures[0], Text: string(r.Title), Language: r.Language,
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
			Track: pictures[0], Cover: cover, Length: time.Duration(*r.DurationSeconds) * time.Second,
			Title:    string(r.Title),
			Language: r.Language, Brand: brand,
		}, nil
	}
	headline := r.Headline
	if !r.Given.Has(Headline) {
		headline = resource.Text(text.Headline)
	}
	return generate.Picture{Use: generate.Post, File: pictures[0], Text: string(headline), Language: r.Language,
		Brand: r.Brief.Brand, Whole: r.photo(1) != nil, Offer: r.offer(), Ratio: r.Brief.Ratio}, nil
}

// pictures returns the pictures and clips of the item in their order: those that were made, and photos of the product.
func (r maker) pictures(made []generate.Made) (all []*media.File) {
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

// video describes a video of scenes.
func (r maker) video(text provider.Text, made []generate.Made, seen []*media.File) (generate.Composition, error) {
	v := generate.Video{Format: generate.Portrait, Language: r.Language, Fade: true, Cuts: r.Brief.Cuts,
		Brand: r.Brief.Brand, Music: r.Track, Offer: r.offer(), Intro: r.Brief.Intro, Outro: r.Brief.Outro}
	if r.Shape == "long video" {
		v.Format = generate.Landscape
	}
	if v.Captions = r.Brief.CaptionStyle != captionsUnseen; v.Captions {
		v.CaptionStyle = r.Brief.CaptionStyle
	}
	n, voice := r.madeBy(made, roleVoice, 0)
	if voice == nil || len(seen) != len(text.Scenes) {
		return nil, fmt.Errorf("item: %s has a script of %d scenes, and made %d", r.ID, len(text.Scenes), len(seen))
	}
	v.Narration = voice
	if v.Headline = string(cmp.Or(resource.Text(text.Scenes[0].OnScreen), r.Title)); !script.Slide.Fits(v.Headline) {
		v.Headline = script.Slide.Clip(v.Headline)
	}
	if !r.Given.Has(Script) { // which determines the length itself
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

// offer returns what finished media say of the product, or nil if the factory or the platforms want nothing said.
func (r prompter) offer() *generate.Offer {
	p, style := r.Brief.Product, r.Brief.Badge
	if p == nil || style == nil {
		return nil
	}
	o := &generate.Offer{Shop: style.Shop, Action: style.Action}
	if r.Brief.Prices != PricesNone {
		price := p.Price
		if p.Promotion != nil {
			price, o.Promotion = p.reduced(), p.Promotion.Name
			if was, lower := p.before(); lower {
				o.Was = &was
			}
		}
		o.Price = &price
	}
	return o
}

// ownComposition returns the composition that fits the caller's pictures or video. A video keeps its length and sound.
func (r maker) ownComposition() generate.Composition {
	whole := *r.Fit == FitPad
	if own := &r.Own[0]; r.Kind != Carousel && own.Type == media.Video {
		v := generate.Video{Format: generate.Portrait, Language: r.Language}
		if r.Format != nil && *r.Format == FormatLong {
			v.Format = generate.Landscape
		}
		v.Scenes = []generate.Scene{{Clip: own, Length: seconds(*own), Whole: whole}}
		return v
	}
	if r.Kind != Carousel {
		use := generate.Post
		if r.Kind == Story {
			use = generate.Story
		}
		return generate.Picture{Use: use, File: &r.Own[0], Language: r.Language, Whole: whole}
	}
	c := generate.Carousel{Language: r.Language}
	for i := range r.Own {
		c.Slides = append(c.Slides, generate.Slide{File: &r.Own[i], Whole: whole})
	}
	return c
}

func (r maker) Gave(e *provider.Error) bool {
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
		return r.Given.Has(Headline)
	case part == "/title", part == "/path" && text:
		return r.Given.Has(Title)
	case scan(part, "/scenes/%d/on_screen", &n):
		return r.Given.Has(Script) && r.Kind == Video || r.Given.Has(Title) && r.Kind == Story
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
func (r maker) brought(key string) bool {
	is := func(f *media.File) bool { return f != nil && f.Key == key }
	if is(r.Track) || is(r.OwnCover) || is(r.Brief.Intro) || is(r.Brief.Outro) ||
		r.Brief.Logo != nil && is(&r.Brief.Logo.File) ||
		r.Brief.Brand != nil && is(r.Brief.Brand.Logo) {
		return true
	}
	return slices.ContainsFunc(r.Shown, func(p shownPhoto) bool { return p.File.Key == key })
}
