package probe_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/probe"
)

func stored(t testing.TB, folder, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// memory is a file that edits are made in.
type memory []byte

func (m memory) WriteAt(p []byte, at int64) (int, error) { return copy(m[at:], p), nil }

func decode(t testing.TB, content []byte) (probe.Decoded, []byte, error) {
	t.Helper()
	f, err := probe.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return f, nil, err
	}
	if f.Content != nil {
		return f, f.Content, nil
	}
	kept := memory(bytes.Clone(content))
	return f, kept, f.Apply(kept)
}

// A file of another format is refused with its name and with what to do; none is called cut off that is not.
func TestFilesOfOtherFormatsAreNamed(t *testing.T) {
	pad := strings.Repeat("\x00", 64)
	ts := strings.Repeat("G"+strings.Repeat("\xff", 187), 4)
	tar := strings.Repeat("a", 257) + "ustar\x0000" + pad
	ftyp := func(brand string) string {
		return "\x00\x00\x00\x18ftyp" + brand + "\x00\x00\x00\x00mif1" + brand + pad
	}
	for content, say := range map[string]string{
		"GIF89a" + pad: "is a GIF picture. Convert", "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00" + pad: "a BMP picture",
		"II*\x00" + pad: "a TIFF", "MM\x00*" + pad: "a TIFF", "<?xml version='1.0'?><svg xmlns='…'/>": "an SVG drawing",
		"\ufeff <SVG width='1'></SVG>": "an SVG drawing", "%PDF-1.7\n" + pad: "a PDF document",
		"\x1aE\xdf\xa3\x9fB\x82\x84webm" + pad: "a WebM video", "\x1aE\xdf\xa3\x9fB\x82\x88matroska" + pad: "a Matroska video (MKV)",
		"RIFF\x00\x01\x00\x00AVI LIST" + pad: "an AVI video. Convert it to MP4", "fLaC" + pad: "a FLAC recording. Convert it to MP3",
		"OggS" + pad + "OpusHead" + pad: "an Opus recording", "OggS" + pad + "\x01vorbis": "an Ogg Vorbis recording",
		"FORM\x00\x00\x01\x00AIFFCOMM" + pad: "an AIFF recording", "#!AMR\n" + pad: "an AMR recording",
		"0&\xb2u\x8ef\xcf\x11\xa6\xd9\x00\xaa\x00b\xcel" + pad: "a Windows Media file", "\xff\x0a\x10\x10" + pad: "a JPEG XL picture",
		"\x00\x00\x00\x0cJXL \r\n\x87\n" + pad: "a JPEG XL picture", "PK\x03\x04" + pad + "word/document.xml": "a Word document",
		"PK\x03\x04" + pad + "a.txt": "a ZIP archive", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + pad: "an office document",
		"<!DOCTYPE html><html></html>": "an HTML page", "\n<html lang=en>": "an HTML page", `{"error":"gone"}`: "a JSON text",
		"caff\x00\x01" + pad: "a CAF recording", ts: "an MPEG transport stream", tar: "a TAR archive",
		"\x00\x00\x01\xba" + pad: "an MPEG program stream", "8BPS" + pad: "a Photoshop file", ftyp("crx "): "a raw picture of a Canon",
		"\x00\x00\x00\x08wide\x00\x00\x00\x20mdat" + pad: "a QuickTime movie of an old form", "hello, here is my file": "is a text.",
		"\xff\xfd\x84\x04" + pad: "layer I or II (MP2)", "#EXTM3U\n": "a playlist", "BM is what they call it": "is a text.",
		"WEBVTT\n\n": "a file of captions", "\x01\x02\x03\x04" + pad: "not supported. Send one of image/jpeg",
		"": "is empty", ftyp("hevc"): "a sequence of HEIC pictures", "MThd" + pad: "a MIDI file", "\x1f\x8b\x08" + pad: "compressed with gzip",
	} {
		_, _, err := decode(t, []byte(content))
		refused := new(probe.Refused)
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, say) ||
			strings.Contains(refused.Message, "all of it") {
			t.Errorf("%.20q: %v, want %q", content, err, say)
		}
	}
}

