package probe_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/picture"
)

// case of a picture of public reports.
func reported(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "pictures", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// A picture of every format is stored upright, and says what it has become.
func TestPicturesOfEveryFormatAreStoredUpright(t *testing.T) {
	for name, want := range map[string]string{"exif6.webp": "image/jpeg", "exif6.png": "image/png",
		"exif5.jpg": "image/jpeg", "gray_icc_exif6.jpg": "image/jpeg", "turned7_alpha.webp": "image/png",
		"turned2_lossless.webp": "image/png", "turned4_lossy.webp": "image/jpeg", "turned6_inks.jpg": "image/jpeg"} {
		f, err := read(reported(t, name))
		if err != nil || f.MIMEType != want || f.Content == nil || f.Came == "" {
			t.Errorf("%s: %+v, %v", name, f.Info, err)
			continue
		}
		p, err := picture.Open(f.Content)
		if err != nil || p.Orientation != 1 || p.Width != f.Width || p.Height != f.Height {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		if again, err := read(f.Content); err != nil || again.Content != nil {
			t.Errorf("%s: what is stored changes again: %v", name, err)
		}
		if strings.HasPrefix(name, "exif6.") && (f.Width != 600 || f.Height != 400) {
			t.Errorf("%s has %d x %d pixels", name, f.Width, f.Height)
		}
	}
}

// What says nothing about a person stays, byte for byte: the signature of the file holds.
func TestAFileWithoutPersonalDataStaysAsItIs(t *testing.T) {
	for _, name := range []string{"ours_signed.jpg", "p3.png", "cmyk.jpg", "levels.webp", "turned1_lossless.webp"} {
		content := reported(t, name)
		if strings.HasPrefix(name, "turned") { // EXIF is personal
			content = content[:len(content):len(content)]
		}
		f, err := read(content)
		if err != nil || f.Content != nil != strings.HasPrefix(name, "turned") {
			t.Errorf("%s: %d bytes are stored in place of %d: %v", name, len(f.Content), len(content), err)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, marks(3, 2), nil); err != nil {
		t.Fatal(err)
	}
	for comment, stays := range map[string]bool{"Lavc61.19.100": true, "CREATOR: gd-jpeg v1.0 (using IJG JPEG v80)": true,
		"Jane's garden": false, "Lavc61 and Jane": false} {
		content := with(t, b.Bytes(), "\xfe", comment)
		if f, err := read(content); err != nil || (f.Content == nil) != stays {
			t.Errorf("%q: %d bytes are stored, %v", comment, len(f.Content), err)
		}
	}
}

// Files with faults that browsers do not mind are taken, without the part that is wrong.
func TestSmallFaultsAreMended(t *testing.T) {
	for _, name := range []string{"badcrc_text.png", "badcrc_iccp.png", "noeoi.jpg"} {
		f, err := read(reported(t, name))
		if err != nil || f.Content == nil {
			t.Errorf("%s: %d bytes, %v", name, len(f.Content), err)
			continue
		}
		if _, _, err := image.Decode(bytes.NewReader(f.Content)); err != nil {
			t.Errorf("%s: what is stored: %v", name, err)
		}
	}
	content := bytes.Clone(reported(t, "p3.png"))
	content[bytes.Index(content, []byte("IHDR"))-8+4+4+17] ^= 1 // the checksum of the header
	refused(t, "a wrong header", content)
}

func TestAnimatedPicturesAreRefused(t *testing.T) {
	for _, name := range []string{"animated.webp", "animated.png", "apng.png"} {
		if r := refused(t, name, reported(t, name)); !strings.Contains(r.Message, "animated") {
			t.Errorf("%s: %s", name, r.Message)
		}
	}
}

// A thumbnail has the colors of the picture, in sRGB.
func TestThumbnailsHaveTheColorsOfThePicture(t *testing.T) {
	for name, want := range map[string][]struct {
		x, y int
		c    [3]int
	}{
		"levels.webp": {{100, 60, [3]int{0, 0, 0}}, {300, 60, [3]int{255, 255, 255}}, {200, 250, [3]int{255, 0, 0}}},
		"p3.jpg":      {{200, 42, [3]int{200, 60, 50}}, {200, 125, [3]int{60, 160, 70}}, {200, 208, [3]int{40, 80, 190}}},
		"p3.png":      {{200, 42, [3]int{200, 60, 50}}, {200, 125, [3]int{60, 160, 70}}, {200, 208, [3]int{40, 80, 190}}},
	} {
		f, err := read(reported(t, name))
		if err != nil || f.Thumbnail == nil {
			t.Fatalf("%s: %v", name, err)
		}
		img, err := jpeg.Decode(bytes.NewReader(f.Thumbnail))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range want {
			r, g, b, _ := img.At(at.x, at.y).RGBA()
			for i, v := range []int{int(r >> 8), int(g >> 8), int(b >> 8)} {
				if v-at.c[i] > 4 || at.c[i]-v > 4 {
					t.Errorf("%s: %d, %d, %d at %d, %d, and should be %v", name, r>>8, g>>8, b>>8, at.x, at.y, at.c)
					break
				}
			}
		}
	}
}
