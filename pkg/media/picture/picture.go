// Package picture reads the pictures of callers and of providers, and draws them: upright, in sRGB, in any size. All
// pictures that are stored, shown small or composed come through it, so that each looks the same everywhere. It bounds
// the memory and the time that a file takes, whatever its header claims. Start with Open.
package picture

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"time"

	"golang.org/x/image/draw"

	"github.com/content-automation/api/pkg/base/budget"
)

// ErrBroken is wrapped by every error about the content of a file.
var ErrBroken = errors.New("picture: the file is broken")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrBroken, fmt.Sprintf(format, args...))
}

// TooLargeError is the error of a picture that takes more memory or time than there is.
type TooLargeError struct {
	// Message is a sentence for the caller.
	Message string
}

// Error returns the message.
func (e *TooLargeError) Error() string { return "picture: " + e.Message }

// The bounds of a picture.
const (
	// maxPixels is the largest number of pixels, as for files that come in (media.MaxPixels).
	maxPixels = 50_000_000
	// maxMemory is what decoding a picture may take, in bytes. What is drawn of it takes a little more.
	maxMemory = 180_000_000
	// maxSide bounds the pixels of one side. More means a broken or hostile header.
	maxSide = 1 << 16
	// maxScans bounds the scans of a progressive JPEG, and maxScanned the pixels that all of them pass over: each
	// passes over the whole picture, however short its data are. An encoder makes about ten.
	maxScans   = 100
	maxScanned = 12 * maxPixels
)

// reading bounds the decoding of a picture, and each drawing of it: the bytes of the file, and the rows of pixels.
var reading = budget.Budget{Name: "picture", Bytes: 64 << 20, Elements: maxSide, Time: 20 * time.Second}

// Picture is a file whose headers were read.
type Picture struct {
	MIMEType string
	// Width and Height are those of the picture when it is upright.
	Width, Height int
	// Orientation is that of EXIF, from 1 to 8. That of a picture that is stored upright is 1.
	Orientation int
	// Animated reports whether the file has more than one picture.
	Animated bool

	content []byte
	// stored is the size of the picture as it is stored, and profile its color profile (ICC), or nil.
	stored  image.Point
	profile []byte
	// perPixel is the number of bytes of memory that decoding takes for each pixel, and scans the number of times that
	// it passes over all of them.
	perPixel float64
	scans    int
	png      header // of a PNG
	plain    bool   // of a JPEG: it is stored as luma and color differences, or gray
}

// Open reads the headers of a JPEG, a PNG or a WebP. The file is not decoded. The content must not change afterwards.
func Open(content []byte) (*Picture, error) {
	p := &Picture{content: content, Orientation: 1, scans: 1}
	var err error
	switch {
	case len(content) > 3 && string(content[:3]) == "\xff\xd8\xff":
		p.MIMEType = "image/jpeg"
		err = p.jpeg()
	case len(content) > 8 && string(content[:8]) == pngSignature:
		p.MIMEType = "image/png"
		err = p.pngHeader()
	case len(content) > 12 && string(content[:4]) == "RIFF" && string(content[8:12]) == "WEBP":
		p.MIMEType = "image/webp"
		err = p.webp()
	default:
		return nil, broken("no known format begins with % x", content[:min(len(content), 12)])
	}
	if err != nil {
		return nil, err
	}
	if w, h := p.stored.X, p.stored.Y; w < 1 || h < 1 || w > maxSide || h > maxSide {
		return nil, broken("%s of %d x %d pixels", p.MIMEType, w, h)
	}
	p.Width, p.Height = p.stored.X, p.stored.Y
	if p.turned() {
		p.Width, p.Height = p.Height, p.Width
	}
	return p, nil
}

// turned reports whether the width is the height of the stored picture.
func (p *Picture) turned() bool { return p.Orientation >= 5 }

// Check returns a *TooLargeError for a picture that takes more than it may.
func (p *Picture) Check() error {
	pixels := int64(p.stored.X) * int64(p.stored.Y)
	if pixels > maxPixels {
		return &TooLargeError{fmt.Sprintf("The picture has %d x %d pixels. It may have up to %d million.", p.Width,
			p.Height, maxPixels/1_000_000)}
	}
	if most := min(maxScans, int(maxScanned/max(pixels, 1))); p.scans > most {
		return &TooLargeError{fmt.Sprintf("The picture is drawn in more than %d scans. Save it again, as a JPEG that "+
			"is not progressive.", most)}
	}
	perPixel := p.perPixel
	if p.Orientation != 1 {
		perPixel = p.turnedPerPixel()
	}
	if float64(pixels)*perPixel > maxMemory {
		return &TooLargeError{fmt.Sprintf("The picture has %d x %d pixels. In the form in which it is saved, it may "+
			"have up to %d million. Save it as a plain JPEG, upright and not progressive, or smaller.", p.Width,
			p.Height, int(maxMemory/perPixel/1_000_000))}
	}
	return nil
}

// Decoded is a decoded picture.
type Decoded struct {
	*Picture
	source source
	colors *converter // nil for a picture in sRGB
	// whole is the picture in memory, or nil if each drawing reads the file.
	whole image.Image
}

