// Package picture reads the pictures of callers and of providers, and draws them: upright, in sRGB, in any size. All
// pictures that are stored, shown small or composed come through it, so that each looks the same everywhere. It bounds
// the memory and the time that a file takes, whatever its header claims. Start with Open.
package picture

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
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

// Error returns the message, after the name of the package.
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
	// Orientation is the orientation of EXIF, from 1 to 8. That of a picture that is stored upright is 1.
	Orientation int
	// Animated reports whether the file has more than one picture.
	Animated bool

	content []byte
	// storedSize is the size of the picture as it is stored, and profile its color profile (ICC), or nil.
	storedSize image.Point
	profile    []byte
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
	if w, h := p.storedSize.X, p.storedSize.Y; w < 1 || h < 1 || w > maxSide || h > maxSide {
		return nil, broken("%s of %d x %d pixels", p.MIMEType, w, h)
	}
	p.Width, p.Height = p.storedSize.X, p.storedSize.Y
	if p.turned() {
		p.Width, p.Height = p.Height, p.Width
	}
	return p, nil
}

// turned reports whether the width is the height of the stored picture.
func (p *Picture) turned() bool { return p.Orientation >= 5 }

// Check returns a *TooLargeError for a picture that takes more than it may.
func (p *Picture) Check() error {
	pixels := int64(p.storedSize.X) * int64(p.storedSize.Y)
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
	// pixels is the picture in memory, or nil if each drawing reads the file.
	pixels image.Image
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
		d.pixels, err = decodeJPEG(m.Context(), p.content)
	case p.MIMEType == "image/webp":
		d.pixels, err = decodeWebP(m.Context(), p.content)
	case p.png.interlaced || p.Orientation != 1:
		d.pixels, err = decodePNG(m.Context(), p.content)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case m.Err() != nil:
		return nil, long(m.Err())
	case err != nil:
		return nil, broken("%s: %v", p.MIMEType, err)
	case d.pixels != nil && d.pixels.Bounds().Size() != p.storedSize:
		return nil, broken("%s has %v pixels, and its header %v", p.MIMEType, d.pixels.Bounds().Size(), p.storedSize)
	}
	if d.pixels != nil {
		d.source = memory(d.pixels, p.MIMEType == "image/webp")
	} else {
		d.source = p.stream()
	}
	d.colors = converterOf(p.profile, d.source.kind)
	return d, nil
}

// Cover returns the middle of the picture in a size, which it fills. Nothing of the picture is distorted.
func (d *Decoded) Cover(ctx context.Context, size image.Point) (*image.NRGBA, error) {
	wide, tall := d.Shown(size)
	return d.CoverFrom(ctx, size, (1-wide)/2, (1-tall)/2)
}

// Shown returns the parts of the picture's width and height that are seen if it covers a size.
func (d *Decoded) Shown(size image.Point) (wide, tall float64) {
	ratio := float64(size.X*d.Height) / float64(size.Y*d.Width)
	return min(ratio, 1), min(1/ratio, 1)
}

// CoverFrom is Cover for the part of the picture that begins at a place, in shares of its width and height.
func (d *Decoded) CoverFrom(ctx context.Context, size image.Point, x, y float64) (*image.NRGBA, error) {
	wide, tall := d.Shown(size)
	x, y = min(max(x, 0), 1-wide), min(max(y, 0), 1-tall)
	part := d.stored(x, y, wide, tall)
	if d.turned() {
		size.X, size.Y = size.Y, size.X
	}
	return d.draw(ctx, part, size)
}

// stored returns the rectangle of the stored picture that is seen in a window, in shares of the picture as it is seen.
func (d *Decoded) stored(x, y, wide, tall float64) image.Rectangle {
	right, bottom := x+wide, y+tall
	// The orientations of EXIF: mirrored, upside down, and those two turned.
	switch d.Orientation {
	case 2:
		x, right = 1-right, 1-x
	case 3:
		x, right, y, bottom = 1-right, 1-x, 1-bottom, 1-y
	case 4:
		y, bottom = 1-bottom, 1-y
	case 5:
		x, y, right, bottom = y, x, bottom, right
	case 6:
		x, y, right, bottom = y, 1-right, bottom, 1-x
	case 7:
		x, y, right, bottom = 1-bottom, 1-right, 1-y, 1-x
	case 8:
		x, y, right, bottom = 1-bottom, x, 1-y, right
	}
	at := func(share float64, of int) int { return int(share*float64(of) + 0.5) }
	r := image.Rect(at(x, d.storedSize.X), at(y, d.storedSize.Y), at(right, d.storedSize.X), at(bottom, d.storedSize.Y))
	r.Max.X, r.Max.Y = max(r.Max.X, r.Min.X+1), max(r.Max.Y, r.Min.Y+1)
	return r.Intersect(image.Rectangle{Max: d.storedSize})
}

