package probe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/probe"
)

func read(content []byte) (probe.Decoded, error) {
	return probe.Decode(context.Background(), bytes.NewReader(content), int64(len(content)))
}

// refused returns why a file is refused.
func refused(t *testing.T, name string, content []byte) probe.Refused {
	t.Helper()
	_, err := read(content)
	r := new(probe.Refused)
	if !errors.As(err, &r) || r.Message == "" {
		t.Fatalf("%s: %v", name, err)
	}
	return *r
}

func sample(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// marks is a picture of w x h pixels that is red at its first pixel and white elsewhere, in
// squares of 8, which JPEG keeps apart.
func marks(w, h int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, w*8, h*8))
	for y := range h * 8 {
		for x := range w * 8 {
			c := color.RGBA{255, 255, 255, 255}
			if x < 8 && y < 8 {
				c = color.RGBA{255, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

// photo is a JPEG of 3 x 2 squares with segments of metadata behind its start.
func photo(t *testing.T, segments ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, marks(3, 2), &jpeg.Options{Quality: 100}); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(b.Bytes()[:2], slices.Concat(segments...), b.Bytes()[2:])
}

func segment(marker byte, body string) []byte {
	b := []byte{0xff, marker}
	return append(binary.BigEndian.AppendUint16(b, uint16(len(body)+2)), body...)
}

// exif is a segment with an orientation and a place.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	b := []byte("MM\x00\x2a")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		b = []byte("II\x2a\x00")
	}
	b = order.AppendUint32(b, 8)
	b = order.AppendUint16(b, 2)
	for _, entry := range [][2]uint16{{0x0112, orientation}, {0x8825, 1}} {
		b = order.AppendUint16(b, entry[0])
		b = order.AppendUint16(b, 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, entry[1])
		b = order.AppendUint16(b, 0)
	}
	return segment(0xe1, "Exif\x00\x00"+string(b)+"\x00\x00\x00\x00GPS 48.13 N")
}

func TestFormatsAreRecognised(t *testing.T) {
	for name, want := range map[string]struct {
		mime   string
		t      media.Type
		length bool
	}{
		"image-4x5.png": {"image/png", media.Image, false}, "slide-1.jpg": {"image/jpeg", media.Image, false},
		"voice.mp3": {"audio/mpeg", media.Audio, true}, "voice.wav": {"audio/wav", media.Audio, true},
		"video-9x16.mp4": {"video/mp4", media.Video, true},
	} {
		f, err := read(sample(t, name))
		if err != nil || f.MIMEType != want.mime || f.Type != want.t || (f.Duration > 0) != want.length ||
			(f.Width > 0) != (want.t != media.Audio) {
			t.Errorf("%s is %+v, %v", name, f.Info, err)
		}
	}
}

// A picture is shown as it was meant, whoever fetches it.
func TestAPictureIsTurnedUpright(t *testing.T) {
	for orientation, corner := range map[uint16]image.Point{
		1: {0, 0}, 2: {2, 0}, 3: {2, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 2}, 8: {0, 2},
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			f, err := read(photo(t, exif(order, orientation)))
			if err != nil {
				t.Fatal(err)
			}
			img, err := jpeg.Decode(bytes.NewReader(f.Content))
			if err != nil {
				t.Fatal(err)
			}
			w, h := 24, 16
			if orientation >= 5 {
				w, h = h, w
			}
			if f.Width != w || f.Height != h || img.Bounds().Dx() != w || img.Bounds().Dy() != h {
				t.Errorf("orientation %d: %d x %d, the picture has %v", orientation, f.Width, f.Height, img.Bounds())
			}
			if _, g, _, _ := img.At(corner.X*8+4, corner.Y*8+4).RGBA(); g > 0x4000 {
				t.Errorf("orientation %d: what was first is not at %v", orientation, corner)
			}
		}
	}
}

