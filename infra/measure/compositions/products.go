package main

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"time"

	"github.com/content-automation/api/infra/verify/harness/sample"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
)

// products composes every kind of media of a product, with photos of four proportions, one row each.
func (s *bench) products() (rows [][]image.Image, err error) {
	offer := &compose.Offer{Price: "103,20 €", Was: "129 €", Promotion: "Sommerschlussverkauf", Shop: "Schuhhaus Nord",
		Action: "Jetzt bestellen"}
	brand := &compose.Brand{Name: "Schuhhaus Nord", Colors: []canvas.Color{{R: 0xd6, G: 0x2f, B: 0x2f}}}
	for i, c := range []struct {
		width, height int
		scene         sample.Scene
	}{{1600, 1200, sample.Studio}, {1200, 1200, sample.Nature}, {900, 1600, sample.Nature}, {1600, 900, sample.Cut}} {
		photo := filepath.Join(s.dir, fmt.Sprintf("product%d.png", i))
		if err := os.WriteFile(photo, sample.Product(c.width, c.height, c.scene), 0o600); err != nil {
			return nil, err
		}
		video := func(f compose.Format) compose.Video {
			return compose.Video{Format: f, Quality: compose.Draft, Captions: true, Language: "de", Narration: s.voice,
				Brand: brand, Offer: offer, Scenes: []compose.Scene{
					{Text: "Dieser Schuh ist aus Netzen, die im Meer verloren gingen.", Picture: photo, Whole: true},
					{Text: "Taucher holen sie heraus, und bald sind sie Garn.", Picture: s.tall[1]}}}
		}
		row, err := s.shots(fmt.Sprintf("product%d", i), []shot{
			{compose.Picture{Use: compose.Post, Path: photo, Language: "de", Brand: brand,
				Whole: true, Offer: offer}, nil},
			{compose.Carousel{Language: "de", Brand: brand, Offer: offer, Slides: []compose.Slide{
				{Path: photo, Heading: "Ein Schuh aus Netzen", Whole: true}, {Path: s.tall[2], Heading: "Er hält lange"},
				{Path: photo, Heading: "Vom Meer an den Fuß", Whole: true}}}, nil},
			{compose.Picture{Use: compose.Story, Path: photo, Text: "Heute neu", Language: "de", Brand: brand,
				Whole: true, Offer: offer}, nil},
			{video(compose.Portrait), []time.Duration{2 * time.Second, 10 * time.Second}},
			{video(compose.Landscape), []time.Duration{2 * time.Second}},
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
