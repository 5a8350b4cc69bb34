package compose

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io/fs"
	"os"
	"slices"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/compose/canvas"
	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/compose/text"
	"github.com/content-automation/api/pkg/media/picture"
)

// Use is the purpose of a picture.
type Use string

// The uses.
const (
	Post  Use = "post"  // 1080 wide, in one of the ratios
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
	// Whole shows the picture without cropping it, on a ground.
	Whole bool
	// Offer is written over the picture. It may be nil.
	Offer *Offer
	// Notice is drawn at the top. It may be empty.
	Notice string
	// Ratio is that of a post. The empty one is Four5.
	Ratio Ratio
}

// Ratio is the proportion of the width to the height of posts and slides.
type Ratio string

// The ratios, of pictures that are 1080 pixels wide.
const (
	Square Ratio = "1:1"
	Four5  Ratio = "4:5"
	Two3   Ratio = "2:3"
)

// Ratios are all of the ratios, from the lowest to the tallest.
var Ratios = []Ratio{Square, Four5, Two3}

// tall returns the height of a picture.
func (r Ratio) tall() int {
	switch r {
	case Square:
		return wide
	case Two3:
		return wide * 3 / 2
	}
	return slideTall
}

func (r Ratio) check() error {
	if r != "" && !slices.Contains(Ratios, r) {
		return invalid("/ratio", "The ratio must be 1:1, 4:5 or 2:3.")
	}
	return nil
}

// Carousel describes pictures that are published together. Each has its number and the mark of the brand. The layouts
// of the slides between the first one and the last one alternate, and the last one closes the row in the brand's color.
type Carousel struct {
	Slides   []Slide
	Language string // of the texts (BCP 47)
	Brand    *Brand
	// Offer is written over the first slide that is shown whole, and its call to action over the last slide. It may be
	// nil.
	Offer *Offer
	// Notice is drawn at the top of each slide. It may be empty.
	Notice string
	// Ratio is that of the slides. The empty one is Four5.
	Ratio Ratio
}

// Slide is a picture of a carousel.
type Slide struct {
	Path    string
	Heading string
	// Body is written below the heading, in smaller letters. It needs a heading, and may be empty.
	Body string
	// Whole shows the picture without cropping it, on a ground.
	Whole bool
}

const maxSlides = 35 // the limit of TikTok

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
	return p.Ratio.check()
}

func (p Picture) compose(ctx context.Context, r *run) error {
	c := card{about: "/path", text: p.Text, lang: p.Language, brand: p.Brand, name: "final", maxEm: 92,
		size: image.Pt(wide, p.Ratio.tall())}
	c.area = image.Rect(slideInset, slideInset, wide-slideInset, c.size.Y-96)
	c.whole, c.offer, c.notice = p.Whole, p.Offer, p.Notice
	if p.Use == Post && p.Offer != nil {
		c.brand, c.band = c.brand.orEmpty(), true
	}
	if p.Use == Story {
		c.size.Y, c.area, c.maxEm, c.lifted = storyTall, SafePortrait, 96, true
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
	for i, s := range c.Slides {
		if s.Body != "" && s.Heading == "" {
			return invalid(fmt.Sprintf("/slides/%d/body", i), "A slide with a body needs a heading.")
		}
	}
	return c.Ratio.check()
}

func (c Carousel) compose(ctx context.Context, r *run) error {
	tall := c.Ratio.tall()
	priced := slices.IndexFunc(c.Slides, func(s Slide) bool { return s.Whole })
	for i, s := range c.Slides {
		name := fmt.Sprintf("slide%02d", i+1)
		one := card{
			about: fmt.Sprintf("/slides/%d", i), text: s.Heading, body: s.Body, lang: c.Language, name: name,
			maxEm: 88, size: image.Pt(wide, tall), notice: c.Notice,
			area: image.Rect(slideInset, slideInset, wide-slideInset, tall-88),
		}
		if i == 0 {
			one.maxEm = 112
		}
		last := i == len(c.Slides)-1
		if one.brand = c.Brand; len(c.Slides) > 1 {
			one.number = fmt.Sprintf("%d/%d", i+1, len(c.Slides))
		}
		switch {
		case i == 0:
			one.band = c.Brand.marked()
		case last:
			one.band, one.layout = c.Brand.marked(), closing
		default:
			one.layout = []layout{boxed, split}[i%2]
		}
		if one.whole = s.Whole; c.Offer != nil && (i == priced || last) {
			offer := *c.Offer
			if i != priced {
				offer = Offer{Action: offer.Action}
			}
			if !last {
				offer.Action = ""
			}
			one.offer, one.brand = &offer, c.Brand.orEmpty()
			one.band = one.band || offer.Action != ""
		}
		if err := r.card(ctx, s.Path, one); err != nil {
			return err
		}
		if err := r.deliver(name+".jpg", File{Role: media.Final, Type: media.Image, MIMEType: "image/jpeg", Width: wide,
			Height: tall}); err != nil {
			return err
		}
		r.report(100 * (i + 1) / (len(c.Slides) + 1))
	}
	return nil
}

// canvas returns a part as a picture that covers a size. What is transparent in it shows the ground of pictures that
// are cut out.
func (r *run) canvas(ctx context.Context, path, about string, size image.Point) (*image.RGBA, error) {
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Cover(ctx, size)
	})
	if err != nil {
		return nil, err
	}
	return picture.Flat(img, canvas.Studio), nil
}

