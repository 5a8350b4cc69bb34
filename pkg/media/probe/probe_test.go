package probe

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/media"
)

// sample reads a file of the set that the sandbox serves.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "providers", "sample", "media", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// Pictures of 6 x 4 pixels as libwebp writes them: lossy, and lossless with
// transparency.
var (
	webpLossy    = unhex("52494646340000005745425056503820280000007001009d012a0600040002c04c25a0027401400000feeb8e5e473bd2a557ff295ffb1aff05795000")
	webpLossless = unhex("524946461c000000574542505650384c100000002f05c000100750c02860ff0211d1ff00")
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func TestRealFilesTellTheirFormatSizeAndLength(t *testing.T) {
	ms := time.Millisecond
	for _, c := range []struct {
		name    string
		content []byte
		want    Info
	}{
		{"PNG", sample(t, "image-4x5.png"), Info{media.Image, "image/png", "png", 1080, 1350, 0, media.Movie{}}},
		{"JPEG", sample(t, "slide-1.jpg"), Info{media.Image, "image/jpeg", "jpg", 1080, 1080, 0, media.Movie{}}},
		{"lossy WebP", webpLossy, Info{media.Image, "image/webp", "webp", 6, 4, 0, media.Movie{}}},
		{"lossless WebP", webpLossless, Info{media.Image, "image/webp", "webp", 6, 4, 0, media.Movie{}}},
		{"upright MP4", sample(t, "video-9x16.mp4"), Info{media.Video, "video/mp4", "mp4", 540, 960, 3000 * ms, media.Movie{}}},
		{"wide MP4", sample(t, "video-16x9.mp4"), Info{media.Video, "video/mp4", "mp4", 960, 540, 3000 * ms, media.Movie{}}},
		{"WAV", sample(t, "voice.wav"), Info{media.Audio, "audio/wav", "wav", 0, 0, 1477 * ms, media.Movie{}}},
		{"MP3", sample(t, "music.mp3"), Info{media.Audio, "audio/mpeg", "mp3", 0, 0, 6034 * ms, media.Movie{}}},
		{"WebVTT", []byte("WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello\n"),
			Info{media.Captions, "text/vtt", "vtt", 0, 0, 0, media.Movie{}}},
		{"WebVTT with a title", []byte("\ufeffWEBVTT Greetings\r\n\r\n00:00.000 --> 00:01.000\r\nHello\r\n"),
			Info{media.Captions, "text/vtt", "vtt", 0, 0, 0, media.Movie{}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Bytes(c.content)
			if err != nil {
				t.Fatal(err)
			}
			if d := (got.Duration - c.want.Duration).Abs(); d > ms {
				t.Errorf("plays %v, want %v", got.Duration, c.want.Duration)
			}
			got.Duration, got.Movie = c.want.Duration, media.Movie{} // see TestTheDescriptionOfAVideo
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestSecondsAreRoundedToTheMillisecond(t *testing.T) {
	if got := (Info{Duration: 1477187500 * time.Nanosecond}).Seconds(); got != 1.477 {
		t.Errorf("got %v, want 1.477", got)
	}
}

func TestFormatsThatNobodyAskedForAreRefused(t *testing.T) {
	quicktime := bytes.Clone(sample(t, "video-9x16.mp4"))
	copy(quicktime[8:], "qt  ")
	audioOnly := bytes.ReplaceAll(sample(t, "video-9x16.mp4"), []byte("vide"), []byte("soun"))
	for name, content := range map[string][]byte{
		"nothing":             {},
		"one byte":            {0xff},
		"text":                []byte("<html><body>not found</body></html>"),
		"GIF":                 []byte("GIF89a\x04\x00\x04\x00\x00\x00\x00;"),
		"AAC":                 append([]byte{0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc}, make([]byte, 64)...),
		"AVI":                 []byte("RIFF\x10\x00\x00\x00AVI LIST\x00\x00\x00\x00"),
		"HEIC":                []byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"),
		"QuickTime":           quicktime,
		"MP4 without a video": audioOnly,
		"a tag without sound": append([]byte("ID3\x04\x00\x00\x00\x00\x00\x04"), make([]byte, 40)...),
		"captions of nothing": []byte("WEBVTT\n"),
		"other captions":      []byte("WEBVTTX\n\n00:00.000 --> 00:01.000\nHello\n"),
		"captions in bytes":   []byte("WEBVTT\n\n00:00.000 --> 00:01.000\n\xff\xfe\n"),
		"captions with a NUL": []byte("WEBVTT\n\n00:00.000 --> 00:01.000\n\x00\n"),
		"endless captions": append([]byte("WEBVTT\n\n00:00.000 --> 00:01.000\n"),
			bytes.Repeat([]byte("a"), maxCaptions)...),
		"WAV without a rate": []byte("RIFF\x24\x00\x00\x00WAVEdata\x04\x00\x00\x00\x00\x00\x00\x00"),
	} {
		if info, err := Bytes(content); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %+v, %v; want ErrUnsupported", name, info, err)
		}
	}
}

// A file cut off anywhere, or with any one byte of its beginning changed, either
// is refused or returns plausible figures, and never crashes the worker.
func TestBrokenFilesNeverBreakTheReader(t *testing.T) {
	check := func(name string, content []byte) {
		info, err := Bytes(content)
		if err != nil {
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%s: %v is not ErrUnsupported", name, err)
			}
			return
		}
		if info.Width < 0 || info.Width > 1<<16 || info.Height < 0 || info.Height > 1<<16 || info.Duration < 0 {
			t.Errorf("%s: got %+v", name, info)
		}
	}
	for _, name := range []string{"image-21x9.png", "slide-4.jpg", "video-9x16.mp4", "voice.wav", "music.mp3"} {
		content := sample(t, name)
		for cut := 0; cut < min(len(content), 3000); cut += 7 {
			check(name+" cut", content[:cut])
		}
		spoiled := bytes.Clone(content)
		for i := range min(len(content), 3000) {
			for _, b := range []byte{0x00, 0x7f, 0xff} {
				spoiled[i] = b
				check(name+" spoiled", spoiled)
			}
			spoiled[i] = content[i]
		}
	}
}

func TestAFileThatCannotBeReadIsNotBlamed(t *testing.T) {
	cause := errors.New("disk on fire")
	for _, name := range []string{"image-21x9.png", "slide-4.jpg", "video-9x16.mp4", "voice.wav", "music.mp3"} {
		content := sample(t, name)
		// The beginning can be read, the rest cannot.
		_, err := Read(failing{content[:12], cause}, int64(len(content)))
		if !errors.Is(err, cause) || errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: got %v, want the reader's own error", name, err)
		}
	}
}

type failing struct {
	head  []byte
	cause error
}

func (f failing) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) <= int64(len(f.head)) {
		return copy(p, f.head[offset:]), nil
	}
	return 0, f.cause
}