func TestWhatIsBesideThePictureIsLeftOut(t *testing.T) {
	profile := segment(0xe2, "ICC_PROFILE\x00\x01\x01profile")
	for _, orientation := range []uint16{1, 6} {
		f, err := read(append(photo(t, exif(binary.BigEndian, orientation), profile,
			segment(0xe1, "http://ns.adobe.com/xap/1.0/\x00xmp"), segment(0xe2, "MPF\x00more"),
			segment(0xed, "Photoshop 3.0"), segment(0xfe, "a comment")), "behind the end"...))
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range []string{"GPS", "xmp", "MPF", "Photoshop", "comment", "behind"} {
			if bytes.Contains(f.Content, []byte(left)) {
				t.Errorf("orientation %d: %s stays", orientation, left)
			}
		}
		if !bytes.Contains(f.Content, profile) {
			t.Errorf("orientation %d: the colour profile is lost", orientation)
		}
		again, err := read(f.Content)
		if err != nil || again.Content != nil {
			t.Errorf("orientation %d: what was kept changes again: %v", orientation, err)
		}
	}
}

func TestTextsOfAPNGAreLeftOut(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, marks(1, 1)); err != nil {
		t.Fatal(err)
	}
	plain := b.Bytes()
	if f, err := read(plain); err != nil || f.Content != nil {
		t.Errorf("a plain picture changes: %v", err)
	}
	text := chunk("tEXt", "Comment\x00GPS 48.13 N")
	f, err := read(append(slices.Concat(plain[:33], text, chunk("eXIf", "GPS"), plain[33:]), "behind"...))
	if err != nil || !bytes.Equal(f.Content, plain) {
		t.Errorf("%v; %q", err, f.Content)
	}
}

func chunk(name, body string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	b = append(b, name+body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(name+body)))
}

// webp is a lossless picture of 6 x 4 pixels with transparency, as libwebp writes it.
const webp = "RIFF\x1c\x00\x00\x00WEBPVP8L\x10\x00\x00\x00\x2f\x05\xc0\x00\x10\x07\x50\xc0\x28\x60\xff\x02\x11\xd1\xff\x00"

func TestMetadataOfAWebPAreLeftOut(t *testing.T) {
	if f, err := read([]byte(webp)); err != nil || f.Content != nil || f.Width != 6 || f.Height != 4 {
		t.Fatalf("%+v, %v", f, err)
	}
	extended := "VP8X\x0a\x00\x00\x00\x1c\x00\x00\x00\x05\x00\x00\x03\x00\x00" + webp[12:] +
		"EXIF\x03\x00\x00\x00GPS\x00" + "XMP \x04\x00\x00\x00more"
	whole := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(extended))), "WEBP"+extended...)
	f, err := read(whole)
	if err != nil || len(f.Content) != len(whole)-24 || strings.Contains(string(f.Content), "GPS") ||
		f.Content[20] != 0x10 {
		t.Fatalf("%q, %v", f.Content, err)
	}
	if again, err := read(f.Content); err != nil || again.Width != 6 || again.Content != nil {
		t.Errorf("%+v, %v", again, err)
	}
}

// The pixels of a bomb are never decoded: it says itself how many there are.
func TestABombIsRefused(t *testing.T) {
	header := "\x00\x00\xc3\x50\x00\x00\xc3\x50\x08\x02\x00\x00\x00" // 50,000 x 50,000
	bomb := slices.Concat([]byte("\x89PNG\r\n\x1a\n"), chunk("IHDR", header), chunk("IDAT", ""), chunk("IEND", ""))
	grown := testing.AllocsPerRun(1, func() {
		if r := refused(t, "a bomb", bomb); !r.TooLarge {
			t.Errorf("it is refused as %+v", r)
		}
	})
	if grown > 1000 {
		t.Errorf("a bomb takes %v allocations", grown)
	}
}

// progressive is a picture of a grey level that so many scans after the first refine, each
// with data for a fraction of it. Between two segments is something else.
func progressive(side uint16, scans int, between string) []byte {
	u16 := func(n uint16) string { return string(binary.BigEndian.AppendUint16(nil, n)) }
	// One component, and a table of codes that has two: the difference 0, and the end of
	// 32,767 blocks.
	frame := segment(0xc2, "\x08"+u16(side)+u16(side)+"\x01\x01\x11\x00")
	table := func(class string, symbol string) []byte {
		return segment(0xc4, class+"\x01"+strings.Repeat("\x00", 15)+symbol)
	}
	blocks := (int(side) + 7) / 8 * ((int(side) + 7) / 8)
	dc := slices.Concat(segment(0xda, "\x01\x01\x00\x00\x00\x00"), make([]byte, blocks/8+1))
	ends := blocks/16384 + 1
	ac := slices.Concat([]byte(between), segment(0xda, "\x01\x01\x00\x01\x3f\x00"), make([]byte, ends*15/8+1))
	return slices.Concat([]byte("\xff\xd8"), segment(0xdb, "\x00"+strings.Repeat("\x01", 64)), frame,
		table("\x00", "\x00"), table("\x10", "\xe0"), dc, bytes.Repeat(ac, scans), []byte("\xff\xd9"))
}