// drawPicture decodes a part, and returns what a function draws of it.
func (r *run) drawPicture(ctx context.Context, path, about string,
	draw func(*picture.Decoded) (*image.NRGBA, error)) (*image.NRGBA, error) {
	content, err := readPicture(path, about)
	if err != nil {
		return nil, err
	}
	var img *image.NRGBA
	p, err := picture.Open(content)
	if err == nil {
		var d *picture.Decoded
		if d, err = p.Decode(ctx); err == nil {
			img, err = draw(d)
		}
	}
	if ctx.Err() != nil {
		return nil, &Error{Code: CodeCanceled, Stage: StagePicture, Message: "The composition was canceled.",
			Err: context.Cause(ctx)}
	}
	return img, ofPicture(about, err)
}

// ofPicture returns the error of a picture as one of a composition.
func ofPicture(about string, err error) error {
	var large *picture.TooLargeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large):
		e := tooLarge(about)
		e.Message = large.Message
		return e
	case errors.Is(err, picture.ErrBroken):
		return unreadable(StagePicture, about, err)
	}
	return internal(StagePicture, err)
}

// readPicture returns the content of a part that is a picture.
func readPicture(path, about string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = &fs.PathError{Op: "open", Path: path, Err: fs.ErrInvalid}
	case err == nil && info.Size() > media.Limit(media.Image):
		return nil, tooLarge(about)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		e := internal(StageInputs, err)
		e.About = about
		return nil, e
	}
	return content, nil
}

// maxLogo is the largest side of a logo after scaling.
const maxLogo = 600

// logo returns a brand's logo, or nil if there is none.
func (r *run) logo(ctx context.Context, path string) (image.Image, error) {
	if path == "" {
		return nil, nil
	}
	const about = "/brand/logo"
	img, err := r.drawPicture(ctx, path, about, func(d *picture.Decoded) (*image.NRGBA, error) {
		return d.Within(ctx, image.Pt(min(maxLogo, d.Width), min(maxLogo, d.Height)))
	})
	if err != nil {
		return nil, err
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
		Inputs: []ffmpeg.Input{r.drawn(back, img.Rect.Size())},
		Filter: "[0:v]format=rgb24," + draw + ",scale=out_range=full:out_color_matrix=bt601,format=yuvj420p[out]",
		Output: []string{"-map", "[out]", "-frames:v", "1", "-q:v", "2", "-update", "1", "-f", "image2", name + ".jpg"},
	})
	return err
}
