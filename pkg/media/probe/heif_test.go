package probe_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/content-automation/api/pkg/media/compose/ffmpeg"
	"github.com/content-automation/api/pkg/media/picture"
	"github.com/content-automation/api/pkg/media/probe"
)

func pictures(t *testing.T) probe.Decoder {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "..", ".tools", "media", "ffmpeg"))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v (make media-tools installs it)", err)
	}
	return probe.Decoder{FFmpeg: ffmpeg.Tool{Path: path, Threads: 1}}
}

func ofPhone(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "media", "pictures", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// HEIC and AVIF become upright pictures with the size, the colors and the opacity that libheif and lcms2 show
// (heif.json), without what the file says of a person.
func TestPicturesOfPhonesAreShownRight(t *testing.T) {
	d := pictures(t)
	var right map[string]struct {
		Size   [2]int
		Colors [][4]int
	}
	if err := json.Unmarshal(ofPhone(t, "heif.json"), &right); err != nil {
		t.Fatal(err)
	}
	for name, want := range right {
		content := ofPhone(t, name)
		f, err := d.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		came := "image/" + strings.TrimPrefix(filepath.Ext(name), ".")
		if name == "samsung.heic" {
			came = "image/heif"
		}
		kind := "image/jpeg"
		if strings.HasPrefix(name, "alpha") {
			kind = "image/png"
		}
		if f.Came != came || f.MIMEType != kind || f.Width != want.Size[0] || f.Height != want.Size[1] {
			t.Errorf("%s: %s of %d x %d from %s, want %s of %v from %s", name, f.MIMEType, f.Width, f.Height, f.Came,
				kind, want.Size, came)
			continue
		}
		if bytes.Contains(f.Content, []byte("Secret")) {
			t.Errorf("%s: the maker is named", name)
		}
		for _, behind := range []string{"\r\n", "SEFT of a camera, 52.3702 north", strings.Repeat("\x00", 4096)} {
			more := append(bytes.Clone(content), behind...)
			g, err := d.Decode(t.Context(), bytes.NewReader(more), int64(len(more)))
			if err != nil || !bytes.Equal(g.Content, f.Content) {
				t.Errorf("%s with %.8q behind it: %v", name, behind, err)
			}
		}
		p, err := picture.Open(f.Content)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := p.Decode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		img, err := drawn.Within(t.Context(), image.Pt(p.Width, p.Height))
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for i, c := range want.Colors {
			at := img.NRGBAAt((2*(i%4)+1)*p.Width/8, (2*(i/4)+1)*p.Height/8)
			got := [4]int{int(at.R), int(at.G), int(at.B), int(at.A)}
			for n := range got {
				if want.Colors[i][3] > 0 || n == 3 {
					most = max(most, got[n]-c[n], c[n]-got[n])
				}
			}
			if most > 6 {
				t.Errorf("%s: %v at %d, want %v", name, got, i, c)
				break
			}
		}
		t.Logf("%s: %d levels", name, most)
	}
}

// Files that are broken, moving, of another codec, or hostile are refused with a sentence, and a system without ffmpeg
// names the format.
func TestPicturesOfPhonesThatAreRefused(t *testing.T) {
	d := pictures(t)
	whole := ofPhone(t, "phone.heic")
	changed := func(from, to string) []byte {
		out := bytes.ReplaceAll(whole, []byte(from), []byte(to))
		if bytes.Equal(out, whole) {
			t.Fatalf("there is no %q", from)
		}
		return out
	}
	sized := func(w, h uint32) []byte {
		to := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, w), h)
		grid := []byte{0, byte(w >> 8), byte(w), byte(h >> 8), byte(h)}
		out := changed("\x00\x00\x00\x78\x00\x00\x00\x5a", string(to))
		return bytes.ReplaceAll(out, []byte("\x01\x00\x78\x00\x5a"), append([]byte{1}, grid[1:]...))
	}
	noise := bytes.Clone(whole)
	at := bytes.Index(noise, []byte("mdat"))
	for i := at + 12; i < len(noise); i++ {
		noise[i] = byte(i * 167)
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"cut off":            {whole[:len(whole)/2], "not a whole HEIC or AVIF"},
		"only the beginning": {whole[:40], "not a whole HEIC or AVIF"},
		"noise":              {noise, "not a whole HEIC or AVIF"},
		"too large":          {sized(60_000, 60_000), "60000 x 60000 pixels"},
		"too few tiles":      {sized(1_000, 1_000), "not a whole HEIC or AVIF"},
		"JPEG 2000":          {changed("hvc1\x00", "j2k1\x00"), "JPEG 2000"},
		"H.264":              {changed("hvc1\x00", "avc1\x00"), "H.264"},
		"an unknown codec":   {changed("hvc1\x00", "zzzz\x00"), "another codec"},
		"laid out":           {changed("grid\x00", "iovl\x00"), "laid out of others"},
		"a grid of itself":   {changed("hvc1\x00", "grid\x00"), "not a whole HEIC or AVIF"},
		"a sequence":         {ofPhone(t, "sequence.avif"), "a sequence of AVIF pictures"},
		"a still and more":   {bytes.Replace(ofPhone(t, "sequence.avif"), []byte("avis"), []byte("avif"), 1), "moving"},
	} {
		_, err := d.Decode(t.Context(), bytes.NewReader(c.content), int64(len(c.content)))
		var refused *probe.Refused
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	_, err := probe.Decode(t.Context(), bytes.NewReader(whole), int64(len(whole)))
	if err == nil || !strings.Contains(err.Error(), "a HEIC picture") {
		t.Errorf("without ffmpeg: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Decode(ended, bytes.NewReader(whole), int64(len(whole))); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// No cut and no change of a byte makes the reader fail in another way.
func TestChangedPicturesOfPhones(t *testing.T) {
	d := probe.Decoder{FFmpeg: none{}}
	for _, name := range []string{"phone.heic", "alpha.avif"} {
		whole := ofPhone(t, name)
		head := min(len(whole), 2_600)
		for i := 12; i < head; i++ {
			for _, v := range []byte{0, 1, 0x7f, 0xff} {
				content := bytes.Clone(whole)
				content[i] = v
				_, err := d.Decode(t.Context(), bytes.NewReader(content), int64(len(content)))
				var refused *probe.Refused
				if !errors.As(err, &refused) && !errors.Is(err, errNone) {
					t.Fatalf("%s: %d at %d: %v", name, v, i, err)
				}
			}
		}
	}
}

var errNone = errors.New("no program")

type none struct{}

func (none) Run(context.Context, ffmpeg.Job) (ffmpeg.Report, error) { return ffmpeg.Report{}, errNone }