// Neither a header without a length nor one that claims another changes the length of the samples.
func TestTheSamplesDecideTheLengthOfAVideo(t *testing.T) {
	for _, units := range []uint32{0, 1, 1 << 20, 1<<32 - 1} {
		content := bytes.Clone(sample(t, "video-9x16.mp4"))
		mvhd := bytes.Index(content, []byte("mvhd"))
		binary.BigEndian.PutUint32(content[mvhd+4+4+12:], units)
		if info, err := Bytes(content); err != nil || info.Seconds() != 3 {
			t.Errorf("a header of %d units: %v, %v; want 3 s", units, info.Duration, err)
		}
	}
}

func TestATagBeforeTheSoundIsSkipped(t *testing.T) {
	plain := sample(t, "music.mp3")
	want, err := Bytes(plain)
	if err != nil {
		t.Fatal(err)
	}
	// A tag of 300 bytes (2 * 128 + 44) whose content looks like a frame.
	tag := append([]byte("ID3\x04\x00\x00\x00\x00\x02\x2c"), bytes.Repeat([]byte{0xff, 0xfb, 0x92, 0x00}, 75)...)
	got, err := Bytes(append(tag, plain...))
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"slide-4.jpg", "video-9x16.mp4", "music.mp3"} {
		content := sample(f, name)
		f.Add(content[:min(len(content), 4096)])
	}
	f.Add(webpLossy)
	f.Add([]byte("RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80>\x00\x00\x00}\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"))
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		info, err := Bytes(content)
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v is not ErrUnsupported", err)
		}
		if err == nil && info.Type == "" {
			t.Errorf("no type in %+v", info)
		}
	})
}
