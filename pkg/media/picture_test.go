package media_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/content-automation/api/pkg/media/picture"
)

func pictureSample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "media", "pictures", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// decode decodes a file that is whole.
func decode(t *testing.T, name string, content []byte) *picture.Decoded {
	t.Helper()
	p, err := picture.Open(content)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	d, err := p.Decode(t.Context())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return d
}

// whole draws a picture in its own size.
func whole(t *testing.T, name string, d *picture.Decoded) *image.NRGBA {
	t.Helper()
	img, err := d.Within(t.Context(), image.Pt(d.Width, d.Height))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return img
}

// off returns the greatest difference of a value of two colors.
func off(got color.NRGBA, want [3]uint8) (worst int) {
	for i, v := range []uint8{got.R, got.G, got.B} {
		worst = max(worst, int(v)-int(want[i]), int(want[i])-int(v))
	}
	return worst
}

// The colors are those of lcms2, whose results are in the table (testdata/media/pictures/make.py makes it).
func TestColorsAreConvertedByTheirProfiles(t *testing.T) {
	var right map[string][][3]uint8
	if err := json.Unmarshal(pictureSample(t, "lcms2.json"), &right); err != nil || len(right) < 10 {
		t.Fatalf("%d files: %v", len(right), err)
	}
	for name, want := range right {
		d := decode(t, name, pictureSample(t, name))
		large, err := d.Within(t.Context(), image.Pt(1080, 1350))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, img := range []*image.NRGBA{whole(t, name, d), large} {
			for i, c := range want {
				x := (2*i + 1) * img.Rect.Dx() / (2 * len(want))
				if got := img.NRGBAAt(x, img.Rect.Dy()/2); off(got, c) > 3 {
					t.Errorf("%s: the color %d is %v, and should be %v", name, i, got, c)
				}
			}
		}
	}
}

// The six swatches of a photo of a phone, which are colors of sRGB in Display P3.
func TestAPhotoOfAPhoneHasItsColors(t *testing.T) {
	for _, name := range []string{"p3.jpg", "p3.png"} {
		img := whole(t, name, decode(t, name, pictureSample(t, name)))
		for i, want := range [][3]uint8{{200, 60, 50}, {60, 160, 70}, {40, 80, 190}, {230, 180, 60}, {180, 60, 160},
			{128, 128, 128}} {
			at := image.Pt(img.Rect.Dx()/2, img.Rect.Dy()*(2*i+1)/12)
			if got := img.NRGBAAt(at.X, at.Y); off(got, want) > 3 {
				t.Errorf("%s: the color %d is %v, and should be %v", name, i, got, want)
			}
		}
	}
}

