package item

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/script"
	"github.com/content-automation/api/pkg/media/compose/timeline"
	"github.com/content-automation/api/pkg/record/resource"
)

// composition returns the composition of the parts that were made.
func (r *maker) composition(made []generate.PartResult) (generate.Composition, error) {
	text := r.writer.words(made)
	if err := r.writer.checkWritten(text); err != nil {
		return nil, err
	}
	if !r.callerTexts.Has(Title) {
		r.item.Title = resource.Text(text.Title)
	}
	pictures := r.pictures(made)
	if len(pictures) == 0 {
		return nil, fmt.Errorf("item: %s has made nothing that could be composed", r.item.ID)
	}
	switch brand := r.brief.Brand; r.attempt.Shape {
	case "short video", "long video":
		return r.video(text, made, pictures)
	case "story clip":
		scene := generate.Scene{Clip: pictures[0], Length: r.writer.between(), OnScreen: string(r.item.Title)}
		if !r.callerTexts.Has(Title) {
			scene.OnScreen = script.Screen.Clip(string(r.item.Title))
		}
		return generate.Video{Format: generate.Portrait, Scenes: []generate.Scene{scene}, Language: r.item.Language,
			Brand: brand, Intro: r.brief.Intro, Outro: r.brief.Outro}, nil
	case "carousel":
		c := generate.Carousel{Language: r.item.Language, Brand: brand, Offer: r.writer.offer(), Ratio: r.brief.Ratio}
		for i, p := range pictures {
			slide := generate.Slide{File: p, Heading: r.item.Slides[i].Text, Body: string(r.item.Slides[i].Body),
				Whole: r.attempt.photo(i+1) != nil}
			if !r.callerTexts.slide(i) && i < len(text.Slides) {
				slide.Heading, slide.Body = text.Slides[i].Heading, text.Slides[i].Body
			}
			c.Slides = append(c.Slides, slide)
		}
		return c, nil
	case "story":
		return generate.Picture{Use: generate.Story, File: pictures[0], Text: string(r.item.Title),
			Language: r.item.Language, Brand: brand, Whole: r.attempt.photo(1) != nil, Offer: r.writer.offer()}, nil
	case "music clip":
		_, cover := r.attempt.madeBy(made, roleCover, 0)
		if r.record.OwnCover != nil && *r.item.Cover != CoverGenerated {
			cover = r.record.OwnCover
		}
		if cover == nil {
			return nil, fmt.Errorf("item: %s has no cover", r.item.ID)
		}
		return generate.MusicClip{
			Track: pictures[0], Cover: cover, Length: time.Duration(*r.item.DurationSeconds) * time.Second,
			Title: string(r.item.Title), Artist: r.brief.Artist, Language: r.item.Language, Brand: brand,
		}, nil
	}
	headline := r.item.Headline
	if !r.callerTexts.Has(Headline) {
		headline = resource.Text(text.Headline)
	}
	return generate.Picture{Use: generate.Post, File: pictures[0], Text: string(headline), Language: r.item.Language,
		Brand: r.brief.Brand, Whole: r.attempt.photo(1) != nil, Offer: r.writer.offer(), Ratio: r.brief.Ratio}, nil
}

// pictures returns the pictures and clips of the item in their order: those that were made, and photos of the product.
func (r *maker) pictures(made []generate.PartResult) (all []*media.File) {
	show := func() {
		for f := r.attempt.photo(len(all) + 1); f != nil; f = r.attempt.photo(len(all) + 1) {
			all = append(all, f)
		}
	}
	show()
	var order []int
	for n, m := range made {
		if r.attempt.Parts[n].Role == roleItem && len(m.Files) > 0 {
			order = append(order, n)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return r.attempt.Parts[a].Number - r.attempt.Parts[b].Number })
	for _, n := range order {
		all = append(all, &made[n].Files[0])
		show()
	}
	return all
}

// video describes a video of scenes.
func (r *maker) video(text provider.Text, made []generate.PartResult, seen []*media.File) (generate.Composition,
	error) {
	v := generate.Video{Format: generate.Portrait, Language: r.item.Language, Fade: true, Cuts: r.brief.Cuts,
		Brand: r.brief.Brand, Music: r.record.Track, Offer: r.writer.offer(), Intro: r.brief.Intro,
		Outro: r.brief.Outro}
	if r.attempt.Shape == "long video" {
		v.Format = generate.Landscape
	}
	if v.Captions = r.brief.CaptionStyle != captionsUnseen; v.Captions {
		v.CaptionStyle = r.brief.CaptionStyle
	}
	n, voice := r.attempt.madeBy(made, roleVoice, 0)
	if voice == nil || len(seen) != len(text.Scenes) {
		return nil, fmt.Errorf("item: %s has a script of %d scenes, and made %d", r.item.ID, len(text.Scenes),
			len(seen))
	}
	v.Narration = voice
	if v.Headline = string(cmp.Or(resource.Text(text.Scenes[0].OnScreen),
		r.item.Title)); !script.Slide.Fits(v.Headline) {
		v.Headline = script.Slide.Clip(v.Headline)
	}
	if !r.callerTexts.Has(Script) { // which determines the length itself
		v.Length = r.writer.between()
	} else if seconds(*voice)+lead+tail < leastSpoken*time.Second { // of a fast voice: platforms take no shorter video
		v.Length = leastSpoken * time.Second
	}
	for _, m := range made[n].Marks {
		v.Marks = append(v.Marks, timeline.Mark(m))
	}
	if *r.item.Music == MusicGenerated {
		_, v.Music = r.attempt.madeBy(made, roleMusic, 0)
	}
	covers, clips := make([]time.Duration, len(text.Scenes)), 0
	for i, s := range text.Scenes {
		scene := generate.Scene{Text: s.Text, OnScreen: s.OnScreen, Whole: r.attempt.photo(i+1) != nil}
		if seen[i].Type == media.Video {
			scene.Clip, covers[i] = seen[i], coveredTime(seconds(*seen[i]))
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

// ownComposition returns the composition that fits the caller's pictures or video. A video keeps its length and sound.
func (r *maker) ownComposition() generate.Composition {
	whole := *r.item.Fit == FitPad
	if own := &r.record.Own[0]; r.item.Kind != Carousel && own.Type == media.Video {
		v := generate.Video{Format: generate.Portrait, Language: r.item.Language}
		if r.item.Format != nil && *r.item.Format == FormatLong {
			v.Format = generate.Landscape
		}
		v.Scenes = []generate.Scene{{Clip: own, Length: seconds(*own), Whole: whole}}
		return v
	}
	if r.item.Kind != Carousel {
		use := generate.Post
		if r.item.Kind == Story {
			use = generate.Story
		}
		return generate.Picture{Use: use, File: &r.record.Own[0], Language: r.item.Language, Whole: whole}
	}
	c := generate.Carousel{Language: r.item.Language}
	for i := range r.record.Own {
		c.Slides = append(c.Slides, generate.Slide{File: &r.record.Own[i], Whole: whole})
	}
	return c
}