// Each scan of a progressive JPEG goes over all of its pixels, however short its data are.
func TestAPictureOfManyScansIsRefused(t *testing.T) {
	if f, err := read(progressive(64, 60, "")); err != nil || f.Width != 64 {
		t.Fatalf("60 scans: %+v, %v", f.Info, err)
	}
	for name, between := range map[string]string{"": "", "with garbage between": "garbage",
		"with markers between": "\xff\x00\xff\xd0\xff"} {
		// The time of the bubble stands still meanwhile, so that the end of decoding's time is not why it is refused.
		synctest.Test(t, func(t *testing.T) {
			if r := refused(t, "1,000 scans "+name, progressive(7040, 1000, between)); !r.TooLarge {
				t.Errorf("it is refused as %+v", r)
			}
		})
	}
	if r := refused(t, "101 scans", progressive(64, 100, "")); !r.TooLarge {
		t.Errorf("101 scans are refused as %+v", r)
	}
}

// late is a reader that takes a while for its first byte.
type late struct {
	*bytes.Reader
	while time.Duration
}

func (l *late) ReadAt(p []byte, at int64) (int, error) {
	<-time.After(l.while)
	l.while = 0
	return l.Reader.ReadAt(p, at)
}

func TestDecodingTakesAWhileAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		content := photo(t)
		look := func(ctx context.Context, while time.Duration) error {
			_, err := probe.Decode(ctx, &late{bytes.NewReader(content), while}, int64(len(content)))
			return err
		}
		if err := look(t.Context(), 19*time.Second); err != nil {
			t.Errorf("within its time: %v", err)
		}
		if r := new(probe.Refused); !errors.As(look(t.Context(), 21*time.Second), &r) || !r.TooLarge {
			t.Errorf("after its time: %+v", r)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := look(ctx, 2*time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a function whose time is over: %v", err)
		}
	})
}

func TestBrokenFilesAreRefused(t *testing.T) {
	whole := map[string][]byte{
		"JPEG": photo(t), "PNG": sample(t, "image-4x5.png"), "WebP": []byte(webp), "MP3": sample(t, "voice.mp3")[:3],
		"WAV": sample(t, "voice.wav")[:30], "MP4": sample(t, "video-9x16.mp4"),
	}
	for name, content := range whole {
		if r := refused(t, "half a "+name, content[:len(content)/2]); r.TooLarge {
			t.Errorf("half a %s is refused as %+v", name, r)
		}
	}
	for name, content := range map[string]string{
		"nothing": "", "a byte": "\xff", "a text": "A text.", "SVG": "<svg/>", "HTML": "<html>",
		"GIF": "GIF89a\x01\x00\x01\x00", "captions": "WEBVTT\n\n00:00.000 --> 00:01.000\nHi",
		"QuickTime": "\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  ", "a JPEG in name": "\xff\xd8\xff",
		"an M4A in name": "\x00\x00\x00\x14ftypM4A \x00\x00\x00\x00M4A ",
	} {
		refused(t, name, []byte(content))
	}
	large := append([]byte("\xff\xd8\xff"), make([]byte, 20<<20)...)
	if r := refused(t, "a large one", large); !r.TooLarge {
		t.Errorf("a large one is refused as %+v", r)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(webp))
	f.Add(slices.Concat([]byte("\xff\xd8"), exif(binary.BigEndian, 6), []byte("\xff\xda\x00\x02\x00\xff\xd9")))
	f.Add(slices.Concat([]byte("\x89PNG\r\n\x1a\n"),
		chunk("IHDR", "\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"), chunk("IEND", "")))
	f.Fuzz(func(t *testing.T, content []byte) {
		_, err := read(content)
		if r := new(probe.Refused); err != nil && !errors.As(err, &r) {
			t.Errorf("%v is no refusal", err)
		}
	})
}