// Within returns the whole picture in the largest size of its proportions that fits into a box.
func (d *Decoded) Within(ctx context.Context, box image.Point) (*image.NRGBA, error) {
	size := fitted(image.Pt(d.Width, d.Height), box)
	if d.turned() {
		size.X, size.Y = size.Y, size.X
	}
	return d.draw(ctx, image.Rectangle{Max: d.storedSize}, size)
}

// long returns the error of a picture that takes more than the budget.
func long(err error) error {
	return fmt.Errorf("%w (%w)", &TooLargeError{"The picture takes too long to read. Save it again as a plain JPEG, " +
		"or smaller."}, err)
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

// Flat returns a picture on a ground of a color. What is transparent shows the ground. The picture must not be drawn on
// afterwards: an opaque one has the same pixels.
func Flat(img *image.NRGBA, ground image.Image) *image.RGBA {
	if img.Opaque() {
		return &image.RGBA{Pix: img.Pix, Stride: img.Stride, Rect: img.Rect.Sub(img.Rect.Min)}
	}
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

// memory returns the rows of a picture that is in memory. Those of a lossy WebP have the range of video, which the
// decoder does not say (golang/go#40173).
func memory(img image.Image, webp bool) source {
	s := source{kind: rgba}
	var fill func(row []byte, y int, part image.Rectangle)
	switch img := img.(type) {
	case *image.Gray:
		s.kind = gray
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	case *image.CMYK:
		s.kind = inks
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	case *image.YCbCr:
		if s.kind = ycc; webp {
			s.kind = studio
		}
		fill = func(row []byte, y int, part image.Rectangle) { lumaRow(row, img, y, part) }
	case *image.NYCbCrA: // a lossy WebP
		fill = func(row []byte, y int, part image.Rectangle) {
			colors := make([]byte, 3*part.Dx())
			lumaRow(colors, &img.YCbCr, y, part)
			for i := range part.Dx() {
				r, g, b := ofStudio(float32(colors[3*i]), float32(colors[3*i+1]), float32(colors[3*i+2]))
				copy(row[4*i:], []byte{r, g, b, img.A[img.AOffset(part.Min.X+i, y)]})
			}
		}
	case *image.NRGBA:
		fill = func(row []byte, y int, part image.Rectangle) {
			copy(row, img.Pix[img.PixOffset(part.Min.X, y):])
		}
	default:
		if isGray(img) {
			s.kind = grayA
		}
		fill = func(row []byte, y int, part image.Rectangle) {
			for i := range part.Dx() {
				c := color.NRGBAModel.Convert(img.At(part.Min.X+i, y)).(color.NRGBA)
				copy(row[4*i:], []byte{c.R, c.G, c.B, c.A})
			}
		}
	}
	n := s.kind.values()
	s.rows = func(ctx context.Context, part image.Rectangle, f func(row []byte) error) error {
		part = part.Add(img.Bounds().Min)
		row := make([]byte, n*part.Dx())
		for y := part.Min.Y; y < part.Max.Y; y++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			fill(row, y, part)
			if err := f(row); err != nil {
				return err
			}
		}
		return nil
	}
	return s
}

func isGray(img image.Image) bool {
	_, is := img.(*image.Gray16)
	return is
}

// lumaRow writes a row of luma and color differences.
func lumaRow(row []byte, img *image.YCbCr, y int, part image.Rectangle) {
	left := part.Min.X
	luma, at := img.Y[img.YOffset(left, y):][:part.Dx()], img.COffset(left, y)
	blue, red := img.Cb[at:], img.Cr[at:]
	// A difference is that of 1, 2 or 4 pixels of a row.
	shift := [...]int{image.YCbCrSubsampleRatio422: 1, image.YCbCrSubsampleRatio420: 1, image.YCbCrSubsampleRatio411: 2,
		image.YCbCrSubsampleRatio410: 2}[img.SubsampleRatio]
	before := left & (1<<shift - 1)
	for i, v := range luma {
		p, c := row[3*i:][:3:3], (i+before)>>shift
		p[0], p[1], p[2] = v, blue[c], red[c]
	}
}

// Of returns a picture that was decoded elsewhere, as it is stored: an *image.YCbCr of the full range, an *image.Gray,
// or an *image.NRGBA. A picture whose Type is image/jpeg becomes a photo when it is turned upright, and another one a
// PNG. The image cannot be used afterwards.
func Of(img image.Image, mimeType string, orientation int, profile []byte) *Decoded {
	p := &Picture{MIMEType: mimeType, Orientation: orientation, storedSize: img.Bounds().Size()}
	p.Width, p.Height = p.storedSize.X, p.storedSize.Y
	if p.turned() {
		p.Width, p.Height = p.Height, p.Width
	}
	d := &Decoded{Picture: p, pixels: img, source: memory(img, false)}
	colors := map[kind]string{gray: "GRAY"}[d.source.kind]
	colors = cmp.Or(colors, "RGB ")
	if bounded(profile) && string(profile[16:20]) == colors {
		p.profile = profile
	}
	d.colors = converterOf(p.profile, d.source.kind)
	return d
}

// quality is the quality of photos that are encoded again because they were turned.
const quality = 95

// turnedPerPixel returns the bytes of memory that turning takes for each pixel.
func (p *Picture) turnedPerPixel() float64 {
	const pixel, file = 4, 1
	switch p.MIMEType {
	case "image/png":
		return 2*max(float64(p.png.bits())/8, 1) + 2*file
	case "image/jpeg":
		if p.plain {
			return p.perPixel + 1 + file // one of the planes
		}
	}
	return p.perPixel + pixel + file
}

// from returns the place in the stored picture of a pixel that is shown at another (EXIF 2.3, 4.6.4). right and bottom
// are the last column and row that are stored.
func from(orientation, x, y, right, bottom int) (int, int) {
	switch orientation {
	case 2:
		return right - x, y
	case 3:
		return right - x, bottom - y
	case 4:
		return x, bottom - y
	case 5:
		return y, x
	case 6:
		return y, bottom - x
	case 7:
		return right - y, bottom - x
	case 8:
		return right - y, x
	}
	return x, y
}

// turn writes the pixels of a picture of n bytes each upright into other memory.
func turn(to, pix []byte, size image.Point, stride, n, orientation int) {
	w, h := size.X, size.Y
	if orientation >= 5 {
		w, h = h, w
	}
	// Along a row that is shown, the place moves by the same step.
	for y := range h {
		x0, y0 := from(orientation, 0, y, size.X-1, size.Y-1)
		x1, y1 := from(orientation, 1, y, size.X-1, size.Y-1)
		at, step := y0*stride+x0*n, (y1-y0)*stride+(x1-x0)*n
		row := to[y*w*n:][:w*n]
		if n == 1 {
			for x := range row {
				row[x] = pix[at]
				at += step
			}
			continue
		}
		for x := 0; x < len(row); x += n {
			copy(row[x:x+n], pix[at:at+n])
			at += step
		}
	}
}

// turned returns a picture upright.
func turned(img *image.NRGBA, orientation int) *image.NRGBA {
	if orientation == 1 {
		return img
	}
	out := image.NewNRGBA(upright(img.Rect.Size(), orientation))
	turn(out.Pix, img.Pix, img.Rect.Size(), img.Stride, 4, orientation)
	return out
}

// upright returns the bounds of a stored size when it is turned.
func upright(size image.Point, orientation int) image.Rectangle {
	if orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	return image.Rectangle{Max: size}
}

// Upright returns a file that shows the picture as it is meant, without an orientation. Photos are JPEG, others PNG.
// The profile stays, unless the colors were converted: those of inks are. The picture cannot be drawn afterwards.
func (d *Decoded) Upright(ctx context.Context) (content []byte, mimeType, ext string, err error) {
	if d.pixels == nil {
		return nil, "", "", fmt.Errorf("picture: it is upright")
	}
	photo, profile := true, d.profile
	img := d.pixels
	d.pixels = nil
	switch from := img.(type) {
	case *image.YCbCr:
		if d.source.kind == studio {
			fullRange(from)
		}
		img = turnedPlanes(from, d.Orientation)
	case *image.CMYK:
		img, err = d.inRGB(ctx)
		profile = nil
	default:
		photo = d.MIMEType == "image/jpeg"
		img, err = d.turnedPixels(ctx, img)
	}
	if err != nil {
		return nil, "", "", err
	}
	var out bytes.Buffer
	out.Grow(len(d.content) + len(d.content)/2)
	if photo {
		if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, "", "", fmt.Errorf("picture: encode: %w", err)
		}
		return withProfile(out.Bytes(), profile), "image/jpeg", "jpg", nil
	}
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, img); err != nil {
		return nil, "", "", fmt.Errorf("picture: encode: %w", err)
	}
	content, err = d.withChunks(out.Bytes())
	return content, "image/png", "png", err
}

