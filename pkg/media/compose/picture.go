package compose

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"math"
	"os"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
)

// Use is the purpose of a picture.
type Use string

// The uses.
const (
	Post  Use = "post"  // 1080 × 1350
	Story Use = "story" // 1080 × 1920
)

// Picture describes a picture that is published alone.
type Picture struct {
	Use  Use
	Path string
	// Text is written over the picture. It may be empty.
	Text     string
	Language string // of the text (BCP 47)
	Brand    *Brand
}

// Carousel describes pictures that are published together. The first and the last one
// carry the brand.
type Carousel struct {
	Slides   []Slide
	Language string // of the headings (BCP 47)
	Brand    *Brand
}

// Slide is a picture of a carousel.
type Slide struct {
	Path    string
	Heading string
}

const maxSlides = 35 // the limit of TikTok

// The sizes.
const (
	wide       = 1080
	slideTall  = 1350
	storyTall  = 1920
	slideInset = 84
	bandTall   = 148
)

func (p Picture) check() error {
	if p.Use != Post && p.Use != Story {
		return invalid("/use", "The use must be post or story.")
	}
	return nil
}

func (p Picture) compose(ctx context.Context, r *run) error {
	c := card{about: "/path", text: p.Text, lang: p.Language, brand: p.Brand, name: "final", maxEm: 92,
		size: image.Pt(wide, slideTall)}
	c.area = image.Rect(slideInset, slideInset, wide-slideInset, slideTall-96)
	if p.Use == Story {
		c.size.Y, c.area, c.maxEm = storyTall, SafePortrait, 96
	}
	if err := r.card(ctx, p.Path, c); err != nil {
		return err
	}
	return r.deliver("final.jpg", File{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Width: c.size.X,
		Height: c.size.Y})
}

func (c Carousel) check() error {
	if len(c.Slides) < 1 || len(c.Slides) > maxSlides {
		return invalid("/slides", "A carousel has from 1 to %d slides.", maxSlides)
	}
	return nil
}

func (c Carousel) compose(ctx context.Context, r *run) error {
	for i, s := range c.Slides {
		name := fmt.Sprintf("slide%02d", i+1)
		one := card{
			about: fmt.Sprintf("/slides/%d", i), text: s.Heading, lang: c.Language, name: name, maxEm: 88,
			size: image.Pt(wide, slideTall),
			area: image.Rect(slideInset, slideInset, wide-slideInset, slideTall-88),
		}
		if i == 0 {
			one.maxEm = 112
		}
		if i == 0 || i == len(c.Slides)-1 {
			one.brand, one.band = c.Brand, c.Brand != nil && (c.Brand.Logo != "" || c.Brand.Name != "")
		}
		if err := r.card(ctx, s.Path, one); err != nil {
			return err
		}
		if err := r.deliver(name+".jpg", File{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Width: wide,
			Height: slideTall}); err != nil {
			return err
		}
		r.report(100 * (i + 1) / (len(c.Slides) + 1))
	}
	return nil
}

// card is a picture with a text on it.
type card struct {
	about, name string
	size        image.Point
	// area is the area in which the text may be.
	area  image.Rectangle
	maxEm float64
	text  string
	lang  string
	brand *Brand
	// band shows the brand in a band at the bottom. Otherwise its logo is at the top.
	band bool
}

const (
	minEm    = 30
	maxLines = 9
	barTall  = 10 // of the bar above a heading
)

// card composes a picture, as a JPEG.
func (r *run) card(ctx context.Context, path string, c card) error {
	img, err := r.canvas(ctx, path, c.about, c.size)
	if err != nil {
		return err
	}
	s := text.NewScript(c.size.X, c.size.Y)
	if c.band {
		c.area.Max.Y = min(c.area.Max.Y, c.size.Y-bandTall-64)
	}
	if c.text != "" {
		if err := r.heading(img, s, c); err != nil {
			return err
		}
	}
	if c.brand != nil {
		if err := r.brand(ctx, img, s, c); err != nil {
			return err
		}
	}
	return r.jpeg(ctx, img, s, c.name)
}

// box returns the box of the text: the lower part of the area.
func (c card) box() text.Box {
	return text.Box{Width: float64(c.area.Dx()), Height: float64(c.area.Dy()) * 0.6, MaxEm: c.maxEm, MinEm: minEm,
		MaxLines: maxLines}
}

// heading darkens the picture under the text, and writes the text into the lower part of the area.
func (r *run) heading(img *image.RGBA, s *text.Script, c card) error {
	b, err := r.fonts.Fit(c.text, c.lang, c.box())
	if err != nil {
		return ofText(c.about, err)
	}
	top := float64(c.area.Max.Y) - b.Height
	canvas.Scrim(img, image.Rect(0, int(top)-3*barTall, c.size.X, c.area.Max.Y+barTall), c.size.Y/4)
	accent := canvas.White
	if c.brand != nil && c.brand.Color != nil && canvas.Contrast(c.brand.Color.Luminance(), ink.Luminance()) >= 3 {
		accent = *c.brand.Color
	}
	// The bar is aligned with the beginning of the lines.
	bar := image.Rect(c.area.Min.X, int(top)-3*barTall, c.area.Min.X+110, int(top)-2*barTall)
	if b.RTL {
		bar = bar.Add(image.Pt(c.area.Dx()-bar.Dx(), 0))
	}
	canvas.Fill(img, bar, accent)
	s.Text(b, float64(c.area.Min.X), float64(c.area.Max.X), top, text.Start, canvas.White, text.Always)
	return nil
}