// A picture of every format is drawn and stored upright: red is left above and blue right above, on white or on
// nothing.
func TestPicturesAreUpright(t *testing.T) {
	names := []string{"turned6_inks.jpg"}
	for o := 1; o <= 8; o++ {
		for _, end := range []string{".jpg", ".png", "_lossy.webp", "_lossless.webp", "_alpha.webp", "_alpha.png"} {
			names = append(names, fmt.Sprintf("turned%d%s", o, end))
		}
	}
	for _, name := range names {
		d := decode(t, name, pictureSample(t, name))
		upright(t, name+" drawn", d)
		if d.Orientation == 1 {
			continue
		}
		content, mime, ext, err := d.Upright(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		stored := decode(t, name, content)
		if stored.Orientation != 1 || stored.MIMEType != mime || ext == "" {
			t.Errorf("%s is stored as %s, .%s, with the orientation %d", name, mime, ext, stored.Orientation)
		}
		upright(t, name+" stored", stored)
	}
}

func upright(t *testing.T, name string, d *picture.Decoded) {
	t.Helper()
	if d.Width != 96 || d.Height != 64 {
		t.Errorf("%s has %d x %d pixels", name, d.Width, d.Height)
		return
	}
	img := whole(t, name, d)
	for at, want := range map[image.Point][3]uint8{{16, 16}: {255, 0, 0}, {80, 16}: {0, 0, 255},
		{16, 48}: {255, 255, 255},
		{80, 48}: {255, 255, 255}} {
		got := picture.Flat(img, image.White).RGBAAt(at.X, at.Y)
		if off(color.NRGBA(got), want) > 6 {
			t.Errorf("%s is %v at %v", name, got, at)
		}
	}
}

// A gray picture with a gray profile stays one when it is turned.
func TestATurnedGrayPictureIsGray(t *testing.T) {
	d := decode(t, "gray", pictureSample(t, "gray_icc_exif6.jpg"))
	before := whole(t, "gray", d)
	content, _, _, err := d.Upright(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	components := 0
	picture.Segments(content, func(marker byte, segment []byte) {
		if marker == 0xc0 {
			components = int(segment[9])
		}
	})
	if components != 1 || !bytes.Contains(content, []byte("GRAY")) {
		t.Errorf("it has %d components", components)
	}
	after := whole(t, "gray", decode(t, "gray", content))
	for _, at := range []image.Point{{20, 20}, {60, 90}, {before.Rect.Dx() - 9, before.Rect.Dy() - 9}} {
		c := before.NRGBAAt(at.X, at.Y)
		if got := after.NRGBAAt(at.X, at.Y); off(got, [3]uint8{c.R, c.G, c.B}) > 6 {
			t.Errorf("it was %v at %v, and is %v", c, at, got)
		}
	}
}

func TestLossyWebPHasTheFullRange(t *testing.T) {
	img := whole(t, "levels", decode(t, "levels", pictureSample(t, "levels.webp")))
	for at, want := range map[image.Point][3]uint8{{300, 200}: {0, 0, 0}, {900, 200}: {255, 255, 255},
		{600, 720}: {255, 0, 0}} {
		if got := img.NRGBAAt(at.X, at.Y); off(got, want) > 3 {
			t.Errorf("at %v is %v, and should be %v", at, got, want)
		}
	}
}

// Colors below what is transparent are not seen, however the picture is drawn.
func TestHiddenColorsAreNotSeen(t *testing.T) {
	for _, name := range []string{"hidden_magenta.png", "turned6_alpha.png", "turned3_alpha.webp", "pal_trns.png"} {
		d := decode(t, name, pictureSample(t, name))
		for _, size := range []image.Point{{1080, 1350}, {1080, 1080}, {30, 20}} {
			img, err := d.Cover(t.Context(), size)
			if err != nil || img.Rect.Size() != size {
				t.Fatalf("%s: %v, %v", name, img.Rect, err)
			}
			flat := picture.Flat(img, image.White)
			for i := 0; i < len(flat.Pix); i += 4 {
				if r, g, b := flat.Pix[i], flat.Pix[i+1], flat.Pix[i+2]; r > 200 && g < 100 && b > 200 {
					t.Fatalf("%s in %v shows %v", name, size, flat.Pix[i:i+3])
				}
			}
		}
	}
}

// The reader of rows finds what the reader of the standard library does, in every form of PNG.
func TestRowsOfAPNGAreThoseOfItsPixels(t *testing.T) {
	shades := make(color.Palette, 0, 16)
	for i := range 16 {
		shades = append(shades, color.NRGBA{uint8(16 * i), uint8(255 - i), uint8(i * i), uint8(255 - 9*i)})
	}
	size := image.Rect(0, 0, 61, 37)
	for _, img := range []interface {
		image.Image
		Set(x, y int, c color.Color)
	}{image.NewGray(size), image.NewGray16(size), image.NewNRGBA(size), image.NewRGBA(size), image.NewNRGBA64(size),
		image.NewPaletted(size, shades), image.NewPaletted(size, shades[:4]), image.NewPaletted(size, shades[:2])} {
		for y := range size.Dy() {
			for x := range size.Dx() {
				img.Set(x, y, color.NRGBA64{uint16(x * 1000), uint16(y * 1700), uint16(x * y * 29),
					0xffff - uint16(x*700)})
			}
		}
		content := encoded(t, png.Encode, img)
		want, err := png.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		got := whole(t, "PNG", decode(t, "PNG", content))
		for y := range size.Dy() {
			for x := range size.Dx() {
				c, is := color.NRGBAModel.Convert(want.At(x, y)).(color.NRGBA), got.NRGBAAt(x, y)
				if c.A > 8 && (off(is, [3]uint8{c.R, c.G, c.B}) > 1 || max(is.A, c.A)-min(is.A, c.A) > 1) {
					t.Fatalf("%T: %v at %d, %d, and should be %v", img, is, x, y, c)
				}
			}
		}
	}
}

// A picture is cropped before it is scaled, and its middle stays.
func TestTheMiddleIsShown(t *testing.T) {
	wide := image.NewGray(image.Rect(0, 0, 3_000, 30))
	for y := range 30 {
		for x := 1_485; x < 1_515; x++ {
			wide.SetGray(x, y, color.Gray{255})
		}
	}
	img, err := decode(t, "wide", encoded(t, png.Encode, wide)).Cover(t.Context(), image.Pt(300, 300))
	if err != nil || img.NRGBAAt(150, 150).R != 255 || img.NRGBAAt(8, 8).R < 200 {
		t.Errorf("%v, %v", img.NRGBAAt(8, 8), err)
	}
}

func TestBrokenFiles(t *testing.T) {
	plain := pictureSample(t, "exif6.png")
	for name, content := range map[string][]byte{
		"half a PNG":    plain[:len(plain)/2],
		"an empty PNG":  plain[:33],
		"half a JPEG":   pictureSample(t, "p3.jpg")[:30_000],
		"half a WebP":   pictureSample(t, "exif6.webp")[:400],
		"no picture":    []byte("GIF89a......................"),
		"a wrong pixel": changed(plain, bytes.Index(plain, []byte("IDAT"))+20),
		"a wrong size":  claimed(plain, 10, 10_000),
	} {
		if err := drawn(content); !errors.Is(err, picture.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"badcrc_text.png", "badcrc_iccp.png", "noeoi.jpg", "mpo.jpg", "trailing.jpg"} {
		if err := drawn(pictureSample(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"animated.webp", "animated.png", "apng.png"} {
		if p, err := picture.Open(pictureSample(t, name)); err != nil || !p.Animated {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func changed(content []byte, at int) []byte {
	content = slices.Clone(content)
	content[at] ^= 0x55
	return content
}

// The reader of profiles takes no more than there is, whatever a profile claims.
func FuzzPicture(f *testing.F) {
	for _, name := range []string{"adobe_rgb.jpg", "v4_lut.png", "inks.jpg", "turned5_alpha.webp", "gray_gamma18.png"} {
		content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "media", "pictures", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := picture.Open(content)
		if err != nil || p.Width*p.Height > 1<<20 {
			return
		}
		if d, err := p.Decode(context.Background()); err == nil {
			_, _ = d.Cover(t.Context(), image.Pt(40, 50))
		}
	})
}

// A profile whose table claims more than there is counts for nothing.
func TestAHostileProfileCountsForNothing(t *testing.T) {
	content := pictureSample(t, "adobe_rgb.jpg")
	at := bytes.Index(content, picture.ProfileMark) + len(picture.ProfileMark) + 2
	for name, change := range map[string]func(profile []byte){
		"four billion tags": func(p []byte) { copy(p[128:], "\xff\xff\xff\xff") },
		"a tag of 4 GB":     func(p []byte) { copy(p[132+8:], "\xff\xff\xff\x00") },
		"a tag behind":      func(p []byte) { copy(p[132+4:], "\x7f\xff\xff\x00") },
		"no colors":         func(p []byte) { copy(p[16:], "5CLR") },
		"no connection":     func(p []byte) { copy(p[20:], "none") },
	} {
		hostile := slices.Clone(content)
		change(hostile[at:])
		img := whole(t, name, decode(t, name, hostile))
		if got := img.NRGBAAt(16, 16); off(got, [3]uint8{200, 60, 50}) > 3 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