// fullRange converts luma and color differences from the range of video.
func fullRange(img *image.YCbCr) {
	var luma, difference [256]byte
	for i := range 256 {
		luma[i] = level((float32(i) - 16) * (255. / 219))
		difference[i] = level((float32(i)-128)*(255./224) + 128)
	}
	for i, v := range img.Y {
		img.Y[i] = luma[v]
	}
	for _, plane := range [][]byte{img.Cb, img.Cr} {
		for i, v := range plane {
			plane[i] = difference[v]
		}
	}
}

// turnedPlanes turns a picture within its memory and that of one plane more: each plane takes the place of the one
// before.
func turnedPlanes(img *image.YCbCr, orientation int) image.Image {
	size := img.Rect.Size()
	ratio := img.SubsampleRatio
	if orientation >= 5 {
		switch ratio {
		case image.YCbCrSubsampleRatio422:
			ratio = image.YCbCrSubsampleRatio440
		case image.YCbCrSubsampleRatio440:
			ratio = image.YCbCrSubsampleRatio422
		case image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410:
			return turnedColors(img, orientation)
		}
	}
	out := &image.YCbCr{SubsampleRatio: ratio, Rect: upright(size, orientation)}
	out.YStride = out.Rect.Dx()
	out.Y = make([]byte, size.X*size.Y)
	turn(out.Y, img.Y, size, img.YStride, 1, orientation)
	less := image.Pt(size.X, size.Y)
	switch img.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		less = image.Pt((size.X+1)/2, (size.Y+1)/2)
	case image.YCbCrSubsampleRatio422:
		less.X = (size.X + 1) / 2
	case image.YCbCrSubsampleRatio440:
		less.Y = (size.Y + 1) / 2
	case image.YCbCrSubsampleRatio411:
		less.X = (size.X + 3) / 4
	case image.YCbCrSubsampleRatio410:
		less = image.Pt((size.X+3)/4, (size.Y+1)/2)
	}
	out.CStride = upright(less, orientation).Dx()
	n := less.X * less.Y
	room := [2][]byte{img.Y, img.Y[min(n, len(img.Y)):]}
	if len(room[1]) < n { // three planes of one size
		room[1] = img.Cb
	}
	turn(room[0][:n], img.Cb, less, img.CStride, 1, orientation)
	out.Cb = room[0][:n]
	turn(room[1][:n], img.Cr, less, img.CStride, 1, orientation)
	out.Cr = room[1][:n]
	return out
}