// ink is the color of a band if the brand has no color.
var ink = canvas.Color{R: 17, G: 18, B: 22}

// brand shows the brand: in a band at the bottom with its name, or its logo at the top.
func (r *run) brand(ctx context.Context, img *image.RGBA, s *text.Script, c card) error {
	logo, err := r.logo(ctx, c.brand.Logo)
	if err != nil {
		return err
	}
	if !c.band {
		if logo != nil {
			canvas.Stick(img, canvas.Badge(logo, 292, 142), c.area.Min)
		}
		return nil
	}
	back := ink
	if c.brand.Color != nil {
		back = *c.brand.Color
	}
	band := image.Rect(0, c.size.Y-bandTall, c.size.X, c.size.Y)
	canvas.Fill(img, band, back)
	left := c.area.Min.X
	if logo != nil {
		at := canvas.Within(logo.Bounds().Size(), image.Rect(left, band.Min.Y+28, left+300, band.Max.Y-28), false)
		canvas.Place(img, at, logo)
		left = at.Max.X + 32
	}
	if c.brand.Name == "" {
		return nil
	}
	b, err := r.fonts.Fit(c.brand.Name, c.lang, text.Box{Width: float64(c.area.Max.X - left), Height: bandTall - 20,
		MaxEm: 46, MinEm: 22, MaxLines: 2})
	if err != nil {
		return ofText("/brand/name", err)
	}
	b.RTL = false // it is next to the logo
	s.Text(b, float64(left), float64(c.area.Max.X), float64(band.Min.Y)+(bandTall-b.Height)/2, text.Start,
		canvas.On(back), text.Always)
	return nil
}

// canvas returns a part as a picture that covers a size.
func (r *run) canvas(ctx context.Context, path, about string, size image.Point) (*image.RGBA, error) {
	in, err := r.open(ctx, path, about, media.Image)
	if err != nil {
		return nil, err
	}
	raw, err := r.raw(ctx, in, fmt.Sprintf("scale=%d:%d:force_original_aspect_ratio=increase:flags=lanczos,crop=%d:%d",
		size.X, size.Y, size.X, size.Y), "rgb24")
	if err != nil {
		return nil, err
	}
	img, err := canvas.FromRGB(raw, size.X, size.Y)
	if err != nil {
		return nil, unreadable(StagePicture, about, err)
	}
	return img, nil
}

// raw decodes a picture into the bytes of its pixels.
func (r *run) raw(ctx context.Context, in input, filter, format string) ([]byte, error) {
	var out bytes.Buffer
	_, err := r.ffmpeg(ctx, StagePicture, in.about, ffmpeg.Job{
		Inputs: []ffmpeg.Input{in.Input}, Filter: "[0:v]" + filter + "[out]", Stdout: &out,
		Output: []string{"-map", "[out]", "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", format, "pipe:1"},
	})
	return out.Bytes(), err
}

// maxLogo is the largest side of a logo after scaling.
const maxLogo = 600

// logo returns a brand's logo, or nil if there is none.
func (r *run) logo(ctx context.Context, path string) (image.Image, error) {
	if path == "" {
		return nil, nil
	}
	const about = "/brand/logo"
	in, err := r.open(ctx, path, about, media.Image)
	if err != nil {
		return nil, err
	}
	shrink := min(1, maxLogo/math.Max(float64(in.width), float64(in.height)))
	width, height := max(int(float64(in.width)*shrink), 1), max(int(float64(in.height)*shrink), 1)
	raw, err := r.raw(ctx, in, fmt.Sprintf("scale=%d:%d:flags=lanczos", width, height), "rgba")
	if err != nil {
		return nil, err
	}
	img, err := canvas.FromRGBA(raw, width, height)
	if err != nil {
		return nil, unreadable(StagePicture, about, err)
	}
	return img, nil
}

// jpeg writes a picture with a script drawn over it.
func (r *run) jpeg(ctx context.Context, img *image.RGBA, s *text.Script, name string) error {
	back := name + ".raw"
	if err := os.WriteFile(r.path(back), img.Pix, 0o600); err != nil {
		return internal(StagePicture, err)
	}
	defer os.Remove(r.path(back))
	draw, err := r.subtitles(StagePicture, name, s)
	if err != nil {
		return err
	}
	_, err = r.ffmpeg(ctx, StagePicture, "", ffmpeg.Job{
		Inputs: []ffmpeg.Input{{Path: r.path(back), Format: "rawvideo", Options: []string{"-pixel_format", "rgb0",
			"-video_size", fmt.Sprintf("%dx%d", img.Rect.Dx(), img.Rect.Dy())}}},
		Filter: "[0:v]format=rgb24," + draw + ",scale=out_range=full:out_color_matrix=bt601,format=yuvj420p[out]",
		Output: []string{"-map", "[out]", "-frames:v", "1", "-q:v", "2", "-update", "1", "-f", "image2", name + ".jpg"},
	})
	return err
}