// A movie of an iPhone becomes an MP4 of the same size, with the same samples.
func TestAQuickTimeMovieBecomesAnMP4(t *testing.T) {
	movie := stored(t, "formats", "qt.mov")
	f, kept, err := decode(t, movie)
	if err != nil || f.MIMEType != "video/mp4" || f.Width != 360 || f.Height != 640 || f.Duration.Seconds() != 4 {
		t.Fatalf("%+v, %v", f.Info, err)
	}
	for _, of := range []string{"qt  ", "mhlr", "dhlr", "wave", "chan", "frma"} {
		if bytes.Contains(kept, []byte(of)) {
			t.Errorf("%q is left", of)
		}
	}
	samples := func(b []byte) []byte {
		at := bytes.Index(b, []byte("mdat"))
		return b[at : at-4+int(binary.BigEndian.Uint32(b[at-4:]))]
	}
	if len(kept) != len(movie) || !bytes.Equal(samples(kept), samples(movie)) {
		t.Error("the samples are others")
	}
	again, twice, err := decode(t, kept)
	if err != nil || again.Info != f.Info || !bytes.Equal(twice, kept) {
		t.Errorf("read again, it is %+v, %v", again.Info, err)
	}
	for name, c := range map[string]struct {
		content []byte
		say     string
	}{
		"PCM":         {bytes.ReplaceAll(movie, []byte("mp4a"), []byte("sowt")), "QuickTime movie with uncompressed sound"},
		"ProRes":      {bytes.ReplaceAll(movie, []byte("avc1"), []byte("apcn")), "in Apple ProRes. Export it as MP4"},
		"other files": {bytes.ReplaceAll(movie, []byte("\x0curl \x00\x00\x00\x01"), []byte("\x0calis\x00\x00\x00\x00")), "in other files"},
		"cut off":     {movie[:len(movie)-2000], "cut off after 56086 bytes"},
	} {
		_, _, err := decode(t, c.content)
		refused := new(probe.Refused)
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, c.say) {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
	}
	alias := bytes.ReplaceAll(movie, []byte("\x0curl \x00\x00\x00\x01"), []byte("\x0calis\x00\x00\x00\x01"))
	if _, kept, err := decode(t, alias); err != nil || bytes.Contains(kept, []byte("alis")) {
		t.Errorf("a movie with an alias of itself: %v", err)
	}
}

// What is refused of an MP4 is said, and a file that is cut off is called so.
func TestWhatIsWrongWithAnMP4IsSaid(t *testing.T) {
	movie := stored(t, "formats", "qt.mov")
	open := bytes.Clone(movie)
	copy(open[bytes.Index(open, []byte("moov")):], "free")
	mpeg := bytes.ReplaceAll(movie, []byte("avc1"), []byte("M8RG"))
	for name, c := range map[string]struct {
		content []byte
		say     string
	}{
		"not ended": {open, "a recording that was not ended"}, "another codec": {mpeg, `in the codec "M8RG"`},
		"encrypted":    {bytes.ReplaceAll(movie, []byte("avc1"), []byte("encv")), "The file is encrypted"},
		"A-law in AVI": {[]byte("RIFF\x00\x00\x00\x00AVI LIST"), "an AVI video"},
		"rate":         {stored(t, "sound", "concat_rate.mp3"), "44100 samples a second at its beginning and 24000"},
	} {
		_, _, err := decode(t, c.content)
		refused := new(probe.Refused)
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, c.say) {
			t.Errorf("%s: %v, want %q", name, err, c.say)
		}
	}
}

// What is behind the boxes of a movie or a recording is removed, and neither is called cut off.
func TestWhatIsBehindAMovieIsRemoved(t *testing.T) {
	for _, of := range [][2]string{{"formats", "qt.mov"}, {"sound", "dash.m4a"}, {"sound", "chapters.m4a"}} {
		plain := stored(t, of[0], of[1])
		want, _, err := decode(t, plain)
		if err != nil {
			t.Fatal(err)
		}
		for name, behind := range map[string]string{"zeros": strings.Repeat("\x00", 4096), "a few zeros": "\x00\x00\x00",
			"a mark": "SEFT of a camera, 52.3702 north", "a page": "<html><body>52.3702</body></html>\n"} {
			f, kept, err := decode(t, append(bytes.Clone(plain), behind...))
			if err != nil || f.Info != want.Info || bytes.Contains(kept, []byte("52.3702")) {
				t.Errorf("%s, %s: %+v, %v; want %+v", of[1], name, f.Info, err, want.Info)
			}
		}
	}
}

// Recordings of the kinds that were reported are taken whole.
func TestReportedRecordingsAreTaken(t *testing.T) {
	for name, want := range map[string]float64{"concat_id3.mp3": 8.07, "badheader_mid.mp3": 5, "id3_zeros.mp3": 3.03,
		"wav_len0.wav": 3, "chapters.m4a": 5, "dash.m4a": 5} {
		f, kept, err := decode(t, stored(t, "sound", name))
		if err != nil || f.Seconds() < want-0.07 || f.Seconds() > want+0.07 {
			t.Errorf("%s: %+v, %v", name, f.Info, err)
			continue
		}
		if strings.HasSuffix(name, ".mp3") {
			for _, before := range []string{string(make([]byte, 1000)), "APETAGEX\xd0\x07" + string(make([]byte, 22))} {
				if g, _, err := decode(t, append([]byte(before), kept...)); err != nil || g.Info != f.Info {
					t.Errorf("%s behind %.8q: %+v, %v", name, before, g.Info, err)
				}
			}
		}
		again, _, err := decode(t, kept)
		if err != nil || again.Info != f.Info || bytes.Contains(kept, []byte("Chapter")) {
			t.Errorf("%s: read again, it is %+v, %v", name, again.Info, err)
		}
	}
}
