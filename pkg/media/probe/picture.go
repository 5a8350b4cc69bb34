package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/provenance"
)

type form struct {
	name   string
	decode func(io.Reader) (image.Image, error)
	// strip removes data that is not part of the picture, and returns the orientation of the picture (EXIF; 1 for a
	// picture that is stored upright).
	strip func([]byte) (kept []byte, orientation int)
}

var forms = map[string]form{
	"image/jpeg": {"JPEG", jpeg.Decode, stripJPEG},
	"image/png":  {"PNG", png.Decode, stripPNG},
	"image/webp": {"WebP without animation", webp.Decode, stripWebP},
}

// maxScans bounds the scans of a progressive JPEG, and maxScanned the pixels that all of them pass over: each passes
// over the whole picture, however short its data are. An encoder makes about ten, which the largest picture may have.
const (
	maxScans   = 100
	maxScanned = 12 * media.MaxPixels
)

// scans counts the scans of a JPEG.
func scans(content []byte) (n int) {
	segments(content, func(marker byte, _ []byte) {
		if marker == jpegScan {
			n++
		}
	})
	return n
}

// timely is a reader that fails once a context has ended, which ends the decoder.
type timely struct {
	ctx context.Context
	r   io.Reader
}

func (t *timely) Read(p []byte) (int, error) {
	if err := t.ctx.Err(); err != nil {
		return 0, err
	}
	return t.r.Read(p)
}

// quality is the quality of photos that are encoded again because they were turned.
const quality = 95

// picture decodes a picture. A picture that is stored on its side is turned upright, because readers may not support
// that.
func picture(ctx context.Context, content []byte) (Decoded, error) {
	info, err := Bytes(content)
	if err != nil {
		return Decoded{}, broken("picture in one of the formats JPEG, PNG and WebP")
	}
	if pixels := int64(info.Width) * int64(info.Height); pixels > media.MaxPixels {
		return Decoded{}, &Refused{TooLarge: true, Message: fmt.Sprintf("The picture has %d x %d pixels. It may have "+
			"up to %d million.", info.Width, info.Height, media.MaxPixels/1_000_000)}
	}
	most := min(maxScans, maxScanned/max(1, info.Width*info.Height))
	if info.MIMEType == "image/jpeg" && scans(content) > most {
		return Decoded{}, &Refused{TooLarge: true, Message: fmt.Sprintf("The picture is drawn in more than %d scans. "+
			"Save it again, as a JPEG that is not progressive.", most)}
	}
	as := forms[info.MIMEType]
	decoded, err := as.decode(&timely{ctx, bytes.NewReader(content)})
	if ctx.Err() != nil {
		return Decoded{}, ctx.Err()
	}
	if err != nil {
		return Decoded{}, broken(as.name)
	}
	kept, orientation := as.strip(content)
	like := provenance.LikenessOf(decoded)
	if orientation == 1 {
		small, err := Thumbnail(decoded)
		if err != nil {
			return Decoded{}, err
		}
		kept, err := originKept(ctx, kept, content)
		return Decoded{Info: info, Content: kept, Likeness: like, Thumbnail: small}, err
	}
	upright := upright(decoded, orientation)
	small, err := Thumbnail(upright)
	if err != nil {
		return Decoded{}, err
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, upright, &jpeg.Options{Quality: quality}); err != nil {
		return Decoded{}, fmt.Errorf("decode: encode a picture: %w", err)
	}
	if orientation >= 5 {
		info.Width, info.Height = info.Height, info.Width
	}
	turned := out.Bytes()
	if _, inks := decoded.(*image.CMYK); !inks {
		turned = withProfile(turned, kept)
	}
	turned, err = originKept(ctx, turned, content)
	return Decoded{Info: info, Content: turned, Likeness: provenance.LikenessOf(upright), Thumbnail: small}, err
}

// originKept returns a picture without metadata with what the file has said of its origin in XMP, and the credit line
// of a model. Everything else that was there, such as a place or a name, is left out.
func originKept(ctx context.Context, stripped, content []byte) ([]byte, error) {
	found, err := provenance.Read(ctx, bytes.NewReader(content), int64(len(content)))
	said := found.Statement
	if said.Source != provenance.Generated && said.Source != provenance.Composite {
		said.Credit = "" // the name of a person, and not that of a model
	}
	if errors.Is(err, provenance.ErrUnsupported) || err == nil && said == (provenance.Statement{}) {
		return stripped, nil
	}
	if err != nil {
		return nil, err
	}
	return provenance.Marked(ctx, stripped, said)
}

// upright turns and mirrors a picture according to its orientation (EXIF 2.3, 4.6.4).
func upright(from image.Image, orientation int) *image.RGBA {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	stored := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(stored, stored.Bounds(), from, b.Min, draw.Src)
	turned := image.NewRGBA(image.Rect(0, 0, w, h))
	if orientation >= 5 {
		turned = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range turned.Rect.Dy() {
		for x := range turned.Rect.Dx() {
			turned.SetRGBA(x, y, at(stored, orientation, x, y))
		}
	}
	return turned
}

// at returns the pixel that is shown at a position.
func at(stored *image.RGBA, orientation, x, y int) color.RGBA {
	right, bottom := stored.Rect.Dx()-1, stored.Rect.Dy()-1
	switch orientation {
	case 2:
		x = right - x
	case 3:
		x, y = right-x, bottom-y
	case 4:
		y = bottom - y
	case 5:
		x, y = y, x
	case 6:
		x, y = y, bottom-x
	case 7:
		x, y = right-y, bottom-x
	case 8:
		x, y = right-y, x
	}
	return stored.RGBAAt(x, y)
}