// turnedColors turns a picture whose color differences are coarser than those of a turned one can be.
func turnedColors(img *image.YCbCr, orientation int) image.Image {
	out := image.NewRGBA(upright(img.Rect.Size(), orientation))
	right, bottom := img.Rect.Dx()-1, img.Rect.Dy()-1
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			at, row := from(orientation, x, y, right, bottom)
			r, g, b, _ := img.At(img.Rect.Min.X+at, img.Rect.Min.Y+row).RGBA()
			copy(out.Pix[out.PixOffset(x, y):], []byte{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255})
		}
	}
	return out
}

// inRGB returns the picture upright in sRGB.
func (d *Decoded) inRGB(ctx context.Context) (image.Image, error) {
	out := image.NewRGBA(upright(d.storedSize, d.Orientation))
	y := 0
	back := []int{1, 2, 3, 4, 5, 8, 7, 6}[d.Orientation-1] // the orientation that turns it back
	err := d.source.rows(ctx, image.Rectangle{Max: d.storedSize}, func(row []byte) error {
		for x := range d.storedSize.X {
			to, line := from(back, x, y, out.Rect.Dx()-1, out.Rect.Dy()-1)
			r, g, b := d.colors.inked(row[4*x], row[4*x+1], row[4*x+2], row[4*x+3])
			copy(out.Pix[out.PixOffset(to, line):], []byte{r, g, b, 255})
		}
		y++
		return nil
	})
	return out, err
}

