package composer

import (
	"fmt"

	"github.com/content-automation/api/pkg/base/money"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/script"
)

// describe returns a composition in the form of the engine.
func describe(what generate.Composition, draft bool, at paths) (compose.Work, error) {
	quality := compose.Full
	if draft {
		quality = compose.Draft
	}
	switch w := what.(type) {
	case generate.Video:
		brand, err := describeBrand(w.Brand, at)
		v := compose.Video{
			Format: compose.Format(w.Format), Quality: quality, Narration: at.of(w.Narration), Marks: w.Marks,
			Language: w.Language, Captions: w.Captions,
			CaptionStyle: compose.CaptionStyle(w.CaptionStyle), Fade: w.Fade, Music: at.of(w.Music), Brand: brand,
			Offer: describeOffer(w.Offer, w.Language), Length: w.Length, Cuts: w.Cuts,
			Headline: w.Headline, Intro: bumper(w.Intro, at),
			Outro: bumper(w.Outro, at), Notice: w.Notice, Frames: w.Frames,
		}
		for _, s := range w.Scenes {
			v.Scenes = append(v.Scenes, compose.Scene{Text: s.Text, Clip: at.of(s.Clip), Picture: at.of(s.Picture),
				Length: s.Length, Whole: s.Whole, OnScreen: s.OnScreen})
		}
		return v, err
	case generate.Picture:
		brand, err := describeBrand(w.Brand, at)
		return compose.Picture{Use: compose.Use(w.Use), Path: at.of(w.File), Text: w.Text, Language: w.Language,
			Brand: brand, Whole: w.Whole, Offer: describeOffer(w.Offer, w.Language), Notice: w.Notice,
			Ratio: compose.Ratio(w.Ratio)}, err
	case generate.Carousel:
		brand, err := describeBrand(w.Brand, at)
		c := compose.Carousel{Language: w.Language, Brand: brand, Offer: describeOffer(w.Offer, w.Language),
			Notice: w.Notice, Ratio: compose.Ratio(w.Ratio)}
		for _, s := range w.Slides {
			c.Slides = append(c.Slides, compose.Slide{Path: at.of(s.File), Heading: s.Heading, Body: s.Body,
				Whole: s.Whole})
		}
		return c, err
	case generate.MusicClip:
		brand, err := describeBrand(w.Brand, at)
		return compose.MusicClip{
			Track: at.of(w.Track), Cover: at.of(w.Cover), Length: w.Length, Title: w.Title, Artist: w.Artist,
			Language: w.Language, Brand: brand, Quality: quality, Notice: w.Notice, Frames: w.Frames,
		}, err
	}
	return nil, fmt.Errorf("stored: there is no composition %T", what)
}

// bumper describes an intro or outro, which may be nil.
func bumper(f *media.File, at paths) compose.Bumper {
	if f != nil && f.Type == media.Image {
		return compose.Bumper{Picture: at.of(f)}
	}
	return compose.Bumper{Clip: at.of(f)}
}

func describeBrand(b *generate.Brand, at paths) (*compose.Brand, error) {
	if b == nil {
		return nil, nil
	}
	brand := &compose.Brand{Name: b.Name, Logo: at.of(b.Logo), Right: b.Right, Font: b.Font,
		Theme: b.Theme, Design: b.Design, Call: b.Call, Address: b.Address}
	if b.Color == "" {
		return brand, nil
	}
	for _, color := range append([]string{b.Color}, b.More...) {
		c, err := canvas.ParseColor(color)
		if err != nil {
			return nil, fmt.Errorf("stored: %w", err)
		}
		brand.Colors = append(brand.Colors, c)
	}
	return brand, nil
}

// describeOffer returns an offer in the texts of a market.
func describeOffer(o *generate.Offer, language string) *compose.Offer {
	if o == nil {
		return nil
	}
	shown := func(p *money.Price) string {
		if p == nil {
			return ""
		}
		if said := p.In(language); script.Drawable(said) {
			return said
		}
		return p.In("en") // of digits that no font has
	}
	offer := &compose.Offer{Price: shown(o.Price), Was: shown(o.Was), Promotion: o.Promotion, Shop: o.Shop,
		Action: o.Action, Address: o.Address, Until: Until(o.Until, language)}
	if o.Percent > 0 {
		offer.Off = percent(-o.Percent, language)
	}
	return offer
}