// Decode decodes the picture. The error of a picture that takes too much is a *TooLargeError; those of broken ones wrap
// ErrBroken, some only when the picture is drawn.
func (p *Picture) Decode(ctx context.Context) (*Decoded, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	m, end := reading.Begin(ctx)
	defer end()
	err := m.Bytes(int64(len(p.content)))
	if err != nil {
		return nil, long(err)
	}
	d := &Decoded{Picture: p}
	switch {
	case p.MIMEType == "image/jpeg":
		d.whole, err = decodeJPEG(m.Context(), p.content)
	case p.MIMEType == "image/webp":
		d.whole, err = decodeWebP(m.Context(), p.content)
	case p.png.interlaced || p.Orientation != 1:
		d.whole, err = decodePNG(m.Context(), p.content)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case m.Err() != nil:
		return nil, long(m.Err())
	case err != nil:
		return nil, broken("%s: %v", p.MIMEType, err)
	case d.whole != nil && d.whole.Bounds().Size() != p.stored:
		return nil, broken("%s has %v pixels, and its header %v", p.MIMEType, d.whole.Bounds().Size(), p.stored)
	}
	if d.whole != nil {
		d.source = memory(d.whole, p.MIMEType == "image/webp")
	} else {
		d.source = p.stream()
	}
	d.colors = converterOf(p.profile, d.source.kind)
	return d, nil
}

// Cover returns the middle of the picture in a size, which it fills. Nothing of the picture is distorted.
func (d *Decoded) Cover(ctx context.Context, size image.Point) (*image.NRGBA, error) {
	stored, to := d.stored, size
	if d.turned() {
		to.X, to.Y = to.Y, to.X
	}
	w, h := stored.X, max(1, (stored.X*to.Y+to.X/2)/to.X)
	if h > stored.Y {
		w, h = min(stored.X, max(1, (stored.Y*to.X+to.Y/2)/to.Y)), stored.Y
	}
	x, y := (stored.X-w)/2, (stored.Y-h)/2
	return d.draw(ctx, image.Rect(x, y, x+w, y+h), to)
}

// Within returns the whole picture in the largest size of its proportions that fits into a box.
func (d *Decoded) Within(ctx context.Context, box image.Point) (*image.NRGBA, error) {
	size := fitted(image.Pt(d.Width, d.Height), box)
	if d.turned() {
		size.X, size.Y = size.Y, size.X
	}
	return d.draw(ctx, image.Rectangle{Max: d.stored}, size)
}

// long returns the error of a picture that takes more than the budget.
func long(err error) error {
	return fmt.Errorf("%w (%w)", &TooLargeError{"The picture takes too long to read. Save it again as a plain JPEG, or " +
		"smaller."}, err)
}

// fitted returns the largest size of the proportions of another that fits into a box.
func fitted(size, box image.Point) image.Point {
	w, h := box.X, (size.Y*box.X+size.X/2)/size.X
	if h > box.Y {
		w, h = (size.X*box.Y+size.Y/2)/size.Y, box.Y
	}
	return image.Pt(max(w, 1), max(h, 1))
}

// draw returns a part of the stored picture in a size, and turns it upright.
func (d *Decoded) draw(ctx context.Context, part image.Rectangle, size image.Point) (*image.NRGBA, error) {
	m, end := reading.Begin(ctx)
	defer end()
	source, img := d.source, image.NewNRGBA(image.Rectangle{Max: size})
	source.rows = func(ctx context.Context, part image.Rectangle, f func(row []byte) error) error {
		return d.source.rows(ctx, part, func(row []byte) error {
			if err := m.Count(1); err != nil {
				return err
			}
			return f(row)
		})
	}
	err := source.scaled(m.Context(), part, size, func(y int, row []float32) {
		d.color(img.Pix[y*img.Stride:], row)
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case m.Err() != nil:
		return nil, long(m.Err())
	case errors.Is(err, budget.ErrExceeded):
		return nil, long(err)
	case err != nil:
		return nil, broken("%s: %v", d.MIMEType, err)
	}
	return turned(img, d.Orientation), nil
}

// color writes a row of values as pixels in sRGB. A profile that its reader cannot follow counts for nothing.
func (d *Decoded) color(to []byte, row []float32) {
	defer func() {
		if recover() != nil {
			d.colors = nil
			d.source.kind.colors(to, row, nil)
		}
	}()
	d.source.kind.colors(to, row, d.colors)
}

// Flat returns a picture on a ground of a color. What is transparent shows the ground.
func Flat(img *image.NRGBA, ground image.Image) *image.RGBA {
	flat := image.NewRGBA(image.Rectangle{Max: img.Rect.Size()})
	draw.Draw(flat, flat.Rect, ground, image.Point{}, draw.Src)
	draw.Draw(flat, flat.Rect, img, img.Rect.Min, draw.Over)
	return flat
}

// timely is a reader that fails once a context has ended, which ends the decoder.
type timely struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (t *timely) Read(b []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.r.Read(b)
}