// turnedPixels turns a picture whose pixels are in one piece, in its own form.
func (d *Decoded) turnedPixels(ctx context.Context, img image.Image) (image.Image, error) {
	size, bounds := img.Bounds().Size(), upright(img.Bounds().Size(), d.Orientation)
	pixels := func(pix []byte, stride, n int) []byte {
		to := make([]byte, size.X*size.Y*n)
		turn(to, pix, size, stride, n, d.Orientation)
		return to
	}
	w := bounds.Dx()
	switch img := img.(type) {
	case *image.Gray:
		return &image.Gray{Pix: pixels(img.Pix, img.Stride, 1), Stride: w, Rect: bounds}, nil
	case *image.Gray16:
		return &image.Gray16{Pix: pixels(img.Pix, img.Stride, 2), Stride: 2 * w, Rect: bounds}, nil
	case *image.Paletted:
		return &image.Paletted{Pix: pixels(img.Pix, img.Stride, 1), Stride: w, Rect: bounds, Palette: img.Palette}, nil
	case *image.RGBA:
		return &image.RGBA{Pix: pixels(img.Pix, img.Stride, 4), Stride: 4 * w, Rect: bounds}, nil
	case *image.NRGBA:
		return &image.NRGBA{Pix: pixels(img.Pix, img.Stride, 4), Stride: 4 * w, Rect: bounds}, nil
	case *image.RGBA64:
		return &image.RGBA64{Pix: pixels(img.Pix, img.Stride, 8), Stride: 8 * w, Rect: bounds}, nil
	case *image.NRGBA64:
		return &image.NRGBA64{Pix: pixels(img.Pix, img.Stride, 8), Stride: 8 * w, Rect: bounds}, nil
	}
	// A lossy WebP with opacity.
	plain := image.NewNRGBA(image.Rectangle{Max: size})
	y := 0
	err := d.source.rows(ctx, plain.Rect, func(row []byte) error {
		copy(plain.Pix[y*plain.Stride:], row)
		y++
		return nil
	})
	return turned(plain, d.Orientation), err
}

// withProfile adds a color profile to a JPEG, in segments of up to 64 KB.
func withProfile(content, profile []byte) []byte {
	const most = 65_000
	if len(profile) == 0 {
		return content
	}
	var all []byte
	count := (len(profile) + most - 1) / most
	if count > 255 {
		return content
	}
	for n, part := range slices.Collect(slices.Chunk(profile, most)) {
		all = append(all, 0xff, jpegApp+2)
		all = binary.BigEndian.AppendUint16(all, uint16(2+len(ProfileMark)+2+len(part)))
		all = append(append(all, ProfileMark...), byte(n+1), byte(count))
		all = append(all, part...)
	}
	return slices.Concat(content[:2], all, content[2:])
}

// ColorChunks are the chunks of a PNG that say what its colors are.
var ColorChunks = []string{"iCCP", "sRGB", "gAMA", "cHRM", "cICP"}

// withChunks adds what the file says of its colors to a PNG.
func (d *Decoded) withChunks(content []byte) ([]byte, error) {
	const begin = len(pngSignature) + 25 // the header
	var all []byte
	if d.MIMEType == "image/png" {
		Chunks(d.content, func(c Chunk) bool {
			if c.Right && slices.Contains(ColorChunks, c.Name) {
				all = append(all, c.All...)
			}
			return true
		})
	} else if len(d.profile) > 0 {
		var body bytes.Buffer
		body.WriteString("iCCPprofile\x00\x00")
		z := zlib.NewWriter(&body)
		if _, err := z.Write(d.profile); err != nil {
			return nil, fmt.Errorf("picture: encode a profile: %w", err)
		}
		if err := z.Close(); err != nil {
			return nil, fmt.Errorf("picture: encode a profile: %w", err)
		}
		all = binary.BigEndian.AppendUint32(nil, uint32(body.Len()-4))
		all = append(all, body.Bytes()...)
		all = binary.BigEndian.AppendUint32(all, crc32.ChecksumIEEE(body.Bytes()))
	}
	return slices.Concat(content[:begin], all, content[begin:]), nil
}
