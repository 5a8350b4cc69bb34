package picture

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
)

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
	if d.whole == nil {
		return nil, "", "", fmt.Errorf("picture: it is upright")
	}
	photo, profile := true, d.profile
	img := d.whole
	d.whole = nil
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
	out := image.NewRGBA(upright(d.stored, d.Orientation))
	y := 0
	back := []int{1, 2, 3, 4, 5, 8, 7, 6}[d.Orientation-1] // the orientation that turns it back
	err := d.source.rows(ctx, image.Rectangle{Max: d.stored}, func(row []byte) error {
		for x := range d.stored.X {
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
