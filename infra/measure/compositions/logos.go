package main

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// logos composes posts with five kinds of logos, one row each, on five grounds, and the slides whose band shows them.
func (s *bench) logos() (rows [][]image.Image, err error) {
	put := func(name string, content []byte) string {
		path := filepath.Join(s.dir, name)
		if failed := os.WriteFile(path, content, 0o600); failed != nil {
			err = failed
		}
		return path
	}
	orange := color.RGBA{255, 102, 0, 255}
	var grounds []string
	for i, c := range []color.RGBA{orange, {255, 255, 255, 255}, {12, 12, 14, 255}} {
		grounds = append(grounds, put(fmt.Sprintf("ground%d.png", i), sample.Plain(1080, 1350, c)))
	}
	grounds = append(grounds, s.tall[0], s.tall[2])
	for i, logo := range [][]byte{sample.Logo(orange), sample.Logo(color.RGBA{0, 0, 0, 255}),
		sample.Logo(color.RGBA{255, 255, 255, 255}), sample.Product(400, 300, sample.Nature),
		sample.TwoTone(color.RGBA{0, 0, 0, 255}, color.RGBA{255, 255, 255, 255})} {
		brand := &compose.Brand{Name: "Acme", Logo: put(fmt.Sprintf("logo%d.png", i), logo),
			Colors: []canvas.Color{{R: orange.R, G: orange.G, B: orange.B}}}
		var shots []shot
		for _, ground := range grounds {
			shots = append(shots, shot{compose.Picture{Use: compose.Post, Path: ground, Brand: brand}, nil})
		}
		shots = append(shots, shot{compose.Carousel{Language: "en", Brand: brand, Slides: []compose.Slide{
			{Path: s.tall[1], Heading: "On the band"}, {Path: s.tall[3], Heading: "On a panel"},
			{Path: s.tall[2], Heading: "In a box"}, {Path: s.cover, Heading: "At the end"}}}, nil})
		row, failed := s.shots(fmt.Sprintf("logo%d", i), shots)
		if failed != nil || err != nil {
			return nil, fmt.Errorf("logo %d: %w", i, errors.Join(failed, err))
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// styles composes videos with the three styles of captions, without a brand and with one, in three languages.
func (s *bench) styles() (rows [][]image.Image, err error) {
	for i, w := range languages {
		if i > 2 {
			break
		}
		var shots []shot
		for _, style := range []compose.CaptionStyle{compose.Words, compose.Lines, compose.Outline} {
			for _, brand := range []*compose.Brand{nil, s.brand("Acme")} {
				v := compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true,
					CaptionStyle: style, Language: w.lang, Narration: s.voice, Brand: brand, Scenes: []compose.Scene{
						{Text: w.scenes[0], Picture: s.tall[i]}, {Text: w.scenes[1], Picture: s.tall[1]}}}
				shots = append(shots, shot{v, []time.Duration{2 * time.Second, 5 * time.Second}})
			}
		}
		row, err := s.shots("captions"+w.lang, shots)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// families composes every kind of text in the fonts of brands, one row each, in three languages. The fonts lack the
// letters of the third.
func (s *bench) families() (rows [][]image.Image, err error) {
	for _, family := range script.Fonts {
		brand := s.brand("Acme Outdoor")
		brand.Font = family
		var shots []shot
		for i, w := range languages[:3] {
			offer := &compose.Offer{Price: "€1,299.50", Was: "€1,499", Promotion: "Sale", Action: "Order today"}
			shots = append(shots, shot{compose.Video{Format: compose.Portrait, Quality: compose.Draft, Captions: true,
				Language: w.lang, Narration: s.voice, Brand: brand, Scenes: []compose.Scene{
					{Text: w.scenes[0], Picture: s.tall[i]}, {Text: w.scenes[1], Picture: s.tall[1]}}},
				[]time.Duration{2 * time.Second}},
				shot{compose.Carousel{Language: w.lang, Brand: brand, Offer: offer, Slides: []compose.Slide{
					{Path: s.tall[2], Heading: w.headings[0]}, {Path: s.tall[1], Heading: w.headings[1]},
					{Path: s.cover, Heading: w.headings[2]}}}, nil})
		}
		row, err := s.shots("font"+family, shots)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
