package main

import (
	"image"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/theme"
)

// designs composes every kind in each theme of the service, one row each, in a language: a post, a carousel, a product,
// a story, a product in a story, and the cover, the frames and the end card of a video, and a music clip.
func (s *bench) designs(w words) (rows [][]image.Image, err error) {
	photo := filepath.Join(s.dir, "shoe.png")
	if err := os.WriteFile(photo, sample.Product(1600, 900, sample.Cut), 0o600); err != nil {
		return nil, err
	}
	offer := &compose.Offer{Price: "€103.20", Was: "€129", Off: "−20%", Promotion: "Winter sale", Until: "until 20 Dec",
		Shop: "Acme", Action: w.scenes[1], Address: "acme.example"}
	for _, name := range theme.Names {
		brand := s.brand("Acme")
		brand.Theme, brand.Call = name, w.scenes[1]
		row, err := s.shots("design-"+name+w.lang, []shot{
			{compose.Picture{Use: compose.Post, Path: s.tall[1], Text: w.headings[0], Language: w.lang,
				Brand: brand}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Slides: []compose.Slide{
				{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story}, {Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Offer: offer, Slides: []compose.Slide{
				{Path: photo, Heading: w.story, Whole: true}}}, nil},
			{compose.Picture{Use: compose.Story, Path: s.tall[3], Text: w.story, Language: w.lang, Brand: brand}, nil},
			{compose.Picture{Use: compose.Story, Path: photo, Text: w.story, Language: w.lang, Brand: brand,
				Whole: true, Offer: offer}, nil},
		})
		if err != nil {
			return nil, err
		}
		video := compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true, Language: w.lang,
			Narration: s.voice, Brand: brand, Headline: w.story, Offer: offer, Scenes: []compose.Scene{
				{Text: w.scenes[0], Picture: s.tall[0], OnScreen: w.story},
				{Text: w.scenes[1], Picture: photo, OnScreen: w.story, Whole: true}}}
		seen, err := s.covered("design-"+name+w.lang, video, 2*time.Second, 9500*time.Millisecond, 11*time.Second)
		if err != nil {
			return nil, err
		}
		song, err := s.shots("song-"+name+w.lang, []shot{{compose.MusicClip{Track: s.track, Cover: s.cover,
			Length: song, Title: w.song, Artist: "Acme", Language: w.lang, Quality: compose.Draft, Brand: brand},
			[]time.Duration{7 * time.Second}}})
		if err != nil {
			return nil, err
		}
		rows = append(rows, slices.Concat(row, seen, song))
	}
	return rows, nil
}

// covered composes a video, and returns its poster and the chosen frames.
func (s *bench) covered(name string, v compose.Video, at ...time.Duration) (all []image.Image, err error) {
	res, err := s.compose(name+"-video", v)
	if err != nil {
		return nil, err
	}
	poster := slices.IndexFunc(res.Files, func(f compose.File) bool { return f.Role == media.Poster })
	img, err := read(res.Files[poster].Path)
	if err != nil {
		return nil, err
	}
	all = append(all, img)
	for _, t := range at {
		if img, err = s.frame(res.Files[0].Path, t); err != nil {
			return nil, err
		}
		all = append(all, img)
	}
	return all, nil
}

// ratios composes a post and a carousel in each ratio, and the cover of a long video.
func (s *bench) ratios() (rows [][]image.Image, err error) {
	w, brand := languages[0], s.brand("Acme")
	for _, ratio := range compose.Ratios {
		row, err := s.shots("ratio-"+string(ratio[0]), []shot{
			{compose.Picture{Use: compose.Post, Path: s.tall[0], Text: w.headings[0], Language: w.lang, Brand: brand,
				Ratio: ratio}, nil},
			{compose.Carousel{Language: w.lang, Brand: brand, Ratio: ratio, Slides: []compose.Slide{
				{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story}, {Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	long, err := s.covered("ratio", compose.Video{Format: compose.Landscape, Quality: compose.Draft, Captions: true,
		Language: w.lang, Narration: s.voice, Brand: brand, Headline: w.story,
		Scenes: []compose.Scene{{Text: w.scenes[0], Picture: s.wide[0]}, {Text: w.scenes[1], Picture: s.wide[1]}}},
		2*time.Second, 11*time.Second)
	return append(rows, long), err
}
