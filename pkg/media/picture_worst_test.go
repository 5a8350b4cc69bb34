package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/content-automation/api/infra/verify/harness/cost"
	"github.com/content-automation/api/pkg/media/picture"
)

// The bounds of a picture, whatever its header claims.
const (
	mostCPU    = 3 * time.Second
	mostMemory = 200 << 20
)

// noise is a picture of which every twelfth row is noise, so that its file is not too large.
func noise(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{})
	for y := range h {
		if y%12 == 0 {
			_, _ = r.Read(img.Pix[y*img.Stride : (y+1)*img.Stride])
		}
	}
	return img
}

func encoded(t *testing.T, encode func(io.Writer, image.Image) error, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asPNG(w io.Writer, img image.Image) error {
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
}

func asJPEG(w io.Writer, img image.Image) error {
	return jpeg.Encode(w, img, &jpeg.Options{Quality: 50})
}

// exif is what says how a picture is turned.
func exif(orientation byte) string {
	return "II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(orientation) + "\x00\x00\x00\x00\x00\x00\x00"
}

func chunk(name, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(b, name+body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// oriented adds an orientation to a JPEG or a PNG.
func oriented(content []byte, orientation byte) []byte {
	if content[0] == 0xff {
		body := "Exif\x00\x00" + exif(orientation)
		part := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(body)+2))
		return slices.Concat(content[:2], append(part, body...), content[2:])
	}
	return slices.Concat(content[:33], chunk("eXIf", exif(orientation)), content[33:])
}

// claimed returns a PNG whose header claims another size.
func claimed(content []byte, w, h uint32) []byte {
	body := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
	return slices.Concat(content[:8], chunk("IHDR", string(body)+string(content[24:29])), content[33:])
}

// drawn draws a picture in all ways in which the service does.
func drawn(content []byte) error {
	ctx := context.Background()
	p, err := picture.Open(content)
	if err != nil {
		return err
	}
	d, err := p.Decode(ctx)
	if err != nil {
		return err
	}
	if p.Orientation != 1 {
		_, _, _, err = d.Upright(ctx)
		return err
	}
	_, err = d.Cover(ctx, image.Pt(1228, 2182))
	return err
}

// The largest pictures of each form are drawn within the bounds, and what would take more is refused.
func TestNoPictureTakesMoreThanTheBounds(t *testing.T) {
	large := noise(7_000, 7_000)
	photo, drawing := encoded(t, asJPEG, large), encoded(t, asPNG, large)
	square := image.Rect(0, 0, 7_000, 7_000)
	flat := encoded(t, png.Encode, image.NewPaletted(square, color.Palette{color.White, color.Black}))
	deep := encoded(t, asPNG, image.NewNRGBA64(square))
	large = nil
	middle := encoded(t, asPNG, noise(4_200, 4_200))
	thin := encoded(t, png.Encode, image.NewGray(image.Rect(0, 0, 30_000, 1)))
	tall := encoded(t, png.Encode, image.NewGray(image.Rect(0, 0, 1, 30_000)))
	for name, c := range map[string]struct {
		content []byte
		refused bool
	}{
		"a JPEG of 49 MP":                 {content: photo},
		"a JPEG of 49 MP on its side":     {content: oriented(photo, 6)},
		"a PNG of 49 MP":                  {content: drawing},
		"a PNG of 49 MP on its side":      {content: oriented(drawing, 6), refused: true},
		"a PNG of 17 MP on its side":      {content: oriented(middle, 6)},
		"a flat PNG of 49 MP":             {content: flat},
		"a flat PNG of 49 MP on its side": {content: oriented(flat, 6), refused: true},
		"a PNG of 49 MP, 16 bits":         {content: deep},
		"30,000 x 1":                      {content: thin},
		"1 x 30,000":                      {content: tall},
		"30,000 x 1 on its side":          {content: oriented(thin, 8)},
		"140 x 1":                         {content: pictureSample(t, "strip_140x1.png")},
		"a bomb of 189 MP":                {content: claimed(thin, 14_000, 13_500), refused: true},
		"a bomb of 4,000 MP":              {content: claimed(thin, 65_000, 65_000), refused: true},
	} {
		var err error
		cost.Within(t, name, mostCPU, mostMemory, func() { err = drawn(c.content) })
		if (err != nil) != c.refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}
