package main

import (
	"fmt"
	"image"
	"slices"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
)

// theme composes every kind in a theme, in six scripts, one row each: the frames of a video with its end card, its
// cover, a carousel, a story, a post and a music clip.
func (s *bench) theme(theme compose.Theme) (rows [][]image.Image, err error) {
	scripts := []string{"latin", "cyrillic", "arabic", "devanagari", "chinese", "japanese"}
	brand := s.brand("Acme")
	brand.Theme = theme
	for _, w := range languages {
		if !slices.Contains(scripts, w.script) {
			continue
		}
		brand.Call = w.scenes[1]
		name := fmt.Sprintf("theme-%s-%s", theme, w.lang)
		row, err := s.covered(name, compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true,
			Cuts: 5, Language: w.lang, Narration: s.voice, Brand: brand, Headline: w.story, Scenes: []compose.Scene{
				{Text: w.scenes[0], Picture: s.tall[0], OnScreen: w.story}, {Text: w.scenes[1], Picture: s.tall[1]}}},
			time.Second, 4*time.Second, 7*time.Second, 11*time.Second)
		if err != nil {
			return nil, err
		}
		rest, err := s.shots(name, []shot{
			{compose.Carousel{Language: w.lang, Brand: brand, Slides: []compose.Slide{
				{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1], Body: w.scenes[0]},
				{Path: s.tall[0], Heading: w.story}, {Path: s.cover, Heading: w.headings[2], Body: w.scenes[1]}}}, nil},
			{compose.Picture{Use: compose.Story, Path: s.tall[3], Text: w.story, Language: w.lang, Brand: brand}, nil},
			{compose.Picture{Use: compose.Post, Path: s.wide[1], Text: w.headings[0], Language: w.lang,
				Brand: brand}, nil},
			{compose.MusicClip{Track: s.track, Cover: s.cover, Length: song, Title: w.song, Language: w.lang,
				Quality: compose.Draft, Brand: brand}, []time.Duration{7 * time.Second}},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, append(row, rest...))
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
